"""The pages as they are served, in a process of their own, for whoever attacks them from outside.

`python tests/trust/attacked.py FOLDER [MOST_MB]` serves a table in the middle of everything over a data folder and
prints its port. The header `X-From` says from where a request comes, as the network would; a POST to `/--stir` lets
something happen at the table. What goes wrong inside is on standard error.
"""

import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TWO = ("edition classic", "side Ann", "side Bob", 'player Ann "Anne-Marie"', "hand first Ann")
PLAYED = ("Ann roll", "Bob roll", "Ann 200", "Bob 100", "Ann 75", "Bob stop > Ann")


@dataclass
class Served:
    """A service in another process."""

    port: int
    process: subprocess.Popen[str]
    errors: Path

    def said(self) -> str:
        """What it has said on standard error."""
        return self.errors.read_text(encoding="utf-8", errors="replace")

    def peak_mb(self) -> int:
        with contextlib.suppress(OSError, StopIteration, ValueError):
            lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
            return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024
        return 0


@contextlib.contextmanager
def served(folder: Path, most_mb: int = 0) -> Iterator[Served]:
    """Serves a data folder until the end; with `most_mb` no more memory than that is given to it."""
    errors = folder / "stderr.txt"
    words = [sys.executable, str(Path(__file__)), str(folder), str(most_mb)]
    path = os.pathsep.join((str(ROOT / "tests"), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONFAULTHANDLER": "1"}
    with errors.open("a") as stream:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=stream, text=True, env=environment, cwd=ROOT)
    try:
        said = process.stdout.readline() if process.stdout else ""
        if not said.strip().isdigit():
            raise RuntimeError(f"the service did not start: {said} {errors.read_text()[-2000:]}")
        yield Served(int(said), process, errors)
    finally:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


def main(folder: str, most_mb: str) -> None:
    import cv2
    import numpy as np

    from companion.match.match import Match, Policy
    from companion.pages import Camera, create_app, limits, serve
    from companion.pages.players import phone_identity
    from companion.pages.table_camera.camera_settings import KeptTurn
    from companion.storage.data_folder import store_path
    from companion.storage.event_store import Store
    from companion.tabletop.drawn_zones import DrawnZones

    for kind in limits.Kind:
        # Whoever attacks asks far too often: what is behind the brake is to be tried too.
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
    app.wsgi_app = From(app.wsgi_app, stirrer(match))  # type: ignore[method-assign]
    serve(app, "127.0.0.1", 0, lambda port: print(port, flush=True))


def stirrer(match: Any) -> Callable[[], None]:
    """Lets the camera see something: plays, one of them illegal, a card it cannot tell, a difference."""
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


class From:
    """Puts the address of the header `X-From` in the place of the real one, which is always this machine's."""

    def __init__(self, app: Callable[..., Iterable[bytes]], stir: Callable[[], None]) -> None:
        self._app, self._stir = app, stir

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        environ["REMOTE_ADDR"] = environ.get("HTTP_X_FROM", environ.get("REMOTE_ADDR"))
        if environ.get("PATH_INFO") == "/--stir":
            self._stir()
            start("204 No Content", [])
            return ()
        return self._app(environ, start)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main(*sys.argv[1:])
