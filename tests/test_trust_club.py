"""A club that is killed and cut off while tables push loses nothing; and a loss would be noticed."""

import club_database
import pytest

pytestmark = pytest.mark.skipif(club_database.why_not() is not None, reason=club_database.why_not() or "")
psycopg = pytest.importorskip("psycopg", reason="the club's driver is not installed: pip install '.[club]'")

from trust.club import Figures, Run  # noqa: E402


def test_troubles_lose_nothing_and_a_loss_would_be_noticed(tmp_path):
    with club_database.running() as server:
        run = Run(server, tmp_path, tables=4, pace=40, seed=6)
        try:
            figures = run.run(8)
            assert figures.events > 40
            assert (figures.lost, figures.doubled, figures.changed, figures.is_rebuilt) == (0, 0, 0, True)

            with psycopg.connect(run.url) as db:
                db.execute("DELETE FROM club.events WHERE seq = 5")
                db.execute("UPDATE club.events SET crc = '1' WHERE seq = 3")
            run.figures = Figures(4)
            run._compare()
            assert (run.figures.lost, run.figures.changed) == (4, 4)
        finally:
            assert run.clubs.stop() == [0, 0]
