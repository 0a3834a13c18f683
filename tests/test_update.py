"""A system service changes to a new version only if that works, and rolls back automatically.

The scripts run in a temporary root; stand-ins replace package installation and service start.
"""

import os
import shutil
import subprocess
from itertools import chain, repeat
from pathlib import Path

import pytest
from flask import Flask
from serving import running

ROOT = Path(__file__).parent.parent
NAME = "mille-bornes-companion"
STAND_INS = """
find_python() { :; }
install_what_is_missing() { :; }
make_venv() { mkdir -p "$venv/bin"; }
install_program() { cp "$root/companion" "$venv/bin/companion"; }
page_comes() { "$COMPANION_UNDER/opt/mille-bornes-companion/venv/bin/companion" page; }
"""
PROGRAM = """#!/bin/sh
echo "$(basename "$(dirname "$(dirname "$(readlink -f "$0")")")") VERSION $1" >>"$COMPANION_UNDER/said"
if [ "$1" = up ] && [ -n "${INSTALLER-}" ]; then kill -s "$SIGNAL" -- "-$INSTALLER"; fi
newer=$COMPANION_UNDER/log-of-9  # Version 9 gives the log a form that no other can read.
case "VERSION $1 ${3-}" in
    "9 up "*) touch "$newer" ;;
    *" restore "*/var/lib/*) rm -f "$newer" ;;
    "9 "*) ;;
    *" up "* | *" backup "*) [ ! -e "$newer" ] || exit 1 ;;
esac
[ "$1" != WRONG ] || exit 1
log=$3/companion.sqlite3 live=$COMPANION_UNDER/var/lib/private/mille-bornes-companion/companion.sqlite3
case $1 in
    backup) cat "$log" >"$5" ;;
    restore) mkdir -p "$3" && cat "$4" >"$log" ;;
    doctor) echo "a play during the update" >>"$live" ;;
esac
"""
SYSTEMCTL = f"""#!/bin/sh
case $1 in
    stop | start) echo "service service $1" >>"$COMPANION_UNDER/said" ;;
    restart | is-active) "$COMPANION_UNDER/opt/{NAME}/venv/bin/companion" up ;;
esac
"""


class Machine:
    """A system with the companion as a service, in several versions."""

    def __init__(self, folder: Path) -> None:
        self.under, self.source, tools = folder / "system", folder / "source", folder / "tools"
        for made in (self.under, self.source, tools):
            made.mkdir()
        shutil.copytree(ROOT / "deploy", self.source / "deploy")
        with (self.source / "deploy" / "lib.sh").open("a") as lib:
            lib.write(STAND_INS)
        (tools / "systemctl").write_text(SYSTEMCTL)
        (tools / "systemctl").chmod(0o755)
        self.environment = {
            **os.environ,
            "COMPANION_UNDER": str(self.under),
            "COMPANION_SETTLES_S": "0",
            "PATH": f"{tools}:{os.environ['PATH']}",
        }
        self.log = self.under / "var/lib/private" / NAME / "companion.sqlite3"
        self.log.parent.mkdir(parents=True)
        self.log.write_text("all matches\n")

    def call(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)

    def install(
        self, version: str, *options: str, wrong: str = "nothing", interrupt: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Install a version whose command `wrong` fails; a signal may interrupt its start."""
        program = self.source / "companion"
        program.write_text(PROGRAM.replace("VERSION", version).replace("WRONG", wrong))
        program.chmod(0o755)
        begin: tuple[str, ...] = ()
        if interrupt:
            # As in a terminal, all processes get the signal.
            begin = (
                "env",
                "--default-signal=INT",
                "setsid",
                "--wait",
                "sh",
                "-c",
                f'SIGNAL={interrupt} INSTALLER=$$ exec "$0" "$@"',
            )
        return self.call(*begin, self.source / "deploy" / "install-service", *options)

    def runs(self) -> str:
        said = self.under / "said"
        said.write_text("")
        self.call(self.under / "opt" / NAME / "venv/bin/companion", "asked")
        return said.read_text().split()[1]


@pytest.fixture
def machine(tmp_path):
    """A machine with version 1."""
    machine = Machine(tmp_path)
    assert machine.install("1", "--source", "/dev/video0").returncode == 0
    return machine


def test_a_new_version_must_read_a_copy_of_all_matches_before_it_runs(machine):
    (machine.under / "said").write_text("")

    assert machine.install("2").returncode == 0
    assert (machine.under / "said").read_text().splitlines() == [
        "venv-1 1 backup", "venv-2 2 restore", "venv-2 2 doctor", "service service stop", "venv-1 1 backup",
        "venv-2 2 up", "venv-2 2 page", "venv-2 2 up",
    ]  # fmt: skip


def test_only_root_can_read_the_backup_that_an_update_makes(machine):
    machine.install("2")

    backup = machine.under / "opt" / NAME / "before-update.zip"
    assert backup.read_text().startswith("all matches\n")
    assert backup.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("restore", "goes on as before"), ("doctor", "goes on as before"),
        ("up", "the version that ran runs again"), ("page", "the version that ran runs again"),
    ],
)  # fmt: skip
def test_a_version_that_cannot_read_start_or_answer_is_not_used(machine, wrong, says):
    done = machine.install("2", wrong=wrong)

    assert done.returncode == 1
    assert says in done.stderr
    assert machine.runs() == "1"
    assert machine.install("2", "--back").returncode == 1  # A version that does not start is not kept for rolling back.
    assert machine.install("3").returncode == 0
    assert machine.runs() == "3"


def test_a_failed_version_with_a_newer_log_is_rolled_back_with_the_backup(machine):
    done = machine.install("9", wrong="page")

    assert (done.returncode, machine.runs()) == (1, "1")
    assert "nothing is lost" not in done.stderr
    assert machine.log.read_text() == "all matches\na play during the update\n"
    assert machine.install("2").returncode == 0


def test_if_the_last_backup_fails_the_current_version_restarts(machine):
    machine.install("2")
    (machine.under / "said").write_text("")
    (machine.under / "opt" / NAME / "before-update.zip").unlink()
    (machine.under / "opt" / NAME / "before-update.zip").mkdir()

    done = machine.install("3")

    assert "goes on as before" in done.stderr
    assert (machine.under / "said").read_text().splitlines()[-2:] == ["venv-2 2 backup", "service service start"]
    assert (done.returncode, machine.runs()) == (1, "2")


def test_rolling_back_to_a_version_that_cannot_read_the_matches_is_refused(machine):
    machine.install("9")
    backup = machine.under / "opt" / NAME / "before-update.zip"
    kept = backup.read_text()
    (machine.under / "said").write_text("")

    done = machine.install("9", "--back")

    assert "Nothing was changed, because the version before cannot read these matches" in done.stderr
    assert (machine.under / "said").read_text().split() == ["venv-1", "1", "backup"]
    assert (done.returncode, machine.runs(), backup.read_text()) == (1, "9", kept)


def test_rolling_back_works_from_a_version_whose_backup_fails(machine):
    machine.install("2", wrong="backup")

    assert (machine.install("2", "--back").returncode, machine.runs()) == (0, "1")


def test_returning_to_a_newer_version_that_does_not_work_loses_no_play(machine):
    machine.install("9")
    before = machine.under / "opt" / NAME / "before-update.zip"
    machine.call(machine.under / "opt" / NAME / "venv-1/bin/companion", "restore", "--data", machine.log.parent, before)
    assert machine.install("9", "--back").returncode == 0
    machine.log.write_text("all matches\na play with version 1\n")
    newer = machine.under / "opt" / NAME / "venv-2/bin/companion"
    newer.write_text(newer.read_text().replace("!= nothing", "!= page"))

    done = machine.install("9", "--back")

    assert "the version that ran runs again" in done.stderr
    assert (done.returncode, machine.runs()) == (1, "1")
    assert machine.log.read_text() == "all matches\na play with version 1\n"


@pytest.mark.parametrize("interrupt", ["HUP", "INT"])
def test_after_a_lost_connection_or_ctrl_c_a_failed_version_is_rolled_back(machine, interrupt):
    done = machine.install("2", wrong="page", interrupt=interrupt)

    assert (done.returncode, machine.runs()) == (1, "1")
    assert "nothing is lost" in done.stderr


def test_rolling_back_restores_the_previous_unit(machine):
    unit = machine.under / "etc/systemd/system" / f"{NAME}.service"
    before = unit.read_text()
    with (machine.source / "deploy" / "companion.service").open("a") as newer:
        newer.write("Alias=newer.service\n")

    machine.install("2", wrong="up")

    assert unit.read_text() == before
    machine.install("3")
    assert unit.read_text() == before + "Alias=newer.service\n"


@pytest.mark.parametrize(
    ("status", "failures", "host", "comes"),
    [
        (200, 0, "", True), (200, 1, "", True), (200, 0, " --host 127.0.0.1", True), (500, 0, "", False),
        (200, 0, " --host 127.0.0.2", False),
    ],
)  # fmt: skip
def test_a_service_works_if_its_page_loads(tmp_path, status, failures, host, comes):
    """The page gets three seconds and is requested twice a second; no server listens at the other address."""
    answers = chain([503] * failures, repeat(status))
    page = Flask(__name__)
    page.add_url_rule("/", "page", lambda: ("The table", next(answers)))
    options = tmp_path / "options"
    with running(page) as url:
        options.write_text(f'OPTIONS="--source 0{host} --port {url.rpartition(":")[2]}"\n')
        asked = subprocess.run(
            ["bash", "-c", f". {ROOT}/deploy/lib.sh && page_comes {options}"],
            env={**os.environ, "COMPANION_ANSWERS_S": "3" if comes else "0"},
            capture_output=True,
            text=True,
            check=False,
        )

    assert (asked.returncode == 0) is comes
    assert ("Its page does not come" in asked.stderr) is not comes


def test_you_can_switch_back_and_forth_between_two_versions(machine):
    machine.install("2")

    assert [(machine.install("2", "--back").returncode, machine.runs()) for _ in range(3)] == [
        (0, "1"), (0, "2"), (0, "1"),
    ]  # fmt: skip


def test_without_a_previous_version_rolling_back_is_refused(machine):
    done = machine.install("1", "--back")

    assert (done.returncode, machine.runs()) == (1, "1")
    assert "No version before" in done.stderr


def test_rolling_back_works_to_a_copy_from_an_older_script(machine):
    home = machine.under / "opt" / NAME
    (home / "venv").unlink()
    (home / "venv-1").rename(home / "venv")

    machine.install("2", wrong="up")

    assert machine.runs() == "1"
    assert machine.install("3").returncode == 0
    assert machine.runs() == "3"


def test_an_update_keeps_the_options_of_the_service(machine):
    options = machine.under / "etc/default" / NAME
    done = machine.call(machine.source / "deploy" / "update", "--from", machine.source)

    assert done.returncode == 0, done.stderr
    assert 'OPTIONS="--source /dev/video0"' in options.read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "This folder is no git clone"), (("--from", "/"), "contains no version of the companion"),
        (("--form", "x"), "Unknown option --form"), (("--pack", "."), "exists already"),
    ],
)  # fmt: skip
def test_an_impossible_update_is_refused_with_a_sentence(machine, arguments, sentence):
    done = machine.call(machine.source / "deploy" / "update", *arguments)

    assert done.returncode == 1
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_newest_version_is_fetched_from_the_clones_repository(machine, tmp_path):
    """Without a service, the next deploy/run installs it."""
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")
    machine.call("git", "init", "--quiet", machine.source)
    machine.call("git", "-C", machine.source, "add", ".")
    machine.call(*git, "-C", machine.source, "commit", "--quiet", "--message", "One")
    clone = tmp_path / "clone"
    machine.call("git", "clone", "--quiet", machine.source, clone)
    (machine.source / "newer").touch()
    machine.call("git", "-C", machine.source, "add", ".")
    machine.call(*git, "-C", machine.source, "commit", "--quiet", "--message", "Two")
    (machine.under / "etc/systemd/system" / f"{NAME}.service").unlink()

    done = machine.call(clone / "deploy" / "update")

    assert done.returncode == 0, done.stderr
    assert (clone / "newer").exists()
    assert "deploy/run there installs it" in done.stderr
    assert "newest version already" in machine.call(clone / "deploy" / "update").stderr
