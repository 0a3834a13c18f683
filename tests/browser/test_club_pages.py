"""The club's pages in a browser: accessible, live, and usable for the director."""

import re
from itertools import product

import club_database
import pytest
from playwright.sync_api import expect
from serving import running

from browser.screens import SMALL, TABLET
from browser.test_accessibility import AXE, FINDINGS, SPILLS

pytestmark = pytest.mark.skipif(club_database.why_not() is not None, reason=club_database.why_not() or "")
pytest.importorskip("psycopg", reason="the club's driver is not installed: pip install '.[club]'")

from client import tap  # noqa: E402
from test_club import PLAYED, Wire, let_in, push  # noqa: E402
from test_club_director import begun  # noqa: E402

from companion.club import club_service, keys, people, postgres, projection  # noqa: E402
from companion.match.match import Match  # noqa: E402
from companion.storage.data_folder import store_path  # noqa: E402
from companion.storage.event_store import Store  # noqa: E402

LAPTOP = {"width": 1366, "height": 768}


@pytest.fixture(scope="module")
def server():
    with club_database.running() as started:
        yield started


@pytest.fixture
def pool(server):
    with postgres.opened(server.new()) as opened:
        yield opened


@pytest.fixture
def table(tmp_path):
    store = Store.open(store_path(tmp_path))
    yield Match(store)
    store.close()


@pytest.fixture
def app(pool, table):
    """A club with three tables: one with a played hand, one with a conflicting history, and a new one."""
    made = club_service.create_app(pool)
    table.start(["side Ann", "side Bob", "hand first Ann"])
    for play in PLAYED:
        table.enter(play, "Ann")
    table.next_hand("Ann")
    client = made.test_client()
    Wire(table, client, "Table 7").run()
    push(client, 1, 90, "t12", name="Table 12")
    push(client, 90, 95, "t12", mark=1, name="Table 12")
    projection.Projector(pool).catch_up()
    return made


def enter(page, pool, at: str) -> None:
    with pool.connection() as db:
        token = people.new_link(db)
    page.goto(f"{at}/director?once={token}")
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{at}/keys")


def test_the_boards_update_automatically_and_the_director_creates_a_key(opened, app, pool, table):
    with running(app) as at:
        page = opened(at, LAPTOP)
        expect(page.get_by_role("row", name=re.compile("Table 7 .*Ann 300"))).to_be_visible()
        Wire(table, app.test_client(), "Table 7, at the window").run()
        expect(page.get_by_role("link", name="at the window")).to_be_visible()

        enter(page, pool, at)
        page.get_by_label("For which table?").fill("Table 8")
        page.get_by_role("button", name="Make a key").click()
        expect(page.locator("code")).to_contain_text("--name 'Table 8' --key ")
        page.get_by_role("button", name="Revoke").click()
        expect(page.get_by_text("revoked")).to_be_visible()
        page.goto(at)
        page.get_by_role("button", name="Hide it from the boards").click()
        expect(page.get_by_text("Table 12")).to_have_count(0)


def evening(client, table) -> str:
    """Create a tournament with a running round and a table that calls; return its URL."""
    table.call_director("Ann")
    Wire(table, client, "Table 7").run()
    at = begun(client, "Ann", "Bob", "Bartholomäus von Zitzewitz")
    tap(client, f"{at}/clock", runs="start")
    return at


def test_the_clock_runs_and_a_call_is_answered(opened, app, pool, table):
    at = evening(let_in(app.test_client(), pool), table)
    with running(app) as here:
        page = opened(here + at, SMALL)
        clock = page.get_by_role("timer").locator("b")
        first = clock.inner_text()
        expect(clock).not_to_have_text(first)
        page.get_by_role("link", name="Ann").first.click()
        expect(page.get_by_text("You are number")).to_be_visible()

        enter(page, pool, here)
        page.goto(here)
        page.get_by_role("button", name="On my way").click()
        expect(page.get_by_text("calls the director")).to_have_count(0)


def test_the_club_pages_are_accessible_and_do_not_overflow(opened, app, pool, table):
    client = let_in(app.test_client(), pool)
    cup = evening(client, table)
    fours = {"name": "In fours", "edition": "rush", "seats": "4"}
    four = begun(client, "Cid", "Dee", "Flo", "Bartholomäus von Zitzewitz", **fours)
    with running(app) as at, pool.connection() as db:
        key = keys.make(db, "Table 8")
        people.add(db, "Hal", "helper")
        db.commit()
        page = opened(f"{at}/director?once=x", bypass_csp=True)
        found = look(page)
        enter(page, pool, at)
        known = client.get("/club/tables.json").get_json()["tables"]
        tables = [f"/tables/{t['id']}{more}" for t in known for more in ("", "/desk")]
        paths = ["/", "/standings", "/keys", f"/keys/{key.id}", "/nowhere", "/people", "/audit", "/me", "/tournaments"]
        for path in (
            *paths,
            *tables,
            cup,
            f"{cup}?me=Ann",
            f"{cup}/direct",
            f"{cup}/cards",
            f"{four}?me=Cid",
            f"{four}/direct",
        ):
            page.goto(at + path)
            found += look(page)

    assert found == []


def look(page) -> list[str]:
    """Return a page's problems on a phone, a tablet and a laptop, in both themes."""
    page.evaluate(AXE)
    found = []
    for size, theme in product((SMALL, TABLET, LAPTOP), ("light", "dark")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme)
        wrong = (*page.evaluate(FINDINGS, {}), *page.evaluate(SPILLS))
        found += [f"{page.url}, {size['width']} pixels, {theme}: {one}" for one in wrong]
    return found
