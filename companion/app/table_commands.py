"""Commands for pictures, films, the service, its checks and backups."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any, cast

import click

from companion.app.memory import loading
from companion.app.reports import audit_report, report
from companion.app.usage import FILE, WRONG, Number, data_option, here, print_json, tell, warn
from companion.common.text import say
from companion.rules.editions.edition import load_edition
from companion.storage.data_folder import EDITIONS_NAME, data_dir
from companion.storage.event_store import locked
from companion.tabletop.card_ids import card_ids
from companion.tabletop.drawn_zones import DrawnZones
from companion.tabletop.mat_layout import TABLE, all_mats

_OWN_FILES = 0o077  # umask for the data folder, whose parent may be readable by others
deck_option = click.option(
    "--deck", metavar="DECK", help="Recognize cards by the faces of this deck too: `own`, or one of your decks."
)
host_option = click.option("--host", default="0.0.0.0", show_default=True, metavar="H", help="Address to listen on.")  # noqa: S104
mqtt_option = click.option(
    "--mqtt", metavar="URL", envvar="COMPANION_MQTT", show_envvar=True, help="Report the game to this MQTT broker."
)
address_option = click.option(
    "--address",
    metavar="URL",
    envvar="COMPANION_ADDRESS",
    show_envvar=True,
    help="Address that phones open, if it is not the machine's own: of a proxy, or of a container's host.",
)
port_option = click.option(
    "--port", default=8080, show_default=True, type=click.IntRange(1, 65535), help="Port of the pages."
)


@click.command("read")
@click.argument("images", nargs=-1, required=True, metavar="IMAGE...", type=FILE)
@click.option(
    "--setup",
    metavar="FILE",
    type=FILE,
    help="Also judge whether the camera is good enough for the table in this setup file.",
)
@click.option("--audit", metavar="EDITION", help="Count the deck: which of its cards are on none of the pictures?")
@deck_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per picture, and one more with --audit.")
@data_option
def read_images(
    images: tuple[Path, ...],
    setup: Path | None,
    audit: str | None,
    deck: str | None,
    as_json: bool,
    data: Path | None,
) -> int:
    """Print what pictures show: mats, cards and zones. With --audit, check that a deck is complete.

    Cards are recognized by their stickers, and with --deck by their faces too.

    \b
    Example: companion read table.jpg --json
    Example: companion read table.jpg --deck own
    Example: companion read table.jpg --setup our-table.toml
    Example: companion read cards-1.jpg cards-2.jpg --audit classic
    """
    from companion.match.setup_file import read_setup
    from companion.vision.faces.deck_in_use import faces_of
    from companion.vision.quality.advice import of_reading
    from companion.vision.read import read_pictures

    table = read_setup(setup) if setup else None
    audited = load_edition(audit) if audit is not None else None
    if table and audited and table.edition.name == audited.name:
        audited = table.edition  # Its deck may be corrected.
    allowed = frozenset(card_ids(table.edition.deck)) if table and not audited else None
    unread, pictures = 0, []

    def also(image: Any, mats: Any, view: Any) -> dict[str, Any]:
        """Return whether the camera suits the setup."""
        return {"setup": of_reading([image], mats, view, _layouts(table)).as_json()} if table else {}

    named, drawing = (deck or table.cards, table.drawing) if table else (deck, None)
    faces = faces_of(named, data, tell=warn)
    for found in read_pictures(images, allowed=allowed, drawing=drawing, also=also, templates=faces):
        if "problem" in found:
            unread += 1
            warn(cast("str", found["problem"]))
            continue
        found["cards"] = report.in_order(cast("list[dict[str, Any]]", found["cards"]))
        pictures.append(found)
        if as_json or not audited:
            print_json(found) if as_json else click.echo("\n".join(map(report.printable, report.picture(found))))
        if "setup" in found and not (as_json or audited):
            click.echo("\n".join(report.allowed_by_camera(cast("dict[str, Any]", found["setup"]))))
    is_complete = True
    if audited:
        said = audit_report.as_json(audited, audit_report.shown_on(pictures, unread))
        print_json(said) if as_json else click.echo("\n".join(said["say"]))
        is_complete = said["complete"]
    return 0 if is_complete and not unread else WRONG


def _layouts(table: Any) -> list[Any]:
    """Return the layouts of a setup's mats and the table mat."""
    return [layout for layout in all_mats() if layout.id in {*table.mats, TABLE}]


@click.command()
@click.option("--source", required=True, metavar="SRC", help="Camera, film, folder, stream, or `demo:`.")
@click.option("--setup", metavar="FILE", type=FILE, help="Setup file: edition, players, mats.")
@click.option(
    "--confirm",
    default="none",
    show_default=True,
    type=click.Choice(["none", "legal"]),
    help="Plays that count at once.",
)
@click.option(
    "--extension",
    default="finish",
    show_default=True,
    type=click.Choice(["finish", "extend"]),
    help="Answer when an extension is offered.",
)
@click.option("--fps", type=Number(0.1, 120), help="Frames per second of a folder of pictures (default 10).")
@deck_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per detected play, and one at the end of each hand."
)
@data_option
def watch(source: str, setup: Path | None, as_json: bool, **how: Any) -> None:
    """Follow a camera or film without the pages: print each detected play, and each hand's score.

    \b
    Example: companion watch --source demo: --confirm legal --json
    """
    from companion.app import service

    for item in service.watched(source, setup, **how):
        print_json(item) if as_json else click.echo(report.watched(item))


@click.command()
@click.option(
    "--source",
    "--camera",
    "sources",
    metavar="SRC",
    multiple=True,
    help="Camera, film, folder or stream (default: the first camera); repeat it for more cameras.",
)
@click.option(
    "--setup", metavar="FILE", type=FILE, help="Start this match; the page asks first if another is under way."
)
@click.option("--new", is_flag=True, help="With --setup: start it without asking.")
@click.option("--club", metavar="URL", help="Send all plays to this club.")
@click.option("--name", metavar="NAME", default="", help="Name of this table at the club, such as `Table 7`.")
@click.option(
    "--key",
    metavar="KEY",
    envvar="COMPANION_CLUB_KEY",
    show_envvar=True,
    help="This table's key, from the director's page.",
)
@mqtt_option
@address_option
@host_option
@port_option
@deck_option
@data_option
def up(
    sources: tuple[str, ...], setup: Path | None, new: bool, club: str | None, name: str, key: str | None, **how: Any
) -> None:
    """Start the companion: camera, referee and pages for the phones.

    \b
    Example: companion up --source 0
    Example: companion up --camera /dev/video0 --camera /dev/video2
    """
    if new and setup is None:
        raise click.UsageError(say("`%(option)s` needs `%(other)s`", option="--new", other="--setup FILE"))
    if name and club is None:
        raise click.UsageError(say("`%(option)s` needs `%(other)s`", option="--name", other="--club URL"))
    with loading():
        from companion.app import service
    address = None
    if club is not None:
        from companion.club.outbox import Address

        address = Address(club, name or socket.gethostname(), key)
    os.umask(_OWN_FILES)
    source, others = (sources[0], sources[1:]) if sources else (None, ())
    service.up(source, setup, begins=new, club=address, others=others, **how)
    _leave()


@click.command()
@click.option("--speed", default=1.0, show_default=True, type=Number(0.1, 20), help="Speed of the simulated players.")
@click.option("--edition", default="classic", show_default=True, help="Rules and cards.")
@click.option("--hands", default=3, show_default=True, type=click.IntRange(1, 50), help="Number of hands.")
@click.option("--players", default=2, show_default=True, type=click.IntRange(2, 6), help="Number of players.")
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Seed of the random hands; 0 begins with a short prepared hand.",
)
@click.option(
    "--cards",
    default="stickers",
    show_default=True,
    type=click.Choice(["stickers", "faces"]),
    help="Recognize cards by stickers, or by their faces.",
)
@click.option(
    "--confirm",
    default="tap",
    show_default=True,
    type=click.Choice(["tap", "play-on", "auto"]),
    help="When a detected play counts.",
)
@mqtt_option
@address_option
@host_option
@port_option
@data_option
def demo(edition: str, players: int, hands: int, seed: int, confirm: str, **how: Any) -> None:
    """Start the companion on a simulated table. Needs no camera and no cards.

    \b
    Example: companion demo --speed 2
    """
    with loading():
        from companion.app import demo as simulated
    os.umask(_OWN_FILES)
    script = simulated.demo_script(load_edition(edition).name, players, hands, seed)
    simulated.demo(script, confirm, **how)
    _leave()


def _leave() -> None:
    """Exit without interpreter shutdown, which aborts with a thread in the picture library; all is saved."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@click.command()
@click.option("--source", metavar="SRC", help="Camera, picture, film, folder or stream to look at (default: a camera).")
@click.option(
    "--setup", metavar="FILE", type=FILE, help="Also check that all mats of this setup file are in the picture."
)
@click.option("--camera", is_flag=True, help="Check only the camera.")
@port_option
@data_option
def doctor(source: str | None, setup: Path | None, camera: bool, port: int, data: Path | None) -> int:
    """Check libraries, camera, clock, disk, matches, power and port, and whether the camera sees well enough.

    If no mat is in the picture, the zones drawn in the setup file or on the page are used.

    \b
    Example: companion doctor
    Example: companion doctor --camera
    Example: companion doctor --source table.jpg
    """
    from companion.app.doctor import Check, checks, seeing, verdict
    from companion.match.setup_file import read_setup

    table = read_setup(setup) if setup else None
    layouts = _layouts(table) if table else None
    folder = data_dir(data)
    zones = DrawnZones(folder, table.drawing if table else None)
    look = source, layouts, zones.current
    found = list(seeing(*look) if camera else checks(folder, port, *look))
    first = verdict(found)
    click.echo(f"{here(first)}\n")
    lines = [check for check in found if not first.startswith(check.sentence)]
    lines.sort(key=lambda check: (check.ok, not check.needed))
    if zones.problem:
        lines.insert(0, Check("zones", False, False, zones.problem))
    for check in lines:
        click.echo(f"{here(check.mark):7} {here(check.title)}: {here(check.sentence)}")
    return WRONG if any(check.needed and not check.ok for check in found) else 0


@click.command()
@click.argument("file", metavar="FILE", type=FILE)
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@data_option
def backup(file: Path, force: bool, data: Path | None) -> int:
    """Back up matches, decks, editions and settings to one file, also while the companion runs.

    The backup does not contain the key of the join code: on another machine the phones scan the code again.

    \b
    Example: companion backup table.zip
    """
    from companion.app.backup_archive import write_bundle

    left_out = write_bundle(data_dir(data), file, force=force)
    for sentence in left_out:
        warn(sentence)
    click.echo(file)
    return WRONG if left_out else 0


@click.command()
@click.argument("file", metavar="FILE", type=FILE)
@data_option
def restore(file: Path, data: Path | None) -> None:
    """Replace matches, decks, editions and settings by those of a backup; the replaced ones are moved to a folder.

    A copy of the matches from the folder backups or damaged replaces the matches alone. Stop the companion first.

    \b
    Example: companion restore table.zip
    """
    from companion.app.backup_archive import read_bundle, restore
    from companion.vision.enrol.enrolment import recoded

    os.umask(_OWN_FILES)
    folder = data_dir(data)
    bundle = read_bundle(file, recoded=recoded, own=folder / EDITIONS_NAME)
    with locked(folder):
        kept = restore(folder, bundle)
    tell(
        say(
            "Restored into %(folder)s: %(content)s. On another machine, phones must scan the code again.",
            folder=folder,
            content=bundle.says,
        )
    )
    if kept is not None:
        tell(say("The previous data is in %(folder)s.", folder=kept))


COMMANDS = (read_images, watch, up, demo, doctor, backup, restore)
