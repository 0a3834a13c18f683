"""The referee and the records under chance: a few of what `tests/trust/fuzz_engine.py` and `fuzz_records.py` try."""

from __future__ import annotations

import random

from trust import fuzz_codes, fuzz_engine, fuzz_records
from trust.fuzzing import Findings

from companion.codes import CARDS
from companion.labels import payload


def test_whatever_is_played_the_referee_holds_what_must_always_hold():
    findings = fuzz_engine.run(3000, seed=1)

    assert findings.wrong == []
    assert findings.tried.total() >= 3000


def test_whatever_stands_in_a_record_it_is_judged_and_nothing_is_swallowed(tmp_path):
    findings = Findings("records")
    fuzz_records.run(findings, 60, 1, tmp_path)

    assert findings.wrong == []


def test_a_long_line_is_no_more_than_a_line(tmp_path):
    findings = Findings("records")
    path = tmp_path / "long.mbn"
    for name, data in fuzz_records.huge_records():
        path.write_bytes(data[:20_000])
        with findings.trying(name, name, within_s=120):
            findings.wrong += fuzz_records.check_record(path, random.Random(1))

    assert findings.wrong == []


def test_no_text_becomes_a_card_but_the_one_on_its_sticker():
    findings = Findings("codes")
    fuzz_codes.run(findings, 3000, 1)

    assert findings.wrong == []
    assert set(fuzz_codes.OURS) == {payload(card) for card in CARDS}


def test_codes_of_others_on_a_table_are_no_cards(tmp_path):
    findings = Findings("codes")
    fuzz_codes.run_pictures(findings, 1, 1, tmp_path)

    assert findings.wrong == []
    assert findings.figures["wrong cards"] == 0
