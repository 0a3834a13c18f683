"""The project as a whole: imports, package, docs, and the scripts in deploy/."""

import ast
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
import zipfile
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import distributions, packages_distributions, version
from pathlib import Path

import pytest
from long_proofs import PROOFS
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from companion.app.cli import companion

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "companion"
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py"))
NOT_OURS = {
    ".git", ".venv", ".venv-docs", "site", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "__pycache__",
    "dist", "build",
}  # fmt: skip

# --- Imports point inwards ------------------------------------------------------------------------------------

INNER = {"tabletop", "rules", "common"}
MIDDLE = {"vision", "printing", "simulate", "storage"}
MAY_IMPORT = {
    "app": {"club", "pages", "tracking", "match", "robots", *MIDDLE, *INNER},
    "club": {"pages", "match", "storage", *INNER}, "pages": {"tracking", "match", "robots", *MIDDLE, *INNER},
    "tracking": {"match", *MIDDLE, *INNER}, "match": {"robots", *MIDDLE, *INNER}, "robots": {"rules", "common"},
    "vision": INNER, "printing": INNER, "simulate": {"printing", *INNER}, "storage": INNER,
    "tabletop": {"rules", "common"}, "rules": {"common"}, "common": set(),
}  # fmt: skip
"""The rooms, and the rooms that each may import."""

KNOWN_EXCEPTIONS = {
    "companion/tabletop/drawn_zones.py": {"storage"},
    "companion/tabletop/template_decks.py": {"storage"},
    "companion/vision/faces/deck_in_use.py": {"storage"},
}
"""Writers of small files in the data folder outside `storage/`. Never add to this table."""

NOT_IN_RULES = {"cv2", "numpy", "flask", "sqlite3", "time", "datetime", "random", "secrets", "threading"}


def imports_of(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, anywhere in the file."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            base = ".".join(part for part in (above, node.module) if part)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def rooms_imported_by(module: str) -> set[str]:
    """Return the other rooms that a file imports."""
    rooms = {name.split(".")[1] for name in imports_of(ROOT / module) if name.startswith("companion.")}
    return rooms - {Path(module).parts[1], "__version__"}


def test_the_package_has_exactly_these_rooms():
    names = {path.name for path in PACKAGE.iterdir()} - {"__pycache__", "_shipped"}

    assert names == {*MAY_IMPORT, "__init__.py", "README.md"}


def test_file_names_are_unique():
    names = [Path(module).name for module in MODULES if not module.endswith("__init__.py")]

    assert sorted(names) == sorted(set(names))


def test_class_names_are_unique():
    trees = [ast.parse((ROOT / module).read_text(encoding="utf-8")) for module in MODULES]
    counts = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))

    assert [name for name, count in counts.items() if count > 1] == []


def test_imports_point_inwards():
    modules = [module for module in MODULES if module != "companion/__init__.py"]
    beyond = {module: rooms_imported_by(module) - MAY_IMPORT[Path(module).parts[1]] for module in modules}

    assert {module: rooms for module, rooms in beyond.items() if rooms} == KNOWN_EXCEPTIONS


def test_the_rules_import_no_pictures_other_files_clock_or_randomness():
    used = {name.split(".")[0] for path in (PACKAGE / "rules").rglob("*.py") for name in imports_of(path)}

    assert not used & NOT_IN_RULES


def test_serving_a_real_table_loads_no_modules_of_other_commands():
    shown = run_python(
        "-c", "import sys, companion.app.service; print(*sys.modules, sep='\\n')", cwd=ROOT, path=ROOT
    ).stdout.split()

    assert not [
        name for name in shown if re.match(r"companion\.(simulate|app\.demo|club)\b|urllib\.request|fontTools", name)
    ]


OPTIONAL = {"paho", "picamera2", "psycopg", "psycopg_pool"}
"""Optional libraries: for the Raspberry Pi's camera, MQTT and the club."""


def test_imported_libraries_are_declared():
    roots = {name.split(".")[0] for module in MODULES for name in imports_of(ROOT / module)}
    libraries = roots - set(sys.stdlib_module_names) - {"companion"} - OPTIONAL
    homes = packages_distributions()

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]

    assert {homes[library][0].lower().replace("_", "-") for library in libraries} == {
        re.match(r"[\w-]+", line)[0] for line in declared
    }


# --- What is packaged -----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, built offline from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """A folder with the installed wheel, without libraries."""
    folder = tmp_path_factory.mktemp("somewhere else")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*pip, "--target", folder, wheel], cwd=folder, check=True)
    return folder


def files_under(folder: Path) -> Iterator[Path]:
    """Yield our files in a folder of the checkout, relative to it."""
    for path in folder.rglob("*"):
        if path.is_file() and not NOT_OURS & set(path.relative_to(folder).parts):
            yield path.relative_to(folder)


def test_the_wheel_contains_package_pages_and_editions_and_nothing_else(wheel):
    packed = set(zipfile.ZipFile(wheel).namelist())

    for folder, inside in (
        ("companion", ""),
        ("web", "companion/_shipped/"),
        ("card_templates", "companion/_shipped/"),
    ):
        expected = {f"{inside}{folder}/{path.as_posix()}" for path in files_under(ROOT / folder)}
        assert expected
        assert expected <= packed, folder
    tops = {name.split("/")[0] for name in packed}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"companion"}


def test_an_installed_copy_finds_its_pages_and_runs_outside_the_checkout(installed, tmp_path):
    code = "import companion.common.resources as s; print(s.__file__, s.shipped('web'), s.shipped('card_templates'))"
    found = run_python("-c", code, cwd=tmp_path, path=installed).stdout.strip()
    ran = run_python(str(installed / "bin/companion"), "editions", "show", "classic", cwd=tmp_path, path=installed)

    assert found.count(str(installed)) == 3
    assert (installed / "companion/_shipped/web").is_dir()
    assert "Deck: 106 cards" in ran.stdout


def run_python(*arguments: str, cwd: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with a folder first on its path."""
    environment = {"PYTHONPATH": str(path), "PATH": "/usr/bin:/bin", "HOME": str(cwd), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, check=True, capture_output=True, text=True
    )


def test_no_file_contains_a_path_of_the_developers_machine():
    places = re.compile("|".join(f"/{place}/" for place in ("work", "root", "Users")) + "|py" + "env")

    named = [path for path in files_under(ROOT) if places.search((ROOT / path).read_bytes().decode("latin-1"))]

    assert named == []


# --- The two commands -----------------------------------------------------------------------------------------

SCRIPTS = (
    *sorted(f"deploy/{path.name}" for path in (ROOT / "deploy").iterdir() if path.is_file() and not path.suffix),
    "deploy/lib.sh",
    "deploy/pi/prepare-card",
    "deploy/pi/first-start",
    ".ci/run",
)


@pytest.mark.parametrize("script", SCRIPTS)
def test_bash_can_parse(script):
    read = subprocess.run(["bash", "-n", ROOT / script], check=False, capture_output=True, text=True)

    assert (read.returncode, read.stderr) == (0, "")


class Checkout:
    """A copy of the scripts with stand-ins for all programs, which print their call."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tools = root.parent / "tools"
        self.camera, self.environment = "", dict[str, str]()
        shutil.copytree(ROOT / "deploy", root / "deploy")
        lib = root / "deploy/lib.sh"
        self.python, self.pi_camera = self.tools / "system-python", self.tools / "picamera2"
        lib.write_text(
            lib.read_text(encoding="utf-8")
            .replace("=/usr/bin/python3\n", f"={shlex.quote(str(self.python))}\n")
            .replace("=/usr/lib/python3/dist-packages/picamera2\n", f"={shlex.quote(str(self.pi_camera))}\n"),
            encoding="utf-8",
        )
        shutil.copy(ROOT / "pyproject.toml", root)
        self.program(root / ".venv/bin/companion", 'echo companion "$@"; echo "$COMPANION_CALLED" >called')
        self.program(root / ".venv/bin/python", f'{CAMERA} exec {PYTHON} "$@"')
        self.program(self.tools / "apt-get", 'echo apt-get "$@"; echo "E: no network" >&2; exit 100')
        self.program(self.tools / "apt-cache", "echo '  Candidate: 1.0'")
        self.stamp("installed")

    def program(self, path: Path, script: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def stamp(self, name: str) -> None:
        shell = f'. "{self.root}/deploy/lib.sh"; fingerprint'
        current = subprocess.run(["bash", "-c", shell], check=True, capture_output=True).stdout
        (self.root / ".venv" / name).write_bytes(current)

    def run(self, *arguments: str, script: str = "deploy/run") -> subprocess.CompletedProcess[str]:
        path = f"{self.tools}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        return subprocess.run(
            [self.root / script, *arguments],
            cwd=self.root.parent,
            env={"PATH": path, "CAMERA": self.camera, "HOME": str(self.root.parent), **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )


PYTHON = shlex.quote(sys.executable)
CAMERA = 'case "$2" in *camera_answers*) echo "$CAMERA"; exit ;; esac;'


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "mille bornes")


@pytest.mark.parametrize(
    ("camera", "typed", "called"),
    [
        pytest.param("", ["--port", "9000"], "demo --port 9000", id="the simulated table when no camera answers"),
        pytest.param("/dev/video2", ["--port", "9000"], "up --source /dev/video2 --port 9000", id="a camera answers"),
        pytest.param("/dev/video2", ["--source", "my film.mp4"], "up --source my film.mp4", id="a source is named"),
        pytest.param("/dev/video2", ["--source=my film.mp4"], "up --source=my film.mp4", id="in one word"),
    ],
)
def test_run_starts_the_right_command(checkout, camera, typed, called):
    checkout.camera = camera

    answer = checkout.run(*typed)

    assert answer.stdout == f"companion {called}\n"
    assert ("No camera found" in answer.stderr) == called.startswith("demo")


def test_run_passes_other_commands_through_without_extra_output(checkout):
    answer = checkout.run("read", "a picture.jpg", "--json")

    assert (answer.stdout, answer.stderr) == ("companion read a picture.jpg --json\n", "")
    assert (checkout.root.parent / "called").read_text() == f"{checkout.root}/deploy/run\n"


def test_run_prints_the_version_and_starts_no_table(checkout):
    answer = checkout.run("--version")

    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "companion --version\n", "")


@pytest.mark.parametrize(("script", "says"), [("deploy/run", "deploy/run --port 9000"), ("deploy/test", "--long")])
def test_a_scripts_help_needs_no_installation(checkout, script, says):
    shutil.rmtree(checkout.root / ".venv")

    answer = checkout.run("--help", script=script)

    assert (answer.stderr, answer.returncode) == ("", 0)
    assert says in answer.stdout


@pytest.mark.parametrize("typed", [["link"], ["club", "link"], ["key", "Table 7"]], ids=" ".join)
def test_the_clubs_link_and_key_refuse_a_port(checkout, typed):
    answer = checkout.run(*typed, "--port", "9000", script="deploy/club")

    assert answer.returncode == 1
    assert len(answer.stderr.splitlines()) == 1
    assert "` takes no --port: leave it out" in answer.stderr


def test_the_club_uses_the_database_of_the_environment(checkout):
    checkout.stamp("installed-with-club")
    checkout.environment["COMPANION_DATABASE"] = "postgresql:///ours"

    answer = checkout.run("--port", "9000", script="deploy/club")

    assert (answer.stdout, answer.returncode) == ("companion club up --port 9000\n", 0)
    assert not (checkout.root / "club").exists()


@pytest.mark.parametrize("typed", [["link", "--help"], ["club", "key", "-h"], ["--port", "9000", "--help"]])
def test_help_for_a_club_command_starts_no_database(checkout, typed):
    checkout.stamp("installed-with-club")

    answer = checkout.run(*typed, script="deploy/club")

    assert answer.stdout.startswith("companion club ")
    assert answer.returncode == 0
    assert not (checkout.root / "club").exists()


def test_an_old_python_is_refused_with_a_sentence(checkout):
    shutil.rmtree(checkout.root / ".venv")
    checkout.program(checkout.tools / "python3", 'case "$1" in --version) echo Python 3.9.2;; *) exit 1;; esac')
    for newer in ("python3.11", "python3.12", "python3.13", "python3.14"):
        checkout.program(checkout.tools / newer, "exit 1")

    answer = checkout.run()

    assert answer.returncode == 1
    assert answer.stderr.startswith("Python 3.11 or later is needed and this is Python 3.9.2")


def without_library(checkout, user_id: int) -> None:
    """Hide libzbar, for root (0) or a user without sudo."""
    checkout.program(checkout.root / ".venv/bin/python", f'[ "$1" = - ] && echo libzbar0 && exit; exec {PYTHON} "$@"')
    checkout.program(checkout.tools / "id", f"echo {user_id}")
    checkout.program(checkout.tools / "sudo", "exit 1")


def test_a_user_who_cannot_install_sees_the_administrators_command(checkout):
    without_library(checkout, user_id=1000)

    answer = checkout.run()

    assert answer.returncode == 1
    assert "apt-get install libzbar0" in answer.stderr
    assert answer.stdout == ""


def test_a_failed_download_says_what_to_type(checkout):
    without_library(checkout, user_id=0)

    answer = checkout.run()

    assert answer.returncode == 1
    assert answer.stderr.splitlines() == [
        "Installing system packages: libzbar0 …",
        "They could not be installed (apt-get says: no network): check the network, then type  apt-get install libzbar0"
        "  and run this again.",
    ]


@pytest.mark.parametrize(
    "changed", ["pyproject.toml", "deploy/locked.txt", "deploy/locked-with-tests.txt", "pi camera", "moved"]
)
def test_a_change_of_libraries_or_path_needs_a_new_installation(checkout, changed):
    if changed == "moved":
        checkout.root = checkout.root.rename(checkout.root.with_name("elsewhere"))
    else:
        (checkout.pi_camera if changed == "pi camera" else checkout.root / changed).write_text("# other libraries\n")
    for python in (checkout.python, checkout.tools / "python3"):
        checkout.program(python, 'case "$*" in *venv*--clear*) echo no room >&2; exit 1;; esac')

    answer = checkout.run()

    assert "Creating a virtual environment" in answer.stderr
    assert answer.returncode == 1


@pytest.mark.parametrize(
    ("script", "locked"), [("deploy/run", "deploy/locked.txt"), ("deploy/test", "deploy/locked-with-tests.txt")]
)
def test_only_locked_versions_are_installed(checkout_to_test, script, locked):
    for stamp in ("installed", "installed-with-tests"):
        (checkout_to_test.root / ".venv" / stamp).unlink()
    calls = checkout_to_test.root.parent / "calls"
    checkout_to_test.program(checkout_to_test.python, "exit 0")
    checkout_to_test.program(checkout_to_test.root / ".venv/bin/python", f'echo "$@" >>{shlex.quote(str(calls))}')

    checkout_to_test.run("editions", script=script)

    said = [call.partition("--disable-pip-version-check ") for call in calls.read_text().splitlines()]
    installs = [what for _, is_pip, what in said if is_pip]
    assert installs == [f"--require-hashes --requirement {locked}", "--no-deps --no-build-isolation --editable ."]


LOCKED = re.compile(r"^([a-z0-9.-]+)==(\S+)(?: ; .*?)? \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", re.MULTILINE)


@pytest.mark.parametrize("name", ["locked.txt", "locked-with-club.txt", "locked-with-tests.txt"])
def test_a_lock_has_all_checksums_and_no_registry_addresses(name):
    text = (ROOT / "deploy" / name).read_text(encoding="utf-8")

    assert re.sub(r"^#.*\n", "", LOCKED.sub("", text), flags=re.MULTILINE) == ""
    assert "://" not in text


def test_the_locks_agree_on_one_version_of_each_required_library():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    to_run = [*project["project"]["dependencies"], *extras["pi-camera"], *project["build-system"]["requires"]]
    run, club, test = (
        set(LOCKED.findall((ROOT / "deploy" / name).read_text(encoding="utf-8")))
        for name in ("locked.txt", "locked-with-club.txt", "locked-with-tests.txt")
    )
    for_club = [*to_run, *extras["club"]]

    for locked, asked in ((run, to_run), (club, for_club), (test, [*for_club, *extras["test"]])):
        for line in asked:
            wanted = Requirement(line)
            versions = [version for name, version in locked if name == wanted.name]
            assert versions, line
            assert all(version in wanted.specifier for version in versions), line
    assert run <= club <= test


@pytest.mark.skipif(not Path(sys.prefix, "installed-with-tests").is_file(), reason="deploy/test did not install this")
def test_the_installed_versions_are_the_locked_ones():
    locked = set(LOCKED.findall((ROOT / "deploy" / "locked-with-tests.txt").read_text(encoding="utf-8")))
    installed = {canonicalize_name(found.name) for found in distributions()}

    assert {(name, version(name)) for name, _ in locked if name in installed} <= locked


CHECKS = ("ruff check", "ruff format", "mypy", "codespell", "codespell of the docs")


@pytest.fixture
def checkout_to_test(checkout):
    checkout.stamp("installed-with-tests")
    checkout.program(checkout.tools / "chromium", "exit 1")
    for name in ("ruff", "mypy", "codespell", "pytest"):
        checkout.program(checkout.root / ".venv/bin" / name, f'echo {name} "$@"')
    return checkout


def test_test_checks_style_and_types_then_runs_pytest_with_its_arguments(checkout_to_test):
    answer = checkout_to_test.run("tests/test_x.py", "-k", "two words", script="deploy/test")

    assert answer.stdout == "pytest -n auto --dist worksteal tests/test_x.py -k two words\n"
    assert answer.stderr == "".join(f"{tool}: fine\n" for tool in CHECKS)
    assert answer.returncode == 0
    checkout_to_test.program(checkout_to_test.root / ".venv/bin/pytest", "exit 5")
    assert checkout_to_test.run(script="deploy/test").returncode == 5


def test_test_files_in_memory_are_removed_at_the_end(checkout_to_test):
    checkout_to_test.program(checkout_to_test.root / ".venv/bin/pytest", 'test -w "${TMPDIR:-/tmp}" && echo "$TMPDIR"')

    answer = checkout_to_test.run(script="deploy/test")

    assert answer.returncode == 0
    assert [folder for folder in answer.stdout.split() if Path(folder).exists()] == []


def test_test_reports_everything_and_fails_for_style_alone(checkout_to_test):
    checkout_to_test.program(checkout_to_test.root / ".venv/bin/ruff", 'echo "line too long"; exit 1')

    answer = checkout_to_test.run(script="deploy/test")

    assert answer.stdout == "pytest -n auto --dist worksteal\n"
    assert "ruff check: line too long" in answer.stderr
    assert "mypy: fine" in answer.stderr
    assert answer.returncode == 1


def test_long_proofs_run_by_name_without_the_other_checks(checkout_to_test):
    script = f'case "$1" in tests/*) echo python "$@"; exit ;; esac; exec {PYTHON} "$@"'
    checkout_to_test.program(checkout_to_test.root / ".venv/bin/python", script)

    answer = checkout_to_test.run("--long", "kills", "--slice", script="deploy/test")

    assert answer.stdout == "python tests/long_proofs.py kills --slice\n"
    assert (answer.stderr, answer.returncode) == ("", 0)


@pytest.mark.parametrize("proof", [proof for proof in PROOFS.values() if "pytest" not in proof.command])
def test_the_script_of_a_long_proof_exists_and_accepts_its_options(proof):
    for command in filter(None, (proof.command, proof.slice)):
        script, *words = command.removeprefix("-m ").split()
        text = (ROOT / (script if "/" in script else f"{script.replace('.', '/')}.py")).read_text(encoding="utf-8")

        options = [word.removeprefix("--") for word in words if word.startswith("--")]
        assert [option for option in options if not re.search(rf'"(--)?{option}"|\b{option}=', text)] == []


# --- The service of the system --------------------------------------------------------------------------------

UNIT = "etc/systemd/system/mille-bornes-companion.service"
OPTIONS = "etc/default/mille-bornes-companion"
MATCHES = "var/lib/private/mille-bornes-companion"
HOME_OF_SERVICE = "opt/mille-bornes-companion"


class Machine(Checkout):
    """A checkout on a machine with systemd; its root is the folder `machine`."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.under = root.parent / "machine"
        home = self.under / HOME_OF_SERVICE
        says = f'echo "$@" >>{shlex.quote(str(self.under))}/calls'
        for place in ("venv-1", "venv-2"):
            self.program(home / place / "bin/python", says)
        # The system's Python only prints the call that makes a virtual environment, and reports that the page loads.
        self.program(self.python, f'case "$2" in venv) {says} ;; 0.0.0.0) ;; *) exec {PYTHON} "$@" ;; esac')
        self.program(self.tools / "systemctl", f'echo systemctl "$@" >>{shlex.quote(str(self.under))}/calls')
        self.program(self.tools / "getent", f"echo x:x:0:0::{root.parent}:/bin/sh")

    def install(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        self.environment = {"COMPANION_UNDER": str(self.under), "COMPANION_SETTLES_S": "0"}
        return self.run(*arguments, script="deploy/install-service")

    @property
    def calls(self) -> str:
        return (self.under / "calls").read_text()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "mille bornes")


def test_a_service_is_installed_enabled_and_started(machine):
    answer = machine.install("--source", "/dev/video0")

    assert answer.returncode == 0, answer.stderr
    assert f"ExecStart={machine.under}/{HOME_OF_SERVICE}/venv/bin/companion up $OPTIONS" in (
        machine.under / UNIT
    ).read_text(encoding="utf-8")
    assert 'OPTIONS="--source /dev/video0"' in (machine.under / OPTIONS).read_text()
    assert "--require-hashes --requirement deploy/locked.txt\n" in machine.calls
    assert "--no-deps --no-build-isolation --upgrade .\n" in machine.calls
    assert machine.calls.endswith(
        "systemctl daemon-reload\n"
        "systemctl enable --quiet mille-bornes-companion\n"
        "systemctl restart mille-bornes-companion\n"
        "systemctl is-active --quiet mille-bornes-companion\n"
    )


def test_a_service_is_announced_in_the_network_if_the_system_supports_it(machine):
    announced = machine.under / "etc/avahi/services"
    announced.mkdir(parents=True)

    machine.install("--port", "9000")

    (service,) = ElementTree.parse(next(announced.iterdir())).iter("service")
    assert (service.findtext("type"), service.findtext("port")) == ("_http._tcp", "9000")
    machine.install("--uninstall")
    assert list(announced.iterdir()) == []


def test_reinstalling_keeps_the_options_and_finds_a_new_pi_camera(machine):
    machine.program(machine.tools / "python3", "exit 1")  # The service must use the system's Python.
    machine.install("--source", "0")
    machine.install()
    machine.pi_camera.mkdir()
    machine.install()

    assert 'OPTIONS="--source 0"' in (machine.under / OPTIONS).read_text()
    home = f"{machine.under}/{HOME_OF_SERVICE}"
    made = [call.removeprefix("-m venv ") for call in machine.calls.splitlines() if call.startswith("-m venv ")]
    assert made == [f"--clear {home}/venv-1", f"--clear {home}/venv-2", f"--clear --system-site-packages {home}/venv-1"]


def test_new_options_keep_the_files_other_lines_and_its_privacy(machine):
    machine.install("--source", "0")
    options = machine.under / OPTIONS
    options.write_text(options.read_text() + "COMPANION_MQTT=mqtt://table:secret@192.168.1.5\n")

    machine.install("--source", "2")

    assert options.read_text().splitlines()[1:] == [
        'OPTIONS="--source 2"',
        "COMPANION_MQTT=mqtt://table:secret@192.168.1.5",
    ]
    assert options.stat().st_mode & 0o777 == 0o600


def test_a_service_copies_the_matches_once_and_renames_the_old_folder(machine):
    played = machine.root.parent / ".local/share/mille-bornes-companion/companion.sqlite3"
    folder = played.parent
    kept = [folder.with_name(f"{folder.name}-before-service{number}") for number in ("", "-2")]
    for made in (folder, kept[0]):
        made.mkdir(parents=True)
    played.write_text("first")

    first = machine.install()

    assert (folder.exists(), (kept[1] / played.name).read_text()) == (False, "first")
    assert "Your matches have been copied" in first.stderr
    assert f"{folder}, which is called {kept[1]} now" in first.stderr

    folder.mkdir()
    played.write_text("second")

    assert "Your matches have been copied" not in machine.install().stderr
    assert (machine.under / MATCHES / "companion.sqlite3").read_text() == "first"


def test_a_service_does_not_copy_matches_of_a_running_companion(machine):
    played = machine.root.parent / ".local/share/mille-bornes-companion/companion.sqlite3"
    played.parent.mkdir(parents=True)
    played.write_text("being written")
    python = machine.under / HOME_OF_SERVICE / "venv-1/bin/python"
    machine.program(python, '[ "$1" != -c ]')

    answer = machine.install()

    assert answer.returncode == 1
    assert "The companion is running: stop it" in answer.stderr
    assert not (machine.under / MATCHES).exists()


def test_uninstalling_the_service_keeps_the_matches(machine):
    machine.install()
    kept = machine.under / MATCHES / "companion.sqlite3"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("matches")
    answer = machine.install("--uninstall")

    assert answer.returncode == 0, answer.stderr
    assert not any((machine.under / gone).exists() for gone in (UNIT, OPTIONS, HOME_OF_SERVICE))
    assert kept.read_text() == "matches"
    assert "systemctl disable --quiet --now mille-bornes-companion" in machine.calls


def test_an_option_that_the_options_file_cannot_represent_is_refused(machine):
    answer = machine.install("--setup", "our table.toml")

    assert answer.returncode == 1
    assert "no blanks, quotes or backslashes: our table.toml" in answer.stderr


def test_installing_a_service_asks_for_the_password(machine):
    machine.program(machine.tools / "id", "echo 1000")
    machine.program(machine.tools / "sudo", 'echo sudo "$@"')

    answer = machine.run("--source", "0", script="deploy/install-service")

    assert answer.stdout == f"sudo -- {machine.root}/deploy/install-service --source 0\n"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this system has no systemd-analyze")
def test_the_service_is_well_sandboxed():
    answer = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", ROOT / "deploy/companion.service"],
        check=True,
        capture_output=True,
        text=True,
    )

    exposure = re.search(r"Overall exposure level for .*: ([\d.]+)", answer.stdout)

    assert exposure is not None
    assert float(exposure[1]) <= 2.0


# --- What the README and the pages of docs/ say ----------------------------------------------------------------

DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))


def code_blocks(page: Path) -> str:
    """Return the code blocks of a page."""
    return "\n".join(re.findall(r"^(?:    .*| *```[\s\S]*?```)$", page.read_text(encoding="utf-8"), re.MULTILINE))


def test_the_readme_starts_with_the_two_commands_and_stays_short():
    commands = re.findall(r"deploy/\w+", code_blocks(ROOT / "README.md"))

    assert commands[:2] == ["deploy/run", "deploy/test"]
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= 120


def calls(*pages: Path) -> list[list[str]]:
    """Return the companion's calls on the pages as words: `["print", "mats", "--edition", …]`."""
    shown = []
    for page in pages:
        shown += re.findall(r"`(?:companion|deploy/run)(?: ([^`]*))?`", page.read_text(encoding="utf-8"))
        shown += re.findall(r"^ *(?:companion|deploy/run)(?: (.*))?$", code_blocks(page), re.MULTILINE)
    return sorted({tuple(shlex.split(call, comments=True)) for call in shown})


@pytest.mark.parametrize("call", calls(*PAGES), ids=" ".join)
def test_commands_in_the_docs_can_be_called(call):
    """Options without a command belong to `up` or `demo`."""
    options = {word.split("=")[0] for word in call if word.startswith("--")} - {"--help", "--version"}
    named = [word for word in call[:1] if word.islower() and not word.startswith("-")]

    for name in named or ("up", "demo"):
        command = companion.get_command(None, name)
        command = getattr(command, "commands", {}).get("".join(call[1:2]), command)
        assert options <= {opt for param in command.params for opt in param.opts}


def test_the_docs_list_every_command():
    listed = {call[0] for call in calls(DOCS / "commands.md") if call}

    assert set(companion.list_commands(None)) <= listed


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, PACKAGE / "README.md"], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_in_the_docs_has_a_target(page):
    links = re.findall(r"\]\((?!http)([^)#]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / link if link else page, heading) for link, heading in links]

    assert [target for target, _ in targets if not target.exists()] == []
    assert [heading for target, heading in targets if heading and heading not in headings(target)] == []


def test_every_file_named_for_contributors_exists():
    named = re.findall(
        r"`((?:companion|tests|web|deploy|docs|card_templates)/[\w./-]+)`", (ROOT / "CONTRIBUTING.md").read_text()
    )

    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_code_block_in_the_docs_is_closed(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    fences = [line.strip() for line in lines if line.strip().startswith("```")]

    assert [fence for fence in fences[1::2] if fence != "```"] == []
    assert len(fences) % 2 == 0


def test_the_site_shows_every_page_of_the_docs_once():
    """The site contains only docs/, so links must stay inside."""
    listed = re.findall(r"- (\S+\.md)$", (ROOT / "deploy" / "docs.yml").read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
    links = [
        (page, link)
        for page in DOCS.rglob("*.md")
        for link in re.findall(r"\]\((\.\./[^)#]*)", page.read_text(encoding="utf-8"))
    ]
    assert [link for page, link in links if not (page.parent / link).resolve().is_relative_to(DOCS)] == []
