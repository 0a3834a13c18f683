"""The pictures on our cards: signs and pictograms of the road, in flat shapes.

Everything is drawn about (0, 0). A sign reaches 50 units from the middle, a pictogram about 30.
`ink` is the colour of the picture, `ground` that of the sign under it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin

from companion.printing import svg as draw
from companion.rules.cards import Card, Family
from companion.tabletop.side_marks import SIDE_MARKS

Picture = Callable[[str, str], list[str]]
Points = list[tuple[float, float]]


def ring_of_points(count: int, radius: float, *, start: float = -pi / 2, inner: float | None = None) -> Points:
    """Return corners of a regular polygon, or of a star where an inner radius is given."""
    steps = count * (2 if inner is not None else 1)
    radii = [radius, inner if inner is not None else radius]
    return [
        (radii[i % 2] * cos(start + 2 * pi * i / steps), radii[i % 2] * sin(start + 2 * pi * i / steps))
        for i in range(steps)
    ]


# --- signs -----------------------------------------------------------------------------------------------------


def _plate(points: Points, colour: str, line: str, *, inset: float = 0.92) -> list[str]:
    """Draw a sign with straight sides and soft corners, a thin line running along inside its edge."""
    small = [(x * inset, y * inset) for x, y in points]
    return [
        draw.polygon(points, draw.paint(colour, colour, 10, join="round")),
        draw.polygon(small, draw.paint("none", line, 2.2, join="round")),
    ]


def triangle(colour: str, line: str) -> list[str]:
    """Draw the hazards' warning sign."""
    return _plate([(0, -57), (52, 42), (-52, 42)], colour, line, inset=1.0)


def octagon(colour: str, line: str) -> list[str]:
    """Draw the sign of the hazards that are orders: stop, and the limit."""
    return _plate(ring_of_points(8, 49, start=pi / 8), colour, line)


def disc(colour: str, line: str) -> list[str]:
    """Draw the remedies' sign."""
    return [draw.circle(0, 0, 50, draw.paint(colour)), draw.circle(0, 0, 45, draw.paint("none", line, 2.2))]


_SHIELD = "M0 -55C-13 -46 -30 -43 -46 -47C-54 -8 -46 33 0 57C46 33 54 -8 46 -47C30 -43 13 -46 0 -55Z"


def shield(colour: str, line: str) -> list[str]:
    """Draw the safeties' sign."""
    inside = draw.group([draw.path(_SHIELD, draw.paint("none", line, 2.45))], scale=0.9)
    return [draw.path(_SHIELD, draw.paint(colour)), inside]


def tile(colour: str, line: str) -> list[str]:
    """Draw the specials' sign: a tile with two corners struck off, like a flash of lightning."""
    points = [(-43.0, -43.0), (22.0, -43.0), (43.0, -22.0), (43.0, 43.0), (-22.0, 43.0), (-43.0, 22.0)]
    return _plate(points, colour, line)


def milestone(line: str = "none", figure: str = "") -> list[str]:
    """Draw a milestone 6 wide and about 8 high about (0, 0), outlined in `line`, with a bar or a figure on it."""
    arch = "L-3 -0.8C-3 -4.6 3 -4.6 3 -0.8L"
    mark = draw.fitted(figure, 0, 1.75, 4.2, 4.4) if figure else draw.rect(-1.5, 0.8, 3, 0.9, draw.paint(draw.INK))
    return [
        draw.path(f"M-3 3.8{arch}3 3.8Z", draw.paint(draw.PAPER, line, 0.3, join="round")),
        draw.path("M-3 -0.6L-3 -0.8C-3 -4.6 3 -4.6 3 -0.8L3 -0.6Z", draw.paint(draw.YELLOW, line, 0.3, join="round")),
        mark,
    ]


def badge(number: int) -> list[str]:
    """Draw the mark of side `number`, outlined so that it stands out on light and on dark."""
    mark = SIDE_MARKS[number - 1]
    halo, look = draw.paint("none", draw.PAPER, 17, join="round"), draw.paint(mark.colour, draw.INK, 7, join="round")
    return [draw.path(mark.shape, halo), draw.path(mark.shape, look)]


def robot(line: str) -> list[str]:
    """Draw a robot of the same size: a milestone with a face and an aerial."""
    ink = draw.paint(draw.INK)
    aerial = [draw.line(0, -3.6, 0, -5.2, draw.paint("none", draw.INK, 0.4)), draw.circle(0, -5.4, 0.6, ink)]
    eyes = [draw.circle(x, 0.8, 0.55, ink) for x in (-1.2, 1.2)]
    return [*aerial, *milestone(line)[:2], *eyes, draw.rect(-1.3, 2.1, 2.6, 0.5, ink)]


# --- pictograms ------------------------------------------------------------------------------------------------


def _car(ink: str, ground: str) -> list[str]:
    """Draw a small saloon seen from the side, 64 wide, its wheels' middle at y = 10."""
    roof = "L-17 -5L-10 -17C-9 -19 -7 -20 -5 -20L9 -20C12 -20 14 -19 15 -17L21 -5"
    body = f"M-32 9C-33 0 -31 -3 -25 -4{roof}C29 -4 32 -2 32 9Z"
    return [
        draw.path(body, draw.paint(ink, ink, 2, join="round")),
        draw.path("M-11 -5.5L-5.5 -15.5L0 -15.5L0 -5.5Z", draw.paint(ground)),
        draw.path("M4 -5.5L4 -15.5L9.5 -15.5L14.5 -5.5Z", draw.paint(ground)),
        *(draw.circle(x, 10, 9.6, draw.paint(ground)) for x in (-18, 18)),
        *(draw.circle(x, 10, 7.2, draw.paint(ink)) for x in (-18, 18)),
        *(draw.circle(x, 10, 2.6, draw.paint(ground)) for x in (-18, 18)),
    ]


def accident(ink: str, ground: str) -> list[str]:
    """Draw a car, nose down, in the moment of the bang."""
    burst = ring_of_points(9, 14.5, inner=7.2)
    return [
        draw.group(_car(ink, ground), x=-7, y=19.5, scale=0.84, turn=6),
        draw.group([draw.polygon(burst, draw.paint(ink, ground, 2.4, join="round"))], x=12, y=5, turn=14),
        draw.line(-35, 34.5, 35, 34.5, draw.paint("none", ink, 3.2, cap="round")),
    ]


def out_of_gas(ink: str, ground: str) -> list[str]:
    """Draw a fuel gauge, its needle on empty."""
    dial = "M-36 30C-36 10 -20 -6 0 -6C20 -6 36 10 36 30Z"
    ticks = [(-pi * k / 6, 6.5 if k % 3 else 9) for k in range(1, 6)]
    look = draw.paint("none", ground, 2.6, cap="round")
    return [
        draw.path(dial, draw.paint(ink, ink, 5, join="round")),
        *(draw.line(31 * cos(a), 28 + 31 * sin(a), (31 - n) * cos(a), 28 + (31 - n) * sin(a), look) for a, n in ticks),
        draw.polygon([(3, 31.5), (-2, 23.5), (-31, 21)], draw.paint(ground, ground, 2.4, join="round")),
        draw.circle(1, 27.5, 5.4, draw.paint(ground)),
        draw.group(gasoline(ink, ground), x=0, y=-23, scale=0.32),
    ]


def flat_tire(ink: str, ground: str) -> list[str]:
    """Draw a tyre that has sunk onto its rim."""
    rubber = "M-25 35C-36 35 -36 25 -27 19C-31 -7 -18 -17 0 -17C18 -17 31 -7 27 19C36 25 36 35 25 35Z"
    tyre = [
        draw.path(rubber, draw.paint(ink)),
        draw.circle(0, 9.5, 17, draw.paint(ground)),
        draw.circle(0, 9.5, 13.4, draw.paint(ink)),
        *(draw.circle(x, 9.5 + y, 2.6, draw.paint(ground)) for x, y in ring_of_points(5, 7.6)),
    ]
    floor = draw.line(-37, 34.5, 37, 34.5, draw.paint("none", ink, 3.2, cap="round"))
    return [draw.group(tyre, y=1.2, scale=0.95), floor]


def stop(ink: str, _ground: str) -> list[str]:
    """Draw a raised hand."""
    fingers = [(-20.5, -16, 9.4), (-9.8, -27, 9.4), (0.9, -30, 9.4), (11.6, -24, 9.4)]
    look = draw.paint(ink)
    return [
        *(draw.rect(x, y, width, 44 - y - 14, look, radius=4.7) for x, y, width in fingers),
        draw.path("M-20.5 4L21 4L21 14C21 27 12 34 0 34C-12 34 -20.5 27 -20.5 14Z", look),
        draw.path("M-20.5 20C-28 14 -32 8 -34.5 1C-36 -4 -30 -7 -27 -2L-18 9Z", draw.paint(ink, ink, 2, join="round")),
    ]


def speed_limit(ink: str, ground: str) -> list[str]:
    """Draw the figure in a white disc."""
    return [draw.circle(0, 0, 38, draw.paint(ink)), _fifty(ground)]


def _fifty(colour: str) -> str:
    return draw.text("50", 0, 19.5, 55, anchor=0.5, weight=800, fill=colour)


def end_of_limit(ink: str, ground: str) -> list[str]:
    """Draw the same figure, struck out by bars as at the end of a limit."""
    disc_and_figure = [draw.circle(0, 0, 40, draw.paint(ink)), _fifty(draw.INK)]
    halo, bar = draw.paint("none", ink, 14), draw.paint("none", ground, 8)
    return [*disc_and_figure, draw.line(-28, 28, 28, -28, halo), draw.line(-29, 29, 29, -29, bar)]


def repairs(ink: str, ground: str) -> list[str]:
    """Draw a spanner: an open jaw above, a ring below."""
    jaw = "M-8 -14C-17 -18 -19 -30 -11 -37L-6 -39L-6 -25L0 -21L6 -25L6 -39L11 -37C19 -30 17 -18 8 -14Z"
    spanner = [
        draw.path(jaw, draw.paint(ink, ink, 2, join="round")),
        draw.rect(-7, -20, 14, 46, draw.paint(ink)),
        draw.circle(0, 29, 12.5, draw.paint(ink)),
        draw.group([draw.polygon(ring_of_points(6, 6.4), draw.paint(ground))], y=29),
    ]
    return [draw.group(spanner, turn=40, x=1, y=2)]


def gasoline(ink: str, ground: str) -> list[str]:
    """Draw a filling pump."""
    hose = "M10 -2C18 -2 18 2 18 8L18 18C18 26 29 26 29 18L29 -8C29 -13 27 -15 24 -18L17 -25"
    return [
        draw.rect(-27, -34, 35, 62, draw.paint(ink), radius=5),
        draw.rect(-32, 26, 45, 8, draw.paint(ink), radius=2.5),
        draw.rect(-20.5, -27, 22, 18, draw.paint(ground), radius=2.5),
        draw.path(hose, draw.paint("none", ink, 5, cap="round", join="round")),
        draw.path("M24 -18L34 -8L34 2L29 2Z", draw.paint(ink, ink, 2, join="round")),
        draw.path(
            "M-9.5 -3C-3 5 -2 9 -2 12C-2 17 -5.5 19.5 -9.5 19.5C-13.5 19.5 -17 17 -17 12C-17 9 -16 5 -9.5 -3Z",
            draw.paint(ground),
        ),
    ]


def spare_tire(ink: str, ground: str, radius: float = 34) -> list[str]:
    """Draw a sound wheel with a deep tread."""
    blocks = [draw.group([draw.rect(-2.6, -radius - 1, 5.2, 9, draw.paint(ink))], turn=360 * k / 20) for k in range(20)]
    hub = radius * 0.62
    return [
        *blocks,
        draw.circle(0, 0, radius - 2.2, draw.paint(ink)),
        draw.circle(0, 0, hub, draw.paint(ground)),
        draw.circle(0, 0, hub * 0.8, draw.paint(ink)),
        *(draw.circle(x, y, hub * 0.16, draw.paint(ground)) for x, y in ring_of_points(5, hub * 0.46)),
    ]


def roll(ink: str, _ground: str) -> list[str]:
    """Draw an arrow that points straight on."""
    arrow: Points = [(0, -36), (27, -4), (11, -4), (11, 34), (-11, 34), (-11, -4), (-27, -4)]
    return [draw.polygon(arrow, draw.paint(ink, ink, 4, join="round"))]


def driving_ace(ink: str, ground: str) -> list[str]:
    """Draw a steering wheel with a star for its hub."""
    spoke = draw.paint("none", ink, 8.5)
    return [
        draw.circle(0, 0, 30, draw.paint("none", ink, 8.5)),
        draw.line(-28, -3, 28, -3, spoke),
        draw.line(0, 0, 0, 28, spoke),
        draw.circle(0, -1, 15.5, draw.paint(ink)),
        draw.group([draw.polygon(ring_of_points(5, 12.5, inner=5.2), draw.paint(ground))], y=-0.3),
    ]


def extra_tank(ink: str, ground: str) -> list[str]:
    """Draw a jerrycan with a plus."""
    can = "M-25 -14L-25 32L25 32L25 -20L12 -30L-9 -30Z"
    return [
        draw.path(can, draw.paint(ink, ink, 6, join="round")),
        draw.path("M-29 -20L-19 -30", draw.paint("none", ink, 10)),
        draw.path("M-1 -22L11 -22L16 -18", draw.paint("none", ground, 4.4, cap="round", join="round")),
        draw.rect(-4.6, -11, 9.2, 36, draw.paint(ground), radius=1.5),
        draw.rect(-18, 2.4, 36, 9.2, draw.paint(ground), radius=1.5),
    ]


def puncture_proof(ink: str, ground: str) -> list[str]:
    """Draw a wheel that rolls over spikes and does not mind."""
    spikes = [
        draw.polygon([(x - 5.6, 37), (x, 20.5), (x + 5.6, 37)], draw.paint(ink)) for x in (-16.8, -5.6, 5.6, 16.8)
    ]
    return [draw.group(spare_tire(ink, ground, 28), y=-11), *spikes]


def right_of_way(ink: str, ground: str) -> list[str]:
    """Draw the diamond of a priority road."""
    points = [(0.0, -33.0), (33.0, 0.0), (0.0, 33.0), (-33.0, 0.0)]
    small = [(0.62 * x, 0.62 * y) for x, y in points]
    return [
        draw.polygon(points, draw.paint(ink, ink, 6, join="round")),
        draw.polygon(small, draw.paint(draw.YELLOW, ground, 3.4, join="round")),
    ]


# --- pictograms of Rush ----------------------------------------------------------------------------------------


def _battery(ink: str, ground: str, charge: int) -> list[str]:
    """Draw a battery 60 wide lying down, with `charge` of its three cells full."""
    cells = [draw.rect(-22 + 16 * i, -11, 12, 22, draw.paint(ground), radius=1.5) for i in range(charge)]
    return [
        draw.rect(-29, -18, 56, 36, draw.paint(ink), radius=6),
        draw.rect(27, -8, 6, 16, draw.paint(ink), radius=2),
        *cells,
    ]


def out_of_charge(ink: str, ground: str) -> list[str]:
    """Draw a battery, empty but for a cross."""
    cross = draw.paint("none", ground, 5, cap="round")
    battery = [*_battery(ink, ground, 0), draw.line(-9, -8, 7, 8, cross), draw.line(-9, 8, 7, -8, cross)]
    return [draw.group(battery, y=18)]


_BOLT: Points = [(5, -37), (-21, 5), (-3, 5), (-8, 37), (21, -8), (3, -8)]


def recharge(ink: str, _ground: str) -> list[str]:
    """Draw a flash."""
    return [draw.polygon(_BOLT, draw.paint(ink, ink, 4, join="round"))]


def long_range(ink: str, ground: str) -> list[str]:
    """Draw a full battery, and the road it lasts for."""
    road = draw.paint("none", ink, 5, cap="round")
    dashes = [draw.line(x, 24, x + 9, 24, road) for x in (-25, -7, 11)]
    return [draw.group(_battery(ink, ground, 3), y=-10), *dashes]


def _cloud(ink: str) -> list[str]:
    puffs = ((-19, 6, 14), (-4, -5, 18), (16, 2, 15), (24, 9, 10))
    return [
        *(draw.circle(x, y, r, draw.paint(ink)) for x, y, r in puffs),
        draw.rect(-22, 6, 46, 14, draw.paint(ink), radius=7),
    ]


def pollution(ink: str, ground: str) -> list[str]:
    """Draw a cloud of smoke with a frown of its own."""
    face = draw.paint("none", ground, 4, cap="round")
    frown = draw.path("M-8 14C-5 7 5 7 8 14", face)
    eyes = [draw.circle(x, -1, 3.2, draw.paint(ground)) for x in (-8, 8)]
    return [draw.group([*_cloud(ink), frown, *eyes], y=15, scale=1.05)]


def end_of_pollution(ink: str, ground: str) -> list[str]:
    """Draw a leaf."""
    vein = draw.paint("none", ground, 3.6, cap="round")
    leaf = "M-26 22C-38 -14 -8 -36 33 -32C38 8 14 36 -20 28Z"
    return [
        draw.path(leaf, draw.paint(ink)),
        draw.path("M-33 34C-20 16 -4 -2 18 -16", draw.paint("none", ink, 5, cap="round")),
        draw.path("M-24 22C-14 8 0 -4 18 -16", vein),
        draw.path("M-7 4L-8 -12M3 -5L19 -2", vein),
    ]


def car_pool(ink: str, ground: str) -> list[str]:
    """Draw three people close together."""
    edge = draw.paint(ink, ground, 3.6)
    person = [draw.path("M-19 28L-19 12C-19 -6 19 -6 19 12L19 28Z", edge), draw.circle(0, -17, 12.5, edge)]
    seats = ((-18, 2, 0.8), (18, 2, 0.8), (0, 4, 1.0))
    return [draw.group(person, x=x, y=y, scale=size) for x, y, size in seats]


def accelerator(ink: str, _ground: str) -> list[str]:
    """Draw two arrows, one on top of the other: twice as far."""
    arms = draw.paint("none", ink, 11, join="miter")
    return [draw.path(f"M-26 {y}L0 {y - 26}L26 {y}", arms) for y in (4, 30)]


def mirror(ink: str, ground: str) -> list[str]:
    """Draw a driving mirror with a glint."""
    glint = draw.paint("none", ground, 4.4, cap="round")
    return [
        draw.rect(-33, -18, 66, 33, draw.paint(ink), radius=14),
        draw.rect(-4, 14, 8, 18, draw.paint(ink)),
        draw.line(-17, 5, -5, -8, glint),
        draw.line(-4, 7, 11, -9, glint),
    ]


def u_turn(ink: str, _ground: str) -> list[str]:
    """Draw an arrow that comes back."""
    bend = "M18 34L18 -8C18 -34 -18 -34 -18 -8L-18 6"
    tip: Points = [(-34, 6), (-2, 6), (-18, 28)]
    return [draw.path(bend, draw.paint("none", ink, 12)), draw.polygon(tip, draw.paint(ink, ink, 4, join="round"))]


def control(ink: str, ground: str) -> list[str]:
    """Draw the paddle that waves a car to the roadside."""
    paddle = [
        draw.rect(-5, 8, 10, 34, draw.paint(ink), radius=4),
        draw.circle(0, -11, 25, draw.paint(ink)),
        draw.circle(0, -11, 16.5, draw.paint("none", ground, 5.5)),
        draw.rect(-9, -14, 18, 6, draw.paint(ground), radius=1),
    ]
    return [draw.group(paddle, scale=0.9, turn=18)]


def theft(ink: str, ground: str) -> list[str]:
    """Draw a mask."""
    right = "C10 -14 26 -18 38 -12C38 8 28 18 16 16C8 15 4 8 0 6"
    mask = f"M0 -8{right}C-4 8 -8 15 -16 16C-28 18 -38 8 -38 -12C-26 -18 -10 -14 0 -8Z"
    eye = "M-26 0C-22 -8 -12 -7 -8 1C-13 7 -22 7 -26 0Z"
    eyes = [draw.path(eye, draw.paint(ground)), draw.group([draw.path(eye, draw.paint(ground))], x=34)]
    return [draw.group([draw.path(mask, draw.paint(ink, ink, 3, join="round")), *eyes], scale=0.88)]


PICTURE_OF: dict[Card, Picture] = {
    Card[picture.__name__.upper()]: picture
    for picture in (
        *(accident, out_of_gas, flat_tire, stop, speed_limit, out_of_charge, pollution),
        *(repairs, gasoline, spare_tire, roll, end_of_limit, recharge, end_of_pollution),
        *(driving_ace, extra_tank, puncture_proof, right_of_way, long_range, car_pool),
        *(accelerator, mirror, u_turn, control, theft),
    )
}
"""The picture of each card that is no distance; each is named as its card is."""

COLOUR_OF: dict[Family, str] = {
    Family.DISTANCE: draw.YELLOW,
    Family.HAZARD: draw.RED,
    Family.REMEDY: draw.GREEN,
    Family.SAFETY: draw.BLUE,
    Family.SPECIAL: draw.INK,
}


def sign(card: Card) -> list[str]:
    """Draw the family's sign with the card's picture on it. Distances have milestones instead: see `deck`."""
    shapes: dict[Family, Picture] = {Family.REMEDY: disc, Family.SAFETY: shield, Family.SPECIAL: tile}
    hazard = octagon if card in (Card.STOP, Card.SPEED_LIMIT) else triangle
    colour = COLOUR_OF[card.family]
    return [*shapes.get(card.family, hazard)(colour, draw.PAPER), *PICTURE_OF[card](draw.PAPER, colour)]
