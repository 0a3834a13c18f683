"""Connect cameras, eyes, matches and pages for the commands `up`, `watch` and `export`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from companion.app.memory import giving_memory_back
from companion.app.mqtt import broker_of, telling
from companion.app.usage import tell, terminal_language, warn
from companion.app.waiting import opened_in_the_end
from companion.common.addresses import shown
from companion.common.errors import Problem
from companion.common.text import say
from companion.match.archive import judged, text_of
from companion.match.match import Match, Mats, mats_in_order
from companion.match.setup_file import Setup, read_setup
from companion.match.state import MatchState
from companion.pages import Camera, run_service
from companion.pages.server.address import announced, base_url
from companion.pages.table_camera.camera_settings import MOST_OTHERS, KeptTurn, OtherCameras
from companion.pages.words import Names
from companion.rules import reasons
from companion.rules.play import Verb
from companion.storage.data_folder import as_owner_of, data_dir, store_path
from companion.storage.event_store import Store
from companion.tabletop import translation
from companion.tabletop.card_ids import card_ids
from companion.tabletop.drawn_zones import DrawnZones
from companion.tabletop.mat_layout import ROBOT, TABLE
from companion.tracking import snapshot
from companion.tracking.live import TableWatch
from companion.vision.camera_group import CameraGroup
from companion.vision.capture.devices import (
    PHONE,
    FirstCamera,
    Openers,
    Size,
    openers,
    usual_size,
    video_devices,
)
from companion.vision.capture.frame_sets import frame_sets
from companion.vision.capture.phone_frames import PhoneFrames
from companion.vision.capture.sources import LIVE_FPS, Frame, Notice, camera_answers, frames, is_device, not_there
from companion.vision.eye import Eye
from companion.vision.faces.deck_in_use import DeckInUse, faces_of
from companion.vision.faces.face_templates import Templates
from companion.vision.mirrored import unmirrored
from companion.vision.quality.live_survey import Lookout

if TYPE_CHECKING:
    from companion.club.outbox import Address, Outbox

Serve = Callable[..., None]  # bound `run_service`: takes the camera, returns at the end
DEMO = "demo:"
ANSWERS_NOT = say("No camera found. Enter plays by hand, or plug in a camera: it is used at once.")
WATCHES_NO_MORE = say("The camera has stopped. Enter plays by hand; restart the companion to use the camera again.")
ENDED = say("The companion has stopped. Everything you confirmed is saved.")
OFFERED = say(
    "Another match is in progress. The page asks whether to start the one in the set-up file; "
    "`--new` starts it at once."
)
LAST_FRAME_S = 1.0  # longest wait for the last frame


def watched(
    source: str,
    setup_file: Path | None,
    *,
    confirm: str,
    extension: str,
    fps: float | None,
    deck: str | None = None,
    data: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield `companion watch`'s JSON objects: proposed plays, ended hands. Raises Problem for unusable arguments.

    `confirm`: `legal` plays count at once, or `none`. `extension`: `extend` or `finish` when offered. `deck`: template
    deck; None takes the setup's, else only stickers are read.
    """
    from companion.app.reports import report
    from companion.tracking.film import Watcher

    setup = _read(setup_file) if setup_file else None
    named = deck or (setup.cards if setup else None)
    templates = faces_of(named, data, tell=warn)
    pictures: Iterable[Frame]
    if source.startswith(DEMO):
        from companion.app import demo as simulated

        setup, pictures = simulated.filmed(source.removeprefix(DEMO), setup, has_stickers=templates is None)
    else:
        pictures = unmirrored(frames(source, fps=fps))
    if setup is None:
        raise Problem(say("Name the players: `--setup FILE`, a TOML file with one [[side]] table per side."))
    watcher = Watcher(setup, eye_for(setup, templates), confirm=confirm == "legal", extension=Verb(extension))
    plays = 0
    for item in watcher.items(pictures):
        plays += "proposal" in item
        yield item
    if not plays:
        warn(report.nothing_seen(named))


def _read(setup_file: Path) -> Setup:
    """Return a setup from its file; print its remarks."""
    setup = read_setup(setup_file)
    for why in setup.remarks:
        warn(f"{setup_file}: {reasons.say(why, terminal_language(), setup.edition.name)}")
    return setup


def eye_for(setup: Setup, templates: Templates | None = None) -> Eye:
    """Return an eye for a setup's cards: by stickers and, with templates, by faces."""
    allowed = frozenset(card_ids(setup.edition.deck))
    return Eye(allowed=allowed, drawn=DrawnZones(given=setup.drawing), templates=lambda: templates)


def up(
    source: str | None,
    setup_file: Path | None,
    *,
    host: str,
    port: int,
    data: Path | None,
    deck: str | None = None,
    begins: bool = False,
    club: Address | None = None,
    mqtt: str | None = None,
    address: str | None = None,
    others: Sequence[str] = (),
) -> None:
    """Run the service until it is stopped.

    `source` and `others` watch together; without a source, the first camera that answers, if any, and those added on
    the page. The setup file's match begins or continues; the page asks if another is under way, unless `begins`.
    `deck`: template deck; None takes the setup's, or the page's choice. The log goes to `club`, the state to the broker
    `mqtt`. `address` replaces the machine's own.
    """
    translation.speak(terminal_language())
    given = announced(address) if address is not None else ""
    _check_others(source, others)
    setup = _read(setup_file) if setup_file else None
    broker = broker_of(mqtt) if mqtt is not None else None
    mats = partial(_mats, setup=setup)
    store, match = opened_in_the_end(lambda: opened_match(data_dir(data), mats), host, port)
    told = telling(match, broker, lambda: given or base_url(host, port))
    with closed_at_the_end(store), told, _pushed(match, club) as outbox:
        serve = partial(run_service, match, host, port, announced=given, club=outbox)
        if source is not None and source.startswith(DEMO):
            from companion.app import demo as simulated

            script = simulated.script_for(source.removeprefix(DEMO), setup)
            simulated.simulate(match, script, match.state.policy, serve)
        else:
            if setup is not None:
                _begin(match, setup, in_any_case=begins)
            _watch(match, source, setup, serve, deck, others)


@contextmanager
def _pushed(match: Match, club: Address | None) -> Iterator[Outbox | None]:
    """Exchange log and letters with a club inside the context."""
    if club is None:
        yield None
        return
    from companion.club.outbox import Outbox

    outbox = Outbox(match.store, club, receive=match.receive)
    outbox.start()
    try:
        yield outbox
    finally:
        outbox.stop()


def opened_match(folder: Path, mats: Mats = mats_in_order) -> tuple[Store, Match]:
    """Open a data folder's log and match; print the log's problems."""
    store = Store.open(store_path(folder))
    try:
        for sentence in (store.note.sentence if store.note else None, store.unsaved):
            if sentence:
                warn(sentence)
        return store, Match(store, mats)
    except BaseException:
        store.close()
        raise


@contextmanager
def closed_at_the_end(store: Store) -> Iterator[None]:
    """Close `store`, the log, at the end or an error; print whether all is saved."""
    try:
        with giving_memory_back():
            yield
    finally:
        store.close()
        if store.unsaved is not None:
            warn(say("The companion has stopped, and the last plays are lost. %(why)s", why=store.unsaved))
    if store.unsaved is None:
        tell(ENDED)


def _watch(
    match: Match, source: str | None, setup: Setup | None, serve: Serve, deck: str | None, others: Sequence[str]
) -> None:
    folder = match.store.path.parent
    zones = DrawnZones(folder, setup.drawing if setup else None)
    named = deck or (setup.cards if setup else None)
    given = faces_of(named, folder, tell=warn)
    faces = DeckInUse(folder).templates if given is None else lambda: given
    group = _group(match, setup, zones, faces)
    memory = folder / snapshot.FILE_NAME
    watch = TableWatch(match, group, lambda state: _mats(state, setup), group.begin_afresh, memory=memory)
    turn, phone = KeptTurn(folder), PhoneFrames()

    def size_px() -> Size:
        """Return the first camera's picture size, the usual one if there are several."""
        return usual_size() if beside.sources else group.first.size_px

    first = _first_camera(phone, watch, size_px, lambda: beside.sources)
    beside = OtherCameras(folder, others if source else None, lambda: source or first.source)
    camera = Camera(
        watch.picture, watch.image, group.survey, watch.robot_hand, deck=named, zones=zones, turn=turn, others=beside
    )
    if source is None:
        camera = replace(camera, is_there=lambda: bool(first.source or beside.sources), phone=phone)
        pictures: Iterator[Frame] | None = _pictures_of_first(first, phone, match, watch, size_px)
    else:
        pictures = _pictures(source, match, watch, size_px)
    if pictures is None:
        serve(camera)
        return
    of_first = group.first.until_over(_as_it_lies(pictures, turn))
    opened = partial(_of_another, watch, turn)
    thread = watch.start(frame_sets(of_first, lambda: beside.sources, opened, watch.stopping.is_set))
    with until_the_end(match, watch, thread) as looks_after:
        serve(camera, looks_after=looks_after)


def _check_others(source: str | None, others: Sequence[str]) -> None:
    """Raise Problem if an additional camera does not exist, is listed twice, or is too many."""
    if len(others) > MOST_OTHERS:
        raise Problem(say("No more cameras can be used at once: remove one first."))
    used = {_one_name(source or "")}
    for other in others:
        if not (is_device(other) or Path(other).exists()) or (source or "").startswith(DEMO):
            raise not_there(other)
        if _one_name(other) in used:
            raise Problem("%(source)s is listed twice: list each camera once.", source=shown(other))
        used.add(_one_name(other))


def _one_name(source: str) -> str:
    """Return one name for all spellings of a camera, film or folder."""
    if source.isdecimal():
        return f"/dev/video{int(source)}"
    return str(Path(source).resolve()) if Path(source).exists() else source


def _group(match: Match, setup: Setup | None, zones: DrawnZones, faces: Callable[[], Templates | None]) -> CameraGroup:
    """Return the cameras' eyes; drawn zones are the first's."""

    def lookout(number: int) -> Lookout:
        drawn = zones if number == 0 else None
        eye = Eye(drawn=drawn, templates=faces)
        return Lookout(eye, lambda: group.wanted(number, in_play(match.state, setup)), drawn)

    group = CameraGroup(lookout)
    return group


def _of_another(watch: TableWatch, turn: KeptTurn, source: str, is_left: Callable[[], bool]) -> Iterator[Frame]:
    """Return another camera's frames; print its problems: the page shows unseen zones."""

    def notify(notice: Notice) -> None:
        warn(notice.sentence)

    def wait(seconds: float) -> bool:
        return watch.stopping.wait(seconds) or is_left()

    return _as_it_lies(frames(source, fps=LIVE_FPS, tell=notify, wait=wait, patient=True, live=True), turn)


def _as_it_lies(pictures: Iterable[Frame], turn: KeptTurn) -> Iterator[Frame]:
    """Return frames turned as chosen on the page, and unmirrored."""
    return unmirrored(turn.turned(pictures), lambda: turn.current)


@contextmanager
def until_the_end(match: Match, watch: TableWatch, thread: threading.Thread) -> Iterator[Callable[[], None]]:
    """Stop the watch at the end; yield a function that reports a dead watch on the pages."""

    def look_after() -> None:
        if not thread.is_alive() and match.state.trouble is None:
            match.trouble(WATCHES_NO_MORE)

    try:
        yield look_after
    finally:
        watch.stopping.set()
        thread.join(LAST_FRAME_S)


def _pictures(
    source: str, match: Match, watch: TableWatch, size_px: Callable[[], Size], first: FirstCamera | None = None
) -> Iterator[Frame] | None:
    """Return a source's frames until the watch stops; if there are none, show why and return None.

    `first` opens the camera that it found, instead of `source`.
    """

    def notify(notice: Notice) -> None:
        warn(notice.sentence)
        by_hand = say("%(notice)s You can enter plays by hand.", notice=notice.sentence)
        match.trouble(by_hand if notice.blind else None)

    try:
        play = partial(
            frames,
            source,
            fps=LIVE_FPS,
            tell=notify,
            wait=watch.stopping.wait,
            patient=True,
            live=True,
            size_px=size_px,
        )
        return play() if first is None else play(open_device=first.open, named=lambda: first.source or source)
    except Problem as problem:
        notify(Notice(str(problem), blind=True))
        return None


def _first_camera(
    phone: PhoneFrames, watch: TableWatch, size_px: Callable[[], Size], others: Callable[[], Collection[str]]
) -> FirstCamera:
    """Return the search for the first camera: the chosen phone, else a device outside `others()` that answers.

    It ends with `watch`, and opens devices with `size_px()`.
    """
    of_phone = Openers(phone.open, lambda: phone.sender is not None)
    return FirstCamera(
        answers=lambda: PHONE if phone.sender else camera_answers(besides=others()),
        devices=lambda: [*([PHONE] if phone.sender else []), *video_devices()],
        wait=watch.stopping.wait,
        openers=lambda source: of_phone if source == PHONE else openers(source, size_px),
    )


def _pictures_of_first(
    first: FirstCamera, phone: PhoneFrames, match: Match, watch: TableWatch, size_px: Callable[[], Size]
) -> Iterator[Frame]:
    """Yield frames of the first camera that answers, then of the next when it is gone.

    A phone chosen as the camera replaces any other.
    """
    while (source := first.found(none_yet=lambda: warn(ANSWERS_NOT))) is not None:
        match.refresh()
        pictures = _pictures(source, match, watch, size_px, first)
        for frame in pictures or ():
            yield frame
            if phone.sender is not None and first.source != PHONE:
                break
        else:
            return
        cast(Generator[Frame, None, None], pictures).close()


def _begin(match: Match, setup: Setup, *, in_any_case: bool) -> None:
    header, game = setup.header(), match.state.game
    lines = [*header, f"hand first {setup.first}"]
    is_played = match.lines()[: len(header)] == header and game.winner is None
    if in_any_case or not (is_played or match.state.is_under_way):
        match.start(lines, by="setup")
        if setup.robot is not None:
            match.seat_robot(setup.robot, by="setup")
    elif not is_played:
        match.offer(lines)
        tell(OFFERED)


def _mats(state: MatchState, setup: Setup | None) -> Mapping[str, str]:
    return setup.mats if setup is not None and setup.teams == state.game.teams else mats_in_order(state)


def in_play(state: MatchState, setup: Setup | None = None) -> tuple[str, ...]:
    """Return the mats to see: sides, table, any robot's hand; none without a match."""
    mats = tuple(_mats(state, setup))
    return (*mats, TABLE, *([ROBOT] if state.robot_seat else [])) if mats else ()


def exported(match: int, form: str, data: Path | None) -> str:
    """Return a saved match as `mbn` record, `json` lines, or `csv` score sheets."""
    path = store_path(data_dir(data))
    with (
        as_owner_of(path.parent),
        closing(Store.open(path, read_only=True)) if path.exists() else nullcontext() as store,
    ):
        known, events = (store.matches(), store.events(match)) if store else ((), ())
    if not events:
        if known:
            raise Problem(
                "There is no match %(number)d in %(folder)s: the matches there are %(known)s.",
                number=match,
                folder=path.parent,
                known=", ".join(map(str, known)),
            )
        raise Problem(
            "There is no match %(number)d in %(folder)s: none has been played there yet.",
            number=match,
            folder=path.parent,
        )
    past = judged(match, events)
    return text_of(past, form, Names.of(past.game).side)
