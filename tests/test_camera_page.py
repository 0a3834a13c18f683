"""The camera page: what it reports about the picture, and zones drawn on it."""

import re
from dataclasses import replace

import pytest
from client import SECRET, tap, text_of
from evening import Evening
from sheet import scenes

from companion.common.text import Term, say
from companion.pages import Camera, create_app, words
from companion.pages.table_camera import camera_settings, zone_form
from companion.pages.table_camera.camera import sights
from companion.pages.table_camera.camera_settings import OtherCameras
from companion.pages.table_camera.zone_form import Called
from companion.pages.words import Names
from companion.rules.record.judge import Game
from companion.rules.table import Team
from companion.tabletop import translation
from companion.tabletop.drawn_zones import DrawnZones, parse_drawing
from companion.vision.quality.advice import Advice, Tip
from companion.vision.quality.live_survey import Survey
from companion.vision.quality.measure import ZoneSight
from companion.vision.quality.verdict import light, sharpness

MATS = {"side-1": "Ann", "side-2": "Bob"}
CALLED = Called(Names({}, {"Ann": ("Ann",), "Bob": ("Bob",)}), MATS)
SQUARE = ((100.0, 100.0), (300.0, 100.0), (300.0, 500.0), (100.0, 500.0))
FAR_ZONE = Term("side-2/distance", "zone", "side-2/distance")
CLOSER = say("Move the camera 20 cm closer: stickers in %(zone)s look too small.", zone=FAR_ZONE)


def zone(name: str, **changes: object) -> ZoneSight:
    usual = {"px_per_mm": (1.62, 1.78), "blur_px": 0.7, "white": 200.0, "contrast": 160.0, "saturated": 0.0}
    rest = {"dark": 0.0, "smallest_mm": 18.0, "good": True}
    return ZoneSight(name, **(usual | rest | changes))


def survey(*zones: ZoneSight, hints: tuple[Tip, ...] = (), drawn: tuple[str, ...] = ()) -> Survey:
    advice = Advice((1000, 600), 20.0, zones, hints, 104, 12)
    printed = {zone.zone: SQUARE for zone in zones if zone.zone not in drawn}
    return Survey(advice, printed, dict.fromkeys(drawn, SQUARE))


@pytest.fixture
def zones(tmp_path):
    return DrawnZones(tmp_path)


def app_of(match, seen: Survey | None = None, zones: DrawnZones | None = None, **more: object):
    looks = Camera(lambda: b"a picture", survey=lambda: seen, zones=zones, **more)
    return create_app(match, secret=SECRET, camera=looks)


@pytest.fixture
def page(begun, zones):
    return app_of(begun, survey(zone("side-1/battle")), zones).test_client()


# --- What it reports -------------------------------------------------------------------------------------------


BOXES = {
    "side-1/battle": (10, 60, 10, 20),
    "side-1/distance": (30, 60, 30, 20),
    "side-2/battle": (10, 10, 10, 20),
    "side-2/distance": (30, 10, 30, 20.5),
}

ANNS = {name: box for name, box in BOXES.items() if "1" in name}


def typed(boxes: dict[str, tuple[float, ...]], **more: str) -> dict[str, str]:
    numbers = {f"{letter}-{name}": str(n) for name, box in boxes.items() for letter, n in zip("xywh", box, strict=True)}
    return {"picture": "1000x600", **numbers, **more}


DRAWN = {
    "both": BOXES,
    "Ann": ANNS,
    "half": {"side-1/battle": BOXES["side-1/battle"]},
    "piles": {"table/draw": (40, 40, 8, 18), "table/discard": (50, 40, 8, 18)},
}


class Drawing(Evening):
    """An evening on which players draw zones, by their names in `DRAWN`: `machine draws Ann -> /camera`."""

    def do(self, step: str) -> None:
        who, draws, what = step.partition(" draws ")
        if draws:
            drawn = what.split()[0]
            fields = " & ".join(f"{field}={value}" for field, value in typed(DRAWN[drawn]).items())
            step = f"{who} taps /camera/zones {fields}{what.removeprefix(drawn)}"
        super().do(step)


IS_FAR = Tip("closer", CLOSER, (), needed=True)
IS_SOFT = Tip("blurred", say("Clean or focus the lens: edges are blurred over %(px)s px.", px=3.4))
IS_LIT = Tip("glare", "Turn the lamp: it blots out 7 % of side-1/battle.", ("side-1/battle",), needed=True)
SURVEYS = {
    "battle": survey(zone("side-1/battle")),
    "soft": survey(zone("side-1/battle", blur_px=1.2), hints=(IS_SOFT,)),
    "far": survey(zone("side-2/distance", good=False), hints=(IS_FAR,)),
    "no-mats": survey(hints=(Tip("no-mats", "No mat found: lay them flat.", (), needed=True),)),
    "cleared": survey(zone("side-1/battle"), zone("side-2/speed"), drawn=("side-1/battle",)),
    "lit": survey(*map(zone, BOXES), hints=(IS_LIT,), drawn=tuple(BOXES)),
    "bare": survey(),
    "last": replace(survey(), is_last=True),
    "bobs-mat": survey(zone("side-2/battle")),
}
EVENINGS = """
a zone is told with its scale, sharpness, light and smallest sticker [battle]
    machine at /camera | Ann 1 Battle pile 1.6–1.8 px/mm · sharp · good light 18 mm or larger
    machine reads | All good: every zone can be read. | 1000 × 600 pixels · about 104 cm away · tilt 12°
numbers are written as the language writes them [soft]
    machine taps /phone language=fr; machine at /camera | 1,6–1,8 px/mm · un peu flou (1,2 px)
    machine reads | les bords font 3,4 px
a drawn table gets no advice about lenses [far; simulated]
    machine at /camera | This table is simulated. | not closer
what to do is said with the names of the table [far]
    machine at /camera | Move the camera 20 cm closer: stickers in Bob’s distance area look too small.
zones are outlined on the picture and numbered as in the list [battle]
    machine at /camera | markup <polygon class="good" points="100,100 300,100 300,500 100,500"/>
    machine reads | markup <text class="number" x="20.0%" y="50.0%">1</text>
the camera page of a page that asks again is a part [battle]
    machine polls /camera; machine reads | markup id="figures" | not markup <html
what is needed is said once [no-mats]
    trouble No mat found: lay the printed mats.
    machine at /camera | No mat found: lay them flat. | not lay the printed mats.
without a picture the page says so
    trouble No camera found. Enter plays by hand, or plug in a camera: it is used at once.
    machine at /camera | or plug in a camera: it is used at once. There is no current picture.
a stranger sees neither picture nor figures [battle]
    eve at /camera | not markup camera.jpg | not px/mm; eve at /camera/zones | What the camera sees
the camera page is found under More
    machine at /more | markup href="/camera"
printed mats stay listed when the drawn zones beside them are cleared [cleared]
    machine at /camera | Speed pile | not Battle pile | not No mat found
where none can be drawn there is no form [no-zones]
    machine at /camera | not markup /camera/zones; machine at /camera/zones -> 404

# --- Zones without mats

one zone is cleared without any script and nothing kept yet [battle]
    machine draws both & clear=side-1/battle -> 200; machine reads | markup name="x-side-1/battle" value=""
    machine reads | markup name="x-side-2/battle" value="10"; machine at /camera | No mats? Draw the zones
zones that were cleared are not listed although no picture came since [lit]
    machine draws both; machine at /camera | Battle pile; machine taps /camera/zones/forget
    machine at /camera | Drawn zones removed. The printed mats are used again. | No mat found
    machine reads | not Battle pile | not it blots out | No mats? Draw the zones
a drawing that is kept before a match for two sides and lacks one says so [fresh; bare]
    machine draws Ann -> /camera/zones; machine at /camera/zones | Saved, but not complete yet.
    machine reads | No zones for Side 2: draw them, or put down the printed mat.
    machine reads | Still to be drawn: 5 Side 2: battle pile · 8 Side 2: distance area.
    machine at /camera | No zones for Side 2: draw them, or put down the printed mat. | Change the drawn zones
a side whose mat is seen needs no zones [bobs-mat]
    machine draws Ann -> /camera; machine at /camera | not Without zones | Change the drawn zones
half a side is not kept even before a match [fresh]
    machine draws half -> 400; machine reads | Still to be drawn: 4 Side 1: distance area
    machine at /camera | No mats? Draw the zones
the table alone may be drawn where sides have mats [battle]
    machine draws piles; machine at /camera | Change the drawn zones
    machine at /camera/zones | not Still to be drawn | markup name="x-table/draw" value="40.0"
drawn zones count from the next picture on [bare]
    machine draws both; machine at /camera | They are used from the next picture on.
drawn zones count as soon as there are pictures
    machine draws both; machine at /camera | They are used as soon as the camera sends pictures.
drawn zones count from the next start on where the pictures are over [last]
    machine draws both; machine at /camera | The recording has ended: they are used when the companion restarts

# --- Several cameras

the host adds a camera and leaves it out again [battle]
    machine at /camera | /dev/video2 Address of the network camera Add another camera
    machine taps /camera/others device=/dev/video2 & address=; machine at /camera | Remove camera 2: /dev/video2
    machine taps /camera/others without=0; machine at /camera | /dev/video2 Address | not Remove camera 2
the password of a network camera is not shown [battle]
    machine taps /camera/others device=/dev/video2 & address=http://ann:secret@192.168.1.30/video
    machine at /camera | Remove camera 2: http://192.168.1.30 | not markup secret
what is no camera is told in a sentence [battle]
    machine taps /camera/others address=/etc/passwd
    machine at /camera | “/etc/passwd” is not a camera that can be added: choose one | not Remove camera 2
cameras that were named at the start are not changed on the page [named]
    machine taps /camera/others without=0 -> 404; machine at /camera | not Add another camera
zones are drawn for one camera alone [battle]
    machine at /camera | No mats? Draw the zones; machine taps /camera/others device=/dev/video2
    machine at /camera | not No mats? Draw the zones; machine at /camera/zones | What the camera sees
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(match, zones, tmp_path, monkeypatch, setting, rows):
    monkeypatch.setattr(camera_settings, "video_devices", lambda: ["/dev/video2"])
    words = setting.split("; ")
    app = app_of(
        match,
        next((seen for name, seen in SURVEYS.items() if name in words), None),
        None if "no-zones" in words else zones,
        is_simulated="simulated" in words,
        others=OtherCameras(tmp_path, ["/dev/video2"] if "named" in words else None),
    )
    Drawing(app, match, setting).play(rows)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "good light"), ({"saturated": 0.09, "glare": 0.07}, "glare on 7%"), ({"saturated": 0.3}, "good light"),
        ({"white": 60.0}, "too dark"), ({"contrast": 40.0}, "little contrast"),
    ],
)  # fmt: skip
def test_the_light_on_a_zone_is_described(changes, said):
    assert light(zone("side-1/battle", **changes)) == said


@pytest.mark.parametrize(
    ("blur_px", "said"), [(None, None), (0.6, "sharp"), (1.1, "a little soft (1.1 px)"), (2.0, "blurred (2.0 px)")]
)
def test_the_sharpness_of_a_zone_is_described(blur_px, said):
    assert sharpness(zone("side-1/battle", blur_px=blur_px)) == said


def test_a_drawn_zone_is_shown_as_drawn_without_scale():
    name = "side-1/battle"
    unknown = zone(name, px_per_mm=None, smallest_mm=None, good=None, white=60.0, shows_paper=False)
    shown = sights(survey(unknown, drawn=(name,)), CALLED)

    assert shown["outlines"][0]["is_drawn"]
    assert shown["mats"][0]["zones"][0]["stickers"] == "drawn"
    assert shown["mats"][0]["zones"][0]["facts"] == ["sharp"]
    assert (shown["is_measured"], shown["outlines"][0]["is_good"]) == (False, True)


def test_the_page_says_if_only_cards_give_the_scale():
    name = "side-1/battle"
    shown = sights(survey(zone(name, is_guessed=True, blur_px=1.2), drawn=(name,)), CALLED)

    assert shown["mats"][0]["zones"][0]["facts"][:2] == ["about 1.6–1.8 px/mm", "a little soft (1.2 px)"]
    assert shown["all_well"].endswith("this assumes stickers 20 mm wide.")
    assert "sharp" not in shown["all_well"]


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (("the zone 'side-1/battle'", "zone", "side-1/battle"), "Look at Ann’s battle pile."),
        (("the mat of side 2", "mat", "side-2"), "Look at Bob’s mat."),
        (("the mat of the table's middle", "mat", "table"), "Look at the mat in the middle of the table."),
        (("side-1", "side", "side-1"), "Look at Ann."),
        (("table", "side", "table"), "Look at the middle of the table."),
        (("table/discard", "zone", "table/discard"), "Look at the discard pile."),
        (("the mat of side 7", "mat", "side-7"), "Look at Side 7’s mat."),
    ],
)
def test_sentences_name_mats_and_zones_like_the_table(thing, said):
    words.speak_of(Game(teams=(Team("Ann", ("Ann",)), Team("Bob", ("Bob",)))), MATS)
    shown = words.said(say("Look at %(thing)s.", thing=Term(*thing)))
    translation.speak_of(None)

    assert shown == said


# --- Zones without mats --------------------------------------------------------------------------------------


def send(client, data: dict[str, str]):
    return tap(client, "/camera/zones", **data)


def test_the_form_lists_only_the_zones_of_the_match(page):
    shown = page.get("/camera/zones").text

    names = re.findall(r'data-zone="([^"]+)"', shown)
    assert names[:4] == ["side-1/battle", "side-1/speed", "side-1/safety", "side-1/distance"]
    assert names[8:] == ["table/draw", "table/discard"]
    assert len(names) == 10


def test_saved_zones_are_used_stored_and_shown_again(page, zones, tmp_path):
    answer = send(page, typed(BOXES, **{"seat-side-2": "top"}) | {"x-side-1/battle": "10,5"})
    shown = page.get("/camera/zones").text

    assert answer.location == "/camera"
    assert zones.current.picture == (1000, 600)
    kept = {zone.name: zone for zone in zones.current.zones}
    assert kept["side-1/battle"].corners == ((105, 360), (205, 360), (205, 480), (105, 480))
    assert str(kept["side-2/battle"].seat) == "top"
    assert DrawnZones(tmp_path).current == zones.current
    assert 'name="h-side-2/distance" value="20.5"' in shown
    assert '<option value="top" selected>' in shown


@pytest.mark.parametrize("seat", ["bottom", "left"])
def test_a_seat_is_saved_before_any_of_its_zones_is_drawn(begun, zones, tmp_path, seat):
    send(app_of(begun, zones=zones).test_client(), typed(ANNS, **{"seat-side-1": "top", "seat-side-2": seat}))

    again = app_of(begun, zones=DrawnZones(tmp_path)).test_client().get("/camera/zones").text

    chosen = re.findall(r'(?s)<select name="seat-([^"]+)">.*?value="(\w+)" selected', again)
    assert chosen == [("side-1", "top"), ("side-2", seat)]


def test_only_a_few_of_many_missing_zones_are_named():
    called = Called(Names({}, {"Ann": ("Ann",), "Bob": ("Bob",), "Cid": ("Cid",)}), MATS | {"side-3": "Cid"})
    zones = [f"side-{side}/{zone}" for side in (1, 2, 3) for zone in ("battle", "distance")]

    assert zone_form.still_to_draw(zones[2:], called).endswith("· 9 Cid: battle pile · 12 Cid: distance area.")
    assert zone_form.still_to_draw(zones, called).endswith("· 8 Bob: distance area · …")


@pytest.mark.parametrize(
    ("boxes", "says"),
    [
        ({}, "No zone is drawn yet: choose a zone, then draw it on the picture."),
        ({**BOXES, "side-1/speed": (12, 62, 10, 20)}, "overlap"),
        ({**BOXES, "side-1/speed": (95, 62, 10, 20)}, "is outside the picture"),
        (
            {**BOXES, "side-1/speed": (5, 62, "", 20)},
            "Ann: speed pile: left, top, width and height must be from 0 to 100",
        ),
        (
            {**BOXES, "side-1/speed": ("nan", 1, 1, 1)},
            "Ann: speed pile: left, top, width and height must be from 0 to 100",
        ),
        ({**BOXES, "side-1/speed": (5, 62, 0.1, 20)}, "Ann’s speed pile"),
        (
            {"side-1/battle": (10, 60, 10, 20)},
            "Still to be drawn: 4 Ann: distance area · 5 Bob: battle pile · 8 Bob: distance area.",
        ),
    ],
)
def test_an_impossible_drawing_is_refused_and_stays_in_the_form(page, zones, boxes, says):
    answer = send(page, typed(boxes))

    assert answer.status_code == 400
    assert says in text_of(answer)
    assert zones.current is None
    assert 'role="alert"' in answer.text


def test_clearing_all_zones_takes_two_taps_apart_from_the_other_buttons(page):
    assert "/camera/zones/forget" not in page.get("/camera/zones").text
    send(page, typed(BOXES))

    shown = page.get("/camera/zones").text

    asked = re.search(r"(?s)<details><summary>Clear all zones</summary>(.*?)</details>", shown)
    assert asked is not None
    assert 'action="/camera/zones/forget"' in asked[1]
    assert shown.count("/camera/zones/forget") == 1
    assert shown.index("Suggest zones for all") < asked.start()


def test_zones_of_the_setup_file_are_shown_read_only(begun):
    given = parse_drawing(zone_form.drawing_of(typed(BOXES), CALLED).as_json())
    zones = DrawnZones(None, given)
    client = app_of(begun, zones=zones).test_client()

    send(client, typed({**BOXES, "side-1/battle": (1, 60, 10, 20)}))

    assert zones.current == given
    assert "These zones come from the setup file. Change them there." in text_of(client.get("/camera/zones"))


@pytest.mark.parametrize("sides", range(2, 9))
def test_the_suggested_zones_can_be_saved(sides):
    mats = {f"side-{number}": f"P{number}" for number in range(1, sides + 1)}
    called = Called(Names({}, {}), mats)

    drawn = zone_form.drawing_of({"picture": "1920x1080"} | zone_form.suggested(mats), called)

    assert len(drawn.zones) == 4 * sides + 2


def test_zones_keep_their_numbers_if_some_are_not_visible():
    seen = survey(zone("side-2/distance"), zone("table/draw"), zone("side-5/battle"))

    shown = sights(seen, CALLED)

    assert [outline["number"] for outline in shown["outlines"]] == [8, 9, 11]
    assert [figures["number"] for mat in shown["mats"] for figures in mat["zones"]] == [8, 9, 11]
