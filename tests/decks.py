"""Draw decks for tests: as different as editions are, with the difficulties of real ones.

`face("vintage", "roll")` is an upright face as printed, `(H, W, 3) uint8 BGR`. Every style has the faces of every
edition.
"""

import zlib
from collections.abc import Callable
from functools import cache

import cv2
import numpy as np

from companion.printing import render
from companion.printing import svg as draw
from companion.printing.pictograms import drawing
from companion.printing.printed_words import card_word
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import load_edition

BACK = "back"
CARD_MM = (57.0, 88.0)
OLDER_CARD_MM = (60.0, 90.0)
CORNER_MM = 3.2
"""Radius of a card's corners."""

CLASSIC = tuple(card.value for card in load_edition("classic").deck)


def face(style: str, slug: str, px_per_mm: float = 8) -> np.ndarray:
    """Return a face; read-only. Raises KeyError for an unknown style, ValueError for an unknown face."""
    return _printed(style, Card(slug).value, float(px_per_mm))


def back(style: str, px_per_mm: float = 8) -> np.ndarray:
    """Return the back of a deck's cards, like `face`."""
    return _printed(style, BACK, float(px_per_mm))


def size_mm(style: str) -> tuple[float, float]:
    """Return the size of a deck's cards; the default is our own."""
    return OLDER_CARD_MM if style == "old" else CARD_MM


@cache
def _printed(style: str, slug: str, px_per_mm: float) -> np.ndarray:
    """Return a face drawn at 8 px/mm and resized, so that noise and wear are the same at every size."""
    if px_per_mm != _PX_PER_MM:
        size = tuple(round(side * px_per_mm) for side in size_mm(style))
        way = cv2.INTER_AREA if px_per_mm < _PX_PER_MM else cv2.INTER_CUBIC
        image = cv2.resize(_printed(style, slug, _PX_PER_MM), size, interpolation=way)
    elif slug == BACK:
        image = _BACKS[style]()
    else:
        image = _FACES[style](Card(slug))
    image.flags.writeable = False
    return image


# --- Tools ----------------------------------------------------------------------------------------------------

_PX_PER_MM = 8.0
_W, _H = CARD_MM
_X, _Y = _W / 2, _H / 2
LIGHTS, LIMITS = (Card.STOP, Card.ROLL), (Card.SPEED_LIMIT, Card.END_OF_LIMIT)
Colours = dict[Family, str]


def _seeded(*words: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(" ".join(map(str, words)).encode()))


def _image(body: list[str], size: tuple[float, float] = CARD_MM) -> np.ndarray:
    return render.to_image(draw.document(*size, body), _PX_PER_MM)


def _ground(colour: str, size: tuple[float, float] = CARD_MM) -> str:
    return draw.rect(0, 0, *size, draw.paint(colour))


def _sign(card: Card, ink: str, ground: str, x: float, y: float, scale: float, turn: float = 0.0) -> str:
    """Return a pictogram in two tones around (x, y), 60 · scale wide; a distance is a car."""
    if card in LIMITS:
        shapes = [limit_sign(card, ring=ink, paper=ground, ink=ink, x=0, y=0, scale=1)]
    else:
        shapes = _roadster(ink, ground) if card.family is Family.DISTANCE else drawing(card, ink, ground)
    return draw.group(shapes, x=x, y=y, scale=scale, turn=turn).replace(draw.YELLOW, ground)


def _word(card: Card, language: str = "fr") -> str:
    return card_word(card, language).upper()


def _twice(body: list[str], size: tuple[float, float] = CARD_MM) -> list[str]:
    """Return the body, and a copy upside down at the opposite end."""
    return [*body, draw.group(body, x=size[0], y=size[1], turn=180)]


def _roadster(ink: str, ground: str) -> list[str]:
    """Draw an open car with a long hood, 60 wide."""
    body = "M-30 6C-31 -4 -24 -7 -14 -8L-8 -8L-5 -1L4 -1L9 -7C20 -7 29 -5 30 6Z"
    return [
        draw.path(body, draw.paint(ink, ink, 2, join="round")),
        draw.line(7, -6, 2, -14, draw.paint("none", ink, 2)),
        *(draw.circle(x, 7, 8, draw.paint(ink, ground, 2)) for x in (-19, 19)),
        *(draw.circle(x, 7, 3, draw.paint(ground)) for x in (-19, 19)),
    ]


def _traffic_light(card: Card, *, box: str, off: str, y: float, scale: float) -> str:
    """Draw Stop or Roll: the same box with two lamps, one of them lit."""
    red, green = ("#D22B1F", off) if card is Card.STOP else (off, "#1E9B4B")
    light = [
        draw.rect(-4, 26, 8, 40, draw.paint(box)),
        draw.rect(-15, -34, 30, 62, draw.paint(box), radius=6),
        draw.circle(0, -17, 11, draw.paint(red)),
        draw.circle(0, 11, 11, draw.paint(green)),
    ]
    return draw.group(light, x=_X, y=y, scale=scale)


def limit_sign(card: Card, *, ring: str, paper: str, ink: str, x: float, y: float, scale: float) -> str:
    """Draw Speed Limit or its end: the same disc and number, with a stroke across for the end."""
    disc = [
        draw.circle(0, 0, 30, draw.paint(paper, ring, 7)),
        draw.fitted("50", 0, 0, 36, 40, fill=ink),
        *([draw.line(-23, 23, 23, -23, draw.paint("none", ink, 5))] if card is Card.END_OF_LIMIT else []),
    ]
    return draw.group(disc, x=x, y=y, scale=scale)


def octaves(rng: np.random.Generator, size: tuple[int, int], first: int, last: int, fade: float) -> np.ndarray:
    """Return noise at every scale, `(H, W, 3) float32`, with a standard deviation of about 1."""
    field = np.zeros((size[1], size[0], 3), np.float32)
    for octave in range(first, last):
        coarse = rng.normal(0, 1, (2**octave + 2, 2**octave, 3)).astype(np.float32)
        field += cv2.resize(coarse, size, interpolation=cv2.INTER_CUBIC) * fade ** (octave - first)
    return field / max(1e-6, float(field.std()))


def _clipped(image: np.ndarray) -> np.ndarray:
    return np.clip(image, 0, 255).astype(np.uint8)


# --- vintage: white, framed, flat drawings that faces share ----------------------------------------------------

_VINTAGE: Colours = {Family.HAZARD: "#B5302A", Family.REMEDY: "#2E7D4A", Family.SAFETY: "#2C5C9A",
                     Family.DISTANCE: "#3A3A3A", Family.SPECIAL: "#6B4A86"}  # fmt: skip


def _vintage(card: Card) -> np.ndarray:
    colour = _VINTAGE[card.family]
    distance = card.family is Family.DISTANCE
    title = draw.fitted(card.value if distance else _word(card), _X, 76.5, 17 if distance else 7.5, 36, fill=colour)
    corner = [draw.fitted(card.value if distance else _word(card)[0], 9.2, 8.6, 5.5, 9, fill=colour)]
    picture = draw.window(_vintage_picture(card), 6.5, 13, _W - 13, 54)
    frame = draw.rect(4.6, 4.4, _W - 9.2, _H - 8.8, draw.paint("none", colour, 0.5), radius=2)
    inner = draw.rect(6.5, 13, _W - 13, 54, draw.paint("none", "#3A3A3A", 0.35))
    corners = _twice(corner) if not distance else [*corner, draw.group(corner, x=_W - 18.4)]
    return _image([_ground("#FDFCF8"), frame, picture, inner, title, *corners])


def _vintage_picture(card: Card) -> list[str]:
    if card.family is Family.DISTANCE:
        return _milestone_by_the_road()
    sky = {Family.HAZARD: "#F3DCC4", Family.REMEDY: "#DCEBD8", Family.SAFETY: "#D5E3F1"}.get(card.family, "#E8DFF0")
    ground = [draw.rect(0, 0, _W, _H, draw.paint(sky)), draw.rect(0, 57, _W, 20, draw.paint("#B9AE93"))]
    if card in LIGHTS:
        return [*ground, _traffic_light(card, box="#2A2A2A", off="#55524C", y=37, scale=0.55)]
    if card in LIMITS:
        post = draw.rect(_X - 1.2, 40, 2.4, 22, draw.paint("#6A6A6A"))
        return [*ground, post, limit_sign(card, ring="#B5302A", paper="#FFFFFF", ink="#222222", x=_X, y=36, scale=0.5)]
    return [*ground, _sign(card, "#33312E", sky, _X, 40, 0.56)]


def _milestone_by_the_road() -> list[str]:
    """Draw the picture that all distances share: a stone, a road to the horizon, hills, poplars."""
    hills = "M0 44C10 34 18 36 26 41C34 33 46 31 60 42L60 50L0 50Z"
    trees = [draw.path(f"M{x} 48L{x} 34C{x - 2.5} 38 {x - 2.5} 44 {x} 48Z", draw.paint("#4E6B3A", "#4E6B3A", 2))
             for x in (10, 15, 21)]  # fmt: skip
    stone = "M31 62L31 45C31 36 47 36 47 45L47 62Z"
    return [
        _ground("#CFE0E6"),
        draw.circle(43, 22, 5.5, draw.paint("#F0C75A")),
        draw.path(hills, draw.paint("#8FA871")),
        draw.rect(0, 47, _W, 30, draw.paint("#A9BD7C")),
        draw.path("M4 70L26 70L27.5 47L26.5 47Z", draw.paint("#D9D2C3")),
        *trees,
        draw.path(stone, draw.paint("#F4F1E8", "#3A3A3A", 0.8)),
        draw.path("M31 47L31 45C31 36 47 36 47 45L47 47Z", draw.paint("#C9463A", "#3A3A3A", 0.8)),
        draw.line(34, 53, 44, 53, draw.paint("none", "#3A3A3A", 0.8)),
        draw.line(35, 56.5, 43, 56.5, draw.paint("none", "#3A3A3A", 0.8)),
    ]


def _vintage_back() -> np.ndarray:
    lines = [draw.line(-60 + 4 * i, 0, 28 + 4 * i, 88, draw.paint("none", "#2C5C9A", 0.7)) for i in range(30)]
    other = [draw.line(117 - 4 * i, 0, 29 - 4 * i, 88, draw.paint("none", "#2C5C9A", 0.7)) for i in range(30)]
    badge = [draw.circle(_X, _Y, 13, draw.paint("#FDFCF8", "#2C5C9A", 1.2)), _sign(Card.KM_25, "#2C5C9A", "#FDFCF8",
             _X, _Y, 0.34)]  # fmt: skip
    return _image([_ground("#FDFCF8"), draw.window([*lines, *other], 5, 5, _W - 10, _H - 10), *badge])


# --- painted: busy from edge to edge, the word in a small banner ----------------------------------------------


def _painted(card: Card) -> np.ndarray:
    image = _painting(f"painted {card.value}", _PALETTES[card.family])
    image = _brushed_on(image, card)
    text = f"{card.value} KM" if card.family is Family.DISTANCE else _word(card, "en")
    banner = [draw.rect(0, 0, 30, 7.5, draw.paint("#F2EBD9", "#4A3A28", 0.5)), draw.fitted(text, 15, 3.75, 6, 27)]
    plate = render.to_image(draw.document(30, 7.5, banner), _PX_PER_MM)
    top, left = round(75.5 * _PX_PER_MM), round((_X - 15) * _PX_PER_MM)
    image[top : top + plate.shape[0], left : left + plate.shape[1]] = plate
    return image


_PALETTES = {Family.HAZARD: (70, 95, 150), Family.REMEDY: (120, 150, 135), Family.SAFETY: (175, 150, 115),
             Family.DISTANCE: (130, 170, 190), Family.SPECIAL: (150, 115, 140)}  # fmt: skip


def _painting(name: str, tone: tuple[int, int, int]) -> np.ndarray:
    """Return an oil landscape: sky and land in different tones, hard-edged patches, brush strokes."""
    rng = _seeded(name)
    size = (round(_W * _PX_PER_MM), round(_H * _PX_PER_MM))
    field = octaves(rng, size, 1, 7, 0.75)
    field = 0.3 * field + field.mean(2, keepdims=True)
    field = np.where(field > rng.uniform(-0.4, 0.4), field, 0.5 * field[::-1] - 0.6)
    rise = np.linspace(60, -45, size[1], dtype=np.float32)[:, None, None]
    horizon = size[1] * rng.uniform(0.35, 0.55) + 40 * np.sin(np.arange(size[0]) / rng.uniform(40, 90))
    land = (np.arange(size[1])[:, None] > horizon[None, :])[..., None]
    colour = np.array(tone, np.float32) * rng.uniform(0.85, 1.15, 3)
    base = np.where(land, (colour + rng.permutation((20, 60, 45))) * 0.62, colour + rise)
    return cv2.medianBlur(_clipped(base + 26 * field), 7)


def _brushed_on(image: np.ndarray, card: Card) -> np.ndarray:
    """Paint the card's object into the picture: two tones, ragged edges, a shadow on the land."""
    rng = _seeded("painted", card.value, "thing")
    distance = card.family is Family.DISTANCE
    shape = draw.fitted(card.value, 0, 0, 60, 62, fill="#000000") if distance else _sign(card, "#000", "#888", 0, 0, 1)
    turn, scale = (0.0, 0.62) if distance else (rng.uniform(-8, 8), 0.66)
    mask = _image([draw.group([shape], x=_X, y=40 + rng.uniform(-5, 5), scale=scale, turn=turn)])[..., 0]
    ragged = cv2.GaussianBlur(octaves(rng, mask.shape[::-1], 5, 8, 1.0), (0, 0), 1.2)
    y, x = np.mgrid[0 : mask.shape[0], 0 : mask.shape[1]].astype(np.float32)
    torn = cv2.remap(mask, x + 3.5 * ragged[..., 0], y + 3.5 * ragged[..., 1], cv2.INTER_LINEAR, borderValue=255)
    cover = cv2.GaussianBlur(255 - torn, (0, 0), 1.5).astype(np.float32)[..., None] / 255
    shadow = np.roll(cv2.GaussianBlur(cover, (0, 0), 9), (14, 18), (0, 1))[..., None]
    paint = np.array(rng.choice(((225, 232, 238), (60, 190, 235), (40, 40, 46), (70, 70, 200))), np.float32)
    canvas = image * (1 - 0.5 * shadow)
    return _clipped(canvas * (1 - cover) + (paint + 16 * ragged) * cover)


def _painted_back() -> np.ndarray:
    image = _painting("painted back", (60, 55, 40))
    return _clipped(image * 0.5 + 0.5 * image[::-1, ::-1])


# --- scenes: a street full of small things, all different; the card's name is small at the bottom ---------------------

_WALLS = ("#D9A441", "#B8573D", "#E9DCC2", "#7C9AAE", "#C9C06B", "#A8B89A", "#8E6C88", "#D8887A")


def _scenes(card: Card) -> np.ndarray:
    """Draw a random street of houses, trees and cars; distances differ in the number only."""
    rng = _seeded("scenes", card.family if card.family is Family.DISTANCE else card.value)
    sky, walk = str(rng.choice(("#BFDDF0", "#F6D9B5", "#D6D3E6", "#8FB3CF", "#F3EBD3"))), "#8C8A86"
    houses = [_house(rng, x) for x in np.arange(-4, 58, 11) + rng.uniform(-2, 2, 6)]
    lanes = [draw.rect(x, 59, 7, 1.2, draw.paint("#F2EFE6")) for x in range(-3, 60, 12)]
    cars = [_sign(Card.KM_25, str(rng.choice(_WALLS)), "#2B2B2B", rng.uniform(6, 51), y, 0.3) for y in (53, 66)]
    trees = [f for x in rng.uniform(2, 55, 3) for f in _tree(rng, float(x))]
    text, size = (card.value, 15) if card.family is Family.DISTANCE else (card_word(card, "pl"), 9)
    plate = [draw.rect(0, 72, _W, 16, draw.paint("#FBF8F0")), draw.fitted(text, _X, 80, size, 50, weight=600)]
    street = [draw.rect(0, 48, _W, 26, draw.paint("#5E5C5A")), draw.rect(0, 45, _W, 4, draw.paint(walk)), *lanes]
    corner = [draw.rect(-1, -1, 11, 8, draw.paint("#FBF8F0"), radius=1.5), draw.fitted(card.value, 4.7, 3.5, 5, 8)]
    corners = _twice(corner) if card.family is Family.DISTANCE else []
    return _image([_ground(sky), *houses, *street, *trees, *cars, *plate, *corners])


def _house(rng: np.random.Generator, x: float) -> str:
    height, wall = rng.uniform(16, 36), str(rng.choice(_WALLS))
    top = 46 - height
    roof = draw.polygon([(x - 1, top), (x + 5.5, top - rng.uniform(3, 9)), (x + 12, top)], draw.paint("#6E4038"))
    windows = [draw.rect(x + 1.6 + 3.2 * i, top + 2 + 5 * j, 1.9, 3, draw.paint("#3B4A57" if rng.random() < 0.7
               else "#F5E2A0")) for i in range(3) for j in range(int(height // 5.2))]  # fmt: skip
    return "".join([draw.rect(x, top, 11, height, draw.paint(wall)), roof, *windows])


def _tree(rng: np.random.Generator, x: float) -> list[str]:
    green = str(rng.choice(("#4F7A3A", "#6F9440", "#3C5F3F", "#B5803A")))
    return [draw.rect(x - 0.6, 38, 1.2, 9, draw.paint("#5A4632")),
            *(draw.circle(x + dx, 36 + dy, 3.6, draw.paint(green)) for dx, dy in rng.normal(0, 2, (4, 2)))]  # fmt: skip


def _scenes_back() -> np.ndarray:
    bricks = [draw.rect(9.5 * x - 4.75 * (y % 2), 4.4 * y, 9, 3.9, draw.paint("#B8573D")) for x in range(8)
              for y in range(20)]  # fmt: skip
    return _image([_ground("#E9DCC2"), *bricks, draw.circle(_X, _Y, 12, draw.paint("#E9DCC2", "#2B2B2B", 1))])


# --- dark: thin bright lines on black --------------------------------------------------------------------------


def _dark(card: Card) -> np.ndarray:
    distance = card.family is Family.DISTANCE
    lines = _dark_road() if distance else [_sign(card, "#000", "#FFF", _X, 40, 0.6)]
    image = _on_night(_image([_ground("#FFF"), *lines]), 0.55 if distance else 0.5)
    title = card.value if distance else _word(card, "en")
    words = [draw.fitted(title, _X, 73, 24 if distance else 7, 44, weight=600, fill="#000")]
    words += _twice([draw.fitted(title, 9, 7, 5, 11, weight=600, fill="#000")])
    ink = _image([_ground("#FFF"), *words])
    return _clipped(image + (255 - ink[..., :1]) / 255.0 * (np.array(_GOLD, np.float32) - image))


_GOLD = (120, 190, 225)


def _on_night(drawing: np.ndarray, width_mm: float) -> np.ndarray:
    """Draw only the outlines, slightly glowing."""
    thick = max(3, round(width_mm * _PX_PER_MM)) | 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (thick, thick))
    edge = cv2.morphologyEx(drawing[..., 0], cv2.MORPH_GRADIENT, kernel).astype(np.float32)[..., None] / 255
    glow = cv2.GaussianBlur(edge, (0, 0), 7)[..., None] * 0.5
    y, x = np.mgrid[-1 : 1 : drawing.shape[0] * 1j, -1 : 1 : drawing.shape[1] * 1j]
    night = (34 - 16 * np.hypot(x, y))[..., None] + np.array([10.0, 2, 0])
    return np.minimum(night + (edge + glow) * np.array(_GOLD, np.float32), 255)


def _dark_road() -> list[str]:
    """Draw the picture of all distances: a road to the stars."""
    rng = _seeded("stars")
    stars = [draw.circle(*rng.uniform((5, 12), (52, 34)), 0.45, draw.paint("#000")) for _ in range(24)]
    look = draw.paint("none", "#000", 0.1)
    dashes = [draw.polygon([(_X - w, y), (_X + w, y), (_X + 1.3 * w, y + 3 * w), (_X - 1.3 * w, y + 3 * w)],
              draw.paint("#000")) for y, w in ((43, 0.5), (47, 0.8), (52, 1.2))]  # fmt: skip
    return [*stars, draw.line(4, 40, 53, 40, look), draw.line(_X - 1, 40, 8, 60, look),
            draw.line(_X + 1, 40, 49, 60, look), *dashes]  # fmt: skip


def _dark_back() -> np.ndarray:
    rings = [draw.circle(_X, _Y, r, draw.paint("none", "#000", 0.1)) for r in range(4, 60, 5)]
    return _clipped(_on_night(_image([_ground("#FFF"), *rings]), 0.4))


# --- pastel: hardly any contrast ------------------------------------------------------------------------------

_PASTEL = {Family.HAZARD: ("#F4DEDC", "#E5BDBA"), Family.REMEDY: ("#DFEEDF", "#BDD9BF"),
           Family.SAFETY: ("#DDE7F2", "#BACDE3"), Family.DISTANCE: ("#F3ECDA", "#E0D2AE"),
           Family.SPECIAL: ("#EADFF0", "#D2BFDD")}  # fmt: skip


def _pastel(card: Card) -> np.ndarray:
    ground, tint = _PASTEL[card.family]
    hills = [draw.path("M0 62C14 52 22 60 34 55C44 51 50 56 57 53L57 88L0 88Z", draw.paint(tint)),
             draw.circle(46, 14, 7, draw.paint("#FBF6EC"))]  # fmt: skip
    if card.family is Family.DISTANCE:
        picture = [draw.fitted(card.value, _X, 36, 30, 44, weight=600, fill="#CDBB90"),
                   _sign(card, "#D3C298", ground, _X, 66, 0.5)]  # fmt: skip
    elif card in LIGHTS:
        lamp = "#EBA9A3" if card is Card.STOP else "#A5D2AC"
        picture = [draw.circle(_X, 38, 17, draw.paint(lamp, "#FFFFFF", 1.5))]
    elif card in LIMITS:
        picture = [limit_sign(card, ring=tint, paper="#FBF8F4", ink="#C4BFC0", x=_X, y=38, scale=0.52)]
    else:
        picture = [_sign(card, "#C9C2C6", ground, _X, 38, 0.6)]
    word = draw.fitted("KILOMÈTRES" if card.family is Family.DISTANCE else _word(card), _X, 80.5, 5, 44, weight=600,
                       fill="#B3ABAE")  # fmt: skip
    return _image([_ground(ground), *hills, *picture, word])


def _pastel_back() -> np.ndarray:
    spots = [draw.circle(5 + 9.4 * x + 4.7 * (y % 2), 4 + 8 * y, 2.6, draw.paint("#E6DDEB")) for x in range(6)
             for y in range(11)]  # fmt: skip
    return _image([_ground("#F3EEF5"), *spots])


# --- cartoon: bold and flat, thick outlines, a border in the family's color ----------------------------------------

_CARTOON: Colours = {Family.HAZARD: "#E3211C", Family.REMEDY: "#18A34A", Family.SAFETY: "#1F6FE0",
                     Family.DISTANCE: "#FFC400", Family.SPECIAL: "#8A2BC2"}  # fmt: skip
_BURSTS = ("#FFE66B", "#8EDBFF", "#FFB0C8", "#B6F09C", "#FFD0A1", "#D9C6FF", "#FFFFFF")


def _cartoon(card: Card) -> np.ndarray:
    rng = _seeded("cartoon", card.value)
    colour, sky = _CARTOON[card.family], str(rng.choice(_BURSTS))
    burst = [_rays(sky, "#FFFFFF", int(rng.integers(7, 15)), rng.uniform(0, 40))]
    distance = card.family is Family.DISTANCE
    if distance:
        thing = [_outlined_text(card.value, 44, 46, "#E3211C")]
    else:
        thing = [draw.circle(_X, 40, 20, draw.paint(str(rng.choice(_BURSTS)), "#111111", 1.8)),
                 _sign(card, "#111111", colour, _X, 40, 0.58, rng.uniform(-9, 9))]  # fmt: skip
    title = "KM" if distance else _word(card, "en") + "!"
    plate = [
        draw.group(
            [
                draw.rect(-23, -5.5, 46, 11, draw.paint("#FFFFFF", "#111111", 1.6), radius=3),
                draw.fitted(title, 0, 0, 10, 40, fill=colour if not distance else "#111111"),
            ],
            x=_X,
            y=72,
            turn=-4,
        )
    ]
    rim = draw.rect(2.5, 2.5, _W - 5, _H - 5, draw.paint("none", colour, 5.0))
    line = draw.rect(5, 5, _W - 10, _H - 10, draw.paint("none", "#111111", 1.0))
    return _image([*burst, *thing, *plate, rim, line])


def _ring_of_points(count: int, *radii: float) -> list[tuple[float, float]]:
    """Return the corners of a regular polygon, or of a star for two radii, clockwise from the top."""
    turns = ((radii[i % len(radii)], 2 * np.pi * i / count - np.pi / 2) for i in range(count))
    return [(radius * np.cos(turn), radius * np.sin(turn)) for radius, turn in turns]


def _rays(one: str, other: str, count: int, turn: float) -> str:
    step = 180 / count
    wedge = f"M0 0L{90 * np.cos(np.radians(step / 2)):.2f} {90 * np.sin(np.radians(step / 2)):.2f}" \
            f"L{90 * np.cos(np.radians(step / 2)):.2f} {-90 * np.sin(np.radians(step / 2)):.2f}Z"  # fmt: skip
    wedges = [draw.group([draw.path(wedge, draw.paint(one))], x=_X, y=40, turn=turn + 2 * step * i)
              for i in range(count)]  # fmt: skip
    return _ground(other) + "".join(wedges)


def _outlined_text(words: str, size: float, room: float, fill: str) -> str:
    """Draw letters with a thick black outline: many times in black, once in color."""
    black = [draw.fitted(words, _X + dx, 40 + dy, size, room, fill="#111111") for dx, dy in _ring_of_points(12, 1.6)]
    return "".join([*black, draw.fitted(words, _X, 40, size, room, fill=fill)])


def _cartoon_back() -> np.ndarray:
    return _image([_rays("#E3211C", "#FFC400", 12, 7), draw.rect(2.5, 2.5, _W - 5, _H - 5,
                  draw.paint("none", "#111111", 5)), _outlined_text("1000", 26, 44, "#FFFFFF")])  # fmt: skip


# --- minimal: one small black sign on white --------------------------------------------------------------------


def _minimal(card: Card) -> np.ndarray:
    distance = card.family is Family.DISTANCE
    if distance:
        middle = draw.fitted(card.value, _X, _Y, 13, 30, weight=600, fill="#1A1A1A")
    else:
        middle = _sign(card, "#1A1A1A", "#FEFEFE", _X, _Y, 0.24)
    index = draw.text(card.value if distance else card_word(card), 4.5, 7.2, 3.4, fill="#1A1A1A")
    return _image([_ground("#FEFEFE"), middle, *_twice([index])])


def _minimal_back() -> np.ndarray:
    return _image([_ground("#FEFEFE"), draw.circle(_X, _Y, 5, draw.paint("none", "#1A1A1A", 0.6))])


# --- old: yellowed, worn, with an off-center print ------------------------------------------------------------

_OLD_RED, _OLD_BLACK = "#A8392B", "#2F2A28"


def _old(card: Card) -> np.ndarray:
    """Draw a larger card in two inks, with black and red slightly misaligned."""
    black = _image([_ground("#FFF", OLDER_CARD_MM), *_old_black(card)], OLDER_CARD_MM)
    red = _image([_ground("#FFF", OLDER_CARD_MM), *_old_red(card)], OLDER_CARD_MM)
    return _worn(_off_register(black, red, card.value), card.value)


def _old_black(card: Card) -> list[str]:
    w, h = OLDER_CARD_MM
    distance = card.family is Family.DISTANCE
    frame = [draw.rect(6, 6, w - 12, h - 12, draw.paint("none", _OLD_BLACK, 0.8)),
             draw.rect(7.5, 7.5, w - 15, h - 15, draw.paint("none", _OLD_BLACK, 0.3))]  # fmt: skip
    if distance:
        hatch = [draw.line(8, 48 + 1.1 * i, w - 8, 46 + 1.4 * i, draw.paint("none", _OLD_BLACK, 0.25))
                 for i in range(14)]  # fmt: skip
        picture = [*hatch, _sign(card, _OLD_BLACK, "#FFF", w / 2, 50, 0.62)]
        words = [draw.fitted("BORNES", w / 2, 76, 6, 40, fill=_OLD_BLACK)]
    else:
        pictogram = {Card.STOP: Card.CONTROL, Card.ROLL: Card.CONTROL}.get(card, card)
        picture = [_sign(pictogram, _OLD_BLACK, "#FFF", w / 2, 42, 0.55)]
        words = [draw.fitted(_word(card), w / 2, 76, 7, 42, weight=600, fill=_OLD_BLACK)]
    return [*frame, *picture, *words]


def _old_red(card: Card) -> list[str]:
    w = OLDER_CARD_MM[0]
    if card.family is Family.DISTANCE:
        return [draw.fitted(card.value, w / 2, 24, 24, 40, fill=_OLD_RED)]
    if card.family is Family.HAZARD:
        return [draw.circle(w / 2, 42, 21, draw.paint("none", _OLD_RED, 2.2))]
    if card.family is Family.REMEDY:
        return [draw.rect(12, 20, w - 24, 44, draw.paint("none", _OLD_RED, 1.4))]
    star = [(w / 2 + x, 42 + y) for x, y in _ring_of_points(32, 24, 20)]
    return [draw.polygon(star, draw.paint("none", _OLD_RED, 1.2))]


def _off_register(black: np.ndarray, red: np.ndarray, name: str) -> np.ndarray:
    rng = _seeded("old", name)
    layers = []
    for ink in (black, red):
        move = cv2.getRotationMatrix2D((240, 360), rng.normal(0, 0.5), 1)
        move[:, 2] += rng.normal((1.2, -0.9), 0.45) * _PX_PER_MM
        layers.append(cv2.warpAffine(ink, move, ink.shape[1::-1], borderValue=(255, 255, 255)).astype(np.float32))
    return layers[0] * layers[1] / 255


def _worn(print_: np.ndarray, name: str) -> np.ndarray:
    """Return yellowed paper with stains, scratches, a crease, and pale soft edges."""
    rng = _seeded("worn", name)
    height, width = print_.shape[:2]
    ink = 1 - (1 - print_ / 255) * (0.86 + 0.08 * octaves(rng, (width, height), 5, 8, 1.0)[..., :1])
    paper = np.array([176, 214, 231], np.float32) + 5 * octaves(rng, (width, height), 1, 7, 0.8)[..., :1]
    stains = cv2.resize(rng.normal(0, 1, (9, 6)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
    paper *= 1 - np.clip(stains - 1.1, 0, 1)[..., None] * np.array([0.28, 0.18, 0.1])
    image = paper * np.clip(ink, 0, 1)
    _scratch(image, rng)
    y, x = np.mgrid[0:height, 0:width]
    edge = np.minimum(np.minimum(x, width - 1 - x), np.minimum(y, height - 1 - y)).astype(np.float32)
    worn = np.clip(1 - edge / (rng.uniform(6, 12) + 5 * octaves(rng, (width, height), 4, 7, 1.0)[..., 0]), 0, 0.7)
    return _clipped(image * (1 - worn[..., None]) + np.array([205, 222, 228]) * worn[..., None])


def _scratch(image: np.ndarray, rng: np.random.Generator) -> None:
    height, width = image.shape[:2]
    for _ in range(int(rng.integers(3, 9))):
        ends = rng.uniform(0, 1, (2, 2)) * (width, height)
        cv2.line(image, *(tuple(int(v) for v in end) for end in ends), (208, 226, 232), 1, cv2.LINE_AA)
    if rng.random() < 0.4:
        level = int(rng.uniform(0.2, 0.8) * height)
        cv2.line(image, (0, level), (width, level + int(rng.normal(0, 30))), (140, 165, 178), 3, cv2.LINE_AA)


def _old_back() -> np.ndarray:
    w, h = OLDER_CARD_MM
    scales = [draw.circle(4 * x + 2 * (y % 2), 3.4 * y, 3, draw.paint("none", _OLD_BLACK, 0.5)) for x in range(17)
              for y in range(28)]  # fmt: skip
    red = _image([_ground("#FFF", OLDER_CARD_MM), draw.rect(5, 5, w - 10, h - 10, draw.paint("none", _OLD_RED, 2))],
                 OLDER_CARD_MM)  # fmt: skip
    black = _image([_ground("#FFF", OLDER_CARD_MM), draw.window(scales, 5, 5, w - 10, h - 10)], OLDER_CARD_MM)
    return _worn(_off_register(black, red, BACK), BACK)


# --- twofold: two halves like court cards, the safeties the same upside down ------------------------------------

_TWOFOLD = {Family.HAZARD: ("#C9472B", "#F6D8B8"), Family.REMEDY: ("#3E7F6B", "#DDEBD5"),
            Family.SAFETY: ("#3B4FA0", "#E9DFC0"), Family.DISTANCE: ("#7A6A58", "#EFE6D6"),
            Family.SPECIAL: ("#54406E", "#E6DDEA")}  # fmt: skip


def _twofold(card: Card) -> np.ndarray:
    dark, light = _TWOFOLD[card.family]
    if card.family is Family.SAFETY:
        return _image([_ground(dark), *_twice(_safety_half(card, dark, light))])
    if card.family is Family.DISTANCE:
        return _image([_ground(light), *_road_map(card, dark)])
    body = [draw.rect(0, 0, _W, 16, draw.paint(dark)), draw.fitted(_word(card), _X, 8.5, 9, 50, fill=light),
            draw.path(f"M0 88L{_W} 60L{_W} 88Z", draw.paint(dark))]  # fmt: skip
    if card in LIGHTS:
        body.append(_traffic_light(card, box=dark, off="#8A8378", y=46, scale=0.58))
    elif card in LIMITS:
        body.append(limit_sign(card, ring=dark, paper="#FFFFFF", ink=dark, x=_X, y=44, scale=0.6))
    else:
        body.append(_sign(card, dark, light, _X, 44, 0.66))
    return _image([_ground(light), *body])


def _safety_half(card: Card, dark: str, light: str) -> list[str]:
    """Draw the upper half: a sign in a scroll, the word along the edge."""
    cut = draw.path(f"M3 3L{_W - 3} 3L{_W - 3} {_Y + 7}L3 {_Y - 7}Z", draw.paint(light))
    return [cut, _sign(card, dark, light, _X, 24, 0.44), draw.fitted(_word(card), _X, 6.6, 5, 46, fill=dark)]


def _road_map(card: Card, dark: str) -> list[str]:
    """Draw a winding road on a map, with the number only at the top."""
    rng = _seeded("map")
    fields = [draw.polygon([(x, y), (x + 12, y + rng.uniform(-3, 3)), (x + 11, y + 10), (x - 1, y + 9)],
              draw.paint(str(rng.choice(("#E3DCC0", "#D9E3C8", "#EADCCB"))))) for x in range(0, 57, 12)
              for y in range(26, 88, 10)]  # fmt: skip
    road = "M12 90C8 70 46 74 44 60C42 48 14 54 16 42C18 34 34 36 38 28"
    return [
        *fields,
        draw.path(road, draw.paint("none", "#FFFFFF", 5)),
        draw.path(road, draw.paint("none", "#D9772B", 3.4)),
        draw.rect(0, 0, _W, 27, draw.paint("#F8F3E8")),
        draw.fitted(card.value, _X, 14.5, 27, 46, fill=dark),
        draw.fitted(card.value, 50, 82, 7, 10, fill=dark),
    ]


def _twofold_back() -> np.ndarray:
    stripes = [draw.rect(0, 5.5 * i, _W, 2.75, draw.paint("#54406E")) for i in range(16)]
    diamond = draw.polygon([(_X, 14), (_W - 8, _Y), (_X, 74), (8, _Y)], draw.paint("#E6DDEA", "#54406E", 1.5))
    return _image([_ground("#C9472B"), *stripes, diamond, *_twice([_sign(Card.KM_25, "#54406E", "#E6DDEA", _X, 34,
                  0.4)])])  # fmt: skip


_FACES: dict[str, Callable[[Card], np.ndarray]] = {
    "vintage": _vintage, "painted": _painted, "scenes": _scenes, "dark": _dark, "pastel": _pastel, "cartoon": _cartoon,
    "minimal": _minimal, "old": _old, "twofold": _twofold,
}  # fmt: skip
_BACKS: dict[str, Callable[[], np.ndarray]] = {
    "vintage": _vintage_back, "painted": _painted_back, "scenes": _scenes_back, "dark": _dark_back,
    "pastel": _pastel_back, "cartoon": _cartoon_back, "minimal": _minimal_back, "old": _old_back,
    "twofold": _twofold_back,
}  # fmt: skip
STYLES = tuple(_FACES)
