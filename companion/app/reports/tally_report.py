"""A photographed tableau for the terminal and as JSON: the cards of each side, the questions, the score of the hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from companion.app.reports import report
from companion.common.program_name import typed
from companion.common.text import one_of
from companion.rules import scoring
from companion.rules.cards import Card, card_name
from companion.rules.editions.edition import Edition
from companion.rules.editions.switches import EditionError
from companion.rules.table import Table
from companion.rules.tableau import Laying, Trip, check_sides, likely, odd, table_of, trips
from companion.vision.counting.tally import PILES, Lot, Photo, Place, Spot, Tally, layings
from companion.vision.view import FACE

NO_PICTURE = "No picture could be read: there is nothing to count."
MAY_LACK = "Of cards told by their faces those that others cover may be missing: count, or lay them apart."
IF_RIGHT = "If all this is right:"
PRINTED = "own"  # the deck that `companion print deck` draws
_ENROL = f"if they are another deck, `{typed('enroll')}` makes it known."
_THIRDS = (
    ("upper left", "at the top", "upper right"),
    ("left", "in the middle", "right"),
    ("lower left", "at the bottom", "lower right"),
)
"""Names of the ninths of a picture, row by row."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to people: the sentence, the answers, and the one assumed until they choose."""

    ask: str  # `card`, `beside`, `whose`, `unseen`, `trip`, `completed` or `draw-pile`
    say: str
    choices: tuple[str, ...]
    likely: str | None
    spots: tuple[Spot, ...] = ()

    def as_json(self, counted: Tally) -> dict[str, Any]:
        said = {"ask": self.ask, "say": self.say, "choices": list(self.choices), "likely": self.likely}
        return said | ({"cards": [_spot_json(spot, counted) for spot in self.spots]} if self.spots else {})


def questions(edition: Edition, counted: Tally) -> tuple[Question, ...]:
    """Return all questions about a tally, the cards first."""
    return (*_about_cards(counted), *_about_heaps(counted), *_about_the_hand(edition, counted))


def _about_cards(counted: Tally) -> Iterator[Question]:
    for lot in counted.lots:
        for spot in () if lot.is_beside else lot.unsure:
            yield _about_card(spot, counted)
        if lot.is_beside:
            lie = "lie" if lot.scoring[1:] else "lies"
            say = f"{called(lot.scoring).capitalize()} {lie} beside the mats: whose? Not counted for now."
            yield Question("beside", say, tuple(place.name for place in counted.places), None, lot.spots)


def _about_card(spot: Spot, counted: Tally) -> Question:
    card, where = f"card {spot.number}", _where_on(counted.photos[spot.photo], spot)
    slugs = tuple(card.value for card in spot.guesses)
    if not slugs:
        say = f"Which is {card} ({where})? It cannot be told, and is not counted for now."
        return Question("card", say, (), None, (spot,))
    named = one_of([card_name(card) for card in spot.guesses])
    ask = f"Which is {card}: {named}" if slugs[1:] else f"Is {card} really {named}"
    taken = f"Counted as {card_name(spot.likeliest)} for now."
    return Question("card", f"{ask} ({where})? {taken}", slugs, slugs[0], (spot,))


def _where_on(photo: Photo, spot: Spot) -> str:
    """Return where a card is on its photograph, by its thirds and in pixels: `a.jpg, upper left, at 310, 205`."""
    (x, y), (width, height) = spot.centre_px, photo.size_px
    row, column = (min(2, max(0, int(3 * share))) for share in (y / height, x / width))
    return f"{photo.name}, {_THIRDS[row][column]}, at {x:.0f}, {y:.0f}"


def called(spots: Sequence[Spot]) -> str:
    """Return cards by their numbers: `card 3`, `cards 1 to 5 and 8`."""
    numbers = sorted(spot.number for spot in spots)
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), key=lambda placed: placed[1] - placed[0])]
    said = [part for run in runs for part in ([f"{run[0]} to {run[-1]}"] if run[2:] else map(str, run))]
    *most, last = said
    return ("cards " if numbers[1:] else "card ") + (f"{', '.join(most)} and {last}" if most else last)


def _about_heaps(counted: Tally) -> Iterator[Question]:
    """Yield a question for each of several heaps on no mat."""
    heaps = [place for place in counted.places if place.lot and not place.lot.has_mat]
    for place in heaps if len(heaps) > 1 else ():
        spots = place.lot.scoring if place.lot else ()
        do, own = ("Do", "their") if spots[1:] else ("Does", "its")
        say = f"{do} {called(spots)} lie before a side of {own} own? Taken for {place.name}."
        yield Question("whose", say, tuple(other.name for other in counted.places), place.name)


def _about_the_hand(edition: Edition, counted: Tally) -> Iterator[Question]:
    laid = layings(counted)
    told = likely(edition, laid, draw_pile_empty=counted.draw_pile_empty)
    for place in counted.places:
        if place.lot is None:
            say = f"No picture shows {place.name}: did it lay any distance? Taken for yes."
            yield Question("unseen", say, ("yes", "no"), "yes")
    ways = tuple(_trip(trip, laid) for trip in trips(edition, len(laid)))
    chosen = _trip(told.trip, laid)
    yield Question("trip", f"How far did the trip go? Taken for: {chosen}.", ways, chosen)
    completer = laid[told.completed_by].name if told.completed_by is not None else "nobody"
    say = f"Who completed it? By the cards: {completer}."
    yield Question("completed", say, (*(laying.name for laying in laid), "nobody"), completer)
    if edition.points.delayed_action and told.completed_by is not None and counted.draw_pile_empty is None:
        say = "Was the draw pile used up by then, a delayed action? Taken for no."
        yield Question("draw-pile", say, ("yes", "no"), "no")


def _trip(trip: Trip, laid: Sequence[Laying]) -> str:
    by = "" if trip.extended_by is None else f", extended by {laid[trip.extended_by].name}"
    return f"{trip.target} km{by}"


def nothing_read(deck: str | None, others: Sequence[str]) -> str:
    """Return what to do if no card was read at all; `others` are the decks of the edition."""
    rest = [name for name in others if name != deck]
    named = one_of([f"{name} (the printed deck)" if name == PRINTED else name for name in rest]) if rest else ""
    if deck:
        say = f"No sticker was read, and no card of the deck '{deck}': photograph the cards from nearer by"
        return say + (f", or name their deck with --deck: {named}." if rest else f"; {_ENROL}")
    say = "No sticker was read: cards without stickers are read with --deck NAME, which names their deck"
    return f"{say}: {named}." if rest else f"{say}; {_ENROL}"


# --- For the terminal -----------------------------------------------------------------------------------------


def sentences(edition: Edition, counted: Tally) -> Iterator[str]:
    """Yield the lines about a tally."""
    if not counted.photos:
        yield NO_PICTURE
        return
    for place, laid in zip(counted.places, layings(counted), strict=True):
        yield from _place(place, laid.km, counted) if place.lot or not counted.is_blank else ()
    for lot in counted.lots:
        if lot.is_beside:
            yield f"Beside the mats on {_photos(lot, counted)}, not counted:"
            yield from _cards(lot)
    yield from counted.notes
    if counted.is_blank:
        return
    if any(sighting.by == FACE for photo in counted.photos for sighting in photo.view.sightings):
        yield MAY_LACK
    yield from (f"? {question.say}" for question in questions(edition, counted))
    yield from _score(edition, counted)


def _place(place: Place, km: int, counted: Tally) -> Iterator[str]:
    if place.lot is None:
        yield f"{place.name}: on no picture"
        return
    photos = _photos(place.lot, counted)
    where = f"mat {place.lot.key}" if place.lot.has_mat else called(place.lot.scoring)
    yield f"{place.name}, {where}{f' on {photos}' if photos else ''}: {km} km"
    yield from _cards(place.lot)


def _photos(lot: Lot, counted: Tally) -> str:
    return ", ".join(dict.fromkeys(counted.photos[spot.photo].name for spot in lot.spots))


def _cards(lot: Lot) -> Iterator[str]:
    """Yield the cards of a lot, each with its number in the questions and on the page."""

    def numbers(card: Card) -> str:
        return called([spot for spot in lot.spots if spot.card is card])

    twice = {card: f", {number} of them twice" for card, number in lot.doubled.items()}
    km = (f"{number} × {card} ({numbers(card)}{twice.get(card, '')})" for card, number in lot.distances.items())
    coup = {True: "coup fourré, ", False: ""}
    safeties = (f"{card_name(card)} ({coup[turned]}{numbers(card)})" for card, turned in lot.safeties.items())
    unsure = f"not told for sure: {called(lot.unsure)}" if lot.unsure else ""
    shown = {pile: ", ".join(map(card_name, lot.shows(pile))) for pile in PILES}
    piles = "; ".join(f"{pile} pile: {cards}" for pile, cards in shown.items() if cards)
    yield from (f"  {line}" for line in (", ".join(km), ", ".join(safeties), unsure, piles) if line)


def _score(edition: Edition, counted: Tally) -> Iterator[str]:
    try:
        table = likely_table(edition, counted)
    except EditionError as error:
        yield str(error)
        return
    yield from odd(table)
    yield IF_RIGHT
    yield from (f"  {row}" for row in report.sheet_rows(table, scoring.score(table)))


def likely_table(edition: Edition, counted: Tally) -> Table:
    """Return the table of the hand if all is right. Raises EditionError if the edition is not for so many sides."""
    laid = layings(counted)
    check_sides(edition, len(laid))
    return table_of(edition, laid, likely(edition, laid, draw_pile_empty=counted.draw_pile_empty))


# --- As JSON --------------------------------------------------------------------------------------------------


def as_json(edition: Edition, counted: Tally) -> dict[str, Any]:
    """Return the last object of `read --tally --json`."""
    said: dict[str, Any] = {
        "tally": edition.name,
        "pictures": [photo.name for photo in counted.photos],
        "sides": [_place_json(place, counted) for place in counted.places],
        "notes": list(counted.notes),
        "questions": [question.as_json(counted) for question in questions(edition, counted)] if counted.photos else [],
        "score": None,
    }
    try:
        table = likely_table(edition, counted)
    except EditionError as error:
        return said | {"odd": [str(error)]}
    return said | {"odd": list(odd(table))} | (_score_json(table, counted, edition) if counted.photos else {})


def _score_json(table: Table, counted: Tally, edition: Edition) -> dict[str, Any]:
    told = likely(edition, layings(counted), draw_pile_empty=counted.draw_pile_empty)
    sheets = zip(table.sides, scoring.score(table), strict=True)
    score = {
        side.name: {"score": [{"item": item, "points": points} for item, points in sheet.lines], "total": sheet.total}
        for side, sheet in sheets
    }
    extender, completer = (
        None if number is None else table.sides[number].name for number in (told.trip.extended_by, told.completed_by)
    )
    said = {
        "target": told.trip.target,
        "extended_by": extender,
        "completed_by": completer,
        "draw_pile_empty": told.draw_pile_empty,
    }
    return {"told": said, "score": score}


def _place_json(place: Place, counted: Tally) -> dict[str, Any]:
    lot = place.lot or Lot(place.key, ())
    return {
        "name": place.name,
        "side": place.key if lot.has_mat and place.lot else None,
        "seen": place.lot is not None,
        "distances": dict(lot.distances),
        "doubled": dict(lot.doubled),
        "safeties": {card.value: "coup-fourre" if turned else "played" for card, turned in lot.safeties.items()},
        "battle": [card.value for card in lot.shows("battle")],
        "speed": [card.value for card in lot.shows("speed")],
        "cards": [_spot_json(spot, counted) for spot in lot.spots],
    }


def _spot_json(spot: Spot, counted: Tally) -> dict[str, Any]:
    x, y = spot.centre_px
    return {
        "number": spot.number,
        "face": spot.card.value,
        "guesses": [card.value for card in spot.guesses],
        "sideways": spot.sideways,
        "image": counted.photos[spot.photo].name,
        "centre_px": [round(x, 1), round(y, 1)],
    }
