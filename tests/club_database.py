"""A PostgreSQL of one's own for tests: in a folder that goes away, on a socket of that folder, stopped and started."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

USER = "postgres"
NONE = "PostgreSQL is not on this machine: apt-get install postgresql."
_numbers = count(1)


def binaries() -> Path | None:
    """The folder with initdb, the newest; None where there is none."""
    there = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = shutil.which("initdb")
    return there[-1].parent if there else Path(found).parent if found else None


def why_not() -> str | None:
    """Why no database can be had; None where one can."""
    if binaries() is None:
        return NONE
    if os.geteuid() == 0 and (
        not shutil.which("setpriv") or subprocess.run(["id", USER], capture_output=True).returncode
    ):
        return "PostgreSQL does not run as root, and there is no user postgres here."
    return None


class Server:
    """A server that listens on a local port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = binaries()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        self._run("initdb", "--auth=trust", "--no-sync", "--encoding=UTF8", f"--username={USER}", "-D", self.data)

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def _run(self, program: str, *arguments: str) -> None:
        as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if os.geteuid() == 0 else []
        # What the server inherits it would keep open for ever: a pipe of ours would never end.
        with (self.folder / "said.txt").open("ab") as said:
            call = [*as_user, self.bin / program, *arguments]
            subprocess.run(call, check=True, cwd="/", stdout=said, stderr=said, stdin=subprocess.DEVNULL)

    def start(self) -> None:
        # Nothing of it has to outlast the machine's power.
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off"
        self._run("pg_ctl", "-D", self.data, "-w", "-l", str(self.folder / "log.txt"), "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def new(self) -> str:
        """The address of a new, empty database."""
        import psycopg

        name = f"club{next(_numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def url(self, database: str, user: str = USER) -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"


@contextmanager
def running() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="companion-club-"))
    folder.chmod(0o755)
    try:
        server = Server(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
