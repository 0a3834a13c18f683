"""The list of mutations stays true to the rules as they are written; running them is `python tests/mutations.py`."""

import ast

import pytest
from mutations import COPIED, MUTATIONS, ROOT, RULES, SUITE, mutated, text_of


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_changes_one_place_and_leaves_python_that_can_be_read(mutation):
    text = text_of(ROOT, mutation)

    changed = mutated(text, mutation)

    assert changed != text
    if mutation.file.endswith(".py"):
        ast.parse(changed)


def test_there_are_enough_and_each_has_a_name_and_a_change_of_its_own():
    assert len(MUTATIONS) >= 30
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)
    assert len({(mutation.file, mutation.old, mutation.new) for mutation in MUTATIONS}) == len(MUTATIONS)


def test_every_file_of_rules_is_mutated_somewhere():
    files = {mutation.file for mutation in MUTATIONS}

    rules = {"legality.py", "apply.py", "draft.py", "table.py", "scoring.py"}
    assert rules | {"record/judge.py", "record/notation.py"} <= files
    assert {f"editions/{path.name}" for path in (ROOT / RULES / "editions").glob("*.toml")} <= files


def test_what_is_copied_and_run_is_there():
    assert all((ROOT / name).exists() for name in COPIED)
    assert all((ROOT / "tests" / name).is_file() for name in SUITE)
