"""A club that is killed and cut off loses no event and gets no deal key; a short run of `tests/trust/club.py`."""

import hashlib
from contextlib import closing

import club_database
import pytest

pytestmark = pytest.mark.skipif(club_database.why_not() is not None, reason=club_database.why_not() or "")
psycopg = pytest.importorskip("psycopg", reason="the club's driver is not installed: pip install '.[club]'")

from trust import erasures  # noqa: E402
from trust.club import Figures, Run  # noqa: E402
from trust.fuzzing import Findings  # noqa: E402

from companion.storage.data_folder import store_path  # noqa: E402
from companion.storage.event_store import Store  # noqa: E402


def test_failures_lose_no_event_and_leak_no_key_and_the_proof_would_notice(tmp_path):
    with club_database.running() as server:
        run = Run(server, tmp_path, tables=4, pace=40, seed=6)
        try:
            figures = run.run(8)
            assert figures.events > 40
            assert (figures.keys >= 4, figures.leaked) == (True, 0)
            assert (figures.lost, figures.doubled, figures.changed, figures.is_rebuilt) == (0, 0, 0, True)

            with psycopg.connect(run.url) as db:
                db.execute("DELETE FROM club.events WHERE seq = 5")
                db.execute("UPDATE club.events SET crc = '1' WHERE seq = 3")
                with closing(Store.open(store_path(tmp_path / "1"), read_only=True)) as log:
                    key = log.events(1)[1].body["deal"]
                hashed = hashlib.sha256(key.encode()).hexdigest()
                db.execute("UPDATE club.events SET body = replace(body, %s, %s)", [hashed, key])
            run.figures = Figures(4)
            run._compare()
            assert (run.figures.lost, run.figures.changed, run.figures.leaked) == (4, 5, 1)
        finally:
            assert run.clubs.stop() == [0, 0]


def test_an_erased_name_is_in_no_event_and_scores_and_other_names_stay(tmp_path):
    findings = Findings("erasures")
    erasures.run(findings, 12, 2, tmp_path)

    assert findings.tried.total() == 12
    assert findings.wrong == []
