"""Names of players, decks, files, stickers and cameras stay plain text on every page and in every file."""

import csv
import io
import json
import re
import unicodedata
from functools import cache
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from house import House, furnished, looked_at
from marks import mostly_long
from werkzeug.test import TestResponse

from companion.common.errors import Problem
from companion.common.languages import LANGUAGES
from companion.pages.players.names import check_names, clean

HOSTILE = {
    "element": "<img src=x onerror=alert(1)>",
    "attribute": "\"'><svg onload=alert(1) x='",
    "end of an element": "</title></script><script>alert(1)</script>",
    "a comment": "--><!--<iframe src=//evil.example>",
    "an address": "javascript:alert(1)//http://evil.example",
    "a template": "{{7*7}}{%print 7*7%}${7*7}<%=7*7%>#{7*7}",
    "a pattern": "%(name)s %s %d %n %x %%(x)",
    "a formula": "=cmd|' /C calc'!A0",
    "a head": "a\r\nSet-Cookie: phone=1\r\n\r\n<script>",
    "a path": "../../../../etc/passwd\0.png",
    "the other way round": "\u202eevil\u2066\u200b\u200f\ufeff\u00ad",
    "a terminal": "\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x7f",
    "letters": "👩\u200d👩\u200d👧 ﷽ Z̵̢̛͙a̴l̶g̷o̸ \U000e0041ＡＮＮ",
    "long": "ü" * 5000,
    "entities": "&lt;b&gt;&#x3c;script&#62;&quot;&amp;",
}
UNSEEN = {"Cc", "Cf", "Co", "Cs"}
"""Unicode categories of invisible characters: controls, directions, zero widths."""

SEEN = "\n\u200c\u200d"
"""Allowed ones: the line end, and joiners that some languages use in names."""

ADDRESSES = {"href", "src", "action", "formaction", "hx-get", "hx-post", "poster"}


class Shape(HTMLParser):
    """The structure of a page: elements with attribute names, and forbidden parts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.odd: list[str] = []

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        self.elements.append(" ".join([tag, *sorted(names)]))
        self.odd += [f"{tag} {name}" for name in names if name.startswith("on") or name in ("style", "srcdoc")]
        self.odd += [tag] * (tag in ("iframe", "object", "embed", "base", "style", "marquee"))
        self.odd += ["script"] * (tag == "script" and not (names.get("src") or "").startswith("/static/"))
        for name in ADDRESSES & names.keys():
            where = urlsplit((names[name] or "").strip())
            self.odd += [f"{name} {names[name]}"] * bool(where.scheme or where.netloc)

    def handle_comment(self, data):
        self.odd.append("comment")


def shape_of(page: str) -> Shape:
    shape = Shape()
    shape.feed(page)
    shape.close()
    return shape


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Structures of all pages with harmless names, by language."""
    with furnished(tmp_path_factory.mktemp("plain")) as house:
        yield cache(
            lambda language: {
                path: shape_of(page).elements for path, page in pages(answers_of(house, language)).items()
            }
        )


@pytest.fixture(scope="module", params=HOSTILE)
def hostile(request, tmp_path_factory):
    """A service where everything has a hostile name."""
    text = HOSTILE[request.param]
    with furnished(tmp_path_factory.mktemp("hostile"), text, text[:800]) as house:
        yield house


@pytest.fixture(scope="module")
def answers(hostile):
    return cache(lambda language: answers_of(hostile, language))


def answers_of(house: House, language: str) -> dict[str, TestResponse]:
    """Return every answer for the host, by route and a running number."""
    client = house.machine()
    return {
        f"{endpoint} {number}": client.get(path, headers={"Accept-Language": language})
        for number, (endpoint, path) in enumerate(looked_at(house))
    }


def pages(answers: dict[str, TestResponse]) -> dict[str, str]:
    return {path: answer.text for path, answer in answers.items() if answer.mimetype == "text/html"}


@pytest.mark.parametrize("language", mostly_long(LANGUAGES, "en"))
def test_a_name_cannot_change_a_pages_structure(answers, plain, language):
    for path, page in pages(answers(language)).items():
        shape = shape_of(page)

        assert shape.odd == [], path
        if path.startswith("setting_up"):  # The page offers each known player's name once.
            assert set(shape.elements) <= {*plain(language)[path], "option value", "button class data-name type"}
        else:
            assert shape.elements == plain(language)[path], path


def test_names_cause_no_invisible_text_template_code_or_headers(answers):
    for path, answer in answers("en").items():
        assert answer.headers.get("Set-Cookie", "").split("=")[0] in ("", "companion"), path
        named = answer.headers.get("Content-Disposition", "")
        assert named.isascii(), path
        assert named.isprintable(), path
    for path, page in pages(answers("en")).items():
        unseen = {hex(ord(char)) for char in set(page) if unicodedata.category(char) in UNSEEN and char not in SEEN}
        assert unseen == set(), path
        # Random tokens and file hashes.
        page = re.sub(r"\b[0-9a-f]{16,}\b|\?v=[0-9a-f]+", "", page)
        assert ">49<" not in page, path
        assert "4949" not in page, path


def test_exports_can_be_read_again(hostile):
    client = hostile.machine()
    table = client.get("/past/1.csv").text
    rows = list(csv.reader(io.StringIO(table)))

    assert {len(row) for row in rows} == {6}
    assert [cell for row in rows for cell in row if cell.lstrip()[:1] in ("=", "@", "+", "\t", "|", "%")] == []
    for line in client.get("/past/1.jsonl").text.splitlines():
        json.loads(line)
    assert client.get("/past/1/1.png").data.startswith(b"\x89PNG")
    assert client.get("/api/matches/1").get_json()["match"] == 1


# --- What a name may be --------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", HOSTILE.values(), ids=HOSTILE)
def test_a_typed_name_becomes_one_short_visible_line(typed):
    name = clean(typed)

    assert len(name) <= 24
    assert not {unicodedata.category(char) for char in name} & (UNSEEN | {"Zl", "Zp"})
    assert '"' not in name


@pytest.mark.parametrize(
    "empty", ["\u3164", "\u2800", "\u115f\u1160", "\uffa0", "\u200b", "\u00ad", "\u0301", "\U000e0100"]
)
def test_an_invisible_name_is_refused(empty):
    assert clean(empty) == ""


@pytest.mark.parametrize(
    "other", ["ann", "ANN ", "A nn", "Аnn", "Ａｎｎ", "A\u200bnn", "Αnn", "Ann\u3164", "𝐀𝐧𝐧", "Ann\u0378", "A\u034fnn"]
)
def test_names_that_look_alike_are_refused(other):
    with pytest.raises(Problem, match="Two players are called"):
        check_names(["Ann", clean(other)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("José", "Jose"),
        ("Ann", "Anna"),
        ("Łukasz", "Lukasz"),
        ("Иван", "Ivan"),
        ("Алена", "Алёна"),
        ("Нур", "Һүр"),
        ("Voss", "Voß"),
    ],
)
def test_different_names_are_accepted(one, other):
    names = [clean(one), clean(other)]

    check_names(names)

    assert names == [one, other]
