"""Short runs of `tests/trust/fuzz_toml.py`, `fuzz_files.py` and `fuzz_requests.py`."""

from types import SimpleNamespace

import pytest
from trust import fuzz_toml
from trust.fuzzing import Findings
from waitress.adjustments import Adjustments

from companion.pages.server import connections


def test_any_small_file_gives_a_sentence_or_a_default(tmp_path, monkeypatch):
    findings = Findings("small files")
    monkeypatch.setattr(fuzz_toml, "PLACES", ())
    fuzz_toml.run(findings, 24, 1, tmp_path)

    assert findings.wrong == []


@pytest.mark.parametrize("kind", ["setup", "edition", "own edition", "deck", "small"])
def test_the_program_does_not_wait_for_what_is_no_regular_file(tmp_path, kind, monkeypatch):
    findings = Findings("no files")
    monkeypatch.setattr(fuzz_toml, "PLACES", [place for place in fuzz_toml.PLACES if place[0] == kind])
    for name in set(fuzz_toml.NO_FILES) - {"a pipe", "a link without end"}:
        monkeypatch.delitem(fuzz_toml.NO_FILES, name)
    fuzz_toml.run(findings, 0, 1, tmp_path)

    assert findings.wrong == []
    assert findings.tried.total() == 2 * len(fuzz_toml.PLACES) > 0


def test_an_unreadable_request_still_has_a_path():
    rubbish = connections.Parser(SimpleNamespace(), Adjustments())
    rubbish.received(b"\x00\x00\r\n\r\n")

    assert rubbish.error
    assert rubbish.path == ""
