"""Shared options, output, language and error messages of the commands."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import click

from companion.common.addresses import shown
from companion.common.languages import LANGUAGES
from companion.common.terminal import plain, program, typed
from companion.common.text import Said, one_of, say, say_many
from companion.rules.editions.edition import keep_own_editions
from companion.storage.data_folder import editions_path
from companion.storage.event_store import locked
from companion.tabletop import translation

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


_asked: ContextVar[str | None] = ContextVar("asked", default=None)


def terminal_language() -> str:
    """Return the language of `answer_in`, else the terminal's as two letters; `en` if it is not supported."""
    variables = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    language = _asked.get() or next(filter(None, variables), "")[:2]
    return language if language in LANGUAGES else translation.ENGLISH


def answer_in(language: str | None) -> None:
    """Set the language of this command, for all its messages; None is the terminal's."""
    _asked.set(language)
    translation.speak(terminal_language())


def here(sentence: str, edition: str | None = None) -> str:
    """Return a sentence in this command's language; a text that is not marked for translation stays unchanged.

    In other languages than English an edition's unit and card names are used.
    """
    language = terminal_language()
    if language == translation.ENGLISH or not isinstance(sentence, Said):
        return sentence
    with translation.speaking(language, edition):
        return translation.translate(sentence)


def tell(sentence: str) -> None:
    """Print a sentence on standard output."""
    click.echo(here(sentence))


def warn(sentence: str) -> None:
    """Print a sentence on standard error, without control characters."""
    click.echo(plain(here(sentence)), err=True)


def print_json(item: object) -> None:
    """Print a JSON object on one line, with unprintable characters escaped."""
    line = json.dumps(item, ensure_ascii=False)
    click.echo("".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line))


# Wrong calls


def sentence(error: click.ClickException) -> str:
    """Return a click error as one sentence."""
    context = getattr(error, "ctx", None)
    found = _EXAMPLE.search(context.command.help or "") if context else None
    param, example = getattr(error, "param", None), typed(found[1].strip()) if found else None
    if isinstance(error, click.MissingParameter) and param is not None:
        needs = say("`%(command)s` needs %(what)s", command=_command(error), what=_named(param))
        return _with_example(needs, example)
    if isinstance(error, click.BadParameter) and param is not None:
        value = _VALUE.match(error.message)
        wanted = _wanted(param.type)
        if value and wanted:
            return _with_remedy(_wrong_value(error, param, wanted, value[1]), param, value[1], example)
    if error.message == getattr(context, "get_help", str)():
        # Without a command, click's message is the help.
        return error.message
    said = _said_by_click(error)
    if said.endswith("?"):
        return say("%(question)s See `%(command)s --help`.", question=said, command=_command(error))
    return say("%(fault)s: see `%(command)s --help`.", fault=said, command=_command(error))


def _with_example(said: Said, example: str | None) -> Said:
    if example is None:
        return Said("%(said)s.", said=said)
    return say("%(said)s, as in `%(example)s`", said=said, example=example)


def _with_remedy(said: Said, param: click.Parameter, value: str, example: str | None) -> Said:
    """Add how to write a value: with a point, or as in the example."""
    if isinstance(param.type, type(click.FLOAT)) and re.fullmatch(r"\d+,\d+", value):
        return say("%(said)s: write %(number)s, with a point.", said=said, number=value.replace(",", "."))
    is_shown = any(f"{way} " in (example or "") for way in param.opts) or not isinstance(param, click.Option)
    return _with_example(said, example if is_shown else None)


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


def _wrong_value(error: click.ClickException, param: click.Parameter, wanted: Said, value: str) -> Said:
    """Return what a parameter must be instead of a value, without the full stop."""
    if isinstance(param.type, click.Choice) and not isinstance(param, click.Option):
        return say(
            "`%(command)s` takes %(wanted)s, not '%(value)s'", command=_command(error), wanted=wanted, value=value
        )
    name = max(param.opts, key=len) if isinstance(param, click.Option) else _named(param)
    return say("%(name)s is %(wanted)s, not '%(value)s'", name=name, wanted=wanted, value=value)


def _wanted(kind: click.ParamType[Any]) -> Said | None:
    """Return what a value must be; None if click's message suffices."""
    if isinstance(kind, click.Choice):
        return one_of(kind.choices)
    low, high = (None if end is None else str(end) for end in (getattr(kind, "min", None), getattr(kind, "max", None)))
    if isinstance(kind, type(click.INT)):
        if low is None:
            return say("a whole number")
        if high is None:
            return say("a whole number from %(low)s", low=low)
        return say("a whole number from %(low)s to %(high)s", low=low, high=high)
    if isinstance(kind, type(click.FLOAT)):
        if low is None:
            return say("a number such as 20")
        if high is None:
            return say("a number from %(low)s", low=low)
        return say("a number from %(low)s to %(high)s", low=low, high=high)
    return None


_SAID_BY_CLICK: tuple[tuple[str, Callable[[dict[str, str]], Said]], ...] = (
    (r"Missing command", lambda _of: say("Missing command")),
    (r"No such command '(?P<name>.*)'", lambda of: say("No such command '%(name)s'", **of)),
    (r"No such option '(?P<name>[^']*)'", lambda of: say("No such option '%(name)s'", **of)),
    (
        r"No such option '(?P<name>[^']*)'\. Did you mean (?P<near>.*)\?",
        lambda of: say("No such option '%(name)s'. Did you mean %(near)s?", **of),
    ),
    (
        r"No such option '(?P<name>[^']*)'\. \(Did you mean one of: (?P<near>.*)\?\)",
        lambda of: say("No such option '%(name)s'. (Did you mean one of: %(near)s?)", **of),
    ),
    (
        r"Invalid value for (?P<name>.*): Directory '(?P<path>.*)' is a file",
        lambda of: say("Invalid value for %(name)s: Directory '%(path)s' is a file", **of),
    ),
    (
        r"Got unexpected extra arguments? \((?P<names>.*)\)",
        lambda of: say_many(
            "Got unexpected extra argument (%(names)s)",
            "Got unexpected extra arguments (%(names)s)",
            len(of["names"].split()),
            **of,
        ),
    ),
    (r"Option '(?P<name>.*)' requires an argument", lambda of: say("Option '%(name)s' requires an argument", **of)),
    (r"Option '(?P<name>.*)' does not take a value", lambda of: say("Option '%(name)s' does not take a value", **of)),
)
"""Our copies of click's messages, marked for translation, by what they look like."""


def _said_by_click(error: click.ClickException) -> str:
    """Return click's message, or ours that was given to click, without its full stop and without secrets."""
    if isinstance(error.message, Said):
        return error.message
    text = " ".join(error.format_message().split())
    text = _ADDRESS.sub(lambda found: shown(found[0]), text).rstrip(".")
    found = ((re.fullmatch(look, text), of) for look, of in _SAID_BY_CLICK)
    ours = (of(match.groupdict()) for match, of in found if match)
    return next((said for said in ours if said == text), text)
