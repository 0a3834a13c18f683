"""Read tables that three.js rendered: bent glossy cards, lamps and shadows, nothing of our own renderer.

python -m tests.bench.rendered stills [--rooms 1,3,5] [--decks stickers,own,vintage] [--kept FOLDER] [--each] [--write]
python -m tests.bench.rendered finished …
python -m tests.bench.rendered burnt …

`stills` are photographs in the middle of a hand. `finished` counts taps as `tests.bench.finished` does. `burnt` are
films of half a minute in light that burns out paper, by the eye that follows games. Develop on rooms with odd numbers;
the even ones are closed, and published figures are made of them. Pictures are rendered once and kept.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import cv2
import laid as lay
import numpy as np
from decks import BACK
from face_photos import NEAR, FacePhoto, ShownFace, game, on_sheet
from laid import Laid, Table
from rendered.pictures import CACHE, Darkroom, developed
from rendered.rooms import WIDTH_MM, Room, room

from bench import page
from bench.eye import heading, line_of
from bench.faces import templates
from bench.finished import CLASSIC, LAID, STICKERS, Case, counted, found, row
from bench.finished import COLUMNS as TAPS
from companion.app.service import eye_for
from companion.match.setup_file import Setup
from companion.rules.cards import Card
from companion.rules.table import Team
from companion.tabletop.card_ids import card_id_of, face_of, payload
from companion.tabletop.mat_layout import mat_of
from companion.vision.capture.sources import Frame
from companion.vision.counting.photographs import view_of
from companion.vision.counting.tally import LIKELY
from companion.vision.faces.face_templates import Templates
from companion.vision.view import STICKER, Sighting, View

DECKS = f"{STICKERS},own,vintage"
ROOMS = {"stills": "1,3,5,7,9,11", "finished": "1,3", "burnt": "1,3,5,7,9,11,13,15"}
AREA_MM = (0.95 * WIDTH_MM, 0.92 * WIDTH_MM * 9 / 16)
FINISHED_PX, FINISHED_MM = (2400, 1350), 1000.0
VISIBLE = {"60 % and more": 0.6, "25 to 60 %": 0.25, "10 to 25 %": 0.1}  # least visible share, largest first
GUESSES = 2  # of a question, that count as asked
SHOWS = 0.03
NEAR_PX = 6.0  # of a card's edge, to show a part of it
FRAMES, STEP_S = 15, 2.0
HIDDEN = 0.5  # share of a card's place above which nothing is concluded from it
NAMES = ("Ann", "Bob")


@cache
def faces_for(deck: str) -> Templates | None:
    return None if deck == STICKERS else templates(deck)


# --- Stills ---------------------------------------------------------------------------------------------------


def played(deck: str, number: int) -> Table:
    """Return a table in the middle of a hand, with a sticker on each card of the deck `stickers`."""
    rng = np.random.default_rng((number, len(deck), 41))
    table = game("own" if deck == STICKERS else deck, rng, AREA_MM)
    return stickered(table, rng) if deck == STICKERS else table


def stickered(table: Table, rng: np.random.Generator) -> Table:
    glue, copies = float(rng.choice((-16.0, 0.0))), Counter[str]()
    cards: list[Laid] = []
    for card in table.cards:
        slug = card.look.partition(" ")[2]
        copies[slug] += 1
        x, y, turn = rng.uniform(-2, 2), rng.uniform(-2, 2), rng.uniform(-5, 5)
        glued = lay.Glued(payload(f"{slug}-{copies[slug]:02}"), glue + x, -30 + y, turn) if slug != BACK else None
        cards.append(replace(card, sticker=glued))
    return replace(table, cards=tuple(cards))


@dataclass(frozen=True)
class Compared:
    """What became of each card of the deck (by its place among the faces), and of what was named elsewhere."""

    cards: dict[int, str]  # `right`, `asked`, `wrong` or `unknown`
    ghosts: tuple[str, ...]
    strays: tuple[str, ...]  # questions where no card is, with their likely guess
    said: dict[int, str]  # what a wrong card was named


def compared(photo: FacePhoto, sightings: Sequence[Sighting]) -> Compared:
    """Assign each sighting to the card that it shows, equal cards first."""
    free = {at: card for at, card in enumerate(photo.faces) if card in photo.ours and card.visible >= SHOWS}
    cards, said, ghosts, strays = dict.fromkeys(free, "unknown"), {}, [], []
    shown_px = [np.float32(card.corners_px) for card in photo.faces if card.visible >= SHOWS]
    deck = {card.value for card in CLASSIC.deck}
    for sighting in sorted(sightings, key=lambda one: (one.face is Card.UNKNOWN, -one.confidence)):
        face, near = sighting.face.value, _near(photo, free, sighting)
        is_asked = sighting.face is Card.UNKNOWN
        guesses = list(dict.fromkeys(face_of(name).value for name, _ in sighting.rivals))[:GUESSES]
        equal = [at for at in near if photo.faces[at].face in (guesses if is_asked else (face,))]
        if equal:
            cards[equal[0]] = "asked" if is_asked else "right"
            del free[equal[0]]
        elif is_asked:
            x, y = sighting.centre_px
            if not any(cv2.pointPolygonTest(corners, (x, y), True) > -NEAR_PX for corners in shown_px):
                likely = [guess for guess, (_, sure) in zip(guesses, sighting.rivals, strict=False) if sure >= LIKELY]
                strays.append(f"{' '.join(likely[:1]) or 'unknown'} at {x:.0f}, {y:.0f}")
        elif face in deck:
            shown = [at for at in near if photo.faces[at].visible >= VISIBLE["10 to 25 %"]]
            if shown:
                cards[shown[0]], said[shown[0]] = "wrong", face
                del free[shown[0]]
            else:
                ghosts.append(f"{face} at {sighting.centre_px[0]:.0f}, {sighting.centre_px[1]:.0f}")
    return Compared(cards, tuple(ghosts), tuple(strays), said)


def _near(photo: FacePhoto, free: dict[int, ShownFace], sighting: Sighting) -> list[int]:
    """Return the cards that a sighting may show, the likeliest first."""
    if sighting.card is not None:
        return [at for at in free if card_id_of(photo.table.cards[at].sticker.text) == sighting.card]
    at_px = np.array(sighting.centre_px)
    if sighting.by == STICKER or sighting.face is Card.UNKNOWN:
        inside = {
            at: cv2.pointPolygonTest(np.float32(card.corners_px), at_px.tolist(), True) for at, card in free.items()
        }
        return sorted((at for at, depth in inside.items() if depth > -NEAR_PX), key=lambda at: -free[at].visible)
    apart = {at: float(np.hypot(*(at_px - card.centre_px))) / card.width_px for at, card in free.items()}
    return sorted((at for at, far in apart.items() if far < NEAR), key=apart.__getitem__)


def stills(given: argparse.Namespace, dark: Darkroom) -> Iterator[str]:
    """Yield the lines of the table on photographs in the middle of a hand."""
    columns = ("right", "asked", "unknown", "wrong")
    yield from heading("deck, visible share", "cards", "right", "asked", "unknown or overlooked", "wrong",
                       "named where nothing is", "asked where nothing is")  # fmt: skip
    for deck in given.decks.split(","):
        seen: dict[str, Counter[str]] = {name: Counter() for name in VISIBLE}
        elsewhere: Counter[str] = Counter()
        for number in map(int, given.rooms.split(",")):
            photo, _ = dark.picture(played(deck, number), _style(deck), room(number))
            result = compared(photo, view_of(photo.image, faces_for(deck)).sightings)
            elsewhere += Counter(ghosts=len(result.ghosts), strays=len(result.strays))
            for at, what in result.cards.items():
                card = photo.faces[at]
                name = next((name for name, least in VISIBLE.items() if card.visible >= least), None)
                if name is not None:
                    seen[name][what] += 1
                    if given.each and what != "right" and (what == "wrong" or card.visible >= 0.25):
                        x, y = card.centre_px
                        told = result.said.get(at, what)
                        print(f"  {deck} room {number}: {card.face} {card.zone} at {x:.0f}, {y:.0f}, "
                              f"{card.visible:.0%} visible, {card.burnt:.0%} burnt: {told}")  # fmt: skip
            if given.each and result.ghosts:
                print(f"  {deck} room {number}: named where nothing is: {'; '.join(result.ghosts)}")
            if given.each and result.strays:
                print(f"  {deck} room {number}: asked where nothing is: {'; '.join(result.strays)}")
        for place, (name, counts) in enumerate(seen.items()):
            cells = (counts[what] for what in columns)
            yield line_of(
                f"{deck}, {name}",
                counts.total(),
                *cells,
                *(("", "") if place else (elsewhere["ghosts"], elsewhere["strays"])),
            )


def _style(deck: str) -> str:
    return "own" if deck == STICKERS else deck


# --- Finished tables ------------------------------------------------------------------------------------------


def finished(given: argparse.Namespace, dark: Darkroom) -> Iterator[str]:
    """Yield the lines of the table on finished hands."""
    yield from heading("deck, laid", "tables", *TAPS)
    every: Counter[str] = Counter()
    for deck in given.decks.split(","):
        for laid in LAID:
            seen: Counter[str] = Counter()
            for number in map(int, given.rooms.split(",")):
                case = Case(deck, laid, "rendered", number)
                around = replace(room(number, things=0), tilt_deg=0.7 * room(number).tilt_deg)
                table = case.table(np.random.default_rng((number, LAID.index(laid), 43)))
                photo, _ = dark.picture(table, case.style, around, FINISHED_PX, FINISHED_MM)
                one = found(counted(case, photo), photo)
                seen += one
                if given.each:
                    print(" ", row(f"{deck} {laid} room {number}", one), flush=True)
            yield row(f"{deck}, {laid}", seen)
            every += seen
    yield row("all", every)


# --- Films in light that burns out ------------------------------------------------------------------------------


def watched(deck: str, pictures: Sequence[np.ndarray]) -> View:
    """Return the last view of a film of a table on which nothing moves."""
    eye = eye_for(Setup("classic", {f"side-{n}": Team(name, (name,)) for n, name in enumerate(NAMES, 1)}, NAMES[0]),
                  faces_for(deck))  # fmt: skip
    for number in range(FRAMES):
        view = eye(Frame(pictures[number % len(pictures)], number * STEP_S))
    return view


def is_hidden(view: View, table: Table, at: int, zone: str) -> bool:
    """True if the view concludes nothing from a card's place."""
    hidden, card = view.hidden.get(mat_of(zone)), table.cards[at]
    sheet = next(sheet for sheet in table.sheets if sheet.name == mat_of(zone))
    x, y = on_sheet(sheet, (card.x_mm, card.y_mm))
    if hidden is not None:
        return hidden.share(x, y) > HIDDEN
    return zone in view.unknown_zones


def burnt(given: argparse.Namespace, dark: Darkroom) -> Iterator[str]:
    """Yield the lines of the table on films in light that burns out paper."""
    columns = ("zones", "read", "missed", "reason", "silent", "wrong", "unreadable", "overlooked")
    yield from heading("deck", "films", "zones with a readable card", "all read", "a card missed",
                       "hidden, with a reason", "hidden without a reason", "cards read wrong", "unreadable cards",
                       "of these, overlooked")  # fmt: skip
    for deck in given.decks.split(","):
        seen: Counter[str] = Counter()
        for number in map(int, given.rooms.split(",")):
            around = room(number, burnt=True, things=0.15)
            photo, scenery = dark.picture(played(deck, number), _style(deck), around)
            film = [photo.image, *(developed(scenery, around, seed) for seed in range(1, FRAMES))]
            one = _outcomes(deck, photo, film, around, given.each)
            seen += one
        yield line_of(deck, len(given.rooms.split(",")), *(seen[name] for name in columns))


def _outcomes(deck: str, photo: FacePhoto, film: Sequence[np.ndarray], around: Room, each: bool) -> Counter[str]:
    """Compare the last view with what the reader of photographs reads on the first frame."""
    still, view = compared(photo, view_of(photo.image, faces_for(deck)).sightings), watched(deck, film)
    live = compared(photo, view.sightings)
    readable: dict[str, list[int]] = {}
    for at, what in still.cards.items():
        card = photo.faces[at]
        if what == "right" and card.zone is not None and card.visible >= VISIBLE["25 to 60 %"]:
            readable.setdefault(card.zone, []).append(at)
    seen = Counter(zones=len(readable), wrong=sum(what == "wrong" for what in live.cards.values()))
    for at, what in still.cards.items():
        card = photo.faces[at]
        if what != "right" and card.zone is not None and card.visible >= VISIBLE["60 % and more"]:
            is_told = card.zone in view.blind or live.cards[at] != "unknown"
            is_overlooked = not is_told and not is_hidden(view, photo.table, at, card.zone)
            seen += Counter(unreadable=1, overlooked=is_overlooked)
            if each and is_overlooked:
                print(f"  {deck} room {around.seed}: {card.face} in {card.zone} overlooked, {card.burnt:.0%} burnt")
    for zone, cards in readable.items():
        hidden = [at for at in cards if is_hidden(view, photo.table, at, zone)]
        missed = [at for at in cards if at not in hidden and live.cards[at] != "right"]
        what = "read" if not hidden and not missed else "missed" if not hidden else (
            "reason" if zone in view.blind else "silent")  # fmt: skip
        seen[what] += 1
        if each and what != "read":
            told = ", ".join(f"{photo.faces[at].face} ({photo.faces[at].burnt:.0%} burnt)" for at in (*hidden, *missed))
            reason = f", {view.blind[zone]}" if zone in view.blind else ""
            print(f"  {deck} room {around.seed}, exposure {around.exposure:.2f}: {zone} {what}{reason}: {told}")
    if each and view.trouble:
        print(f"  {deck} room {around.seed}: {view.trouble}")
    return seen


MAKE = {"stills": stills, "finished": finished, "burnt": burnt}
MEASURED = {
    "stills": "`companion/vision/counting/photographs.py` on one picture each",
    "finished": "`companion/vision/counting/` on one photograph each",
    "burnt": "`companion/vision/eye.py` on films in which nothing moves",
}


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("bench", choices=MAKE)
    parser.add_argument("--rooms", help="their numbers; odd for development")
    parser.add_argument("--decks", default=DECKS)
    parser.add_argument("--kept", type=Path, default=CACHE / "pictures", help="folder of rendered pictures")
    parser.add_argument("--each", action="store_true", help="print every card that was not read")
    parser.add_argument("--write", action="store_true", help="write the table into docs/")
    given = parser.parse_args(arguments)
    given.rooms = given.rooms or ROOMS[given.bench]
    return given


def main(arguments: Sequence[str] | None = None) -> None:
    given = parsed(arguments)
    figures = page.Figures("rendered", arguments) if given.write else None
    cv2.setNumThreads(1)
    lines = []
    with Darkroom(given.kept) as dark:
        for line in MAKE[given.bench](given, dark):
            lines.append(line)
            print(line, flush=True)
    if figures:
        figures.write(page.READING, given.bench, lines, MEASURED[given.bench])


if __name__ == "__main__":
    main()
