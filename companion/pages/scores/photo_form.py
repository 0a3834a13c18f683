"""Form that confirms photographed cards, and the table it describes.

Fields are named by side or card, so typed values survive another photograph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from companion.common import parsing
from companion.common.errors import Problem
from companion.pages import words
from companion.pages.players.names import clean
from companion.pages.words import N_, Names, _
from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.editions.edition import Edition
from companion.rules.table import Side, Table
from companion.rules.tableau import Told, Trip, check_sides, likely, may_have_more, odd_cards, odd_trip, table_of, trips
from companion.vision.counting.figures import Figure, figures
from companion.vision.counting.tally import PILES, Lot, Spot, Tally, scores

Form = Mapping[str, str]
OWN, NOBODY = "own", "nobody"
OTHER, NOTHING, GUESS = "other", "nothing", "guess"
SEVERAL, SHORT = "several", "short"
OUT, COUP_FOURRE = "out", "coup-fourre"
YES, NO = "yes", "no"
PLAYED_OUT, STOPPED = "played-out", "stopped"
MOST_COPIES = 99
_TITLES = {
    "trip": N_("How far was the trip?"),
    "ended": N_("Who completed it?"),
    "pile": N_("The draw pile, when the trip was completed"),
}  # of questions about the whole hand, by field
_SO_FAR = {
    GUESS: N_("%(said)s? That depends on guesses."),
    SEVERAL: N_("Several sides are at the target: only one can have completed the trip."),
    SHORT: N_("No side is at the target: are cards hidden?"),
}  # shown below a required question, by reason
_STILL = {
    GUESS: N_("%(question)s The answer depends on guesses: choose it below."),
    SEVERAL: N_("%(question)s Several sides are at the target: choose one below."),
    SHORT: N_("%(question)s No side is at the target: add hidden cards, or choose below."),
}  # the same as errors
_UNSEEN = (Card.UNKNOWN,)  # distances of a side whose cards were not counted


def fields(edition: Edition, tally: Tally, named: Mapping[str, str]) -> dict[str, str]:
    """Return the form filled from the photographs, without guesses; `named` maps mats to sides."""
    form: dict[str, str] = {"trip": "", "ended": "", "pile": YES if tally.draw_pile_empty else NO}
    for lot in tally.lots:
        form |= _lot_fields(edition, lot)
        if not lot.is_beside:
            form[f"name-{lot.key}"] = named.get(lot.key.replace("unseen", "side"), words.said(lot.name))
        if not lot.is_seen:
            form[f"drove-{lot.key}"] = YES
        elif not lot.has_mat:
            form[f"whose-{lot.key}"] = NOBODY if lot.is_beside else OWN
    return form


def _lot_fields(edition: Edition, lot: Lot) -> dict[str, str]:
    km, fast = Counter(spot.card for spot in lot.of(Family.DISTANCE)), lot.doubled
    safeties = {spot.card: spot.sighting.sideways for spot in lot.of(Family.SAFETY)}
    form = {f"n-{lot.key}-{card}": str(km[card]) for card in distances_of(edition)}
    if Card.ACCELERATOR in edition.deck:
        form |= {f"x-{lot.key}-{card}": str(fast[card]) for card in distances_of(edition)}
    for card in edition.safeties:
        form[f"s-{lot.key}-{card}"] = (COUP_FOURRE if safeties[card] else OUT) if card in safeties else ""
    return form


def distances_of(edition: Edition) -> tuple[Card, ...]:
    """Return a deck's distance cards, longest first."""
    return tuple(sorted((c for c in edition.deck if c.family is Family.DISTANCE), key=lambda c: -c.km))


def kept(before: Form, filled: Form, now: Form) -> dict[str, str]:
    """Return the form after another photograph: values typed over `before`, else those of `now`.

    "All cards are visible" is asked again.
    """
    stays = {field: value for field, value in filled.items() if field not in before or value != before[field]}
    return {**now, **{field: value for field, value in stays.items() if field in now or field[:2] in ("c-", "o-")}}


class Odd(NamedTuple):
    """An impossible or unlikely finding, with its card and side."""

    say: str
    card: str | None = None
    side: str | None = None

    @property
    def is_of_hand(self) -> bool:
        """True if the finding concerns no line of a side."""
        return self.side is None and self.card in (None, Card.ACCELERATOR)


def odd(table: Table) -> tuple[Odd, ...]:
    """Return the impossible or unlikely findings on the counted table."""
    reasons = [(reason, dict(reason.details)) for reason in odd_cards(table)]
    cards = (
        Odd(words.why(reason, table.edition, Names({}, {})).say, about.get("card"), about.get("side"))
        for reason, about in reasons
    )
    return (*cards, *(Odd(words.said(sentence)) for sentence in odd_trip(table)))


def lot_forms(edition: Edition, tally: Tally, form: Form, found: Sequence[Odd]) -> Iterator[dict[str, Any]]:
    """Yield the template values of every side, then of heaps beside the mats."""
    laid = list(zip(_sides(tally, form).values(), sides(edition, tally, form), strict=False))
    hiding = _may_hide(edition, tally, form)
    for lot in tally.lots:
        names = [side.name for lots, side in laid if lot in lots]
        about = [one for one in found if names and one.side in (None, *names)]
        yield _lot_form(edition, tally, form, lot, about) | {"may_hide": lot.key in hiding}


def _lot_form(edition: Edition, tally: Tally, form: Form, lot: Lot, about: Sequence[Odd]) -> dict[str, Any]:
    key, name = lot.key, form.get(f"name-{lot.key}", "")
    piles = ((words.capital(_(words.ZONES[pile])), ", ".join(map(words.name, lot.shows(pile)))) for pile in PILES)
    others = (other.key for other in tally.lots if other is not lot and not other.is_beside)
    theirs = ((other, _("They are %(name)s’s", name=form.get(f"name-{other}", ""))) for other in others)
    lines = [
        _field(edition, form, lot, f"n-{key}-{card}", card, "0")
        | {"most": edition.deck[card], "fast_field": f"x-{key}-{card}", "fast": form.get(f"x-{key}-{card}", "0")}
        for card in distances_of(edition)
    ]
    safeties = [_field(edition, form, lot, f"s-{key}-{card}", card) for card in edition.safeties]
    for line in (*lines, *safeties):
        of_card = (one for one in about if one.card == line["card"])
        line["odd"] = [one.say for one in of_card if one.side or line["value"] not in ("", "0")]
    absent = [line for line in (*lines, *safeties) if line["is_absent"]]
    pictures = list(figures(tally, lot))
    return {
        "key": key,
        "title": name or _("Beside the mats"),
        "name": name,
        "km": _side(edition, form, [lot]).km,
        "side_km": _side(edition, form, _sides(tally, form).get(key, [lot])).km,  # with the assigned heaps
        "odd": [one.say for one in about if one.side and not one.card],
        "is_seen": lot.is_seen,
        "figures": pictures,
        "lines": lines,
        "absent": ", ".join(words.title(line["card"]) for line in absent),
        "shows_absent": len(absent) == len(lines + safeties) or any(line["value"] not in ("", "0") for line in absent),
        "counts_twice": Card.ACCELERATOR in edition.deck,
        "safeties": safeties,
        "unsure": [_unsure(edition, form, spot, pictures) for spot in lot.unsure],
        "is_all": form.get(f"all-{key}") == YES,
        "piles": " · ".join(_("%(pile)s: %(cards)s", pile=pile, cards=shown) for pile, shown in piles if shown),
        # empty if only one heap is visible
        "whose": form.get(f"whose-{key}", "") if sum(one.is_seen for one in tally.lots) > 1 else "",
        "owners": [(OWN, _("They are a separate side")), *theirs, (NOBODY, _("They do not count"))],
        # empty unless no photograph shows the side
        "drove": form.get(f"drove-{key}", ""),
    }


def _field(edition: Edition, form: Form, lot: Lot, field: str, card: Card, usual: str = "") -> dict[str, Any]:
    """Return a card's input field; `cards` lists the marked cards it counts: `cards 3, 4`."""
    value, numbers = form.get(field, usual), [str(spot.number) for spot in lot.spots if spot.card is card]
    answered = [spot for spot in lot.unsure if _answer(edition, spot, form) is card]
    several = _("cards %(all)s", all=", ".join(numbers)) if numbers else ""
    cards = _("card %(number)s", number=numbers[0]) if len(numbers) == 1 else several
    if cards and parsing.whole(value, 0, MOST_COPIES) not in (None, len(numbers)):
        cards = _("%(cards)s, counted: %(count)s", cards=cards, count=value)
    if answered:
        cards += " " + _("plus %(count)d answered above", count=len(answered))
    may_be = any(card in spot.guesses for spot in lot.unsure)
    return {"card": card, "field": field, "value": value, "cards": cards.strip(), "is_absent": not (numbers or may_be)}


def _unsure(edition: Edition, form: Form, spot: Spot, pictures: Sequence[Figure]) -> dict[str, Any]:
    other = form.get(f"o-{spot.key}", "")
    return {
        "spot": spot,
        "figure": next(figure for figure in pictures if figure.photo == spot.photo).of(spot.number),
        "value": form.get(f"c-{spot.key}", ""),
        "choices": [card for card in spot.guesses if card in edition.deck],
        "guess": spot.proposed,
        "other": other if card_of_slug(other) in edition.deck else "",
    }


def asked(edition: Edition, tally: Tally, form: Form) -> list[dict[str, Any]]:
    """Return the questions about the whole hand, with answers and what the cards say."""
    keys, laid = list(_sides(tally, form)), sides(edition, tally, form)
    told, still_open = _told(edition, tally, form), _open(edition, tally, form)
    who = _("no side") if told.completed_by is None else laid[told.completed_by].name
    completed = [(key, _("%(name)s completed it", name=side.name)) for key, side in zip(keys, laid, strict=False)]
    nobody = [(PLAYED_OUT, _("Nobody: all cards were played")), (STOPPED, _("Nobody: we stopped early"))]
    ways = [(_trip_value(way, keys), _trip_say(way, laid)) for way in trips(edition, len(keys))]
    found = [
        ("trip", ways, _trip_say(told.trip, laid)),
        ("ended", [*completed, *nobody], words.capital(who)),
    ]
    questions = []
    for field, answers, by_cards in found:
        is_open = field in still_open
        unanswered = ("", _("Choose") if is_open else _("As the cards show"))
        so_far = _(_SO_FAR[still_open[field]], said=by_cards) if is_open else by_cards
        questions.append(_question(form, field, [unanswered, *answers], so_far) | {"is_open": is_open})
    if edition.points.delayed_action:
        answers = [(NO, _("It still had cards")), (YES, _("It was empty: delayed action"))]
        questions.append(_question(form, "pile", answers, ""))
    return questions


def _question(form: Form, field: str, answers: list[tuple[str, str]], so_far: str) -> dict[str, Any]:
    value = form.get(field, answers[0][0])
    return {"field": field, "title": _(_TITLES[field]), "value": value, "answers": answers, "so_far": so_far}


def _trip_value(trip: Trip, keys: Sequence[str]) -> str:
    return str(trip.target) if trip.extended_by is None else f"{trip.target} {keys[trip.extended_by]}"


def _trip_say(trip: Trip, laid: Sequence[Side]) -> str:
    if trip.extended_by is None:
        return _("%(km)d km", km=trip.target)
    return _("Extended by %(who)s: %(km)d km", who=laid[trip.extended_by].name, km=trip.target)


class OpenQuestionError(Problem):
    """A question to answer before a hand counts."""

    def __init__(self, sentence: str, about: str) -> None:
        super().__init__(sentence)
        self.about = about  # id of its element on the page


def table_sent(edition: Edition, tally: Tally, form: Form) -> Table:
    """Return the confirmed table. Raises Problem for open questions and invalid values."""
    laid = sides(edition, tally, form)
    for side, lots in zip(laid, _sides(tally, form).values(), strict=False):
        for spot in (spot for lot in lots for spot in lot.unsure if _answer(edition, spot, form) is None):
            still = _(
                "Card %(number)d is still unknown: choose the card, or that it does not count.", number=spot.number
            )
            raise OpenQuestionError(still, f"card-{spot.number}")
        for lot, card, kind in product(lots, distances_of(edition), "nx"):
            if _number(form, f"{kind}-{lot.key}-{card}") is None:
                wrong = N_("How many %(card)s does %(name)s have? Enter a number from 0 to %(most)d.")
                raise Problem(_(wrong, card=words.name(card), name=side.name, most=MOST_COPIES))
    if not any(side.km or side.safeties for side in laid):
        raise Problem(_("Nothing is counted yet: enter the distance cards and safeties of each side."))
    names = Counter(side.name.casefold() for side in laid)
    for side in laid:
        if names[side.name.casefold()] > 1:
            raise Problem(_("Two sides are called %(name)s: give one of them another name.", name=side.name))
    check_sides(edition, len(laid))
    table = table_so_far(edition, tally, form)
    for key in _may_hide(edition, tally, form):
        if form.get(f"all-{key}") != YES:
            side = table.sides[list(_sides(tally, form)).index(key)]
            hidden = N_("%(name)s: is every card visible? %(km)d km counted, and equal cards may hide each other.")
            raise OpenQuestionError(_(hidden, name=side.name, km=side.km), f"all-{key}")
    for field, why in _open(edition, tally, form).items():
        told, asks = _told(edition, tally, form), _(_TITLES[field])
        if field == "ended" and told.completed_by is not None:
            name = laid[told.completed_by].name
            asks = _("Did %(name)s really finish at %(km)d km?", name=name, km=told.trip.target)
        raise OpenQuestionError(_(_STILL[why], question=asks), f"ask-{field}")
    return table


def table_so_far(edition: Edition, tally: Tally, form: Form) -> Table:
    """Return the table without unanswered, guessed or invalid parts."""
    told = _told(edition, tally, form)
    if "ended" in _open(edition, tally, form):
        told = replace(told, completed_by=None)
    return table_of(edition, sides(edition, tally, form), told)


def _told(edition: Edition, tally: Tally, form: Form) -> Told:
    """Return how the hand went: as answered, else as the cards show."""
    keys, laid = list(_sides(tally, form)), sides(edition, tally, form)
    told = likely(edition, laid, trip=_trip(edition, tally, form), draw_pile_empty=form.get("pile") == YES)
    ended = form.get("ended", "")
    if ended in (*keys, PLAYED_OUT, STOPPED):
        who = keys.index(ended) if ended in keys else None
        told = replace(told, completed_by=who, played_out=ended == PLAYED_OUT)
    return told


def _trip(edition: Edition, tally: Tally, form: Form) -> Trip | None:
    keys = list(_sides(tally, form))
    ways = {_trip_value(trip, keys): trip for trip in trips(edition, len(keys))}
    return ways.get(form.get("trip", ""))


def _open(edition: Edition, tally: Tally, form: Form) -> dict[str, str]:
    """Return the questions (`trip`, `ended`) that a person must answer, with the reason.

    GUESS: without guesses the cards answer differently. SEVERAL: several sides are at the target. SHORT: none is.
    """
    sure = {field: value for field, value in form.items() if (field[:2], value) != ("c-", GUESS)}
    told, surely = _told(edition, tally, form), _told(edition, tally, sure)
    differs = {"trip": told.trip != surely.trip, "ended": told.completed_by != surely.completed_by}
    found = dict.fromkeys((field for field, is_open in differs.items() if is_open), GUESS)
    ended = form.get("ended", "")
    if told.completed_by is None and not told.played_out and ended != STOPPED:
        found["ended"] = SEVERAL
    elif told.played_out and not ended:
        found.setdefault("ended", SHORT)
    return found


def _may_hide(edition: Edition, tally: Tally, form: Form) -> tuple[str, ...]:
    """Return the photographed sides that may have undetected distance cards."""
    laid, trip = sides(edition, tally, form), _trip(edition, tally, form)
    return tuple(
        key
        for number, (key, lots) in enumerate(_sides(tally, form).items())
        if any(lot.is_seen for lot in lots) and may_have_more(edition, laid, number, trip)
    )


def guesses(tally: Tally, form: Form) -> int:
    """Return how many cards of the sides are accepted guesses."""
    return sum(form.get(f"c-{spot.key}") == GUESS for spot in _asked_about(tally, form))


def open_guesses(edition: Edition, tally: Tally, form: Form) -> dict[str, str]:
    """Return fields that answer the open cards with likely guesses."""
    cards = (spot for spot in _asked_about(tally, form) if spot.proposed and _answer(edition, spot, form) is None)
    return {f"c-{spot.key}": GUESS for spot in cards}


def _asked_about(tally: Tally, form: Form) -> Iterator[Spot]:
    return (spot for lots in _sides(tally, form).values() for lot in lots for spot in lot.unsure)


def sides(edition: Edition, tally: Tally, form: Form) -> tuple[Side, ...]:
    """Return each side's cards as in the form; a single side gets an opponent with unknown cards."""
    laid = tuple(_side(edition, form, lots) for lots in _sides(tally, form).values())
    others = _("The others")
    return laid if len(laid) > 1 else (*laid, Side(others, (others,), distances=_UNSEEN))


def _sides(tally: Tally, form: Form) -> dict[str, list[Lot]]:
    """Return each side's lots (photographed heaps) by key: its own, then those assigned to it."""
    owners = {lot: form.get(f"whose-{lot.key}", OWN) for lot in tally.lots}
    sides = [lot for lot in tally.lots if owners[lot] == OWN]
    return {side.key: [side, *(lot for lot in tally.lots if owners[lot] == side.key)] for side in sides}


def _side(edition: Edition, form: Form, lots: Sequence[Lot]) -> Side:
    answers = ((_answer(edition, spot, form), spot.sighting.sideways) for lot in lots for spot in lot.unsure)
    told = [(card, sideways) for card, sideways in answers if card and scores(card)]
    km = Counter(card for card, _sideways in told if card.family is Family.DISTANCE)
    fast: Counter[Card] = Counter()
    for lot, card in product(lots, distances_of(edition)):
        km[card] += _number(form, f"n-{lot.key}-{card}") or 0
        fast[card] += _number(form, f"x-{lot.key}-{card}") or 0
    said = [(card, form.get(f"s-{lot.key}-{card}", "")) for lot, card in product(lots, edition.safeties)]
    out = [(card, sideways) for card, sideways in told if card.family is Family.SAFETY]
    out += [(card, how == COUP_FOURRE) for card, how in said if how]
    name = clean(form.get(f"name-{lots[0].key}", "")) or words.said(lots[0].name)
    return Side(
        name,
        (name,),
        distances=tuple(km.elements()) or (_UNSEEN if form.get(f"drove-{lots[0].key}") == YES else ()),
        doubled=tuple(fast.elements()),
        safeties=tuple(card for card, _was_coup in out),
        coups_fourres=tuple(card for card, was_coup in out if was_coup),
    )


def _answer(edition: Edition, spot: Spot, form: Form) -> Card | None:
    """Return the chosen card, `Card.UNKNOWN` if it does not count, None while unanswered."""
    said = form.get(f"c-{spot.key}", "")
    if said == NOTHING:
        return Card.UNKNOWN
    if said == GUESS:
        return spot.proposed
    card = card_of_slug(form.get(f"o-{spot.key}", "") if said == OTHER else said)
    return card if card in edition.deck else None


def _number(form: Form, field: str) -> int | None:
    return parsing.whole(form.get(field, "").strip() or "0", 0, MOST_COPIES)
