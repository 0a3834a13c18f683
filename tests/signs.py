"""The signs of the pages, drawn once for all: one file with a symbol for each card, a milestone, and the sides' marks.

    python tests/signs.py

They are those of the printed deck and mats. Drawing them takes 45 ms on a desk computer, for which the first page would
wait.
"""

from __future__ import annotations

from companion.common.resources import shipped
from companion.printing import svg as draw
from companion.printing.pictograms import badge, milestone, side_car, sign
from companion.rules.cards import Card, Family
from companion.tabletop.side_marks import SIDE_MARKS

FILE = shipped("web") / "static" / "signs.svg"
MARKS = (("badge", badge), ("car", side_car))


def drawn() -> str:
    cards = [card for card in Card if card is not Card.UNKNOWN]
    signs = [(card.value, "-63 -63 126 126", sign(card)) for card in cards if card.family is not Family.DISTANCE]
    stones = [(card.value, card.value) for card in cards if card.family is Family.DISTANCE]
    signs += [(name, "-4.4 -4.9 8.8 8.8", milestone(draw.INK, km)) for name, km in (*stones, ("borne", ""))]
    numbers = range(1, len(SIDE_MARKS) + 1)
    signs += [(f"{name}-{n}", "-52 -52 104 104", mark(n)) for n in numbers for name, mark in MARKS]
    symbols = (f'<symbol id="s-{name}" viewBox="{box}">{"".join(body)}</symbol>' for name, box, body in signs)
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>'


if __name__ == "__main__":
    FILE.write_text(drawn())
