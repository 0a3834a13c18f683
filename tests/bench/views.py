"""The views of whole hands, kept in files, so that following is measured without pictures.

python -m tests.bench.views stickers [--hands 50] [--seed 1]       hands of cards with stickers
python -m tests.bench.views faces [--hands 50] [--seed 1]          hands by faces, of each deck in turn
python -m tests.bench.views film FOLDER [--faces FOLDER|own]       a film with `setup.toml` and `truth.json`

`.views/` keeps one file a hand: a line of JSON with its set-up and its true plays, then one a frame. A file that exists
is kept; `--again` replaces it. Views depend on the eye alone, so any follower can be measured on them.
"""

import argparse
import gzip
import json
import multiprocessing
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import enrolled
import films
from scene_eye import SceneEye
from troubles import mishaps

from bench.cases import FPS, STYLES, Case, Diary, Truth, truths
from companion.app import demo as simulated
from companion.app.service import eye_for
from companion.match.setup_file import Setup, read_setup
from companion.rules.cards import Card
from companion.simulate import frame_source
from companion.vision.capture.sources import Frame, frames
from companion.vision.enrol.enrolment import begin, enrol_folder
from companion.vision.faces.deck_in_use import faces_of
from companion.vision.faces.face_templates import Templates
from companion.vision.opencv import cv2
from companion.vision.view import Blindness, Hidden, MatSeen, Sighting, View

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".views"
SCENE_ROOM_PX = 60.0  # how far a scene without pictures may be pushed


@dataclass(frozen=True)
class TruePlay:
    """A play as it was made; times in seconds of the film."""

    text: str
    is_legal: bool
    zone: str | None
    card: str | None
    lies_s: float | None  # the card is in its final place
    clear_s: float | None  # and the hand has left
    gone_s: float | None  # it was removed, taken back or covered up again
    early: tuple[tuple[str, float], ...] = ()  # wrong zones before, each with its first time


@dataclass(frozen=True)
class FilmedHand:
    """A hand: its set-up, what was really played, and what the eye saw."""

    name: str
    setup: str  # TOML
    plays: tuple[TruePlay, ...]
    sheets: list[dict]  # true scores per hand, as `replay` gives them
    made: dict[str, Any]  # commit, seconds of the eye; of rendered hands also light, deck and seed
    views: tuple[tuple[View, bool], ...]  # each with whether pictures were missing before it


# Reading and writing -------------------------------------------------------------------------------------------


def write(hand: FilmedHand, folder: Path = FOLDER) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hand.name}.jsonl.gz"
    head = {key: value for key, value in asdict(replace(hand, views=())).items() if key != "views"}
    with gzip.open(path.with_suffix(".part"), "wt", encoding="utf-8") as file:
        before: View | None = None
        print(json.dumps(head, ensure_ascii=False), file=file)
        for view, after_gap in hand.views:
            print(json.dumps(_row(view, after_gap, before), separators=(",", ":")), file=file)
            before = view
    path.with_suffix(".part").rename(path)
    return path


def read(path: Path) -> FilmedHand:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        head, *rows = map(json.loads, file)
    plays = tuple(TruePlay(**{**play, "early": tuple(map(tuple, play["early"]))}) for play in head.pop("plays"))
    seen: list[tuple[View, bool]] = []
    for row in rows:
        seen.append(_view(row, seen[-1][0] if seen else None))
    return FilmedHand(**head, plays=plays, views=tuple(seen))


def names(folder: Path = FOLDER) -> list[str]:
    return sorted(path.name.removesuffix(".jsonl.gz") for path in folder.glob("*.jsonl.gz"))


def load(name: str, folder: Path = FOLDER) -> FilmedHand:
    return read(folder / f"{name}.jsonl.gz")


def _row(view: View, after_gap: bool, before: View | None) -> list:
    """Return a view as JSON; mats and sightings that are those of the view before are left out."""
    same_mats, same = before and before.mats == view.mats, before and before.sightings == view.sightings
    return [
        round(view.t_s, 4),
        int(after_gap),
        0 if same_mats else [[mat.id, _rounded(mat.corners_px), round(mat.px_per_mm, 4)] for mat in view.mats],
        0 if same else [_sighting_row(sighting) for sighting in view.sightings],
        sorted(view.unknown_zones),
        view.draw_pile_empty,
        view.trouble and str(view.trouble),
        sorted(view.things),
        view.note and str(view.note),
        {mat: [hidden.size_mm, hidden.rows] for mat, hidden in view.hidden.items()},
        view.blind,
    ]


def _sighting_row(s: Sighting) -> list:
    corners = None if s.corners_px is None else _rounded(s.corners_px)
    return [
        s.face.value, s.card, _rounded([s.centre_px])[0], corners, s.zone, int(s.sideways),
        round(float(s.confidence), 4), s.by, [[card, round(float(sure), 4)] for card, sure in s.rivals],
        int(s.is_double), s.stay, s.glued, s.twice,
        *([] if s.card_px is None else [_rounded(s.card_px), round(s.card_sd_mm, 1)]),
    ]  # fmt: skip


def _rounded(points: Iterable[Iterable[float]]) -> list[list[float]]:
    return [[round(float(value), 2) for value in point] for point in points]


def _view(row: list, before: View | None) -> tuple[View, bool]:
    # Files made before blind zones were kept have none.
    t_s, after_gap, mats, sightings, unknown, empty, trouble, things, note, hidden, *blind = row
    if mats == 0 and before is not None:
        mats = before.mats
    else:
        mats = tuple(MatSeen(mat, tuple(map(tuple, corners)), scale) for mat, corners, scale in mats)
    is_same = sightings == 0 and before is not None
    sightings = before.sightings if is_same else tuple(map(_sighting, sightings))
    places = {mat: Hidden(tuple(size_mm), tuple(rows)) for mat, (size_mm, rows) in hidden.items()}
    why = {zone: Blindness(reason) for zone, reason in (blind[0] if blind else {}).items()}
    view = View(t_s, mats, sightings, frozenset(unknown), empty, trouble, frozenset(things), note, places, why)
    return view, bool(after_gap)


def _sighting(row: list) -> Sighting:
    # Files made before sticker places were learned have no cards' corners.
    face, card, centre, corners, zone, sideways, sure, by, rivals, double, stay, glued, twice, *whole = row
    card_px, card_sd_mm = (tuple(map(tuple, whole[0])), whole[1]) if whole else (None, 0.0)
    quad = None if corners is None else tuple(map(tuple, corners))
    return Sighting(
        Card(face), card, tuple(centre), quad, zone, bool(sideways), sure, by, tuple(map(tuple, rivals)), bool(double),
        stay, glued, twice, card_px, card_sd_mm,
    )  # fmt: skip


Views = tuple[tuple[View, bool], ...]


# Making --------------------------------------------------------------------------------------------------------


def of_case(case: Case, name: str, save: Path | None = None) -> FilmedHand:
    """Render a hand and look at it; its frames, set-up file and deck are kept in the folder `save`."""
    diary, studio, setup = Diary(case.plan), case.studio(), simulated.setup_of(case.script)
    templates = enrolled.templates(case.faces) if case.faces else None
    scenes = (diary.write(scene) for scene in case.scenes(studio.room_px))
    filmed = frame_source.filmed(studio, scenes, case.seed)
    pictures = (Frame(image, number / FPS) for number, image in enumerate(filmed))
    views, seconds = _looked_at(pictures if save is None else _saved(pictures, case, save), setup, templates)
    return _hand(case, name, diary, views, seconds)


def _saved(pictures: Iterable[Frame], case: Case, folder: Path) -> Iterator[Frame]:
    (folder / "frames").mkdir(parents=True, exist_ok=True)
    (folder / "table.toml").write_text(films.setup_of(case.script), encoding="utf-8")
    if case.faces is not None:
        enrolled.photographed(case.faces, folder / "deck", case.seed)
    for number, frame in enumerate(pictures, start=1):
        cv2.imwrite(str(folder / "frames" / f"{number:05d}.jpg"), frame.image, [cv2.IMWRITE_JPEG_QUALITY, 95])
        yield frame


def of_scenes(case: Case, name: str) -> FilmedHand:
    """Return a hand as a camera would see it that reads every card in sight."""
    diary, eye = Diary(case.plan), SceneEye(case.script)
    scenes = enumerate(map(diary.write, case.scenes(SCENE_ROOM_PX)))
    views = tuple((eye.view(scene, number / FPS), False) for number, scene in scenes)
    return _hand(case, name, diary, views, 0.0)


def _hand(case: Case, name: str, diary: Diary, views: Views, seconds: float) -> FilmedHand:
    plays = tuple(map(_true_play, truths(case.script, diary.stays)))
    made = _made() | {"seconds_of_the_eye": seconds, "light": case.look_name, "deck": case.faces, "seed": case.seed}
    return FilmedHand(name, films.setup_of(case.script), plays, films.sheets(case.script), made, views)


def _true_play(truth: Truth) -> TruePlay:
    if not truth.stays:
        return TruePlay(truth.text, not truth.taken_back, None, None, None, None, None)
    *before, last = truth.stays
    early = tuple((stay.zone, stay.first / FPS) for stay in before)
    clear = None if last.clear is None else last.clear / FPS
    gone = None if last.last is None else (last.last + 1) / FPS
    return TruePlay(truth.text, not truth.taken_back, last.zone, last.card, last.first / FPS, clear, gone, early)


def of_film(folder: Path, faces: str | None, name: str) -> FilmedHand:
    """Look at a film; its `truth.json` tells what was played."""
    setup, truth = read_setup(folder / "setup.toml"), json.loads((folder / "truth.json").read_text("utf-8"))
    templates = None if faces is None else _templates(faces)
    views, seconds = _looked_at(frames(str(folder / "film.mp4"), fps=None), setup, templates)
    keys = ("text", "legal", "zone", "card", "lies_s", "clear_s", "taken_back_s")
    plays = tuple(TruePlay(*(play.get(key) for key in keys)) for play in truth["plays"])
    text = (folder / "setup.toml").read_text("utf-8")
    made = _made() | {"seconds_of_the_eye": seconds}
    return FilmedHand(name, text, plays, [hand["sides"] for hand in truth.get("hands", ())], made, views)


def _templates(faces: str) -> Templates:
    if faces == "own":
        return enrolled.templates("own")
    with tempfile.TemporaryDirectory() as data:
        enrolment = begin("deck", "classic", Path(data))
        for said in enrol_folder(enrolment, Path(faces)):
            print(said.sentence, flush=True)
        templates = faces_of("deck", Path(data))
    if templates is None:
        raise SystemExit(f"No deck could be made of {faces}.")
    return templates


def _looked_at(pictures: Iterable[Frame], setup: Setup, templates: Templates | None) -> tuple[Views, float]:
    cv2.setNumThreads(1)
    look, views, seconds = eye_for(setup, templates), [], 0.0
    for frame in pictures:
        start = time.process_time()
        views.append((look(frame), frame.after_gap))
        seconds += time.process_time() - start
    return tuple(views), round(seconds, 1)


def _made() -> dict[str, Any]:
    asked = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    return {"commit": commit}


def case_of(name: str, only: Sequence[str] = ()) -> Case:
    """Return the hand of a name such as `faces-1-07`, with these kinds of mishaps or with all.

    Raises SystemExit for any other name.
    """
    found = re.fullmatch(r"(stickers|faces)-(\d+)-(\d+)", name)
    if found is None:
        raise SystemExit(f"{name} has no views, and is no hand that can be made: name it as in `faces-1-07`.")
    kind, seed, number = found.groups()
    n, trouble = int(number), mishaps.only(*only) if only else mishaps.EVERYDAY
    deck = STYLES[n % len(STYLES)] if kind == "faces" else None
    sides, light = (2, 3, 4)[n % 3], ("typical", "hard")[n // 3 % 2]
    return Case(1000 * int(seed) + n, sides, light, replace(trouble, tidy=True), faces=deck)


def make(name: str) -> str:
    write(of_case(case_of(name), name))
    return name


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("stickers", "faces", "film"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--faces", help="the deck of a film: a folder of pictures, or `own`")
    parser.add_argument("--hands", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    return parser.parse_args(arguments)


def main() -> None:
    given = parsed()
    if given.kind == "film":
        print(write(of_film(given.folder, given.faces, f"film-{given.folder.name}")))
        return
    there = set() if given.again else set(names())
    wanted = (f"{given.kind}-{given.seed}-{number:02d}" for number in range(given.hands))
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for name in pool.imap(make, [name for name in wanted if name not in there]):
            print(name, flush=True)


if __name__ == "__main__":
    main()
