"""Render photographs of tables with cards without stickers, and the truth: faces, places and visible parts.

`face_photo(seed, "vintage")` shows cards of that deck of `decks`, reproducible by seed; `hard` means hard light.
`stranger_photo(seed, "vintage")` shows no face of that deck, so no card may be named.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import decks
import laid as lay
import numpy as np
import photos
from laid import Cover, Laid, Sheet, Table
from photos import MATS, mat
from webcam import Pose, Shot, burnt_out, developed

from companion.rules.cards import REMEDY_OF, Card, Family
from companion.rules.editions.edition import load_edition
from companion.tabletop.mat_layout import DISTANCE_COLUMNS, Rect
from companion.vision.view import centre_of

CAMERAS = {
    "1080p": ((1920, 1080), (900.0, 1300.0)),
    "720p": ((1280, 720), (800.0, 1000.0)),
    "phone": ((4032, 3024), (800.0, 1300.0)),
}
"""Picture size of each camera, and the range of table widths that it covers, in mm."""

BURNT_AT_MOST = 0.02


# --- The truth ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ShownFace:
    """The truth about one card."""

    deck: str  # style of its deck, or `own`; empty for other objects
    face: str  # its slug, or `decks.BACK`; empty for other objects
    corners_px: np.ndarray  # `(4, 2)`, from the top left of the print
    seen: np.ndarray
    """Visible part, bool of shape `lay.CARD_RASTER`, as printed: not covered or outside the picture."""

    burnt: float  # share where a reflection turns ink white
    zone: str | None = None  # zone of the mat at its center: `side-1/battle`
    sideways: bool = False  # turned more than 45° from its mat's upright, or off the mats from the picture's

    @property
    def visible(self) -> float:
        return float(self.seen.mean())

    @property
    def width_px(self) -> float:
        """The mean length of its upper and lower edge."""
        corners = self.corners_px
        return float((np.hypot(*(corners[1] - corners[0])) + np.hypot(*(corners[2] - corners[3]))) / 2)

    @property
    def centre_px(self) -> tuple[float, float]:
        """The crossing point of its diagonals."""
        return centre_of(self.corners_px)

    @property
    def in_sight(self) -> bool:
        """True if no card, edge or reflection hides it."""
        return bool(self.seen.all()) and self.burnt < BURNT_AT_MOST


@dataclass(frozen=True, eq=False)
class FacePhoto:
    """A picture `(H, W, 3) uint8 BGR`, the deck in play, and all cards in the order they were put down."""

    image: np.ndarray
    style: str
    faces: tuple[ShownFace, ...]
    table: Table
    pose: Pose
    shot: Shot

    @property
    def ours(self) -> tuple[ShownFace, ...]:
        """The faces of the deck in play."""
        return tuple(card for card in self.faces if card.deck == self.style and card.face != decks.BACK)


def photograph(table: Table, style: str, pose: Pose, shot: Shot | None = None, seed: int = 0) -> FacePhoto:
    """Render a table through the camera, with the truth about its cards."""
    shot = shot or Shot()
    image = developed(photos.painted(table, pose), shot, seed)
    return FacePhoto(image, style, tuple(truth_of(table, pose, shot)), table, pose, shot)


def truth_of(table: Table, pose: Pose, shot: Shot) -> Iterator[ShownFace]:
    """Yield the truth about each card, in the order they were put down."""
    burnt = burnt_out(shot, pose.size_px) if shot.glares else None
    for card, bare in zip(table.cards, lay.in_sight(table), strict=True):
        corners = pose.px(card.corners_mm())
        deck, face = _named(card.look)
        zone, sideways = lying(card, table.sheets)
        yield ShownFace(
            deck=deck,
            face=face,
            corners_px=corners,
            seen=bare & _inside_picture(card, pose),
            burnt=photos.share_inside(burnt, corners) if burnt is not None else 0.0,
            zone=zone,
            sideways=sideways,
        )


def _named(look: str) -> tuple[str, str]:
    kind, *rest = look.split()
    return {"deck": tuple(rest), "own": ("own", *rest)}.get(kind, ("", ""))


def _inside_picture(card: Laid, pose: Pose) -> np.ndarray:
    rows, columns = lay.CARD_RASTER
    corners = card.corners_mm()
    across, down = (corners[1] - corners[0]) / columns, (corners[3] - corners[0]) / rows
    y, x = np.mgrid[0.5:rows, 0.5:columns]
    points = pose.px(corners[0] + x.reshape(-1, 1) * across + y.reshape(-1, 1) * down)
    inside = ((points >= 0) & (points <= np.array(pose.size_px) - 1)).all(1)
    return inside.reshape(lay.CARD_RASTER)


def lying(card: Laid, sheets: Sequence[Sheet]) -> tuple[str | None, bool]:
    """Return the zone at a card's center, and whether the card is sideways there."""
    for sheet in reversed(sheets):
        x, y = on_sheet(sheet, (card.x_mm, card.y_mm))
        if sheet.name in MATS and 0 <= x <= sheet.size_mm[0] and 0 <= y <= sheet.size_mm[1]:
            zone = MATS[sheet.name].zone_at(x, y)
            return f"{sheet.name}/{zone}" if zone else None, _is_sideways(card.turn_deg - sheet.turn_deg)
    return None, _is_sideways(card.turn_deg)


def _is_sideways(turn_deg: float) -> bool:
    return abs(math.sin(math.radians(turn_deg))) > math.sqrt(0.5)


def on_sheet(sheet: Sheet, point_mm: tuple[float, float]) -> tuple[float, float]:
    """Return a point of the table in a sheet's mm, from its top left corner."""
    origin, along = _axes(sheet)
    return tuple(float((np.array(point_mm) - origin) @ axis) for axis in along)


def off_sheet(sheet: Sheet, point_mm: tuple[float, float]) -> np.ndarray:
    """Return a point of a sheet, in its mm, on the table."""
    origin, (right, down) = _axes(sheet)
    return origin + point_mm[0] * right + point_mm[1] * down


def _axes(sheet: Sheet) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return a sheet's top left corner and the directions of its edges."""
    origin, right, _, bottom = sheet.tile_mm((0, 1), (0, 1))
    return origin, [(end - origin) / np.hypot(*(end - origin)) for end in (right, bottom)]


# --- How well it was read -------------------------------------------------------------------------------------

NEAR = 0.3  # a find within this distance of a card's center is that card, in card widths
SHOWS = 0.15  # cards with a smaller visible share are ignored


@dataclass(frozen=True, slots=True)
class FaceScore(photos.Score):
    """The result for the faces on one photo: `stop as roll` is wrong, `roll for a back` a ghost."""

    partly: int = 0  # partly visible faces, from `SHOWS` up
    partly_read: int = 0


Found = tuple[str | None, tuple[float, float]]


def compared(photo: FacePhoto, found: Sequence[Found]) -> FaceScore:
    """Score a reader; `found` are faces (None for unknown cards) and the cards' centers in pixels."""
    named: dict[int, list[str | None]] = {}
    wrong, ghosts, strays = [], [], []
    for face, middle in found:
        at = _meant(photo, face, middle)
        if at is None:
            (ghosts if face else strays).append(f"{face} at {middle[0]:.0f}, {middle[1]:.0f}")
            continue
        named.setdefault(at, []).append(face)
        card = photo.faces[at]
        if face and card not in photo.ours:
            ghosts.append(f"{face} for {card.face or 'no card'} of {card.deck or 'no deck'}")
        elif face and face != card.face:
            wrong.append(f"{card.face} as {face}")
    cards = [(card, named.get(at, [])) for at, card in enumerate(photo.faces) if card in photo.ours]
    whole = [(card, said) for card, said in cards if card.in_sight]
    partly = [(card, said) for card, said in cards if not card.in_sight and card.visible >= SHOWS]
    return FaceScore(
        in_sight=len(whole),
        read=sum(card.face in said for card, said in whole),
        unknown=sum(set(said) == {None} for _, said in whole),
        partly=len(partly),
        partly_read=sum(card.face in said for card, said in partly),
        wrong=tuple(wrong),
        ghosts=tuple(ghosts),
        strays=tuple(strays),
    )


def _meant(photo: FacePhoto, face: str | None, middle: tuple[float, float]) -> int | None:
    """Return the visible card near a point: one with this face, or else the most visible one."""
    near = [
        (card.face != face or card.deck != photo.style, -card.visible, math.dist(card.centre_px, middle), at)
        for at, card in enumerate(photo.faces)
        if card.visible >= SHOWS and math.dist(card.centre_px, middle) < NEAR * card.width_px
    ]
    return min(near)[-1] if near else None


# --- Cards ----------------------------------------------------------------------------------------------------


def card_of(style: str, slug: str, at_mm: Sequence[float], turn_deg: float = 0.0, **how: object) -> Laid:
    """Return a card of a deck; the style `own` is our own deck."""
    x, y = (float(value) for value in at_mm)
    if style == "own":
        return Laid(x, y, turn_deg, look=f"own {slug}", **how)
    return Laid(x, y, turn_deg, look=f"deck {style} {slug}", size_mm=decks.size_mm(style),
                corner_mm=decks.CORNER_MM, **how)  # fmt: skip


def sleeved(table: Table, rng: np.random.Generator) -> Table:
    """Return the table with its cards in clear, shiny sleeves."""
    cards = tuple(
        replace(card, sleeve_rim_mm=rng.uniform(1.5, 3), sheen=rng.uniform(0.03, 0.3),
                sheen_at=rng.random()) for card in table.cards
    )  # fmt: skip
    return replace(table, cards=cards)


def game(style: str, rng: np.random.Generator, area_mm: tuple[float, float]) -> Table:
    """Return two sides in the middle of a hand: piles, safeties, columns, draw and discard pile."""
    sheets = _mats_on(area_mm, rng)
    counts = load_edition("classic").deck
    deck = [str(slug) for slug in rng.permutation([card.value for card, n in counts.items() for _ in range(n)])]
    cards: list[Laid] = []
    for sheet in sheets:
        for name, zone in MATS[sheet.name].zones.items():
            cards += _in_zone(style, sheet, name, zone, deck, rng)
    return Table(tuple(cards), sheets)


def _mats_on(area_mm: tuple[float, float], rng: np.random.Generator) -> tuple[Sheet, ...]:
    """Return two sides' mats side by side or opposite, and the table's mat, if there is room."""
    (width, height), jitter = area_mm, rng.normal(0, 5, 6)
    turn = rng.normal(0, 1.5)
    if height > 610 and width > 770 and rng.random() < 0.6:
        near, far = (-150 + jitter[0], 152), (-150 + jitter[1], -152)
        middle = mat("table", 220 + jitter[2], jitter[3], 90 + turn)
        return (mat("side-1", *near, turn), mat("side-2", *far, 180 - turn), middle)
    down = 108.0 if height > 520 else 0.0
    sides = (mat("side-1", -218, down + jitter[0], turn), mat("side-2", 218, down + jitter[1], 180 + turn))
    middle = (mat("table", jitter[2], down - 262 + jitter[3], turn),) if down else ()
    return (*sides, *middle) if width > 870 else (*sides[:1], *middle)


def _in_zone(
    style: str, sheet: Sheet, name: str, zone: Rect, deck: list[str], rng: np.random.Generator
) -> Iterator[Laid]:
    """Yield the cards in a zone, placed by hand."""
    middle = np.array(zone.centre_mm)
    if name == "distance":
        yield from _columns(style, sheet, zone, deck, rng)
    elif name == "safety":
        yield from _safeties(style, sheet, zone, deck, rng)
    elif name == "draw":
        for _ in range(int(rng.integers(0, 6))):
            yield _by_hand(style, decks.BACK, sheet, middle, 0, rng)
    else:
        wanted, most = _PILES[name]
        for slug in _taken(deck, wanted, int(rng.integers(0, most))):
            yield _by_hand(style, slug, sheet, middle + rng.normal(0, 1.5, 2), 0, rng)


_LIMITS = (Card.SPEED_LIMIT, REMEDY_OF[Card.SPEED_LIMIT])
_PILES: dict[str, tuple[Callable[[Card], bool], int]] = {
    "battle": (lambda card: card.family in (Family.HAZARD, Family.REMEDY) and card not in _LIMITS, 6),
    "speed": (lambda card: card in _LIMITS, 4),
    "discard": (lambda card: True, 9),
}
"""The cards allowed on each pile, and a number that their count stays below."""


def _by_hand(style: str, slug: str, sheet: Sheet, at: np.ndarray, turn_deg: float, rng: np.random.Generator) -> Laid:
    at_mm = off_sheet(sheet, tuple(at + rng.normal(0, 1.5, 2)))
    return card_of(style, slug, at_mm, sheet.turn_deg + turn_deg + rng.normal(0, 2.5))


def _columns(style: str, sheet: Sheet, zone: Rect, deck: list[str], rng: np.random.Generator) -> Iterator[Laid]:
    """Yield the distances, one column per value, each card lower so that the tops are visible."""
    width = zone.width_mm / len(DISTANCE_COLUMNS)
    for column, slug in enumerate(DISTANCE_COLUMNS):
        same = _taken(deck, lambda card, s=slug: card.value == s, int(rng.integers(0, 5)))
        step = rng.uniform(13, 24) if len(same) > 2 else rng.uniform(20, 32)
        for row, each in enumerate(same):
            at = np.array([zone.x_mm + (column + 0.5) * width, zone.y_mm + 46 + row * step])
            yield _by_hand(style, each, sheet, at, 0, rng)


def _safeties(style: str, sheet: Sheet, zone: Rect, deck: list[str], rng: np.random.Generator) -> Iterator[Laid]:
    """Yield safeties side by side, overlapping if there are many; sideways after a Coup Fourré."""
    safeties = _taken(deck, lambda card: card.family is Family.SAFETY, int(rng.choice((0, 0, 1, 1, 2, 3))))
    step = 60.0 if len(safeties) < 3 else 44.0
    for place, slug in enumerate(safeties):
        turn = float(rng.choice((90, -90))) if rng.random() < 0.4 else 0.0
        at = np.array([zone.x_mm + 46 + place * step, zone.y_mm + zone.height_mm / 2])
        yield _by_hand(style, slug, sheet, at, turn, rng)


def _taken(deck: list[str], wanted: Callable[[Card], bool], count: int) -> list[str]:
    found = [slug for slug in deck if wanted(Card(slug))][:count]
    for slug in found:
        deck.remove(slug)
    return found


# --- Other objects --------------------------------------------------------------------------------------------

_SKINS = ((120, 150, 205), (95, 125, 180), (150, 180, 225), (55, 75, 120), (70, 100, 160))


def hand(at_mm: tuple[float, float], from_deg: float, rng: np.random.Generator) -> tuple[Cover, ...]:
    """Return a hand with its fingers near a point, and a sleeved arm from a direction."""
    skin = np.array(_SKINS[int(rng.integers(len(_SKINS)))])
    dark, light = (tuple(int(v) for v in np.clip(skin * share, 0, 255)) for share in (0.82, 1.1))
    cloth = tuple(int(v) for v in rng.integers(20, 200, 3))
    away = np.array([math.cos(math.radians(from_deg)), math.sin(math.radians(from_deg))])
    side = np.array([-away[1], away[0]])
    palm = np.array(at_mm) + 80 * away
    tone = tuple(int(v) for v in skin)
    fingers = [(spread, 40 - abs(spread) * 0.25, 8.5) for spread in (-27, -9, 9, 26)]
    parts = [_capsule(palm + 40 * away, palm + 700 * away, 32, dark), _capsule(palm + 95 * away, palm + 700 * away, 43,
             cloth), _capsule(palm - 8 * away, palm + 38 * away, 41, tone)]  # fmt: skip
    for spread, length, width in fingers:
        root, tip = palm - 20 * away + spread * side, palm - (40 + length) * away + 1.25 * spread * side
        parts += [_capsule(root, tip, width + 1.2, dark), _capsule(root, tip, width, tone),
                  _capsule(tip + 1 * away, tip - 3 * away, 4.5, light)]  # fmt: skip
    parts.append(_capsule(palm + 20 * away + 38 * side, palm - 28 * away + 62 * side, 10, tone))
    return tuple(parts)


def _capsule(a: np.ndarray, b: np.ndarray, radius: float, colour: tuple[int, ...]) -> Cover:
    turn = math.atan2(b[1] - a[1], b[0] - a[0])
    ends = [(end, np.linspace(start, start + math.pi, 9)) for end, start in ((b, turn - math.pi / 2),
            (a, turn + math.pi / 2))]  # fmt: skip
    outline = [(float(p[0] + radius * math.cos(t)), float(p[1] + radius * math.sin(t))) for p, ts in ends for t in ts]
    return Cover(tuple(outline), colour)


def cup(at_mm: tuple[float, float], rng: np.random.Generator) -> tuple[Cover, ...]:
    """Return a cup from above, sometimes on a saucer."""
    glaze = tuple(int(v) for v in rng.choice(((235, 235, 235), (60, 60, 190), (150, 110, 50), (70, 90, 70))))
    shade = tuple(int(0.8 * v) for v in glaze)
    drink = tuple(int(v) for v in rng.choice(((25, 40, 70), (60, 110, 180), (215, 225, 230))))
    x, y = at_mm
    turn = rng.uniform(0, 2 * math.pi)
    handle = np.array([x + 48 * math.cos(turn), y + 48 * math.sin(turn)])
    saucer = [_disc(x, y, 72, shade), _disc(x, y, 69, glaze)] if rng.random() < 0.4 else []
    return (*saucer, _capsule(np.array(at_mm), handle, 6, shade), _disc(x, y, 41, glaze), _disc(x, y, 37, shade),
            _disc(x, y, 35, drink))  # fmt: skip


def _disc(x: float, y: float, radius: float, colour: tuple[int, ...]) -> Cover:
    turns = np.linspace(0, 2 * math.pi, 40, endpoint=False)
    return Cover(tuple((float(x + radius * math.cos(t)), float(y + radius * math.sin(t))) for t in turns), colour)


def telephone(at_mm: tuple[float, float], rng: np.random.Generator) -> Sheet:
    return Sheet(f"screen {rng.integers(8)}", *at_mm, rng.uniform(0, 360), (72.0, 150.0))


def beset(table: Table, rng: np.random.Generator, area_mm: tuple[float, float], share: float) -> Table:
    """Return the table with a hand, a cup and a phone, each with probability `share`."""
    covers, things = list(table.covers), list(table.things)
    if rng.random() < share:
        things.append(telephone(photos.somewhere(rng, area_mm), rng))
    if rng.random() < share:
        covers += cup(photos.somewhere(rng, area_mm), rng)
    if rng.random() < share:
        covers += hand(photos.somewhere(rng, area_mm), rng.uniform(0, 360), rng)
    return replace(table, covers=tuple(covers), things=tuple(things))


def strangers(style: str, rng: np.random.Generator, places: Sequence[tuple[float, float, float]]) -> tuple[Laid, ...]:
    """Return cards of other decks and games, and backs, at places `(x, y, turn)`."""
    others = [other for other in decks.STYLES if other != style]
    cards = []
    for x, y, turn in places:
        kind = str(rng.choice(("deck", "deck", "playing-card", "card-back", "back")))
        if kind == "deck":
            cards.append(card_of(str(rng.choice(others)), str(rng.choice(decks.CLASSIC)), (x, y), turn))
        elif kind == "back" and style != "own":
            cards.append(card_of(style, decks.BACK, (x, y), turn))
        else:
            name = "playing-card" if kind == "back" else kind
            cards.append(Laid(x, y, turn, look=f"thing {name} {rng.integers(30)}", corner_mm=decks.CORNER_MM))
    return tuple(cards)


# --- Random pictures ------------------------------------------------------------------------------------------


def face_photo(
    seed: int,
    style: str,
    hard: bool = False,
    *,
    camera: str = "1080p",
    tilt_deg: tuple[float, float] = (0, 30),
    sleeves: bool | None = None,
    things: float = 0.3,
    foreigners: int | None = None,
) -> FacePhoto:
    """Return a game on its mats with the cards of a deck, mostly whole, some in piles or columns.

    `camera` is one of `CAMERAS`. `things` is the probability of a hand, a cup and a phone each. `foreigners` is the
    number of foreign cards. Values that are not given are random.
    """
    rng = np.random.default_rng((seed, 7 + hard))
    pose = _some_pose(rng, camera, tilt_deg)
    area = pose.table_mm()
    table = game(style, rng, area)
    count = int(rng.choice((0, 0, 0, 1, 2))) if foreigners is None else foreigners
    places = [(*photos.somewhere(rng, area, 0.42), rng.uniform(0, 360)) for _ in range(count)]
    table = replace(table, cards=(*strangers(style, rng, places), *table.cards))
    if rng.random() < 0.25 if sleeves is None else sleeves:
        table = sleeved(table, rng)
    table = _on_cloth(beset(table, rng, area, things), rng)
    shot = photos.hard_shot(rng, photos.TROUBLES[seed % len(photos.TROUBLES)]) if hard else photos.typical_shot(rng)
    return photograph(table, style, pose, shot, seed)


def stranger_photo(seed: int, style: str) -> FacePhoto:
    """Return a picture without the deck's faces: its backs, foreign cards, objects, sometimes mats."""
    rng = np.random.default_rng((seed, 9))
    pose = _some_pose(rng, "1080p", (0, 30))
    area = pose.table_mm()
    count = int(np.clip(area[0] * area[1] / 20000, 4, 40))
    places = [(c.x_mm, c.y_mm, c.turn_deg) for c in lay.scattered(["x"] * count, area, rng)]
    sheets = _mats_on(area, rng) if rng.random() < 0.5 else photos.litter(rng, area, 3, 20)
    table = Table(strangers(style, rng, places), sheets)
    table = beset(beset(table, rng, area, 0.6), rng, area, 0.6)
    return photograph(_on_cloth(table, rng), style, pose, photos.typical_shot(rng), seed)


def _some_pose(rng: np.random.Generator, camera: str, tilt_deg: tuple[float, float]) -> Pose:
    size_px, widths_mm = CAMERAS[camera]
    return photos.some_pose(rng, tilt_deg, px_per_mm=size_px[0] / rng.uniform(*widths_mm), size_px=size_px)


def _on_cloth(table: Table, rng: np.random.Generator) -> Table:
    return replace(table, cloth=str(rng.choice(photos.CLOTHS)), seed=int(rng.integers(1000)),
                   shadow=rng.uniform(0.1, 0.5))  # fmt: skip


# --- One card, cut out ----------------------------------------------------------------------------------------


def cut_out(image: np.ndarray, corners_px: np.ndarray, size_px: tuple[int, int]) -> np.ndarray:
    """Return a card seen from straight above, `(size_px[1], size_px[0], 3) uint8`."""
    matrix = cv2.getPerspectiveTransform(np.asarray(corners_px, np.float32), photos.edges(*size_px))
    return cv2.warpPerspective(image, matrix, size_px, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
