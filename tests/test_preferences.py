"""Preferences of a phone: language, theme, letter size, sounds."""

import evening
import pytest
from client import HOME
from sheet import scenes

EVENINGS = """
a language nobody here speaks changes nothing
    machine taps /phone language=xx; machine at /phone | markup <html lang="en"
what was chosen is written where style sheets and scripts read it
    machine taps /phone theme=dark & large=on & sound=on; machine at /phone | markup data-sound="on"
    machine reads | markup <html lang="en" data-theme="dark" data-large="on"> | not markup data-speech
a language chosen on another page leaves the rest as it is
    machine taps /phone theme=dark; machine taps /phone language=fr & back=/join
    machine at /phone | markup <html lang="fr" data-theme="dark">
a language is one tap away where a seat is taken and stays
    Ann scans; Ann reads | markup <button name="language" value="pl" lang="pl">Polski
    Ann reads | markup <input type="hidden" name="back" value="/join">
    Ann taps /phone language=pl & back=/join -> /join; Ann taps /join player=Ann; Ann roll
    Ann at / | not lays Roll | not ’s turn; Ann reads | markup <html lang="pl"
sounds can be turned on while taking a seat
    Ann sits; Bob scans; Bob reads | Horn, brakes and engine; Bob taps /join player=Bob & sound=on
    Ann at / | not markup data-sound=; Bob at / | markup data-sound="on"; Bob at /join | not Horn, brakes and engine
somebody who only watches may choose a language too
    eve taps /phone language=fr
what is chosen leaves seat and host as they are
    Ann sits; Ann taps /phone theme=dark & large=on & sound=on & language=fr; Ann at / | À vous de jouer
    Ann taps /verify verify=yes
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(app, match, setting, rows):
    evening.check(app, match, setting, rows)


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example", "/\\evil.example", "", "/\nx"])
def test_saving_preferences_redirects_only_to_our_own_pages(page, back):
    answer = page.post("/phone", data={"language": "fr", "back": back}, headers=HOME)

    assert answer.location == "/phone"
