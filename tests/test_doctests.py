"""The examples in docstrings print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "companion").rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_of_a_module_are_correct(module):
    result = doctest.testmod(import_module(module.removesuffix(".__init__")))

    assert result.attempted > 0
    assert result.failed == 0


def test_the_rules_have_examples():
    rules = {f"companion.rules.{name}" for name in ("apply", "legality", "record.judge", "record.notation")}

    assert rules <= set(WITH_EXAMPLES)
