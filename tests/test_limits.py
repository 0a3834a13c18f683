"""Rate limits: a busy evening stays below them, and floods have to wait."""

import pytest
from client import HOME, SECRET, scanned, stranger

from companion.pages import create_app, limits
from companion.pages.limits import KINDS, MOST_BUCKETS, RATES, Rate, RateLimits, RequestKind, network
from companion.pages.players.access import DOORS


@pytest.fixture
def app(match, clock):
    match.start(("side Ann", "side Bob", "hand first Ann"))
    return create_app(match, secret=SECRET, clock=clock)


@pytest.fixture
def ours(clock):
    return RateLimits(clock)


def refused_after(asks) -> int:
    """Return how many requests are allowed at once."""
    return next(number for number in range(100_000) if asks())


@pytest.mark.parametrize("kind", RequestKind)
def test_too_many_requests_have_to_wait_and_may_then_continue(ours, kind, clock):
    rate = RATES[kind]

    assert refused_after(lambda: ours.wait_s(kind, "192.168.1.9", "a")) == rate.at_once

    wait_s = ours.wait_s(kind, "192.168.1.9", "a")
    clock.now_s += wait_s
    assert ours.wait_s(kind, "192.168.1.9", "a") == 0


def test_one_phone_does_not_use_up_anothers_limit(ours):
    refused_after(lambda: ours.wait_s(RequestKind.CHANGE, "192.168.1.9", "a"))

    assert ours.wait_s(RequestKind.CHANGE, "192.168.1.9", "b") == 0
    assert ours.wait_s(RequestKind.PAGE, "192.168.1.9", "a") == 0


def test_new_phone_ids_do_not_exceed_the_limit_of_an_address(ours):
    names = iter(range(10**6))

    asked = refused_after(lambda: ours.wait_s(RequestKind.CHANGE, "192.168.1.9", f"{next(names)}"))

    assert asked == RATES[RequestKind.CHANGE].at_once * limits.PHONES_AT_AN_ADDRESS
    assert refused_after(lambda: ours.wait_s(RequestKind.PAGE, "192.168.1.8", None)) == RATES[RequestKind.PAGE].at_once


def test_a_refused_request_uses_no_tokens(ours, clock):
    refused_after(lambda: ours.wait_s(RequestKind.CHANGE, "192.168.1.9", "a"))
    for _ in range(1000):
        ours.wait_s(RequestKind.CHANGE, "192.168.1.9", "a")
    clock.now_s += 1.0 / RATES[RequestKind.CHANGE].a_second

    assert ours.wait_s(RequestKind.CHANGE, "192.168.1.9", "a") == 0


def test_a_stopped_or_reversed_clock_adds_no_tokens(ours, clock):
    refused_after(lambda: ours.wait_s(RequestKind.CHANGE, "192.168.1.9", "a"))
    clock.now_s -= 500.0

    assert ours.wait_s(RequestKind.CHANGE, "192.168.1.9", "a") > 0


def test_the_number_of_buckets_is_limited(ours):
    for number in range(3 * MOST_BUCKETS):
        ours.wait_s(RequestKind.PAGE, f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", None)

    assert len(ours._buckets) == MOST_BUCKETS


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.168.1.9", "192.168.1.9"), ("fe80::1:2:3:4%eth0", "fe80::/64"), ("2001:db8::7", "2001:db8::/64"),
        ("2001:db8::8", "2001:db8::/64"), ("", ""), ("no address", ""),
    ],
)  # fmt: skip
def test_an_ipv6_network_counts_as_one_address(address, counted):
    assert network(address) == counted


def test_listed_heavy_routes_exist():
    assert set(KINDS) <= set(DOORS)


def test_the_refusal_says_how_long_to_wait(app):
    client = stranger(app)
    refused_after(lambda: client.get("/past/players").status_code == 429)
    answer = client.get("/past/players")

    assert answer.status_code == 429
    assert "wait a moment, then try again" in answer.text
    assert int(answer.headers["Retry-After"]) >= 1


@pytest.fixture
def strict(monkeypatch):
    """Allow only a few requests of each kind at once."""
    for kind in RATES:
        monkeypatch.setitem(limits.RATES, kind, Rate(6, 1))


def test_the_machine_itself_has_unlimited_taps_but_limited_pictures(app, strict):
    machine = app.test_client()

    assert {machine.get("/wall").status_code for _ in range(20)} == {200}
    assert refused_after(lambda: machine.get("/past/players").status_code == 429) == 6


def test_a_flooding_stranger_does_not_stop_players(app, strict):
    player, stranger_ = scanned(app, 9, everybody="1"), stranger(app)
    refused_after(lambda: stranger_.post("/play", headers=HOME).status_code == 429)
    refused_after(lambda: stranger_.get("/wall").status_code == 429)

    assert player.post("/play", data={"text": "Ann roll"}, headers=HOME).status_code in (200, 303)
    assert player.get("/").status_code == 200


# --- A busy evening ------------------------------------------------------------------------------------------

PHONES = 20
TAPS_A_SECOND = 0.5
"""Two a second is as fast as people play in a hurry: four phones tap for at most one play."""

PAGES_A_PLAY = 3
"""Requests of a page after each play: its part, and its script's own."""


@pytest.mark.parametrize("times", [1, 10])
def test_a_room_full_of_phones_at_one_address_stays_below_the_limits(ours, times, clock):
    """Twenty phones behind one router for two minutes; each page follows every play, at up to ten times the speed."""
    for second in range(120):
        clock.now_s += 1.0
        plays = TAPS_A_SECOND * times
        for who in range(PHONES):
            for _tap in range(int((second + 1) * plays / 2) - int(second * plays / 2)):
                assert ours.wait_s(RequestKind.CHANGE, "192.168.1.1", f"{who}") == 0
            for _page in range(int((second + 1) * plays * PAGES_A_PLAY) - int(second * plays * PAGES_A_PLAY)):
                assert ours.wait_s(RequestKind.PAGE, "192.168.1.1", f"{who}") == 0


def test_a_whole_room_may_open_its_pages_at_once(app):
    phones = [scanned(app, 1, everybody="1") for _ in range(PHONES)]
    for client in phones:
        codes = [client.get(path).status_code for path in ("/", "/score", "/may", "/more", "/seats", "/past")]

        assert codes == [200] * 6


def test_all_pictures_of_a_tableau_and_of_a_deck_may_be_sent(ours, clock):
    for _card in range(60):
        clock.now_s += 3.0
        assert ours.wait_s(RequestKind.PICTURE, "192.168.1.1", "a") == 0
