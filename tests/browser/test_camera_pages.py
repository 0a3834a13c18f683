"""The camera pages in a real browser: zones drawn by mouse, finger and keys, live picture and measurements."""

import pytest
from playwright.sync_api import Page, expect

from browser.screens import TWO, WALL, app_of, feed
from companion.tabletop.drawn_zones import DrawnZones


@pytest.fixture
def zones():
    """The zones drawn on the camera's picture."""
    return DrawnZones()


@pytest.fixture
def app(match, zones):
    feed(match, TWO)
    return app_of(match, zones, sees=True)


def numbers(page: Page, zone: str) -> list[float]:
    """Return a zone's left, top, width and height in the form."""
    texts = [page.locator(f'[name="{letter}-{zone}"]').input_value() for letter in "xywh"]
    return [float(text) for text in texts if text]


def at(page: Page, x: float, y: float) -> tuple[float, float]:
    """Return the screen position of a point on the picture, given in percent."""
    frame = page.locator("#drawing").bounding_box()
    return frame["x"] + frame["width"] * x / 100, frame["y"] + frame["height"] * y / 100


def drag(page: Page, begin: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*at(page, *begin))
    page.mouse.down()
    page.mouse.move(*at(page, *end), steps=4)
    page.mouse.up()


def tap(page: Page, x: float, y: float) -> None:
    page.mouse.click(*at(page, x, y))


def test_zones_are_drawn_one_by_one_and_saved(opened, zones, url):
    page = opened(url + "/camera/zones")

    drag(page, (10, 60), (20, 80))
    expect(page.locator('input[value="side-1/speed"]')).to_be_checked()
    assert numbers(page, "side-1/battle") == pytest.approx([10, 60, 10, 20], abs=0.6)
    for name in ("Ann: distance area", "Bob: battle pile", "Bob: distance area"):
        page.locator(f'[data-name="{name}"] label').first.click()
        left, top = (30 if "distance" in name else 10), (60 if "Ann" in name else 10)
        drag(page, (left, top), (left + 15, top + 20))
    page.get_by_role("button", name="Save these zones").click()

    expect(page.get_by_text("Zones saved. They are used from the next picture on.")).to_be_visible()
    kept = zones.current.zones
    assert [zone.name for zone in kept] == [f"side-{side}/{name}" for side in (1, 2) for name in ("battle", "distance")]
    assert kept[0].corners[0] == pytest.approx((192, 648), abs=12)


def test_a_chosen_zone_is_moved_resized_and_redrawn_with_the_mouse(opened, url):
    page = opened(url + "/camera/zones", WALL)
    drag(page, (10, 50), (30, 90))
    tap(page, 20, 70)

    def is_at(*hundredths: float) -> bool:
        return numbers(page, "side-1/battle") == pytest.approx(hundredths, abs=0.6)

    drag(page, (20, 70), (25, 60))
    assert is_at(15, 40, 20, 40)
    x, y = at(page, 35, 80)
    page.mouse.move(x + 14, y + 14)  # a grip reaches 22 px
    page.mouse.down()
    page.mouse.move(*at(page, 40, 95), steps=3)
    page.mouse.up()
    assert is_at(15, 40, 25, 55)
    drag(page, (60, 10), (61, 11))  # an accidental move
    assert is_at(15, 40, 25, 55)
    drag(page, (25, 60), (-20, 130))
    assert is_at(0, 45, 25, 55)
    drag(page, (50, 10), (70, 40))

    assert is_at(50, 10, 20, 30)
    expect(page.locator('input[value="side-1/battle"]')).to_be_checked()


def test_drawing_inside_another_zone_draws_the_chosen_one_and_a_tap_selects_a_zone(opened, url):
    page = opened(url + "/camera/zones", WALL)
    drag(page, (10, 20), (60, 90))
    drag(page, (20, 30), (40, 60))
    assert numbers(page, "side-1/speed") == pytest.approx([20, 30, 20, 30], abs=0.6)

    tap(page, 50, 80)

    expect(page.locator('input[value="side-1/battle"]')).to_be_checked()
    expect(page.locator("#where")).to_have_text("1Ann: battle pile: 10 · 20 · 50 · 70")
    assert numbers(page, "side-1/speed") == pytest.approx([20, 30, 20, 30], abs=0.6)
    assert numbers(page, "side-1/safety") == []


def test_all_zones_of_a_side_move_together_and_stay_on_the_picture(opened, url):
    page = opened(url + "/camera/zones?suggest=1", WALL)
    before = {name: numbers(page, f"side-1/{name}") for name in ("battle", "speed", "safety", "distance")}
    others = numbers(page, "side-2/battle")
    page.get_by_label("Move all of them together").first.check()
    x, y, w, h = before["distance"]

    drag(page, (x + w / 2, y + h / 2), (x + w / 2 - 10, y + h / 2 + 50))

    low = 100 - y - h
    for name, (left, top, *size) in before.items():
        assert numbers(page, f"side-1/{name}") == pytest.approx([left - 10, top + low, *size], abs=0.7)
    assert numbers(page, "side-2/battle") == others


def test_the_page_lists_missing_zones(opened, url):
    page = opened(url + "/camera/zones")
    missing = page.locator("#missing")
    said = "4 Ann: distance area · 5 Bob: battle pile · 8 Bob: distance area."
    expect(missing).to_have_text(f"Still to be drawn: 1 Ann: battle pile · {said}")

    drag(page, (10, 60), (20, 80))
    expect(missing).to_have_text(f"Still to be drawn: {said}")
    page.get_by_role("button", name="Save these zones").click()
    expect(page.get_by_role("alert")).to_have_text(f"Still to be drawn: {said}")

    page.goto(url + "/camera/zones?suggest=1")
    expect(missing).to_be_hidden()


def test_zones_have_the_same_numbers_on_both_pages_and_no_names_on_the_picture(opened, url):
    page = opened(url + "/camera", WALL)
    seen = page.locator(".over text")
    expect(seen).to_have_count(10)
    listed = [row.inner_text().split("\n")[:2] for row in page.locator(".zones li").all()]
    assert sorted(seen.all_text_contents(), key=int) == [str(number) for number in range(1, 11)]

    page.goto(url + "/camera/zones")

    rows = [row.inner_text().split("\n")[:2] for row in page.locator(".zone > label").all()]
    assert rows == listed


def test_a_zone_is_drawn_moved_resized_and_cleared_by_keys_and_numbers(opened, url):
    page = opened(url + "/camera/zones")
    page.locator("#drawing").focus()

    page.keyboard.press("ArrowRight")
    x, y, w, h = numbers(page, "side-1/battle")
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "Shift+ArrowRight", "Shift+ArrowUp"):
        page.keyboard.press(key)
    assert numbers(page, "side-1/battle") == [x + 1, y + 2, w + 1, h - 1]
    expect(page.locator("#where")).to_contain_text("Ann: battle pile: 47 · 42 · 11 · 19")

    page.locator('[data-zone="side-1/battle"] label').first.click()
    page.locator('[name="x-side-1/battle"]').fill("40")
    shape = page.locator('[data-of="side-1/battle"] > svg')
    expect(shape).to_have_attribute("x", "40%")

    page.locator('[data-zone="side-1/battle"]').get_by_role("button", name="Clear").click()
    expect(shape).to_be_hidden()
    assert numbers(page, "side-1/battle") == []


def test_zones_are_drawn_without_scripts(opened, zones, url):
    page = opened(url + "/camera/zones?suggest=1", java_script_enabled=False)
    page.locator('[data-zone="side-1/battle"] label').first.click()
    page.locator('[name="h-side-1/battle"]').fill("17")

    page.get_by_role("button", name="Save these zones").click()

    expect(page.get_by_text("Zones saved.")).to_be_visible()
    top, bottom = (zones.current.zones[0].corners[corner][1] for corner in (0, 2))
    assert bottom - top == pytest.approx(0.17 * 1080)


def test_drawing_by_finger_does_not_scroll_the_page(opened, url):
    page = opened(url + "/camera/zones", has_touch=True, is_mobile=True)
    session = page.context.new_cdp_session(page)

    for kind, place in (("touchStart", (10, 30)), ("touchMove", (25, 70)), ("touchEnd", None)):
        x, y = at(page, *place) if place else (0, 0)
        points = [{"x": x, "y": y}] if place else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    expect(page.locator('input[value="side-1/speed"]')).to_be_checked()
    assert numbers(page, "side-1/battle") == pytest.approx([10, 30, 15, 40], abs=0.8)
    assert page.evaluate("scrollY") == 0


HOW_LONG_IT_WAITS = """window.waits = [];
const later = window.setTimeout;
window.setTimeout = (act, ms) => {
  if (new Error().stack.includes("camera.js")) waits.push(ms);
  return later(act, ms);
};
"""


def test_the_picture_updates_at_most_twice_a_second(opened, url):
    page = opened(url + "/camera")
    page.add_init_script(HOW_LONG_IT_WAITS)

    with page.expect_request("**/camera.jpg?*"):
        page.reload()
    with page.expect_request("**/camera.jpg?*"):
        pass

    assert set(page.evaluate("waits")) == {500}


def test_the_measurements_update_automatically(opened, match, url):
    page = opened(url + "/camera")
    page.clock.install()
    page.reload()

    match.trouble("The light has changed.")
    page.clock.run_for(3100)

    expect(page.get_by_text("The light has changed.")).to_be_visible()
    expect(page.locator("#outlines polygon")).to_have_count(10)
