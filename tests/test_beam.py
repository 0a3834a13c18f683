"""Weighted hypotheses: what cards on a table mean, with hindsight."""

import pytest
from records import THREE, TWO, hand
from sheet import scenes
from viewed import SIDEWAYS, zone_of

from companion.match.zone_plays import Places
from companion.rules.cards import Card
from companion.rules.play import Verb
from companion.tracking.beam import Beliefs, see
from companion.tracking.handling import COSTS
from companion.tracking.hypothesis import Gone, Judge, Manner
from companion.tracking.playing import excused
from companion.vision.view import FACE, STICKER, MatSeen, Sighting, View

LOOK_S = 0.2
SQUARE = ((0.0, 0.0), (100.0, 0.0), (100.0, 100.0), (0.0, 100.0))


class Table:
    """Cards that are put down and picked up, and what is believed about them."""

    def __init__(self, *, sides: str = TWO, edition: str = "classic") -> None:
        table = hand(players=sides, edition=edition).table
        mats = {f"side-{number}": side.name for number, side in enumerate(table.sides, 1)}
        self.mats = tuple(MatSeen(mat, SQUARE, 1.0) for mat in (*mats, "table"))
        self.beliefs = Beliefs(Judge(table, Places(mats), COSTS, Verb.FINISH))
        self.cards: dict[str, Sighting] = {}
        self.t_s = 0.0
        self.look(2)

    def look(self, times: int = 5, *hidden: str) -> None:
        for _ in range(times):
            self.t_s += LOOK_S
            seen = tuple(card for card in self.cards.values() if card.zone not in hidden)
            self.beliefs = see(self.beliefs, View(self.t_s, self.mats, seen, frozenset(hidden)))

    def put(self, card: str, zone: str, at_mm: float = 0.0, *, sideways: bool = False) -> None:
        """Put a card down; `roll#3` is recognized by its face and has number 3 of the eye, with `?` perhaps another."""
        face, _, stay = card.rstrip("?").partition("#")
        known = None if stay else card
        self.cards[card.rstrip("?")] = Sighting(
            Card(face if stay else card.rpartition("-")[0]), known, (at_mm, 0.0), None, zone, sideways, 0.99,
            FACE if stay else STICKER, stay=int(stay) if stay else None, is_double=card.endswith("?"),
        )  # fmt: skip

    def perform(self, step: str) -> None:
        match step.split():
            case ["lay", card, zone, *how]:
                where, at_mm = zone_of(zone), next((float(mm) for mm in how if mm != SIDEWAYS), 0.0)
                if where.endswith(("battle", "speed", "discard")):
                    # A pile shows its top card only.
                    self.cards = {name: seen for name, seen in self.cards.items() if seen.zone != where}
                self.look(2, where)
                self.put(card, where, at_mm, sideways=SIDEWAYS in how)
                self.look()
            case ["show", card, zone]:
                self.put(card, zone_of(zone))
                self.look()
            case ["up", card]:
                del self.cards[card]
                self.look()
            case ["hide", zone, looks]:
                self.look(int(looks), zone_of(zone))
            case _:
                raise ValueError(step)

    @property
    def told(self) -> str:
        acts = self.beliefs.best.acts
        marks = {Manner.UNSEEN: "missed: "}
        return " / ".join(f"{marks.get(act.manner, '')}{act.play}{' (illegal)' * bool(act.reasons)}" for act in acts)


SCENES = """
plays are believed in their order
    lay roll-01 1/battle; lay roll-02 2/battle; lay 100-01 1/distance => Ann roll / Bob roll / Ann 100
an illegal card is believed, and forgotten once it is taken back
    lay roll-01 1/battle; lay 100-01 2/distance => Ann roll / Bob 100 (illegal)
    up 100-01; lay roll-02 2/battle => Ann roll / Bob roll
a beaten hazard that is carried to the discard pile is no discard
    lay roll-01 1/battle; lay stop-01 1/battle; lay roll-02 1/battle; lay stop-01 discard; lay 100-01 2/distance
        => Ann roll / Bob stop > Ann / Ann roll / Bob 100 (illegal)
a card that is put into the wrong zone counts where it ends
    lay roll-01 1/battle; lay roll-02 2/battle; lay 50-01 1/speed; lay 50-01 1/distance
        => Ann roll / Bob roll / Ann 50
a card in a hidden zone counts once it lies still
    lay roll-01 1/battle; lay roll-02 2/battle; show 100-01 1/distance; hide 1/distance 6
        => Ann roll / Bob roll / Ann 100
a card that is moved a little is no new one
    lay roll-01 1/battle; lay roll-02 2/battle; lay 50#1 1/distance; up 50#1; lay 50#2 1/distance 3
        => Ann roll / Bob roll / Ann 50
an equal card played on another is found by the turn that follows
    lay roll-01 1/battle; lay roll-02 2/battle; lay 50#1 1/distance; lay 25-01 2/distance; up 50#1
    lay 50#2? 1/distance 1; lay 75-01 2/distance => Ann roll / Bob roll / Ann 50 / Bob 25 / Ann 50 / Bob 75
"""


@pytest.mark.parametrize(("setting", "scene"), scenes(SCENES))
def test_a_scene(setting, scene):
    table = Table(sides=THREE if setting == "three" else TWO)
    for written in scene:
        steps, _, expected = written.rpartition("=> ")
        for step in filter(str.strip, (steps or written).split(";")):
            table.perform(step.strip())
        if steps:
            assert table.told == expected, written


def test_a_safety_that_was_not_read_is_supposed_when_its_hazard_is_carried_away_and_known_when_it_is_read():
    table = Table()
    for step in ("lay roll-01 1/battle", "lay roll-02 2/battle", "lay 25-01 1/distance", "lay speed-limit-01 1/speed",
                 "lay 50-01 1/distance 80", "lay 100-01 2/distance", "lay speed-limit-01 discard",
                 "lay 200-01 1/distance 160"):  # fmt: skip
        table.perform(step)
    supposed = table.told

    table.perform("lay right-of-way-01 1/safety")

    assert supposed.endswith("Bob 100 / missed: Ann right-of-way / Ann 200")
    assert table.told == supposed.replace("missed: ", "")


@pytest.mark.parametrize(("paid", "left"), [(0.3, 0.3), (8.0, COSTS.cleared)])
def test_a_missing_card_that_turns_out_beaten_costs_no_more_than_clearing_it_away(paid, left):
    table = Table()
    for step in ("lay roll#1 1/battle", "lay roll#2 2/battle", "lay 100#3 1/distance", "lay stop#4 1/battle"):
        table.perform(step)
    stop = next(card for card in table.beliefs.best.zones["side-1/battle"] if card.face is Card.STOP)
    table.perform("lay roll#5 1/battle")
    before = table.beliefs.best
    missing = before._replace(gone=(Gone(stop, "side-1/battle", 0.0, paid=paid),), handling=before.handling + paid)

    after = excused(missing, table.beliefs.judge)
    assert after.gone == ()
    assert after.cost - before.cost == pytest.approx(left)
