"""A web server in a process of its own, as a target for fuzzers.

`python tests/trust/attacked.py FOLDER PORT MOST_MB` serves a match in progress from a data folder. The header `X-From`
sets the client's address; a POST to `/--stir` makes something happen at the table. Internal errors go to standard
error.
"""

import contextlib
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from trust.real_service import Service, free_port, started

TWO = ("edition classic", "side Ann", "side Bob", 'player Ann "Anne-Marie"', "hand first Ann")
PLAYED = ("Ann roll", "Bob roll", "Ann 200", "Bob 100", "Ann 75", "Bob stop > Ann")


@contextlib.contextmanager
def served(folder: Path, most_mb: int = 0) -> Iterator[Service]:
    """Serve a data folder inside the context; `most_mb` limits the memory."""
    port = free_port()
    called = [sys.executable, str(Path(__file__)), str(folder), str(port), str(most_mb)]
    with started(called, port, folder, {"PYTHONFAULTHANDLER": "1"}) as running:
        yield running
        running.end()


def peak_mb(running: Service) -> int:
    if running.process.poll() is not None:
        return 0
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024


def main(folder: str, port: str, most_mb: str) -> None:
    import cv2
    import numpy as np

    from companion.match.match import Match
    from companion.match.state import Policy
    from companion.pages import Camera, create_app, limits, serve
    from companion.pages.players import phone_identity
    from companion.pages.table_camera.camera_settings import KeptTurn
    from companion.storage.data_folder import store_path
    from companion.storage.event_store import Store
    from companion.tabletop.drawn_zones import DrawnZones

    for kind in limits.RequestKind:
        # Without rate limits the fuzzers reach the code behind them.
        limits.RATES[kind] = limits.Rate(1e9, 1e9)  # type: ignore[index]
    if int(most_mb):
        resource.setrlimit(resource.RLIMIT_AS, (int(most_mb) << 20,) * 2)
    data = Path(folder)
    match = Match(Store.open(store_path(data)))
    if match.state.match is None:
        match.start(TWO, policy=Policy.TAP)
        for line in PLAYED:
            match.enter(line, "Ann")
    image = np.full((120, 160, 3), 90, np.uint8)
    jpeg = bytes(cv2.imencode(".jpg", image)[1])
    camera = Camera(lambda: jpeg, lambda: image, zones=DrawnZones(data), turn=KeptTurn(data))
    app = create_app(match, secret=phone_identity.load_secret(data), base_url="http://192.168.1.20:8080", camera=camera)
    app.wsgi_app = from_anywhere(app.wsgi_app, stirrer(match))  # type: ignore[method-assign]
    serve(app, "127.0.0.1", int(port), lambda _port: print("It is ready.", flush=True))


def stirrer(match: Any) -> Callable[[], None]:
    """Make the camera report plays, one of them illegal, an unknown card and a difference."""
    from seen import camera

    from companion.rules.record.notation import Unreadable

    numbers = count(1)

    def stir() -> None:
        teams = match.state.game.teams
        if not teams:
            return
        players = [team.players[0] for team in teams]
        number, other = next(numbers), next(numbers)
        with contextlib.suppress(Unreadable):
            play = f"{players[number % len(players)]} {('roll', '100', '200', 'discard 25')[number % 4]}"
            camera(match).play(number, play, zone="side-1/battle", crop=b"jpeg")
            camera(match).which(other, play, zone="side-2/battle", crop=b"jpeg")
            camera(match).differs(next(numbers), "side-1/speed", "speed-limit", None)

    return stir


def from_anywhere(app: Callable[..., Iterable[bytes]], stir: Callable[[], None]) -> Callable[..., Iterable[bytes]]:
    """Replace the client's address, always this machine's, with that of the header `X-From`."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        environ["REMOTE_ADDR"] = environ.get("HTTP_X_FROM", environ.get("REMOTE_ADDR"))
        if environ.get("PATH_INFO") == "/--stir":
            stir()
            start("204 No Content", [])
            return ()
        return app(environ, start)

    return answer


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main(*sys.argv[1:])
