"""Stickers on bought label sheets: each code is readable on its label."""

import numpy as np
import pypdfium2
import pytest
import zxingcpp

from companion.common.errors import Problem
from companion.common.languages import LANGUAGES
from companion.printing import stickers
from companion.printing.label_sheets import PAPERS_MM, known_sheets, label_sheet
from companion.printing.svg import size_mm
from companion.printing.write import Wanted, pdf_files, write_sheets
from companion.rules.editions.edition import load_edition
from companion.tabletop.card_ids import card_ids, payload
from companion.tabletop.sticker_codes import STICKER_MM

PX_PER_MM = 6.0
SHEETS = tuple(known_sheets())
CARDS = card_ids(load_edition("classic").deck)


@pytest.mark.parametrize("name", SHEETS)
def test_labels_fit_on_their_paper_and_hold_a_usual_sticker(name):
    sheet = label_sheet(name)

    sheet.check(STICKER_MM)
    parts = zip(sheet.margin_mm, sheet.grid, sheet.pitch_mm, sheet.label_mm, PAPERS_MM[sheet.paper], strict=True)
    assert all(margin + (count - 1) * pitch + label <= side + 0.3 for margin, count, pitch, label, side in parts)
    assert all(label <= pitch for label, pitch in zip(sheet.label_mm, sheet.pitch_mm, strict=True))


@pytest.mark.variants(1)
@pytest.mark.parametrize("name", ["L7651", "L7120"])
def test_codes_are_readable_on_their_labels_in_the_order_of_the_deck(name):
    sheet = label_sheet(name)
    document = pypdfium2.PdfDocument(pdf_files(Wanted("stickers", "classic", labels=sheet))["stickers.pdf"])
    first = document[0].render(scale=PX_PER_MM * 25.4 / 72).to_numpy()[..., :3]
    read = []
    for place in range(sheet.each):
        x, y = (
            round((margin + at * pitch) * PX_PER_MM)
            for margin, at, pitch in zip(
                sheet.margin_mm, (place % sheet.grid[0], place // sheet.grid[0]), sheet.pitch_mm, strict=True
            )
        )
        width, height = (round(side * PX_PER_MM) for side in sheet.label_mm)
        codes = zxingcpp.read_barcodes(np.ascontiguousarray(first[y : y + height, x : x + width]))
        read += [code.text for code in codes]

    assert read == [payload(card) for card in CARDS[: sheet.each]]
    assert len(document) == -(-len(CARDS) // sheet.each)


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_have_card_names_in_the_chosen_language(language):
    sheet = label_sheet("L7651")
    faces = {card.rpartition("-")[0] for card in CARDS}
    drawn = {stickers.label_svg(f"{face}-01", sheet, STICKER_MM, "qr", language) for face in faces}

    assert {size_mm(drawing) for drawing in drawn} == {sheet.label_mm}
    assert len(drawn) == 19
    others = (stickers.label_svg("roll-01", sheet, STICKER_MM, "qr", other) for other in LANGUAGES if other != language)
    assert stickers.label_svg("roll-01", sheet, STICKER_MM, "qr", language) not in set(others)


def test_label_size_follows_from_measured_margins_and_steps():
    sheet = label_sheet("5 × 13, 4.7 × 10.7, 40.6 × 21.2")

    assert sheet.label_mm == pytest.approx((38.2, 21.2), abs=0.01)
    assert label_sheet("4x8,12.7x12.7,49.2x31.75,letter").paper == "Letter"
    assert label_sheet("j8651") is label_sheet("L7651")


@pytest.mark.parametrize(
    ("labels", "size", "say"),
    [
        ("L7652", None, "choose one of L7651, L7654"),
        ("9x40,5x5,30x30", None, "do not fit on A4"),
        ("5x13,4.7x10.7,40.6x21.2,letter", None, "5 × 13 labels in steps of 40.6 × 21.2 mm do not fit on Letter"),
        ("6x13,4.7x10.7,40.6x21.2", None, "do not fit on A4"),
        ("4x20,7x13,52x12.7", None, "takes 32 × 20 mm or 20 × 25 mm"),
        ("3x8,5x20,67x32", None, "too large for a card of 57 × 88 mm"),
        ("L7651", 28.0, "choose another sheet or smaller stickers"),
    ],
)
def test_unusable_labels_are_refused_with_a_reason(tmp_path, labels, size, say):
    with pytest.raises(Problem) as refused:
        write_sheets("stickers", "classic", out=tmp_path / "new", labels=labels, size_mm=size)

    assert say in str(refused.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("kind", "form"), [("mats", "pdf"), ("stickers", "png")])
def test_only_sticker_sheets_can_use_labels(tmp_path, kind, form):
    with pytest.raises(Problem, match="omit --labels"):
        write_sheets(kind, "classic", out=tmp_path, labels="L7651", format=form)
