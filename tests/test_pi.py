"""A card for a Raspberry Pi that comes up as a companion, and the wall screen on its display."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from companion.pages.players.phone_identity import join_token

ROOT = Path(__file__).parent.parent
OURS = "- [bash, /boot/firmware/mille-bornes-companion/deploy/pi/first-start]"


@pytest.fixture
def card(tmp_path):
    """The first partition of a card, as the Imager leaves it."""
    folder = tmp_path / "bootfs"
    folder.mkdir()
    (folder / "cmdline.txt").touch()
    (folder / "user-data").write_text("#cloud-config\nhostname: table\n")
    return folder


def prepare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [ROOT / "deploy/pi/prepare-card", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"runcmd:\n{OURS}\n"),
        ("runcmd:\n  - [ rfkill, unblock, wifi ]\n", f"runcmd:\n  - [ rfkill, unblock, wifi ]\n  {OURS}\n"),
        ("runcmd:\n- a\n- b\nusers:\n- name: ann\n", f"runcmd:\n- a\n- b\n{OURS}\nusers:\n- name: ann\n"),
    ],
)
def test_the_companion_is_installed_at_the_first_start_after_all_that_the_card_does_already(card, before, after):
    settings = card / "user-data"
    settings.write_text("#cloud-config\nhostname: table\n" + before)

    assert prepare(card).returncode == 0
    assert settings.read_text() == "#cloud-config\nhostname: table\n" + after
    assert (card / "mille-bornes-companion/deploy/install-service").exists()
    assert not (card / "mille-bornes-companion/.git").exists()


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [("cmdline.txt", "is no card of a Raspberry Pi"), ("user-data", "does not set itself up")],
)
def test_a_card_that_will_not_do_is_told_in_a_sentence(card, missing, sentence):
    (card / missing).unlink()

    done = prepare(card)

    assert done.returncode == 1
    assert sentence in done.stderr
    assert not (card / "mille-bornes-companion").exists()


def test_a_card_is_prepared_once(card):
    prepare(card)

    assert "on this card already" in prepare(card).stderr
    assert (card / "user-data").read_text().count(OURS) == 1


def test_the_link_that_is_printed_lets_a_phone_in_at_the_pi(card):
    said = prepare(card).stderr

    key = (card / "mille-bornes-companion/secret-key").read_bytes()
    assert f"http://table.local:8080/wall?t={join_token(key)}\n" in said


def test_every_card_has_a_key_of_its_own(card, tmp_path):
    other = shutil.copytree(card, tmp_path / "other")

    assert prepare(card).stderr != prepare(other).stderr


@pytest.mark.parametrize("options", [(), ("--kiosk",)])
def test_the_first_start_installs_what_the_card_was_made_for(card, tmp_path, options):
    prepare(card, *options)
    under = tmp_path / "system"
    source = under / "boot/firmware/mille-bornes-companion"
    shutil.copytree(card / "mille-bornes-companion", source)
    key = (source / "secret-key").read_bytes()
    for script in ("install-service", "install-kiosk"):
        (source / "deploy" / script).write_text(f'#!/bin/sh\necho {script} >>"$COMPANION_UNDER/called"\n')

    first_start = ROOT / "deploy/pi/first-start"
    subprocess.run([first_start], env={**os.environ, "COMPANION_UNDER": str(under)}, check=True)

    expected = ["install-service", "install-kiosk"][: 1 + len(options)]
    assert (under / "called").read_text().split() == expected
    kept = under / "var/lib/private/mille-bornes-companion/secret-key"
    assert kept.read_bytes() == key
    assert kept.stat().st_mode & 0o777 == 0o600
    assert [path for path in under.rglob("secret-key") if path != kept] == []


def test_the_screen_asks_the_port_that_the_service_has(tmp_path):
    tools, under = tmp_path / "tools", tmp_path / "system"
    for folder in (tools, under / "etc/systemd/system", under / "etc/default"):
        folder.mkdir(parents=True)
    for tool in ("systemctl", "useradd", "cage", "chromium", "Xwayland", "curl"):
        (tools / tool).write_text("#!/bin/sh\n")
        (tools / tool).chmod(0o755)
    (under / "etc/default/mille-bornes-companion").write_text('OPTIONS="--source 0 --port 9000"\n')
    environment = {**os.environ, "COMPANION_UNDER": str(under), "PATH": f"{tools}:{os.environ['PATH']}"}

    subprocess.run([ROOT / "deploy/install-kiosk"], env=environment, check=True, capture_output=True)

    unit = (under / "etc/systemd/system/mille-bornes-companion-kiosk.service").read_text()
    assert "http://localhost:9000/wall" in unit
    assert "8080" not in unit
