"""The form that confirms a photographed tableau line by line: what it shows, and what was sent.

Its fields are flat, each named for its side or card, so that what was typed stays after another photograph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from companion.common import parsing
from companion.common.errors import Problem
from companion.pages import words
from companion.pages.players.names import clean
from companion.pages.words import Names, _
from companion.rules.cards import Card, Family, card_of_slug
from companion.rules.editions.edition import Edition
from companion.rules.table import Table
from companion.rules.tableau import Laying, Told, Trip, check_sides, likely, odd_cards, odd_trip, table_of, trips
from companion.vision.boxes import around
from companion.vision.counting.tally import PILES, Lot, Spot, Tally, layings, scores

Form = Mapping[str, str]
OWN, NOBODY = "own", "nobody"
OTHER, NOTHING = "other", "nothing"
OUT, COUP_FOURRE = "out", "coup-fourre"
YES, NO = "yes", "no"
PLAYED_OUT, STOPPED = "played-out", "stopped"
MOST_COPIES = 99
_MARGIN = 0.12  # margin shown around the cards of a lot, as a share of its longer side
_NUMBER_AT = (0.5, 0.12)  # place of a card's number, as shares of its width and height: clear of the printed corners


# --- What the photographs say, as fields -----------------------------------------------------------------------


def fields(edition: Edition, tally: Tally, named: Mapping[str, str]) -> dict[str, str]:
    """Return the form filled from the photographs; `named` are the names of sides by their mats."""
    form: dict[str, str] = {"trip": "", "ended": "", "pile": YES if tally.draw_pile_empty else NO}
    for place in tally.places:
        form[f"name-{place.key}"] = named.get(place.key.replace("unseen", "side"), words.said(place.name))
        form |= _lot_fields(edition, place.lot or Lot(place.key, ()))
        form |= {f"drove-{place.key}": YES} if place.lot is None else {}
    for lot in tally.lots:
        form |= _lot_fields(edition, lot)
        form |= {} if lot.has_mat else {f"whose-{lot.key}": NOBODY if lot.is_beside else OWN}
    return form


def _lot_fields(edition: Edition, lot: Lot) -> dict[str, str]:
    km, fast, safeties = lot.distances, lot.doubled, lot.safeties
    form = {f"n-{lot.key}-{card}": str(km[card]) for card in distances_of(edition)}
    if Card.ACCELERATOR in edition.deck:
        form |= {f"x-{lot.key}-{card}": str(fast[card]) for card in distances_of(edition)}
    for card in edition.safeties:
        form[f"s-{lot.key}-{card}"] = (COUP_FOURRE if safeties[card] else OUT) if card in safeties else ""
    return form | {f"c-{spot.key}": spot.proposed.value for spot in lot.unsure if spot.proposed}


def distances_of(edition: Edition) -> tuple[Card, ...]:
    """Return the distances of a deck, the longest first."""
    return tuple(sorted((c for c in edition.deck if c.family is Family.DISTANCE), key=lambda c: -c.km))


def kept(before: Form, filled: Form, now: Form) -> dict[str, str]:
    """Return the form after another photograph: what was typed stays, the rest is read again."""
    stays = {field: value for field, value in filled.items() if field not in before or value != before[field]}
    return {**now, **{field: value for field, value in stays.items() if field in now or field[:2] in ("c-", "o-")}}


# --- What is shown ---------------------------------------------------------------------------------------------


def lot_forms(edition: Edition, tally: Tally, form: Form) -> Iterator[dict[str, Any]]:
    """Yield every side and heap with its lines; heaps beside the mats last."""
    lots = {place.key: place.lot for place in tally.places} | {lot.key: lot for lot in tally.lots}
    for key, lot in lots.items():
        yield _lot_form(edition, tally, form, key, lot)


def _lot_form(edition: Edition, tally: Tally, form: Form, key: str, lot: Lot | None) -> dict[str, Any]:
    cards, name, distances = lot or Lot(key, ()), form.get(f"name-{key}", ""), distances_of(edition)
    piles = ((words.capital(_(words.ZONES[pile])), ", ".join(map(words.name, cards.shows(pile)))) for pile in PILES)
    others = (place.key for place in tally.places if place.key != key)
    theirs = ((other, _("They are %(name)s’s", name=form.get(f"name-{other}", ""))) for other in others)
    return {
        "key": key,
        "title": name or _("Beside the mats"),
        "name": name,
        "km": sum(card.km * (_read(form, f"n-{key}-{card}") + _read(form, f"x-{key}-{card}")) for card in distances),
        "is_seen": lot is not None,
        "figures": list(_figures(tally, cards)),
        "lines": [_line(edition, form, cards, card) for card in distances],
        "safeties": [_field(form, cards, f"s-{key}-{card}", card) for card in edition.safeties],
        "unsure": [_unsure(edition, form, spot) | {"is_needed": not cards.is_beside} for spot in cards.unsure],
        "piles": " · ".join(_("%(pile)s: %(cards)s", pile=pile, cards=shown) for pile, shown in piles if shown),
        # Empty where it is no question whose a heap is.
        "whose": form.get(f"whose-{key}", "") if len(tally.lots) > 1 else "",
        "owners": [(OWN, _("They are a side of their own")), *theirs, (NOBODY, _("They do not count"))],
        # Empty but for a side that no photograph shows.
        "drove": form.get(f"drove-{key}", ""),
    }


def _line(edition: Edition, form: Form, lot: Lot, card: Card) -> dict[str, Any]:
    """Return the line of a distance; the field of those that count twice is empty for a deck without accelerators."""
    fast = f"x-{lot.key}-{card}"
    return _field(form, lot, f"n-{lot.key}-{card}", card, "0") | {
        "most": edition.deck[card],
        "fast_field": fast if Card.ACCELERATOR in edition.deck else "",
        "fast": form.get(fast, "0"),
    }


def _field(form: Form, lot: Lot, field: str, card: Card, usual: str = "") -> dict[str, Any]:
    """Return the field of a card, with the numbers of the drawn cards that it counts: `cards 3, 4`."""
    numbers = [str(spot.number) for spot in lot.spots if spot.card is card]
    several = _("cards %(all)s", all=", ".join(numbers)) if numbers else ""
    cards = _("card %(number)s", number=numbers[0]) if len(numbers) == 1 else several
    return {"card": card, "field": field, "value": form.get(field, usual), "cards": cards}


def _unsure(edition: Edition, form: Form, spot: Spot) -> dict[str, Any]:
    """Return the fields of a card that could not be identified: a choice, and another card instead."""
    field, other = f"c-{spot.key}", f"o-{spot.key}"
    chosen = form.get(other, "")
    return {
        "key": spot.key,
        "number": spot.number,
        "field": field,
        "value": form.get(field, ""),
        "choices": [card for card in spot.guesses if card in edition.deck],
        "other_field": other,
        "other": chosen if card_of_slug(chosen) in edition.deck else "",
    }


def _figures(tally: Tally, lot: Lot) -> Iterator[dict[str, Any]]:
    """Yield the part of each photograph that shows the cards of a lot, in pixels of the photograph."""
    for number, photo in enumerate(tally.photos):
        shown = [point for spot in lot.spots if spot.photo == number for point in spot.corners_px or (spot.centre_px,)]
        bare = [point for mat in photo.view.mats if mat.id == lot.key and not lot.spots for point in mat.corners_px]
        if not shown and not bare:
            continue
        tight = around(shown or bare)
        longest = max(tight.right - tight.left, tight.bottom - tight.top, photo.size_px[0] / 6)
        box = tight.padded(round(_MARGIN * longest)).within(*photo.size_px)
        width, height = box.right - box.left, box.bottom - box.top
        yield {
            "photo": number + 1,
            "size_px": photo.size_px,
            "view_box": f"{box.left} {box.top} {width} {height}",
            # Height of a number: as readable on a small part as on a large one.
            "letter": round(width / 26, 1),
            "marks": [_mark(spot) for spot in lot.scoring if spot.photo == number],
        }


def _mark(spot: Spot) -> dict[str, Any]:
    """Return a card's outline on the picture, and its number near the upper edge, which others leave uncovered."""
    at = spot.centre_px
    if spot.corners_px is not None:
        (ax, ay), (bx, by), _end, (dx, dy) = spot.corners_px
        along, down = _NUMBER_AT
        at = round(ax + along * (bx - ax) + down * (dx - ax), 1), round(ay + along * (by - ay) + down * (dy - ay), 1)
    points = " ".join(f"{x:.0f},{y:.0f}" for x, y in spot.corners_px or ())
    return {"number": spot.number, "points": points, "at": at, "is_sure": spot.is_sure}


def asked(edition: Edition, tally: Tally, form: Form) -> list[dict[str, Any]]:
    """Return the questions about the hand as a whole, each with its field and its answers."""
    keys, names = _sides(tally, form), _names(tally, form)
    told = likely(edition, layings(tally), draw_pile_empty=tally.draw_pile_empty)
    seen = [place.key for place in tally.places]
    called = {place.key: words.said(place.name) for place in tally.places} | names
    done = _("nobody") if told.completed_by is None else called[seen[told.completed_by]]
    ways = [(_trip_value(trip, keys), _trip_say(trip, keys, names)) for trip in trips(edition, len(keys))]
    so_far = _trip_say(told.trip, seen, called)
    completed = [(key, _("%(name)s completed it", name=names[key])) for key in keys]
    nobody = [(PLAYED_OUT, _("Nobody: all cards were played")), (STOPPED, _("Nobody: we stopped before"))]
    by_the_cards = [("", _("As the cards say: %(so_far)s", so_far=so_far))]
    by_them = [("", _("As the cards say: %(who)s", who=done))]
    found = [
        ("trip", _("How far was the trip?"), "", by_the_cards + ways),
        ("ended", _("Who completed it?"), "", by_them + completed + nobody),
    ]
    if edition.points.delayed_action:
        answers = [(NO, _("There were cards in it")), (YES, _("It was used up: delayed action"))]
        found.append(("pile", _("The draw pile, when the trip was completed"), NO, answers))
    return [
        {"field": field, "title": title, "value": form.get(field, usual), "answers": answers}
        for field, title, usual, answers in found
    ]


def _trip_value(trip: Trip, keys: Sequence[str]) -> str:
    return str(trip.target) if trip.extended_by is None else f"{trip.target} {keys[trip.extended_by]}"


def _trip_say(trip: Trip, keys: Sequence[str], names: Mapping[str, str]) -> str:
    if trip.extended_by is None:
        return _("%(km)d km", km=trip.target)
    return _("%(km)d km, extended by %(who)s", km=trip.target, who=names[keys[trip.extended_by]])


def odd(table: Table) -> tuple[str, ...]:
    """Return sentences about what is impossible or unlikely on the counted table, for people to look again."""
    cards = (words.why(reason, table.edition, Names({}, {})).say for reason in odd_cards(table))
    return (*cards, *map(words.said, odd_trip(table)))


# --- What was sent ---------------------------------------------------------------------------------------------


def table_sent(edition: Edition, tally: Tally, form: Form) -> Table:
    """Return the table confirmed. Raises Problem for what is open or cannot be read."""
    keys, names = _sides(tally, form), _names(tally, form)
    laid = tuple(_laying(edition, tally, form, key, names[key]) for key in keys)
    if len(laid) == 1:
        laid = (*laid, Laying(_("The others"), drove_unseen=True))
    called = Counter(laying.name.casefold() for laying in laid)
    twice = next((laying.name for laying in laid if called[laying.name.casefold()] > 1), None)
    if twice is not None:
        raise Problem(_("Two sides are called %(name)s: give one of them another name.", name=twice))
    check_sides(edition, len(laid))
    return table_of(edition, laid, _told(edition, form, laid, keys))


def _sides(tally: Tally, form: Form) -> list[str]:
    """Return the keys of all lots that are sides of their own."""
    keys = dict.fromkeys((*(place.key for place in tally.places), *(lot.key for lot in tally.lots)))
    return [key for key in keys if form.get(f"whose-{key}", OWN) == OWN]


def _names(tally: Tally, form: Form) -> dict[str, str]:
    """Return the names of the sides, as typed; a heap beside the mats that is a side has none yet."""
    usual = {place.key: words.said(place.name) for place in tally.places}
    free = _("Side %(number)d", number=len(usual) + 1)
    return {key: clean(form.get(f"name-{key}", "")) or usual.get(key, free) for key in _sides(tally, form)}


def _laying(edition: Edition, tally: Tally, form: Form, key: str, name: str) -> Laying:
    """Return what lies before a side: its own lot and those assigned to it."""
    keys = [key, *(lot.key for lot in tally.lots if lot.key != key and form.get(f"whose-{lot.key}") == key)]
    told = [card for lot in tally.lots if lot.key in keys for card in _told_cards(edition, lot, form)]
    km = Counter(card for card, _sideways in told if card.family is Family.DISTANCE)
    fast: Counter[Card] = Counter()
    for one in keys:
        for card in distances_of(edition):
            km[card] += _number(form, f"n-{one}-{card}", card, name)
            fast[card] += _number(form, f"x-{one}-{card}", card, name)
    out = {card: sideways for card, sideways in told if card.family is Family.SAFETY}
    for card in edition.safeties:
        said = [form.get(f"s-{one}-{card}", "") for one in keys]
        if any(said):
            out[card] = COUP_FOURRE in said
    coups = tuple(card for card, was_coup in out.items() if was_coup)
    return Laying(name, +km, +fast, tuple(out), coups, form.get(f"drove-{key}") == YES)


def _told_cards(edition: Edition, lot: Lot, form: Form) -> Iterator[tuple[Card, bool]]:
    """Yield the unidentified cards that somebody has named, and whether each lies sideways."""
    for spot in lot.unsure:
        said = form.get(f"c-{spot.key}", "")
        card = card_of_slug(form.get(f"o-{spot.key}", "") if said == OTHER else said)
        if said != NOTHING and (card is None or card not in edition.deck):
            still = _("Card %(number)d is still open: say which it is, or that it does not count.", number=spot.number)
            raise Problem(still)
        if card is not None and scores(card):
            yield card, spot.sideways


def _number(form: Form, field: str, card: Card, name: str) -> int:
    number = parsing.whole(form.get(field, "").strip() or "0", 0, MOST_COPIES)
    if number is None:
        wrong = _(
            "How many %(card)s lie before %(name)s? That is a number from 0 to %(most)d.",
            card=words.name(card),
            name=name,
            most=MOST_COPIES,
        )
        raise Problem(wrong)
    return number


def _read(form: Form, field: str) -> int:
    return parsing.whole(form.get(field), 0, MOST_COPIES) or 0


def _told(edition: Edition, form: Form, laid: Sequence[Laying], keys: Sequence[str]) -> Told:
    """Return the answers about the hand, what was left to the cards being the likeliest."""
    ways = {_trip_value(trip, keys): trip for trip in trips(edition, len(keys))}
    told = likely(edition, laid, trip=ways.get(form.get("trip", "")), draw_pile_empty=form.get("pile") == YES)
    ended = form.get("ended", "")
    if ended in keys:
        return Told(told.trip, keys.index(ended), played_out=False, draw_pile_empty=told.draw_pile_empty)
    if ended in (PLAYED_OUT, STOPPED):
        return Told(told.trip, None, played_out=ended == PLAYED_OUT, draw_pile_empty=told.draw_pile_empty)
    return told
