"""One name for a card in each language and edition: printed on its face, said in every sentence, read in a record."""

import re
from collections.abc import Iterator
from itertools import chain

import pytest
import texts
from babel.messages.pofile import read_po

from companion.common.languages import LANGUAGES
from companion.printing.printed_words import card_word
from companion.printing.stickers import sticker_words
from companion.printing.write import Wanted, pdf_files
from companion.rules import card_names
from companion.rules.card_names import card_name, card_named, word_key
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names, load_edition
from companion.rules.reasons import Code, catalogue, reason, say
from companion.tabletop import translation
from companion.vision.view import Sighting, View

NAMED = tuple(card for card in Card if card is not Card.UNKNOWN)
EDITIONS = (None, *edition_names())


@pytest.mark.parametrize(
    ("card", "language", "edition", "name"),
    [
        ("roll", "en", "classic", "Roll"), ("roll", "en", "asmodee-2014", "Go"), ("roll", "en", "bsd-mille", "Go"),
        ("end-of-limit", "en", None, "End of Limit"), ("end-of-limit", "en", "asmodee-2014", "End of Speed Limit"),
        ("mirror", "fr", "rush", "Rétroviseur"), ("pollution", "fr", "rush", "Alerte pollution"),
        ("pollution", "fr", "classic", "Pollution"), ("roll", "fr", "rush", "Feu vert"),
        ("puncture-proof", "es", "classic", "Antipinchazos"), ("25", "en", "asmodee-2014", "25 miles"),
        ("25", "en", "rush", "25 km"), ("25", "fr", "asmodee-2014", "25 bornes"), ("roll", "en", "of-nobody", "Roll"),
    ],
)  # fmt: skip
def test_a_card_is_called_as_its_edition_prints_it(card, language, edition, name):
    assert card_name(Card(card), language, edition) == name


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_means_one_card_and_is_read_as_that_card(language, edition):
    called = {card: card_name(card, language, edition) for card in NAMED}

    assert {card: card_named(name) for card, name in called.items()} == {card: card for card in NAMED}
    assert len({word_key(name) for name in called.values()}) == len(NAMED)


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_face_has_the_name_printed_on_it_that_is_said(language, edition):
    for card in NAMED:
        printed = card_word(card, language, edition)
        assert card_named(f"{card} {printed}" if card.km else printed) is card
        assert card.km or printed == card_name(card, language, edition)
        assert say(reason(Code.UNKNOWN_CARD, card=card), language, edition).count(card_name(card, language, edition))


def test_a_printed_deck_has_the_names_of_its_edition():
    decks = {name: pdf_files(Wanted("deck", name, language="en"))["deck.pdf"] for name in ("parker", "asmodee-2014")}

    assert decks["parker"] != decks["asmodee-2014"]


@pytest.mark.parametrize(
    ("language", "edition", "words"),
    [("en", "classic", "Roll 3"), ("en", "asmodee-2014", "Go 3"), ("fr", "classic", "Feu vert 3")],
)
def test_a_sticker_is_called_on_a_page_as_it_is_printed(language, edition, words):
    card = Sighting(Card.UNKNOWN, None, (40.0, 40.0), None, None, False, 0.0, "sticker", twice="roll-03")

    with translation.speaking(language, edition):
        said = translation.translate(View(0.0, (), (card, card)).about_same_stickers)

    assert sticker_words("roll-03", language, edition) == words
    assert words in said


def test_only_names_of_cards_editions_and_units_that_there_are_are_in_the_table():
    for own in card_names._table().values():
        of_editions = {key for key, named in own.items() if isinstance(named, dict)}
        assert of_editions <= set(edition_names())
        assert all(set(own[edition]) <= {card.value for card in load_edition(edition).deck} for edition in of_editions)
        assert own.keys() - of_editions == {"km", "miles"} | {card.value for card in Card if not card.km}
    assert card_names._table().keys() == set(LANGUAGES)


# --- No sentence has a name written in it ---------------------------------------------------------------------------


def pattern_of(language: str) -> re.Pattern[str]:
    """What finds the names of a language: those of several words in any case, those of one as they are written.

    English sentences may begin with such a word without meaning the card: `Stop the clock`.
    """
    called = {card_name(card, language, edition) for edition in EDITIONS for card in NAMED if not card.km}
    several = "|".join(re.escape(name) for name in called if not name.isalpha())
    one = "|".join(name for name in called if name.isalpha())
    within = r"(?<=[\w,;] )" if language == "en" else r"\b"
    return re.compile(rf"(?<![\w({{])(?i:{several})(?![\w)}}])|{within}(?:{one})\b")


def sentences_of(language: str) -> Iterator[str]:
    yield from chain.from_iterable(table.values() for name, table in catalogue(language).items() if name in set(Code))
    if language == "en":
        yield from chain.from_iterable(map(texts.forms, texts.texts()))
        return
    with texts.path_of(language).open("rb") as file:
        for text in read_po(file, locale=language):
            yield from () if not text.id else [text.string] if isinstance(text.string, str) else text.string


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_has_the_name_of_a_card_written_in_it(language):
    # What stands between backquotes is written as in a record.
    plain = {text: re.sub("`[^`]*`", "", text).replace("'", "’") for text in sentences_of(language)}

    assert [text for text, without in plain.items() if pattern_of(language).search(without)] == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "A roll, or right of way"), ("en", "You need Roll."), ("en", "Tap Red Light."), ("fr", "Miroir"),
        ("fr", "Il faut un feu vert."), ("fr", "Rétroviseur !"), ("pl", "Gaz do dechy"), ("de", "Nur ein Turbo."),
    ],
)  # fmt: skip
def test_a_name_in_a_sentence_is_found(language, text):
    assert bool(pattern_of(language).search(text)) == (text != "Miroir")
