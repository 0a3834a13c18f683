"""Hostile files and requests: a few of what `tests/trust/fuzz_toml.py`, `fuzz_files.py` and `fuzz_requests.py` try."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from trust import fuzz_files, fuzz_requests, fuzz_toml
from trust.fuzzing import Findings
from waitress.adjustments import Adjustments

from companion.pages.server import connections


def test_whatever_stands_in_a_small_file_there_is_a_sentence_or_a_default(tmp_path, monkeypatch):
    findings = Findings("small files")
    monkeypatch.setattr(fuzz_toml, "no_files", lambda _folder: ())
    fuzz_toml.run(findings, 24, 1, tmp_path)

    assert findings.wrong == []


@pytest.mark.parametrize("kind", ["setup", "edition", "own edition", "deck", "small"])
def test_what_is_no_file_is_waited_for_by_nobody(tmp_path, kind, monkeypatch):
    findings, every = Findings("no files"), fuzz_toml.no_files
    makers = (fuzz_toml.a_pipe, fuzz_toml.a_link_without_end)
    some = [what for what in every(tmp_path) if what[0] == kind and what[2] in makers]
    monkeypatch.setattr(fuzz_toml, "no_files", lambda _folder: some)
    fuzz_toml.run(findings, 0, 1, tmp_path)

    assert findings.wrong == []
    assert findings.tried.total() == len(some) > 0


@pytest.mark.long
def test_whatever_is_in_a_file_it_is_read_or_refused(tmp_path):
    findings = Findings("files")
    fuzz_files.run(findings, 24, 1, tmp_path)

    assert findings.wrong == []


@pytest.mark.long
def test_whatever_is_asked_the_service_answers_and_plays_on(tmp_path):
    findings = Findings("requests")
    fuzz_requests.run(findings, 80, 1, tmp_path, most_pages=25)

    assert findings.wrong == []
    assert findings.tried["plays on"] == 2


def test_a_request_that_could_not_be_read_has_a_path_to_be_named_by():
    rubbish = connections.Parser(SimpleNamespace(), Adjustments())
    rubbish.received(b"\x00\x00\r\n\r\n")

    assert rubbish.error
    assert rubbish.path == ""
