"""Short runs of `tests/trust/fuzz_engine.py` and `fuzz_records.py`."""

import json
import random

import pytest
from trust import fuzz_engine, fuzz_records
from trust.fuzzing import Findings, faults_of, run_command

from companion.app import record_commands


def test_random_matches_keep_the_referees_invariants():
    findings = fuzz_engine.run(6000, seed=1)

    assert findings.wrong == []
    assert findings.tried.total() >= 6000


def test_any_record_is_judged_without_losing_lines(tmp_path):
    findings = Findings("records")
    fuzz_records.run(findings, 60, 1, tmp_path)

    assert findings.wrong == []


@pytest.mark.long
def test_a_very_long_line_is_handled_as_one_line(tmp_path):
    findings = Findings("records")
    path = tmp_path / "long.mbn"
    for name, data in fuzz_records.huge_records():
        path.write_bytes(data[:20_000])
        with findings.trying(name, name, within_s=120):
            findings.wrong += fuzz_records.check_record(path, random.Random(1))

    assert findings.wrong == []


@pytest.mark.parametrize("name", ["\udcff.mbn", "\x1b[2J.mbn", "a\nb.mbn"])
@pytest.mark.parametrize("words", [("replay",), ("replay", "--json"), ("score",), ("read",), ("editions", "check")])
def test_a_file_name_is_shown_without_terminal_control_characters(tmp_path, name, words):
    path = tmp_path / name
    path.write_text("side Ann\nside Bob\nhand first Ann\nAnn 100\n")
    ran = run_command(*words, str(path))

    assert faults_of(ran) == []
    assert [json.loads(line)["line"] for line in ran.out.splitlines() if "verdict" in line] in ([], [4])


def test_an_endless_record_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(record_commands, "_MOST_RECORD_BYTES", 1000)
    ran = run_command("replay", "/dev/zero")

    assert ran.code == 1
    assert "too large for a record" in ran.err
