"""Run the real companion in a process of its own, and measure it."""

from __future__ import annotations

import gzip
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from werkzeug.datastructures import FileStorage
from werkzeug.test import EnvironBuilder

from companion.pages.players.phone_identity import join_token
from companion.storage.data_folder import KEY_NAME

ROOT = Path(__file__).parent.parent.parent
READY_WITHIN_S = 60.0
PROGRAM = "import sys; from companion.app.cli import main; sys.argv[0] = 'companion'; main()"


class Service:
    def __init__(self, process: subprocess.Popen[str], port: int, folder: Path) -> None:
        self.process, self.port, self.folder = process, port, folder
        self.said: list[str] = []
        self.ready = threading.Event()
        pipes = (process.stdout, process.stderr)
        self._hearing = [threading.Thread(target=self._hear, args=(pipe,), daemon=True) for pipe in pipes]
        for thread in self._hearing:
            thread.start()

    def _hear(self, pipe) -> None:
        with pipe:
            for line in pipe:
                self.said.append(line)
                if "is ready" in line:
                    self.ready.set()

    @property
    def token(self) -> str:
        return join_token(next(self.folder.rglob(KEY_NAME)).read_bytes())

    def end(self, number: int = signal.SIGTERM, within_s: float = 30.0) -> int:
        """Ask the process to end, kill it if it does not, and return its exit code."""
        self.process.send_signal(number)
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            for thread in self._hearing:
                thread.join(10)

    def size(self) -> Size:
        return size_of(self.process.pid)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def started(
    called: Sequence[str], port: int, folder: Path, environ: Mapping[str, str] | None = None
) -> Iterator[Service]:
    """Start a service over a data folder, wait until it is ready, and end it after the context."""
    process = subprocess.Popen(
        called,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "tests"), str(ROOT))), **(environ or {})},
        cwd=folder,
    )
    running = Service(process, port, folder)
    try:
        wait_until(lambda: running.ready.is_set() or process.poll() is not None, READY_WITHIN_S, 0.005)
        if not running.ready.is_set():
            raise TimeoutError(f"The companion is not ready: {''.join(running.said)}")
        yield running
    finally:
        running.end(signal.SIGKILL)


@contextmanager
def service(
    folder: Path,
    *command: str,
    environ: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
    host: str = "127.0.0.1",
) -> Iterator[Service]:
    """Run the companion on a free port over a data folder inside the context."""
    port = free_port()
    called = [
        *before, sys.executable, "-c", PROGRAM, *command, "--host", host, "--port", str(port), "--data", str(folder),
    ]  # fmt: skip
    with started(called, port, folder, environ) as running:
        yield running


@dataclass(frozen=True, slots=True)
class Size:
    rss_kb: int
    anon_kb: int  # anonymous memory: without mapped program files, which other processes may share
    threads: int
    files: int
    sockets: int
    cpu_s: float


def size_of(pid: int) -> Size:
    proc = Path(f"/proc/{pid}")
    status = dict(re.findall(r"^(\w+):\s+(\d+)", (proc / "status").read_text(), re.MULTILINE))
    links = [_target(link) for link in (proc / "fd").iterdir()]
    ticks = (proc / "stat").read_text().rpartition(")")[2].split()[11:13]
    return Size(
        rss_kb=int(status["VmRSS"]),
        anon_kb=int(status["RssAnon"]),
        threads=int(status["Threads"]),
        files=len(links),
        sockets=sum(link.startswith("socket:") for link in links),
        cpu_s=sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"),
    )


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def asked(
    port: int,
    path: str,
    fields: Mapping[str, str | FileStorage] | None = None,
    *,
    cookie: str = "",
    source: str = "127.0.0.1",
    timeout_s: float = 20.0,
    language: str = "en",
) -> tuple[int, bytes, str]:
    """Get a page, or tap with `fields`; return status, unpacked body and the phone's new cookie."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s, source_address=(source, 0))
    headers = {"Host": f"127.0.0.1:{port}", "Cookie": cookie, "Accept-Encoding": "gzip", "Accept-Language": language}
    try:
        if fields is None:
            line.request("GET", path, headers=headers)
        else:
            sent = EnvironBuilder(method="POST", data=fields).get_environ()
            kind = sent.get("CONTENT_TYPE", "application/x-www-form-urlencoded")
            headers |= {"Origin": f"http://127.0.0.1:{port}", "Content-Type": kind}
            line.request("POST", path, sent["wsgi.input"].read(), headers)
        answer = line.getresponse()
        body = answer.read()
        if answer.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        given = answer.headers.get("Set-Cookie", "").partition(";")[0]
        return answer.status, body, given or cookie
    finally:
        line.close()


@contextmanager
def beside(*tasks: Callable[[threading.Event], object]) -> Iterator[threading.Event]:
    """Run each task in a thread inside the context; yield the event that tells them to end."""
    over = threading.Event()
    threads = [threading.Thread(target=task, args=(over,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    try:
        yield over
    finally:
        over.set()
        for thread in threads:
            thread.join(60)


def wait_until(condition, within_s: float = 30.0, every_s: float = 0.02) -> bool:
    until_s = time.monotonic() + within_s
    while not (holds := condition()) and time.monotonic() < until_s:
        time.sleep(every_s)
    return bool(holds)
