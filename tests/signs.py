"""Draw the pages' signs and icons in advance, from the pictograms of the printed deck and mats.

python tests/signs.py

One file has a symbol for each card, a milestone, and the sides' marks. Icons for home screens are milestones too.
Drawing takes 45 ms on a desktop computer, which would delay the first page.
"""

import argparse

from companion.common.resources import shipped
from companion.printing import render
from companion.printing import svg as draw
from companion.printing.pictograms import badge, milestone, sign
from companion.rules.cards import Card, Family
from companion.tabletop.mat_layout import SIDE_MARKS

STATIC = shipped("web") / "static"
FILE = STATIC / "signs.svg"
ICONS_PX = (180, 192, 512)  # icon widths: the iPhone's, and two for the manifest


def side_car(number: int) -> list[str]:
    """Draw the car of side `number` from above, 92 long, facing up, with its mark on the roof."""
    mark, ink = SIDE_MARKS[number - 1], draw.paint(draw.INK)
    body = "M-21 36C-21 42 -16 43 0 43C16 43 21 42 21 36L21 -22C21 -38 14 -43 0 -43C-14 -43 -21 -38 -21 -22Z"
    wheels = [draw.rect(x, y, 9, 17, ink, radius=3) for x in (-26, 17) for y in (-31, 16)]
    roof = [draw.circle(0, 7, 16.5, draw.paint(draw.WHITE)), draw.group([draw.path(mark.shape, ink)], y=7, scale=0.28)]
    return [
        draw.path(body, draw.paint("none", draw.PAPER, 12, join="round")),
        *wheels,
        draw.path(body, draw.paint(mark.colour, draw.INK, 3.5, join="round")),
        draw.path("M-16 -14C-15 -27 15 -27 16 -14C8 -19 -8 -19 -16 -14Z", ink),
        draw.path("M-14 31C-6 27 6 27 14 31L12 37C4 34 -4 34 -12 37Z", ink),
        *roof,
    ]


def drawn() -> str:
    cards = [card for card in Card if card is not Card.UNKNOWN]
    signs = [(card.value, "-63 -63 126 126", sign(card)) for card in cards if card.family is not Family.DISTANCE]
    stones = [(card.value, card.value) for card in cards if card.family is Family.DISTANCE]
    signs += [(name, "-4.4 -4.9 8.8 8.8", milestone(draw.INK, km)) for name, km in (*stones, ("borne", ""))]
    numbers = range(1, len(SIDE_MARKS) + 1)
    signs += [(f"{name}-{n}", "-52 -52 104 104", mark(n)) for n in numbers for name, mark in MARKS]
    symbols = (f'<symbol id="s-{name}" viewBox="{box}">{"".join(body)}</symbol>' for name, box, body in signs)
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>'


MARKS = (("badge", badge), ("car", side_car))


def icon(px: int) -> bytes:
    """Return the home screen icon as a PNG of this width: the milestone, with a margin for rounding."""
    stone = draw.group(milestone(draw.INK), x=50, y=51.5, scale=7.2)
    body = [draw.rect(0, 0, 100, 100, draw.paint(draw.GREEN)), stone]
    return render.to_png(draw.document(100, 100, body), px * render.MM_PER_INCH / 100)


if __name__ == "__main__":
    argparse.ArgumentParser(description="Draw web/static/signs.svg and the icons for home screens.").parse_args()
    FILE.write_text(drawn())
    for px in ICONS_PX:
        (STATIC / f"icon-{px}.png").write_bytes(icon(px))
