"""Two phones and the wall at a table in a real browser: joining, handing over, undoing."""

import pytest
from playwright.sync_api import expect

from browser.screens import WALL, app_of
from companion.pages.players import phone_identity

SECRET = b"screens" * 5
JOIN = f"/join?t={phone_identity.join_token(SECRET)}"
CODE = phone_identity.table_code(SECRET)


@pytest.fixture
def app(begun):
    """Pages that treat every browser as a phone on the network, except one that claims to be the machine."""
    app = app_of(begun)
    inner = app.wsgi_app

    def from_the_network(environ, start_response):
        if "HTTP_X_MACHINE" not in environ:
            environ["REMOTE_ADDR"] = "192.168.1.50"
        return inner(environ, start_response)

    app.wsgi_app = from_the_network
    return app


def seat(opened, url: str, name: str):
    """Return a phone that scanned the code and tapped a name."""
    phone = opened(url + JOIN)
    phone.get_by_role("button", name=name).click()
    expect(phone.get_by_role("heading", level=1)).to_be_visible()
    return phone


def test_handing_over_the_hosts_role_updates_both_pages(opened, url):
    ann, bob = seat(opened, url, "Ann"), seat(opened, url, "Bob")
    for phone in (ann, bob):
        phone.get_by_role("link", name="More").click()
        phone.get_by_role("link", name="Seats and host").click()
    expect(bob.get_by_text("Ann is the host.")).to_be_visible()

    ann.get_by_role("button", name="Make host").click()

    expect(bob.get_by_text("This phone is the host’s.")).to_be_visible()
    expect(bob.get_by_text("You are the host now")).to_be_visible()
    expect(ann.get_by_text("Bob is the host.")).to_be_visible()


def test_taken_seats_appear_while_a_name_is_typed_and_the_name_stays(opened, url):
    ann = opened(url + JOIN)
    ann.get_by_text("My name is different").click()
    ann.get_by_label("Type it here").press_sequentially("Ann")
    seat(opened, url, "Bob")

    expect(ann.get_by_role("button", name="Bob")).to_contain_text("taken")
    ann.keyboard.type("ie")
    expect(ann.get_by_label("Type it here")).to_have_value("Annie")
    ann.get_by_role("button", name="Ann").click()

    ann.get_by_role("link", name="More").click()
    expect(ann.get_by_text("This is Annie’s phone.")).to_be_visible()


def ask(asker) -> None:
    asker.get_by_label("The four letters").fill(CODE.lower())
    asker.get_by_label("Your name").fill("Zoe")
    asker.get_by_role("button", name="Ask to take part").click()
    expect(asker.get_by_role("heading", level=1)).to_have_text("Waiting for the host")


def test_a_phone_with_the_typed_code_is_refused_asks_again_and_continues_when_admitted(opened, url):
    ann, asker = seat(opened, url, "Ann"), opened(url + "/join")
    machine = opened(url + "/wall", WALL, extra_http_headers={"X-Machine": "1"})
    expect(machine.get_by_text(CODE, exact=True)).to_be_visible()
    asker.get_by_text("No camera? Type the code").click()
    ask(asker)
    ann.get_by_role("button", name="No", exact=True).click()
    expect(asker.get_by_text("The host did not let this phone in.")).to_be_visible()
    expect(asker.get_by_label("The four letters")).to_be_visible()
    asker.get_by_role("button", name="All right").click()
    expect(asker.locator("#told").get_by_role("button")).to_have_count(0)
    asker.get_by_text("No camera? Type the code").click()
    ask(asker)

    ann.get_by_role("button", name="Let in").click()

    asker.get_by_role("button", name="Bob").click()
    expect(asker.get_by_role("heading", level=1)).to_have_text("Ann’s turn")
