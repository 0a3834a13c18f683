"""The printing page: downloads, advice and access."""

import evening
import pypdfium2
import pytest
from sheet import scenes

from companion.rules.editions.edition import edition_names

PAGES = {"stickers": 1, "mats": 4, "mats-a4": 7, "deck": 12, "deck-backs": 1, "robot": 5}
"""Number of sheets per file for three sides."""


def pages_in(response) -> int:
    document = pypdfium2.PdfDocument(response.data)
    try:
        return len(document)
    finally:
        document.close()


@pytest.mark.variants(1)
@pytest.mark.parametrize(("file", "pages"), PAGES.items())
def test_every_download_is_a_pdf_with_all_its_sheets(page, file, pages):
    answer = page.get(f"/print/{file}.pdf?edition=classic&sides=3")

    assert answer.mimetype == "application/pdf"
    assert "attachment" in answer.headers["Content-Disposition"]
    assert pages_in(answer) == pages


@pytest.mark.parametrize("file", PAGES)
def test_every_download_has_a_small_preview(page, file):
    answer = page.get(f"/print/{file}.png")

    assert answer.mimetype == "image/png"
    assert answer.data.startswith(b"\x89PNG")
    assert len(answer.data) < 400_000


@pytest.mark.parametrize("edition", edition_names())
def test_the_page_offers_every_edition(page, edition):
    shown = page.get(f"/print?edition={edition}").text

    assert f'value="{edition}" selected' in shown
    assert f"/print/stickers.pdf?edition={edition}" in shown


EVENINGS = """
the sheets are for the current match unless others are chosen [edition rush; side Ann; side Bob; side Cid]
    machine at /print | markup value="rush" selected | markup <option selected>3</option>
the number of sheets of paper is shown
    machine at /print?edition=classic&size=16 | 106 stickers, one for each card, on 1 sheet of A4.
    machine at /print?edition=classic&size=28 | on 3 sheets of A4.
stickers can be printed on bought labels
    machine at /print?edition=classic&labels=L7651 | on 2 sheets of labels. | markup labels=L7651
    machine at /print?edition=classic&labels=5x13,4.7x10.7,40.6x21.2 | on 2 sheets of labels.
    machine reads | markup labels=5x13%2C4.7x10.7%2C40.6x21.2; machine at /print?labels=6570 | on 4 sheets
unusable labels are explained beside their field
    machine at /print?labels=L7652 -> 200 | choose one of L7651, L7654
    machine at /print/stickers.pdf?labels=L7652 -> 400
    machine at /print?labels=L7651&size=28 -> 200 | choose another sheet or smaller stickers
    machine at /print/stickers.pdf?labels=L7651&size=28 -> 400
    machine at /print?labels=%3Cb%3E -> 200 | Unknown label sheet | <b>’: choose one of
    machine at /print/stickers.pdf?labels=%3Cb%3E -> 400
impossible sizes and numbers of sides are refused
    machine at /print/stickers.pdf?sides=0 -> 400 | choose one of these
    machine at /print/stickers.pdf?sides=9 -> 400 | choose one of these
    machine at /print/stickers.pdf?sides=two -> 400 | choose one of these
    machine at /print/stickers.pdf?size=3 -> 400 | choose one of these
    machine at /print/stickers.pdf?size=1e9 -> 400 | choose one of these
    machine at /print/stickers.pdf?size=<b> -> 400 | choose one of these | not <b>
unknown editions and files are not found
    machine at /print?edition=nowhere -> 404; machine at /print/cards.pdf -> 404; machine at /print/deck.svg -> 404
the setup page links to camera, printing and decks
    machine at /setup | markup href="/camera" | markup href="/print" | markup href="/decks"
strangers get no files to print
    eve at /print | not markup .pdf
"""


@pytest.mark.parametrize(("setting", "rows"), scenes(EVENINGS))
def test_on_an_evening(app, match, setting, rows):
    evening.check(app, match, setting, rows)
