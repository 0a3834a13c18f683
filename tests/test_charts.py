"""The charts: values in, SVG out."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from client import TWO

from companion.match.archive import hands_of
from companion.match.history import Written
from companion.match.state import judge_on
from companion.pages.scores import charts
from companion.pages.scores.charts import Curve, Mark, Plot, cut, spread, svg, ticks
from companion.pages.words import Names
from companion.rules.record import notation
from companion.rules.record.judge import EMPTY_RECORD

SVG = "{http://www.w3.org/2000/svg}"
GOLDEN = Path(__file__).parent / "golden"


def drawn(plot: Plot) -> ElementTree.Element:
    text = str(svg(plot, "/signs.svg"))
    return ElementTree.fromstring(text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def plot(*lines: Curve, **more) -> Plot:
    about = {"key": "race-1", "title": "The race", "about": "Ann: 700 km", "x_name": "plays", "x_most": 10}
    return Plot(lines=lines, **(about | more))


def line(label: str, *points: tuple[float, float]) -> Curve:
    return Curve(label, (points,))


def judged(*texts: str):
    record, entries = judge_on(EMPTY_RECORD, [Written(number, text) for number, text in enumerate(texts, start=1)])
    return tuple(hands_of(record, entries)), Names.of(record.game)


def hands(name: str):
    return judged(*(line.text for line in notation.lines((GOLDEN / f"{name}.mbn").read_text(encoding="utf-8"))))


def test_a_chart_says_what_it_shows_to_those_who_do_not_see_it():
    root = drawn(plot(line("Ann", (0, 0), (10, 700))))

    assert root.get("role") == "img"
    named = [root.find(f".//*[@id='{one}']").text for one in root.get("aria-labelledby").split()]
    assert named == ["The race", "Ann: 700 km"]


def test_a_hostile_name_is_only_a_name():
    text = str(svg(plot(line("<b>\"&'", (0, 0), (1, 1)), title="</svg><script>"), "/s"))

    assert "<script" not in text
    assert "&lt;b&gt;" in text


def test_nothing_in_a_chart_has_a_style_of_its_own():
    text = str(svg(plot(line("Ann", (0, 0), (1, 100)), goal=(700, "700 km")), "/s"))

    assert not re.search(r"\b(style|fill|stroke|font-size)=", text)


def test_a_higher_value_lies_higher_and_a_step_has_corners():
    root = drawn(plot(line("Ann", (0, 0), (5, 200), (10, 700)), in_steps=True))
    paths = [path.get("d") for path in root.iter(f"{SVG}path")]
    course = next(path for path in paths if path.count("V") == 2)

    heights = [float(y) for y in re.findall(r"V([\d.]+)", course)]
    assert heights == sorted(heights, reverse=True)


def test_every_line_has_the_mark_of_its_side():
    samples = [str(charts.sample(number, "/signs.svg")) for number in range(charts.LOOKS)]

    assert [re.findall(r"#s-badge-(\d)", sample) for sample in samples] == [[str(n)] for n in range(1, 9)]


def test_a_hazard_is_marked_by_its_sign_and_in_words():
    root = drawn(plot(line("Ann", (0, 0), (10, 100)), marks=(Mark((3, 100), "stop", "Stop on Ann"),)))

    use = next(use for use in root.iter(f"{SVG}use") if use.get("href") == "/signs.svg#s-stop")
    assert use.find(f"{SVG}title").text == "Stop on Ann"


@pytest.mark.parametrize("most", [1, 7, 23, 700, 1000, 4999, 12345])
def test_the_axis_has_a_few_round_figures(most):
    figures = ticks(most)

    assert 2 <= len(figures) <= 6
    assert figures[-1] <= most
    assert all(figure == int(figure) for figure in ticks(most, whole=True))


def test_names_at_the_ends_of_lines_keep_clear_of_each_other():
    places = spread([100, 100, 101, 20], 14, 10, 120)

    assert min(below - above for above, below in pairwise(sorted(places))) >= 14
    assert max(places) <= 120
    assert places[3] == 20


def test_a_long_name_is_cut_beside_the_line():
    assert cut("Bartholomäus von Zitzewitz") == "Bartholomä…"
    assert cut("Ann") == "Ann"


# --- From a judged hand ---------------------------------------------------------------------------------------


def test_the_race_ends_where_the_cars_stood_marks_every_hazard_and_has_the_same_figures_in_a_table():
    (hand,), names = hands("two-players-4600")

    view = charts.race(hand, names)

    assert [line.runs[-1][-1][1] for line in view.lines] == [1000, 0]
    assert view.goal[0] == 1000
    assert len(view.marks) == 11
    assert "Ann: 1000 km, Bob: 0 km" in view.about
    assert view.heads == ("Play", "Ann", "Bob", "Hazard")
    assert view.rows[-1][1:] == ("1000", "0", "")
    assert ("2", "0", "0", "Stop on Bob") in view.rows


def test_totals_rise_hand_by_hand_and_begin_again_with_a_new_match():
    played, names = hands("match-to-5000")

    view = charts.totals([hand.result for hand in played if not hand.is_open], names)

    ann = view.lines[0]
    assert len(ann.runs) == 2
    assert ann.runs[0][:2] == ((0, 0), (1, 1800))
    assert ann.runs[1][0][1] == 0
    assert view.goal == (5000, "5000")


def test_one_hand_is_no_match_to_draw_and_a_hand_without_a_kilometre_no_race():
    (hand,), names = hands("two-players-4600")
    (dealt,), _names = judged(*TWO)

    assert charts.totals([hand.result], names) is None
    assert charts.race(dealt, names) is None
