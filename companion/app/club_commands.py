"""The commands of the club: `companion club up`, `key`, `link`, `rebuild`."""

from __future__ import annotations

import click

from companion.app.usage import Group
from companion.common.errors import Problem


@click.group(cls=Group)
def club() -> None:
    """Collect the matches of many tables in one place. Needs PostgreSQL and its driver; `deploy/club` installs both.

    \b
    Example: companion club up --database postgresql://club@localhost/club
    """


def _with_driver(_context: click.Context, _option: click.Parameter, url: str) -> str:
    try:
        import psycopg
        import psycopg_pool
    except ImportError as error:
        lacking = (
            "The club needs its driver for PostgreSQL: use deploy/club, or type  pip install 'psycopg[binary,pool]'"
        )
        raise Problem(lacking) from error
    del psycopg, psycopg_pool
    return url


_database = click.option(
    "--database",
    required=True,
    metavar="URL",
    envvar="COMPANION_DATABASE",
    show_envvar=True,
    callback=_with_driver,
    help="The club's database: postgresql://USER:PASSWORD@HOST/NAME.",
)


@club.command("up")
@_database
@click.option("--host", default="0.0.0.0", show_default=True, metavar="H", help="Address to listen on.")  # noqa: S104
@click.option("--port", default=8090, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--require-keys", is_flag=True, help="Refuse tables without a key, even before the first key is made.")
def club_up(database: str, host: str, port: int, require_keys: bool) -> None:
    """Start the club: receive what tables push, and show all tables. Several processes can share one database.

    \b
    Example: companion club up --database postgresql://club@localhost/club
    """
    from companion.app.memory import loading

    with loading():  # Garbage collection of all modules would delay the pages.
        from companion.club import club_service

    club_service.run(database, host, port, keys_needed=require_keys, tell=click.echo)


@club.command("key")
@_database
@click.argument("name")
def club_key(database: str, name: str) -> None:
    """Make a key for a table and print it.

    \b
    Example: companion club key "Table 7" --database postgresql://club@localhost/club
    """
    from companion.club import keys, postgres

    with postgres.opened(database) as pool, postgres.connected(pool) as db:
        click.echo(keys.make(db, name).text)


@club.command("link")
@_database
def club_link(database: str) -> None:
    """Make a link that lets one browser in as the director; it works once, within a day.

    \b
    Example: companion club link --database postgresql://club@localhost/club
    """
    from companion.club import people, postgres

    with postgres.opened(database) as pool, postgres.connected(pool) as db:
        click.echo(f"Add this to the club's address: /director?once={people.new_link(db)}")


@club.command("rebuild")
@_database
def club_rebuild(database: str) -> None:
    """Delete everything derived from the tables' logs, and replay the logs to derive it again.

    \b
    Example: companion club rebuild --database postgresql://club@localhost/club
    """
    from companion.club import postgres, projection

    with postgres.opened(database) as pool:
        click.echo(f"Tables recalculated: {projection.rebuild(pool)}.")


COMMANDS = (club,)
