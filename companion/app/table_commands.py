"""The commands about a table: what is on pictures, films, the service, what it needs, backups of what it keeps."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any, cast

import click

from companion.app.memory import loading
from companion.app.reports import audit_report, report
from companion.app.usage import FILE, WRONG, Number, data_option, print_json, warn
from companion.rules.editions.edition import load_edition
from companion.storage.data_folder import EDITIONS_NAME, data_dir
from companion.storage.event_store import locked
from companion.tabletop.card_ids import card_ids
from companion.tabletop.drawn_zones import DrawnZones
from companion.tabletop.mat_layout import TABLE, all_mats

_OWN_FILES = 0o077  # umask of what writes into the data folder, which may lie in a folder that others can look into
deck_option = click.option(
    "--deck", metavar="DECK", help="Tell cards by the faces of this deck too: `own`, or one that you have enrolled."
)
host_option = click.option("--host", default="0.0.0.0", show_default=True, metavar="H", help="Address to listen on.")  # noqa: S104
mqtt_option = click.option(
    "--mqtt", metavar="URL", envvar="COMPANION_MQTT", help="Tell Home Assistant's broker how it stands."
)
address_option = click.option(
    "--address",
    metavar="URL",
    envvar="COMPANION_ADDRESS",
    help="Announce this address instead of the machine's own: that of a proxy, or of a container's host.",
)
port_option = click.option("--port", default=8080, show_default=True, type=click.IntRange(1, 65535))


@click.command("read")
@click.argument("images", nargs=-1, required=True, metavar="IMAGE...", type=FILE)
@click.option(
    "--setup",
    metavar="FILE",
    type=FILE,
    help="The table's setup file: is the camera good enough for it, and what would help?",
)
@click.option("--audit", metavar="EDITION", help="Is the deck all there? Which cards are on none of the pictures?")
@deck_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a picture, with --audit one more.")
@data_option
def read_images(
    images: tuple[Path, ...],
    setup: Path | None,
    audit: str | None,
    deck: str | None,
    as_json: bool,
    data: Path | None,
) -> int:
    """Say what is on pictures: mats, cards, zones. Or check a deck before you play.

    Cards are told by their stickers, with --deck by their faces too.

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
        """Return what the camera allows for a table's setup."""
        return {"setup": of_reading([image], mats, view, _layouts(table)).as_json()} if table else {}

    named, drawing = (deck or table.cards, table.drawing) if table else (deck, None)
    faces = faces_of(named, data, tell=warn)
    for found in read_pictures(images, allowed=allowed, drawing=drawing, also=also, templates=faces):
        if "problem" in found:
            unread += 1
            warn(str(found["problem"]))
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
    """Return the mats that a set-up table needs: one a side, and the table's own."""
    return [layout for layout in all_mats() if layout.id in {*table.mats, TABLE}]


@click.command()
@click.option("--source", required=True, metavar="SRC", help="Camera, clip, folder, stream, or `demo:`.")
@click.option("--setup", metavar="FILE", type=FILE, help="Who plays what, on which mats.")
@click.option("--confirm", default="none", show_default=True, type=click.Choice(["none", "legal"]))
@click.option("--extension", default="finish", show_default=True, type=click.Choice(["finish", "extend"]))
@click.option("--fps", type=Number(0.1, 120), help="Frames a second of a folder (default 10).")
@deck_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a proposal, one at each hand's end.")
@data_option
def watch(source: str, setup: Path | None, as_json: bool, **how: Any) -> None:
    """Follow a source without the pages: its proposals, and each hand's score.

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
    help="Camera, clip, folder or stream (default: the first camera); several look at the table together.",
)
@click.option("--setup", metavar="FILE", type=FILE, help="Start this match at once.")
@click.option("--new", is_flag=True, help="Begin it although another match, or this one, is being played.")
@click.option("--club", metavar="URL", help="Push what is played to this club as well.")
@click.option("--name", metavar="NAME", default="", help="How the club calls this table: `Table 7`.")
@click.option("--key", metavar="KEY", envvar="COMPANION_CLUB_KEY", help="This table's key, from the director's page.")
@mqtt_option
@address_option
@host_option
@port_option
@deck_option
@data_option
def up(
    sources: tuple[str, ...], setup: Path | None, new: bool, club: str | None, name: str, key: str | None, **how: Any
) -> None:
    """Start the companion: camera, referee, pages for the phones.

    \b
    Example: companion up --source 0
    Example: companion up --camera /dev/video0 --camera /dev/video2
    """
    if new and setup is None:
        raise click.UsageError("`--new` begins the match of a set-up file: name it with `--setup FILE`.")
    if name and club is None:
        raise click.UsageError("`--name` says how a club calls this table: name the club with `--club URL`.")
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
@click.option("--speed", default=1.0, show_default=True, type=Number(0.1, 20), help="How fast they play.")
@click.option("--edition", default="classic", show_default=True)
@click.option("--hands", default=3, show_default=True, type=click.IntRange(1, 50), help="How many hands.")
@click.option("--players", default=2, show_default=True, type=click.IntRange(2, 6), help="How many play.")
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Other hands; 0 begins with the short one that ships.",
)
@click.option(
    "--cards",
    default="stickers",
    show_default=True,
    type=click.Choice(["stickers", "faces"]),
    help="Cards with stickers, or as they are printed.",
)
@click.option("--confirm", default="tap", show_default=True, type=click.Choice(["tap", "play-on", "auto"]))
@mqtt_option
@address_option
@host_option
@port_option
@data_option
def demo(edition: str, players: int, hands: int, seed: int, confirm: str, **how: Any) -> None:
    """The same service on a simulated table: nothing needed but this computer.

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
    """End the process at once: all is saved, and no thread that still reads a picture has to be waited for.

    An interpreter that is torn down under a thread in the picture library aborts.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@click.command()
@click.option(
    "--source", metavar="SRC", help="Look at this: camera, picture, clip, folder, stream (default: a camera)."
)
@click.option("--setup", metavar="FILE", type=FILE, help="Are all of this table's mats seen?")
@click.option("--camera", is_flag=True, help="Try the camera alone.")
@port_option
@data_option
def doctor(source: str | None, setup: Path | None, camera: bool, port: int, data: Path | None) -> int:
    """Check what the companion needs: libraries, camera, clock, disk, power, port. Is the camera good enough?

    Zones drawn in the setup file, or on the page, count where no mat is seen.

    \b
    Example: companion doctor
    Example: companion doctor --camera
    Example: companion doctor --source table.jpg
    """
    from companion.app.doctor import checks, seeing, verdict
    from companion.match.setup_file import read_setup

    table = read_setup(setup) if setup else None
    layouts = _layouts(table) if table else None
    folder = data_dir(data)
    zones = DrawnZones(folder, table.drawing if table else None)
    look = source, layouts, zones.current
    found = list(seeing(*look) if camera else checks(folder, port, *look))
    first = verdict(found)
    click.echo(f"{first}\n")
    if zones.problem:
        click.echo(f"{'note':8}zones: {zones.problem}")
    lines = [check for check in found if not first.startswith(check.sentence)]
    for check in sorted(lines, key=lambda check: (check.ok, not check.needed)):
        click.echo(f"{'ok' if check.ok else 'MISSING' if check.needed else 'note':8}{check.name}: {check.sentence}")
    return WRONG if any(check.needed and not check.ok for check in found) else 0


@click.command()
@click.argument("file", metavar="FILE", type=FILE)
@click.option("--force", is_flag=True, help="Write over a file that is there already.")
@data_option
def backup(file: Path, force: bool, data: Path | None) -> int:
    """Write matches, decks, editions and settings into one file, also while the companion runs.

    The key that signs the phones' cookies is not in it: on another machine the phones scan the code anew.

    \b
    Example: companion backup table.zip
    """
    from companion.app.backup_archive import write_bundle

    left_out = write_bundle(data_dir(data), file, force=force)
    for sentence in left_out:
        click.echo(sentence, err=True)
    click.echo(file)
    return WRONG if left_out else 0


@click.command()
@click.argument("file", metavar="FILE", type=FILE)
@data_option
def restore(file: Path, data: Path | None) -> None:
    """Put a backup in the place of the matches, decks, editions and settings here; those are kept aside.

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
    click.echo(f"Restored into {folder}: {bundle.says}. On another machine the phones scan the code anew.")
    if kept is not None:
        click.echo(f"What was there before lies in {kept}.")


COMMANDS = (read_images, watch, up, demo, doctor, backup, restore)
