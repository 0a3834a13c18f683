"""Enroll many cards at once: cut out of photographs, saved in the deck's folder until named.

Names are guessed by similarity to known decks and by position. They are certain only if one deck identifies most cards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from companion.common.errors import Problem
from companion.common.text import Said, all_of, one_of, say
from companion.tabletop import template_decks
from companion.tabletop.template_decks import MOST_PICTURES, Subject, places_in, put_waiting, waiting_in
from companion.vision.boxes import Image, lab
from companion.vision.capture.image_io import read_picture
from companion.vision.enrol.enrolment import Enrolment, Progress, as_png, kept_whole, lacking, noted, subject_name
from companion.vision.enrol.rectify import PictureFault, Rectified, kept_with_reflection
from companion.vision.enrol.sheet import cut_out
from companion.vision.faces.face_detector import is_identified
from companion.vision.faces.face_templates import FINE_PX_PER_MM, Templates, load_templates, pixels
from companion.vision.faces.matching import Closely, Named
from companion.vision.faces.pose_search import Lie
from companion.vision.opencv import cv2

MOST_WAITING = 60  # maximum unnamed cards
MOST_LIKELY = 3  # names offered for a card
_FEWEST_ALIKE, _SHARE_ALIKE = 3, 0.5  # minimum number and share of cards identified by one deck


@dataclass(frozen=True, slots=True)
class FaceGuess:
    """The possible faces of a card."""

    likely: tuple[Subject, ...]  # likeliest first; None for a back
    is_sure: bool = False
    is_by_place: bool = False  # the first is expected at this place, uncontradicted


@dataclass(frozen=True, slots=True)
class SheetResult:
    """The result for one photograph."""

    count: int  # cards cut out
    faults: tuple[str, ...] = ()  # other cards' problems, without full stops
    notes: tuple[str, ...] = ()  # what to check on those cut out, without full stops
    cards: tuple[Rectified, ...] = ()  # those found

    @property
    def is_scan(self) -> bool:
        """True if the whole photograph is kept as one card."""
        return any(card.is_scan and card.fault is None for card in self.cards)


def take(enrolment: Enrolment, image: Image) -> SheetResult:
    """Cut cards out of a photograph and save them as unnamed.

    Raises Problem with too many unnamed cards, or if saving fails.
    """
    folder, count = enrolment.folder, 0
    if places_in(folder) >= MOST_WAITING:
        raise Problem("%(most)d cards have no name yet: name them first.", most=MOST_WAITING)
    rows = cut_out(image, enrolment.description.size_mm)
    template_decks.write_description(folder, enrolment.description)
    cards = [card for row in rows for card in row]
    there = [card for card in cards if card is not None]
    if places_in(folder) + len(there) in _counts(enrolment.wanted):
        # Complete without gaps: rows have different lengths.
        cards = there
    faults, notes = _said_of(rows)
    if len(cards) == 1 and faults:
        return SheetResult(0, faults, cards=tuple(there))
    for place, card in enumerate(cards, start=places_in(folder)):
        picture = None if card is None or card.fault is not None else card.picture
        if place < MOST_WAITING:
            put_waiting(folder, place, b"" if picture is None else as_png(picture))
            count += picture is not None
    return SheetResult(count, faults, notes, tuple(there))


def _said_of(rows: Sequence[Sequence[Rectified | None]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return faults and notes of a photograph's cards by row; reflections with the cards' places."""
    there = [
        (card, say("on card %(number)d in row %(row)d", number=number, row=row))
        for row, line in enumerate(rows, start=1)
        for number, card in enumerate(line, start=1)
        if card is not None
    ]
    if len(there) == 1:
        card, _ = there[0]
        return (card.sentence,) if card.fault else (), (card.note,) if card.note else ()
    faults = [card.fault.value for card, _ in there if card.fault not in (None, PictureFault.REFLECTION)]
    washed_out = [place for card, place in there if card.fault is PictureFault.REFLECTION]
    noted = [place for card, place in there if card.note]
    if washed_out:
        lamp = say(
            "a lamp is reflected %(where)s: move the lamp, then photograph these cards again", where=all_of(washed_out)
        )
        faults.append(lamp)
    return tuple(dict.fromkeys(faults)), (kept_with_reflection(all_of(noted)),) if noted else ()


def leave_gap(enrolment: Enrolment) -> None:
    """Reserve the next place for a card without a usable picture."""
    if places_in(enrolment.folder) < MOST_WAITING:
        put_waiting(enrolment.folder, places_in(enrolment.folder), b"")


def named(enrolment: Enrolment, data: Path, *, in_order: bool = False) -> dict[int, FaceGuess]:
    """Return guesses of the unnamed cards' faces by place, from shipped decks and those in `data`.

    `in_order`: all or the missing faces are in the edition's order.
    """
    pictures = {place: read_picture(path) for place, path in waiting_in(enrolment.folder).items()}
    decks = [load_templates(deck) for deck in template_decks.whole_decks(data)]
    every = (*enrolment.cards, None)
    laid = (order for order in (enrolment.wanted, every) if places_in(enrolment.folder) in _counts(order))
    order = next(laid, enrolment.wanted) if in_order else ()
    return guesses(pictures, decks, order, every)


def _counts(order: Sequence[Subject]) -> tuple[int, int]:
    """Return the number of cards with and without the back."""
    return len(order), len(order) - (None in order)


def enrol_photographs(enrolment: Enrolment, paths: Sequence[Path], data: Path, *, in_order: bool) -> Iterator[Progress]:
    """Enroll the cards in photographs, yielding results; uncertain ones stay unnamed.

    `in_order` also names cards by position. Raises Problem if reading or saving fails.
    """
    for path in paths:
        taken = take(enrolment, read_picture(path))
        cut_out = say("%(file)s: cards cut out: %(number)d", file=path.name, number=taken.count)
        yield Progress(cut_out, is_fault=not taken.count)
        yield from kept_whole([path.name] * taken.is_scan)
        yield from (noted(path.name, note) for note in taken.notes)
        for fault in taken.faults:
            yield Progress(Said("%(file)s: %(fault)s.", file=path.name, fault=fault), is_fault=True)
    found = named(enrolment, data, in_order=in_order)
    names = {place: guess.likely[0] for place, guess in found.items() if guess.is_sure or guess.is_by_place}
    twins = dict(keep(enrolment, names))
    for place, subject in sorted(names.items()):
        name = subject_name(subject)
        if place in twins:
            same = say(
                "%(card)s: card %(number)d shows the same as %(other)s; it is left out.",
                card=name,
                number=place + 1,
                other=twins[place],
            )
            yield Progress(same, is_fault=True)
        else:
            yield Progress(say("%(card)s: got it (card %(number)d)", card=name, number=place + 1), is_kept=True)
    for place in waiting_in(enrolment.folder).keys() - twins.keys():
        likely = found[place].likely
        waits = say("Card %(number)d: name it on the deck’s page.", number=place + 1)
        if likely:
            waits = say(
                "Card %(number)d, probably %(cards)s: name it on the deck’s page.",
                number=place + 1,
                cards=one_of(map(subject_name, likely)),
            )
        yield Progress(waits, is_fault=True)
    yield from lacking(enrolment)


def keep(enrolment: Enrolment, names: Mapping[int, Subject]) -> Iterator[tuple[int, str]]:
    """Save cards as pictures of the faces `names` by place; yield place and twin's slug of those left out.

    At the maximum, the card replaces a face's pictures. Raises Problem if saving fails.
    """
    there = waiting_in(enrolment.folder)
    for place in names.keys() & there.keys():
        picture = read_picture(there[place])
        twin = enrolment.twin_of(names[place], picture)
        if twin:
            yield place, twin
        else:
            if len(enrolment.pictures(names[place])) < MOST_PICTURES:
                enrolment.add(names[place], picture)
            else:
                enrolment.keep(names[place], [picture])
            put_waiting(enrolment.folder, place, b"")
    _tidy(enrolment)


def forget(enrolment: Enrolment, place: int) -> None:
    """Drop an unnamed card."""
    put_waiting(enrolment.folder, place, b"")
    _tidy(enrolment)


def _tidy(enrolment: Enrolment) -> None:
    if not waiting_in(enrolment.folder):
        template_decks.drop_waiting(enrolment.folder)


# --- What they show -------------------------------------------------------------------------------------------


def guesses(
    pictures: Mapping[int, Image], decks: Sequence[Templates], order: Sequence[Subject], wanted: Sequence[Subject]
) -> dict[int, FaceGuess]:
    """Return guesses of cards' faces by place; `order` lists the faces expected there, if known.

    `pictures` are `(H, W, 3) uint8 BGR`, each filled by a card, `wanted` the possible faces.
    """
    told = [{place: _compared(picture, deck) for place, picture in pictures.items()} for deck in decks]
    identified = [
        {place: card.face for place, card in named.items() if is_identified(card, deck)}
        for deck, named in zip(decks, told, strict=True)
    ]
    most = max(identified, key=len, default={})
    is_theirs = len(most) >= max(_FEWEST_ALIKE, _SHARE_ALIKE * len(pictures))
    theirs = told[identified.index(most)] if is_theirs else None
    known = decks[identified.index(most)].faces if is_theirs else ()
    count = Counter(most.values())
    sure = {place: face for place, face in most.items() if is_theirs and count[face] == 1 and face in wanted}
    left = [subject for subject in wanted if subject not in sure.values()]
    found = {place: FaceGuess((face,), is_sure=True) for place, face in sure.items()}
    for place in pictures.keys() - sure.keys():
        alike, here = [one[place] for one in identified if place in one], order[place : place + 1]
        is_moved = is_theirs or any(face not in here for face in alike)
        if theirs is not None:
            # Similarity to other editions is chance: right for 3 of 57 cards of three decks. Faces that the cards' own
            # deck lacks come first: others would have been identified.
            alike = [*(face for face in left if face not in known), *(face for face, _score in theirs[place].ranking)]
        likely = [*alike, *here] if is_moved else [*here, *alike]
        likely = [subject for subject in dict.fromkeys(likely) if subject in left]
        found[place] = FaceGuess(tuple(likely[:MOST_LIKELY]), is_by_place=bool(likely) and not is_moved)
    return found


def _compared(picture: Image, deck: Templates) -> Named:
    size = pixels(deck.size_mm, FINE_PX_PER_MM)
    fine = lab(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
    return Closely(fine, deck).compared(Lie((size[0] - 1) / 2, (size[1] - 1) / 2, 0.0))
