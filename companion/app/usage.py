"""Shared options, output and error messages of the commands."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from companion.common.addresses import shown
from companion.common.languages import LANGUAGES
from companion.common.terminal import plain, program, typed
from companion.common.text import one_of
from companion.rules.editions.edition import keep_own_editions
from companion.storage.data_folder import editions_path
from companion.storage.event_store import locked

WRONG = 1  # exit code: done, but the input has errors
FILE = click.Path(path_type=Path)

_WHOLE = 1000  # never reached
_EXAMPLE = re.compile(r"Example: companion (.+)")
_ADDRESS = re.compile(r"[^\s'()]*(?:@|//)[^\s'()]*")  # in an error message
_VALUE = re.compile(r"'?(.*?)'? is not (?:a valid|in the range|one of)", re.DOTALL)


class Group(click.Group):
    """Commands with uncut summaries."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(_WHOLE)) for name, one in commands if one])


class Number(click.FloatRange):
    """A finite number from `min` to `max`, both optional."""

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"'{value}' is not a valid number.", param, ctx)


def _data_option(*, expose_value: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--data",
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="COMPANION_DATA",
        callback=_with_own_editions,
        expose_value=expose_value,
        show_envvar=True,
        help="Data folder: matches, decks, editions, settings (default: your user data folder).",
    )


def _with_own_editions(context: click.Context, _option: click.Parameter, data: Path | None) -> Path | None:
    """Load the data folder's editions, for every command."""
    if data is None and context.parent:
        data = context.parent.params.get("data")
    folder = editions_path(data)
    if (folder.parent / "restoring").is_dir():
        # `locked` finishes an interrupted restore before anything is read.
        with locked(folder.parent):
            pass
    if folder.is_dir():
        for said in keep_own_editions(folder):
            warn(said)
    return data


data_option = _data_option(expose_value=True)
editions_of_data = _data_option(expose_value=False)  # for commands that need only these


# Printing


def warn(sentence: str) -> None:
    """Print on standard error, without control characters."""
    click.echo(plain(sentence), err=True)


def print_json(item: object) -> None:
    """Print a JSON object on one line, with unprintable characters escaped."""
    line = json.dumps(item, ensure_ascii=False)
    click.echo("".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line))


# Wrong calls


def sentence(error: click.ClickException) -> str:
    """Return a click error as one sentence."""
    context = getattr(error, "ctx", None)
    found = _EXAMPLE.search(context.command.help or "") if context else None
    param, example = getattr(error, "param", None), f", as in `{typed(found[1].strip())}`" if found else "."
    if isinstance(error, click.MissingParameter) and param is not None:
        return f"`{_command(error)}` needs {_named(param)}{example}"
    if isinstance(error, click.BadParameter) and param is not None:
        value = _VALUE.match(error.message)
        wanted = _wanted(param.type)
        if value and wanted:
            return f"{_place(error, param)} {wanted}, not '{value[1]}'{_remedy(param, value[1], example)}"
    if error.message == getattr(context, "get_help", str)():
        # Without a command, click's message is the help.
        return error.message
    said = _ADDRESS.sub(lambda found: shown(found[0]), " ".join(error.format_message().split())).rstrip(".")
    return f"{said}{'' if said.endswith('?') else ':'} `{_command(error)} --help` tells what there is."


def _remedy(param: click.Parameter, value: str, example: str) -> str:
    """Return how to write a value: with a point, or as in the example."""
    if isinstance(param.type, type(click.FLOAT)) and re.fullmatch(r"\d+,\d+", value):
        return f": write {value.replace(',', '.')}, with a point."
    return example if any(f"{way} " in example for way in param.opts) or not isinstance(param, click.Option) else "."


def _command(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return context.command_path if context else program()


def _named(param: click.Parameter) -> str:
    """Return a parameter as typed: `--out DIR`, `RECORD`, or its choices."""
    if isinstance(param, click.Option):
        return f"{max(param.opts, key=len)} {param.metavar or param.type.name.upper()}"
    if isinstance(param.type, click.Choice):
        return one_of(param.type.choices)
    return (param.metavar or str(param.name)).removesuffix("...").upper()


def _place(error: click.ClickException, param: click.Parameter) -> str:
    """Return the parameter of a wrong value, with a verb."""
    if isinstance(param, click.Option):
        return f"{max(param.opts, key=len)} is"
    return f"`{_command(error)}` takes" if isinstance(param.type, click.Choice) else f"{_named(param)} is"


def _wanted(kind: click.ParamType[Any]) -> str:
    """Return what a value must be; empty if click's message suffices."""
    if isinstance(kind, click.Choice):
        return one_of(kind.choices)
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    span = "" if low is None else f" from {low}" if high is None else f" from {low} to {high}"
    if isinstance(kind, type(click.INT)):
        return f"a whole number{span}"
    if isinstance(kind, type(click.FLOAT)):
        return f"a number{span or ' such as 20'}"
    return ""


def terminal_language() -> str:
    """Return the terminal's language code, `en` if unsupported."""
    variables = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    language = next(filter(None, variables), "")[:2]
    return language if language in LANGUAGES else "en"


def here(text: str, **values: object) -> str:
    """Translate a text to the terminal's language."""
    from companion.pages import language

    language.speak(terminal_language())
    return language.with_values(language.worded(text), values)
