"""How often things go wrong at a table."""

from dataclasses import dataclass, fields

from companion.common.errors import Problem


@dataclass(frozen=True, slots=True)
class Mishaps:
    """Probability of each mishap per play; all are 0 at a perfect table."""

    # Hands that play

    hasty: float = 0.0  # the next player plays 0.1 … 0.4 s after this one
    slow: float = 0.0
    quick: float = 0.0
    hesitating: float = 0.0  # the fingers stay on the card for a second
    wrong_zone: float = 0.0  # a card goes to a wrong zone, and to its own after 0.5 … 3 s
    lingering: float = 0.0
    """An illegal card stays for a play or two before it is taken back; a share of the illegal cards."""

    fans: float = 0.0  # distance cards in fans, not piles; a share of the sides

    # Hands that do not play

    crossing: float = 0.0  # another hand passes over the same place at the same time
    passing: float = 0.0
    hovering: float = 0.0  # a hand stops briefly over a pile
    resting: float = 0.0  # a hand rests on a mat for some seconds
    bump: float = 0.0  # a card is pushed by 3 … 30 mm and turned
    straighten: float = 0.0  # the cards of a zone are pushed together
    cup: float = 0.0  # a cup, a phone or dice are in a zone for some plays
    corner: float = 0.0  # the same on a marker at a mat's corner
    mat: float = 0.0  # a mat is shifted and turned with its cards

    # Light and camera

    lamp: float = 0.0  # the lamp goes off, and on again later
    dimming: float = 0.0  # the lamp is dimmed or turned up slowly
    clouds: float = 0.0
    hunting: float = 0.0  # the exposure swings for a second after a hand appears
    nudge: float = 0.0  # the camera moves by a few pixels
    push: float = 0.0  # the camera moves a lot
    tidy: bool = False  # the cards are also gathered after the last hand


NONE = Mishaps()

EVERYDAY = Mishaps(
    hasty=0.06, slow=0.1, quick=0.1, hesitating=0.08, wrong_zone=0.04, lingering=0.4, fans=0.3,
    crossing=0.08, passing=0.08, hovering=0.06, resting=0.05, bump=0.06, straighten=0.03, cup=0.03, corner=0.02,
    mat=0.015, lamp=0.012, dimming=0.015, clouds=0.03, hunting=0.05, nudge=0.02, push=0.01, tidy=True,
)  # fmt: skip
"""A lively evening: in a hand of fifty plays, most mishaps happen once or twice."""

KINDS = tuple(field.name for field in fields(Mishaps) if field.name != "tidy")

_OFTEN = {"fans": 1.0, "lingering": 1.0, "lamp": 0.1, "dimming": 0.1, "push": 0.1, "mat": 0.1, "nudge": 0.15}


def only(*kinds: str) -> Mishaps:
    """Return a table with only these mishaps, and frequent ones. Raises Problem for an unknown one."""
    for kind in kinds:
        if kind not in KINDS:
            raise Problem(f"There is no mishap '{kind}': there are {', '.join(KINDS)}.")
    return Mishaps(**{kind: _OFTEN.get(kind, 0.3) for kind in kinds})
