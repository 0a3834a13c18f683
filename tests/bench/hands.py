"""Watch whole hands as `companion watch --confirm legal` does, and compare with what was really played.

python -m tests.bench.hands --hands 50 --seed 1 [--sides 2,3,4] [--looks typical,hard] [--only cup,bump]
python -m tests.bench.hands --only cup --seed 7 --hand 3 --save FOLDER     one hand again; saves its frames and truth
python -m tests.bench.hands --hands 30 --faces own     cards without stickers: our own, or a STYLE of decks.py

Pictures are 1920 × 1080, or the next usual size if the mats had less than 1.5 px/mm in the middle.
"""

import argparse
import bisect
import json
import multiprocessing
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import decks
import enrolled
import films
from card_photos import STYLES
from troubles import looks, mishaps
from troubles.company import hides
from troubles.mishaps import Mishaps
from troubles.pictured_cards import PicturedCards
from troubles.rough_studio import RoughStudio
from troubles.scenes import troubled_scenes
from troubles.things import is_card

from bench import page
from bench.eye import heading, line_of
from companion.app import demo as simulated
from companion.app.service import eye_for
from companion.rules import referee
from companion.rules.play import Verb
from companion.rules.table import Team
from companion.simulate import arrange, camera_model, frame_source
from companion.simulate.animation import Tempo
from companion.simulate.art import PX_PER_MM, Cards
from companion.simulate.players import random_script
from companion.simulate.scene import Lying, Scene
from companion.simulate.script import Script, zone_of
from companion.tabletop.card_ids import face_of
from companion.tracking.offline import Watcher
from companion.vision.capture.sources import Frame
from companion.vision.opencv import cv2

NAMES = ("Ann", "Bob", "Cid", "Dee")
EDITIONS = {2: "classic", 3: "classic", 4: "dujardin-2014"}
"""Four sides exist only in later editions."""

LOOKS = {"typical": looks.household_look, "hard": looks.hard_look, "demo": camera_model.typical_look}
FPS = 10.0
LATE_FRAMES = 9
TOLERANCE_FRAMES = 25
"""For this long after an illegal card was removed, its proposal still counts."""


# The hand that is played ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One hand at one table, in one light."""

    seed: int
    sides: int
    look_name: str
    mishaps: Mishaps
    km: int | None = None
    speed: float = 4.0
    faces: str | None = None
    """The deck of cards without stickers: `own`, or a style of tests/decks.py."""

    @property
    def script(self) -> Script:
        teams = tuple(Team(name, (name,)) for name in NAMES[: self.sides])
        return random_script(EDITIONS[self.sides], teams=teams, seed=self.seed, target=self.km)

    @property
    def look(self) -> camera_model.Look:
        return LOOKS[self.look_name](self.seed)

    @property
    def plan(self) -> arrange.TablePlan:
        return arrange.plan(self.sides, self.sides)

    @property
    def size(self) -> camera_model.Size:
        return looks.size_for(self.plan.corners, self.look)

    @property
    def cards(self) -> Cards:
        return Cards() if self.faces is None else bare_cards(self.faces)

    def studio(self) -> RoughStudio:
        return RoughStudio(self.plan, self.look, self.size, self.cards, self.seed)

    def scenes(self, room_px: float) -> Iterator[Scene]:
        return troubled_scenes(self.script, self.seed, Tempo(FPS, self.speed), self.mishaps, room_px)


@cache
def bare_cards(deck: str) -> Cards:
    """Return the cards of a deck of tests/enrolled.py, without stickers."""
    return PicturedCards(None, enrolled.faces_of(deck, PX_PER_MM), decks.size_mm(deck))


# The truth: which card was where -------------------------------------------------------------------------------


@dataclass(eq=False)
class Stay:
    """A card in a zone: its first and last frame, and the frames without a hand over it."""

    card: str
    zone: str
    first: int
    seen: list[int] = field(default_factory=list)
    last: int | None = None

    def delay(self, frame: int) -> int:
        """Return on how many frames before this one the card was visible."""
        return max(0, bisect.bisect_right(self.seen, frame) - 1)

    def is_at(self, frame: int, slack: int = 0) -> bool:
        return self.first <= frame and (self.last is None or frame <= self.last + slack)


class Diary:
    """Records where each card is, scene by scene."""

    def __init__(self, plan: arrange.TablePlan) -> None:
        self._plan = plan
        self._lying: tuple[Lying, ...] | None = None
        self._open: dict[str, tuple[Stay, Lying]] = {}
        self.stays: list[Stay] = []
        self.frames = 0

    def write(self, scene: Scene) -> Scene:
        if scene.lying is not self._lying and scene.lying != self._lying:
            self._changed(scene)
            self._lying = scene.lying
        for stay, card in self._open.values():
            if len(stay.seen) < 60 and not hides(scene, card.pose):
                stay.seen.append(self.frames)
        self.frames += 1
        return scene

    def _changed(self, scene: Scene) -> None:
        mats = scene.mats or self._plan.mats
        now = {card.picture: card for card in scene.lying if is_card(card)}
        zones = {picture: _zone(mats, card) for picture, card in now.items()}
        for picture, (stay, _) in list(self._open.items()):
            if zones.get(picture) != stay.zone:
                stay.last = self.frames - 1
                del self._open[picture]
        for picture, card in now.items():
            if picture in self._open:
                self._open[picture] = self._open[picture][0], card
            elif zones[picture] is not None:
                self.stays.append(Stay(picture, zones[picture], self.frames))
                self._open[picture] = self.stays[-1], card


def _zone(mats: tuple[arrange.MatPlace, ...], card: Lying) -> str | None:
    for place in mats:
        name = place.layout.zone_at(*place.on_mat(card.pose.x_mm, card.pose.y_mm))
        if name is not None:
            return f"{place.layout.id}/{name}"
    return None


@dataclass(eq=False)
class Truth:
    """A play of the script, and where its card was; the first place may be a wrong zone."""

    text: str
    stays: list[Stay]
    taken_back: bool
    proposed: int | None = None
    early: bool = False
    asked: bool = False

    def is_at(self, frame: int, slack: int = 0) -> bool:
        if not self.stays:
            return True
        return self.stays[0].first <= frame and (self.stays[-1].last is None or frame <= self.stays[-1].last + slack)


def truths(script: Script, stays: list[Stay]) -> list[Truth]:
    """Return the plays of one hand of the script with the stays of their cards."""
    left, found, since = list(stays), [], 0
    (hand,) = script.hands
    table = referee.new_hand(script.edition, script.teams, hand.first, script.target)
    for action in hand.actions:
        zone, own = zone_of(table, action.play), []
        for stay in [stay for stay in left if action.card_id == stay.card and stay.first >= since]:
            own.append(stay)
            left.remove(stay)
            if stay.zone == zone:
                break
        if action.card_id is not None or action.play.verb is Verb.TAKE:
            found.append(Truth(str(action.play), own, action.taken_back))
        since = own[0].first if own else since
        table = table if action.taken_back else referee.apply(table, action.play)
    return found


# Comparing -----------------------------------------------------------------------------------------------------


@dataclass
class Result:
    """One hand's figures."""

    case: Case
    hand: int
    size: camera_model.Size
    tilt_deg: float
    frames: int = 0
    seconds: float = 0.0
    """Of processor time: rendering, eye and watcher."""

    plays: int = 0
    right: int = 0
    missed: int = 0
    asked: int = 0
    wrong: int = 0
    phantom: int = 0
    illegal: int = 0
    flagged: int = 0
    delays: list[int] = field(default_factory=list)
    sheet: bool = False
    questions: int = 0
    withdrawn: int = 0
    strays: int = 0
    """Cards in a wrong zone that were reported there, and corrected when the card was moved."""

    trouble_frames: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)


def compare(result: Result, told: list[tuple[int, dict]], script: Script, diary: Diary) -> list[Truth]:
    """Compare the reported items, each with its frame, with the truth."""
    plays = truths(script, diary.stays)
    for frame, item in told:
        if "proposal" in item:
            _compare_proposal(result, frame, item, plays, diary)
        elif "withdrawn" in item:
            result.withdrawn += 1
            _withdraw(result, item["withdrawn"], plays)
        elif "question" in item:
            result.questions += 1
            for truth in (t for t in plays if t.proposed is None and t.stays and t.is_at(frame)):
                truth.asked = truth.asked or truth.stays[-1].zone == item["zone"]
    _count(result, plays)
    sheets = [item["sides"] for _, item in told if "hand" in item]
    result.sheet = sheets == films.sheets(script)
    return plays


def _withdraw(result: Result, text: str, plays: list[Truth]) -> None:
    """Handle a withdrawn play: it must be reported again, or should never have been reported."""
    told = next((t for t in reversed(plays) if t.text == text and t.proposed is not None), None)
    stray = next((fault for fault in reversed(result.faults) if fault[1].startswith(f"wrong: {text} in ")), None)
    if told is not None and told.proposed is not None and (stray is None or told.proposed > stray[0]):
        told.proposed = None
    elif stray is not None and is_astray(stray[1].rpartition(" ")[2], stray[0], plays):
        result.faults.remove(stray)
        result.wrong, result.strays = result.wrong - 1, result.strays + 1


def is_astray(zone: str, frame: int, plays: list[Truth]) -> bool:
    """Return whether a card that belongs to another zone was in this one at this frame."""
    stays = (stay for truth in plays for stay in truth.stays[:-1])
    return any(stay.zone == zone and stay.is_at(frame, TOLERANCE_FRAMES) for stay in stays)


def _compare_proposal(result: Result, frame: int, item: dict, plays: list[Truth], diary: Diary) -> None:
    text, legal = item["proposal"], item["verdict"] == "legal"
    if legal:
        lying = (t for t in plays if t.text == text and not t.taken_back and t.proposed is None and t.is_at(frame))
        truth = max(lying, key=lambda t: t.stays[0].first if t.stays else -1, default=None)
        if truth is not None:
            truth.proposed = frame
            truth.early = bool(truth.stays) and not truth.stays[-1].is_at(frame, 10**9)
            return
        face = text.split(">")[0].split()[-2 if "!" in text else -1]
        there = [s for s in diary.stays if s.zone == item["zone"] and s.is_at(frame) and face_of(s.card).value == face]
        kind = "wrong" if there else "phantom"
        setattr(result, kind, getattr(result, kind) + 1)
        result.faults.append((frame, f"{kind}: {text} in {item['zone']}"))
        return
    slips = (t for t in plays if t.text == text and t.taken_back and t.proposed is None)
    slip = next((slip for slip in slips if slip.is_at(frame, TOLERANCE_FRAMES)), None)
    if slip is not None:
        slip.proposed = frame


def _count(result: Result, plays: list[Truth]) -> None:
    stay, slips = [t for t in plays if not t.taken_back], [t for t in plays if t.taken_back]
    done = [t for t in stay if t.proposed is not None]
    result.plays, result.right = len(stay), len(done)
    result.illegal, result.flagged = len(slips), sum(t.proposed is not None for t in slips)
    result.asked = sum(t.asked for t in stay if t.proposed is None)
    result.missed = len(stay) - len(done) - result.asked
    timed = [(t, t.stays[-1].delay(t.proposed)) for t in done if t.stays and not t.early and len(t.stays) == 1]
    result.delays = [delay for _, delay in timed]
    result.faults += [(t.proposed, f"late by {delay} frames: {t.text}") for t, delay in timed if delay >= LATE_FRAMES]
    for truth in stay + slips:
        if truth.proposed is None:
            kind = "not flagged" if truth.taken_back else "asked" if truth.asked else "missed"
            at = truth.stays[-1].first if truth.stays else 0
            zone = truth.stays[-1].zone if truth.stays else "?"
            card = truth.stays[-1].card if truth.stays else "?"
            result.faults.append((at, f"{kind}: {truth.text} ({card} in {zone})"))
    result.faults.sort()


# Watching ------------------------------------------------------------------------------------------------------


class Watch:
    """Runs one case through eye and watcher, frame by frame."""

    def __init__(self, case: Case, eye: str, save: Path | None = None) -> None:
        self.case, self.script = case, case.script
        self.diary = Diary(case.plan)
        self._save = save
        setup = simulated.setup_of(self.script)
        if eye == "scene":
            import scene_eye

            seer = scene_eye.SceneEye(self.script)
            self._see = lambda frame: seer.view(frame.image, frame.t_s)
            self.room_px = 60.0
            self._studio = None
        else:
            self._studio = case.studio()
            self._see = eye_for(setup, *([enrolled.templates(case.faces)] if case.faces else []))
            self.room_px = self._studio.room_px
        self.trouble_frames = 0
        self._watcher = Watcher(setup, self._look, confirm=True, extension=Verb.FINISH)

    def _look(self, frame: Frame) -> object:
        view = self._see(frame)
        self.trouble_frames += view.trouble is not None
        return view

    def _frames(self) -> Iterator[Frame]:
        scenes = (self.diary.write(scene) for scene in self.case.scenes(self.room_px))
        if self._studio is None:
            yield from (Frame(scene, number / FPS) for number, scene in enumerate(scenes))
            return
        for number, image in enumerate(frame_source.filmed(self._studio, scenes, self.case.seed)):
            if self._save is not None:
                file = self._save / "frames" / f"{number + 1:05d}.jpg"
                cv2.imwrite(str(file), image, [cv2.IMWRITE_JPEG_QUALITY, 95])
            yield Frame(image, number / FPS)

    def told(self) -> list[tuple[int, dict]]:
        """Return every item that `companion watch` would print, with its frame number from 0."""
        return [(self.diary.frames - 1, item) for item in self._watcher.items(self._frames())]


Job = tuple[Case, int, str]  # a hand, its number, and the kind of eye that watches it


def watch(job: Job, save: Path | None = None) -> Result:
    case, hand, eye = job
    cv2.setNumThreads(1)
    if save is not None:
        (save / "frames").mkdir(parents=True, exist_ok=True)
        (save / "table.toml").write_text(films.setup_of(case.script), encoding="utf-8")
        if case.faces is not None:
            enrolled.photographed(case.faces, save / "deck", case.seed)
    start, seen = time.process_time(), Watch(case, eye, save)
    told = seen.told()
    result = Result(case, hand, case.size, case.look.tilt_deg, seen.diary.frames)
    result.seconds, result.trouble_frames = time.process_time() - start, seen.trouble_frames
    plays = compare(result, told, seen.script, seen.diary)
    if save is not None:
        _write_truth(save, told, plays, result)
    return result


def _write_truth(folder: Path, told: list[tuple[int, dict]], plays: list[Truth], result: Result) -> None:
    lines = [json.dumps({"frame": frame + 1, **item}, ensure_ascii=False) for frame, item in told]
    (folder / "told.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [
        {
            "play": truth.text,
            "taken_back": truth.taken_back,
            "proposed_frame": None if truth.proposed is None else truth.proposed + 1,
            "lay": [[s.card, s.zone, s.first + 1, None if s.last is None else s.last + 1] for s in truth.stays],
        }
        for truth in plays
    ]
    (folder / "truth.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    faults = "".join(f"frame {frame + 1}: {said}\n" for frame, said in result.faults)
    (folder / "faults.txt").write_text(faults, encoding="utf-8")


# The report ----------------------------------------------------------------------------------------------------

HEAD = (
    "| hand | sides | look | tilt | frames | fps | plays | right | missed | asked | wrong | phantom | illegal flagged "
    "| delay median / p95 | sheet | questions | withdrawn | trouble |"
)


def row(result: Result) -> str:
    look = f"{result.case.look_name} {result.size[1]}p"
    sheet = "right" if result.sheet else "**wrong**"
    return _row(str(result.hand), result.case.sides, look, f"{result.tilt_deg:.0f}°", [result], sheet)


def _row(name: str, sides: object, look: str, tilt: str, results: list[Result], sheet: str) -> str:
    def total(what: str) -> int:
        return sum(getattr(result, what) for result in results)

    delays = [delay for result in results for delay in result.delays]
    counts = [total(what) for what in ("plays", "right", "missed", "asked", "wrong", "phantom")]
    fps = total("frames") / max(1e-9, sum(result.seconds for result in results))
    cells = [
        name, sides, look, tilt, total("frames"), f"{fps:.0f}", *counts, f"{total('flagged')} of {total('illegal')}",
        f"{_share(delays, 0.5)} / {_share(delays, 0.95)}", sheet, total("questions"), total("withdrawn"),
        f"{total('trouble_frames') / max(1, total('frames')):.1%}",
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def _share(delays: list[int], share: float) -> str:
    if len(delays) < 2:
        return str(*delays) or "–"
    return f"{statistics.quantiles(delays, n=100, method='inclusive')[round(100 * share) - 1]:.0f}"


def sums(results: list[Result]) -> str:
    """Return the sums of the hands as rows of Markdown."""
    lines = []
    for sides, look, some in grouped(results):
        sheets = f"{sum(result.sheet for result in some)} of {len(some)}"
        lines.append(_row("sum", sides, look, "", some, sheets))
    return "\n".join(lines)


def grouped(results: list[Result]) -> list[tuple[str, str, list[Result]]]:
    """Return the hands by number of sides and look, and all of them."""
    kinds = sorted({(result.case.sides, result.case.look_name) for result in results})
    groups = [
        (f"{sides}", look, [r for r in results if (r.case.sides, r.case.look_name) == (sides, look)])
        for sides, look in kinds
    ]
    return [*groups, ("all", "all", results)]


FOLLOWED = "`companion/vision/eye.py` and the film follower `companion/tracking/offline.py`, not the live follower"


def summary(results: list[Result]) -> list[str]:
    """Return the table for docs/: how the plays of all hands were reported."""
    lines = heading("sides", "light", "hands", "plays", "right", "missed", "asked", "wrong", "made up",
                    "illegal plays flagged", "score sheets right", "frames until reported: median, 95 %")  # fmt: skip
    for sides, look, some in grouped(results):
        names = ("plays", "right", "missed", "asked", "wrong", "phantom", "flagged", "illegal")
        counts = [sum(getattr(result, name) for result in some) for name in names]
        *plays, flagged, illegal = counts
        sheets = sum(result.sheet for result in some)
        delays = [delay for result in some for delay in result.delays]
        lines.append(line_of(sides, look, len(some), *plays, f"{flagged} of {illegal}", f"{sheets} of {len(some)}",
                             f"{_share(delays, 0.5)}, {_share(delays, 0.95)}"))  # fmt: skip
    return lines


def cases(given: argparse.Namespace) -> list[Job]:
    """Return the hands to watch, each with its own seed."""
    trouble = mishaps.only(*given.only.split(",")) if given.only else mishaps.NONE if given.calm else mishaps.EVERYDAY
    trouble = replace(trouble, tidy=True)
    sides, looks = [int(part) for part in given.sides.split(",")], given.looks.split(",")
    hands = [given.hand] if given.hand is not None else range(given.hands)
    how = {"km": given.km, "speed": given.speed, "faces": given.faces}
    return [
        (
            Case(1000 * given.seed + n, sides[n % len(sides)], looks[n // len(sides) % len(looks)], trouble, **how),
            n,
            given.eye,
        )
        for n in hands
    ]


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hands", type=int, default=50)
    parser.add_argument("--hand", type=int, help="only this one of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sides", default="2,3,4")
    parser.add_argument("--looks", default="typical,hard")
    parser.add_argument("--only", help=f"only these kinds of mishap: {', '.join(mishaps.KINDS)}")
    parser.add_argument("--calm", action="store_true", help="no mishap at all")
    parser.add_argument("--faces", choices=STYLES, help="cards without stickers, of this deck")
    parser.add_argument("--km", type=int, help="a shorter race, to be quicker")
    parser.add_argument("--speed", type=float, default=4.0)
    parser.add_argument("--eye", choices=("pictures", "scene"), default="pictures", help="scene: without pictures")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, help="a folder for one hand's frames, setup, truth, report, deck")
    parser.add_argument("--write", action="store_true", help="write a table into docs/")
    return parser


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    return parser().parse_args(arguments)


def results_of(jobs: list[Job], given: argparse.Namespace) -> Iterator[Result]:
    if given.jobs == 1:
        yield from (watch(job, given.save) for job in jobs)
        return
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        yield from pool.imap(watch, jobs)


def main(arguments: Sequence[str] | None = None) -> None:
    given, results = parsed(arguments), []
    figures = page.Figures("hands", arguments) if given.write else None
    print(HEAD, flush=True)
    for result in results_of(cases(given), given):
        results.append(result)
        print(row(result), flush=True)
        for frame, said in result.faults[:4]:
            print(f"    frame {frame + 1}, {frame / FPS:.1f} s: {said}", flush=True)
    print(sums(results))
    if figures:
        figures.write(page.READING, "faces" if given.faces else "stickers", summary(results), FOLLOWED)


if __name__ == "__main__":
    main()
