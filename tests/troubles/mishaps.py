"""What goes wrong at a table with people round it: how often each of it happens."""

from dataclasses import dataclass, fields

from companion.common.errors import Problem


@dataclass(frozen=True, slots=True)
class Mishaps:
    """So often a play comes with each of these, as shares of the plays; all 0: a table where nothing goes wrong."""

    # Hands that play

    hasty: float = 0.0  # the next player lays his card 0.1 … 0.4 s after this one
    slow: float = 0.0
    quick: float = 0.0
    hesitating: float = 0.0  # the fingers stay on the laid card for a second
    wrong_zone: float = 0.0  # a card is laid in a wrong zone, and moved to its own after 0.5 … 3 s
    lingering: float = 0.0
    """An illegal card stays for a play or two before it is taken back; a share of the illegal ones."""

    fans: float = 0.0  # a side lays its distance cards as fans, not as piles; a share of the sides

    # Hands that do not play

    crossing: float = 0.0  # another hand passes over the same place at the same time
    passing: float = 0.0
    hovering: float = 0.0  # a hand stops over a pile for a moment and moves on
    resting: float = 0.0  # a hand lies on a mat for some seconds
    bump: float = 0.0  # a card is pushed by 3 … 30 mm, and turned
    straighten: float = 0.0  # the cards of a zone are pushed together
    cup: float = 0.0  # a cup, a phone or dice are put down in a zone, and taken away some plays later
    corner: float = 0.0  # the same on the marker at a mat's corner
    mat: float = 0.0  # a mat is shifted and turned with all that lies on it

    # Light and camera

    lamp: float = 0.0  # the lamp is switched off, and on again later
    dimming: float = 0.0  # the lamp is dimmed or turned up slowly
    clouds: float = 0.0
    hunting: float = 0.0  # the exposure swings for a second after a hand has come in
    nudge: float = 0.0  # the camera is moved by a few pixels
    push: float = 0.0  # the camera is moved by a lot
    tidy: bool = False  # the cards are gathered in after the last hand, too


NONE = Mishaps()

EVERYDAY = Mishaps(
    hasty=0.06, slow=0.1, quick=0.1, hesitating=0.08, wrong_zone=0.04, lingering=0.4, fans=0.3,
    crossing=0.08, passing=0.08, hovering=0.06, resting=0.05, bump=0.06, straighten=0.03, cup=0.03, corner=0.02,
    mat=0.015, lamp=0.012, dimming=0.015, clouds=0.03, hunting=0.05, nudge=0.02, push=0.01, tidy=True,
)  # fmt: skip
"""A lively evening: in a hand of fifty plays most of it happens once or twice."""

KINDS = tuple(field.name for field in fields(Mishaps) if field.name != "tidy")

_OFTEN = {"fans": 1.0, "lingering": 1.0, "lamp": 0.1, "dimming": 0.1, "push": 0.1, "mat": 0.1, "nudge": 0.15}


def only(*kinds: str) -> Mishaps:
    """A table where nothing but these kinds of mishap happens, and they often. Raises Problem for another word."""
    for kind in kinds:
        if kind not in KINDS:
            raise Problem(f"There is no mishap '{kind}': there are {', '.join(KINDS)}.")
    return Mishaps(**{kind: _OFTEN.get(kind, 0.3) for kind in kinds})
