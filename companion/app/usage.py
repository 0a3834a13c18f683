"""What is wrong with a call of the command line, in one sentence that shows how it is written."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from companion.common.program_name import program, typed
from companion.common.text import one_of

_EXAMPLE = re.compile(r"Example: companion (.+)")
_VALUE = re.compile(r"'?(.*?)'? is not (?:a valid|in the range|one of)", re.DOTALL)


class Number(click.FloatRange):
    """A number from `min` to `max`, either of which may be left out; what is no finite number is none."""

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"'{value}' is not a valid number.", param, ctx)


def sentence(error: click.ClickException) -> str:
    """Return a complaint of click's in our words."""
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
    said = " ".join(error.format_message().split()).rstrip(".")
    return f"{said}{'' if said.endswith('?') else ':'} `{_command(error)} --help` tells what there is."


def _remedy(param: click.Parameter, value: str, example: str) -> str:
    """Return how the value is written, or the example where it shows that."""
    if isinstance(param.type, type(click.FLOAT)) and re.fullmatch(r"\d+,\d+", value):
        return f": write {value.replace(',', '.')}, with a point."
    return example if any(f"{way} " in example for way in param.opts) or not isinstance(param, click.Option) else "."


def _command(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return context.command_path if context else program()


def _named(param: click.Parameter) -> str:
    """Return a part of the call as one writes it: `--out DIR`, `RECORD`, or the words to choose from."""
    if isinstance(param, click.Option):
        return f"{max(param.opts, key=len)} {param.metavar or param.type.name.upper()}"
    if isinstance(param.type, click.Choice):
        return one_of(param.type.choices)
    return (param.metavar or str(param.name)).removesuffix("...").upper()


def _place(error: click.ClickException, param: click.Parameter) -> str:
    """Return what a wrong value was given for, and the verb."""
    if isinstance(param, click.Option):
        return f"{max(param.opts, key=len)} is"
    return f"`{_command(error)}` takes" if isinstance(param.type, click.Choice) else f"{_named(param)} is"


def _wanted(kind: click.ParamType[Any]) -> str:
    """Return what a value must be, or nothing where click's own words do."""
    if isinstance(kind, click.Choice):
        return one_of(kind.choices)
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    span = "" if low is None else f" from {low}" if high is None else f" from {low} to {high}"
    if isinstance(kind, type(click.INT)):
        return f"a whole number{span}"
    if isinstance(kind, type(click.FLOAT)):
        return f"a number{span or ' such as 20'}"
    return ""
