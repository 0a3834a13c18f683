"""Printing from the page: what the phone gets, who gets it, and what is said beside it."""

import pypdfium2
import pytest
from client import stranger

from companion.rules.editions.edition import edition_names

FILES = ("stickers", "mats", "mats-a4", "deck", "deck-backs", "robot")


def pages_in(response) -> int:
    document = pypdfium2.PdfDocument(response.data)
    try:
        return len(document)
    finally:
        document.close()


@pytest.mark.variants(1)
@pytest.mark.parametrize(
    ("file", "pages"), [("stickers", 1), ("mats", 4), ("mats-a4", 7), ("deck", 12), ("deck-backs", 1), ("robot", 5)]
)
def test_every_file_is_a_pdf_with_all_its_sheets(page, file, pages):
    answer = page.get(f"/print/{file}.pdf?edition=classic&sides=3")

    assert answer.mimetype == "application/pdf"
    assert "attachment" in answer.headers["Content-Disposition"]
    assert pages_in(answer) == pages


@pytest.mark.parametrize("file", FILES)
def test_every_file_has_a_small_picture(page, file):
    answer = page.get(f"/print/{file}.png")

    assert answer.mimetype == "image/png"
    assert answer.data.startswith(b"\x89PNG")
    assert len(answer.data) < 400_000


def test_a_stranger_is_offered_nothing_to_print(app):
    assert ".pdf" not in stranger(app).get("/print").get_data(as_text=True)


@pytest.mark.parametrize("edition", edition_names())
def test_the_page_offers_every_edition(page, edition):
    shown = page.get(f"/print?edition={edition}").get_data(as_text=True)

    assert f'value="{edition}" selected' in shown
    assert f"/print/stickers.pdf?edition={edition}" in shown


def test_the_sheets_are_those_of_the_match_unless_others_are_asked_for(page, match):
    match.start(("edition rush", *(f"side {name}" for name in ("Ann", "Bob", "Cid")), "hand first Ann"))

    shown = page.get("/print").get_data(as_text=True)

    assert 'value="rush" selected' in shown
    assert "<option selected>3</option>" in shown


@pytest.mark.parametrize(
    ("size", "say"), [("16", "106 stickers, one for each card, on 1 sheet of A4."), ("28", "on 3 sheets of A4.")]
)
def test_how_much_paper_it_takes_is_said(page, size, say):
    assert say in page.get(f"/print?edition=classic&size={size}").get_data(as_text=True)


@pytest.mark.parametrize(
    ("labels", "say"),
    [
        ("L7651", "on 2 sheets of labels."),
        ("5x13,4.7x10.7,40.6x21.2", "on 2 sheets of labels."),
        ("6570", "on 4 sheets"),
    ],
)
def test_stickers_are_printed_on_labels_that_were_bought(page, labels, say):
    shown = page.get(f"/print?edition=classic&labels={labels}").get_data(as_text=True)

    assert say in shown
    assert f"labels={labels}" in shown.replace("%2C", ",").replace("&amp;", "&")


@pytest.mark.parametrize(
    ("asked", "say"),
    [
        ("labels=L7652", "choose one of L7651, L7654"),
        ("labels=L7651&size=28", "choose another sheet or smaller stickers"),
        ("labels=%3Cb%3E", "is no sheet of labels that is known here"),
    ],
)
def test_labels_that_cannot_be_printed_on_are_told_beside_their_field(page, asked, say):
    answer = page.get(f"/print?edition=classic&{asked}")

    assert answer.status_code == 200
    assert say in answer.get_data(as_text=True)
    assert page.get(f"/print/stickers.pdf?edition=classic&{asked}").status_code == 400


@pytest.mark.parametrize("wrong", ["sides=0", "sides=9", "sides=two", "size=3", "size=1e9", "size=<b>"])
def test_what_cannot_be_printed_is_refused_in_a_sentence(page, wrong):
    answer = page.get(f"/print/stickers.pdf?{wrong}")

    assert answer.status_code == 400
    assert "choose one of these" in answer.get_data(as_text=True)
    assert "&lt;b&gt;" not in answer.get_data(as_text=True)


@pytest.mark.parametrize("path", ["/print?edition=nowhere", "/print/cards.pdf", "/print/deck.svg"])
def test_what_there_is_not_is_not_found(page, path):
    assert page.get(path).status_code == 404


def test_the_set_up_leads_to_camera_print_and_cards(page):
    shown = page.get("/setup").get_data(as_text=True)

    assert all(f'href="{path}"' in shown for path in ("/camera", "/print", "/decks"))
