"""What is printed on stickers: one code for each card, all as different as can be."""

import numpy as np
import pytest
import zxingcpp
from hypothesis import given, settings
from hypothesis import strategies as st
from pyzbar import pyzbar

from companion.rules.editions.edition import edition_names, load_edition
from companion.tabletop import sticker_codes
from companion.tabletop.card_ids import card_id_of, card_ids, payload


def test_any_two_codes_differ_in_as_many_modules_as_promised():
    bits = np.array([sticker_codes.modules(card).ravel() for card in sticker_codes.CARDS], int) * 2 - 1
    apart = (bits.shape[1] - bits @ bits.T) // 2

    assert apart[np.triu_indices(len(bits), 1)].min() == 78


@pytest.mark.parametrize("edition", edition_names())
def test_every_card_of_every_edition_has_a_code_and_spares(edition):
    deck = load_edition(edition).deck
    with_spares = card_ids({face: count + 2 for face, count in deck.items()})

    assert set(with_spares) <= set(sticker_codes.CARDS)


def test_any_reader_reads_the_card_s_name_on_its_code():
    for card in sticker_codes.CARDS:
        dark = np.kron(np.pad(sticker_codes.modules(card), 4), np.ones((6, 6), bool))
        image = np.where(dark, 0, 255).astype(np.uint8)

        assert [found.text for found in zxingcpp.read_barcodes(image)] == [payload(card)]
        assert [found.data.decode() for found in pyzbar.decode(image)] == [payload(card)]


def test_tags_and_mats_share_no_marker():
    tags = [sticker_codes.tag_id(card) for card in sticker_codes.CARDS]

    assert tags == list(range(37, 37 + len(sticker_codes.CARDS)))
    assert max(tags) < 250
    assert [sticker_codes.card_of_tag(tag) for tag in tags] == list(sticker_codes.CARDS)
    assert sticker_codes.card_of_tag(36) is None
    assert sticker_codes.card_of_tag(max(tags) + 1) is None


@pytest.mark.parametrize(
    ("card", "sentence"),
    [("roll-17", "There is no sticker for roll-17: roll-16 is the last."), ("foo-01", "no edition has it")],
)
def test_a_card_without_a_sticker_is_refused_with_a_sentence(card, sentence):
    with pytest.raises(ValueError, match=sentence):
        sticker_codes.modules(card)


PRINTED = {payload(card): card for card in sticker_codes.CARDS}
SIGNS = st.sampled_from("MB1:ROLSTP-032mbl٠３ОВ１‐– \n\x00\u200b\ufeff") | st.characters()


@given(st.sampled_from(sticker_codes.CARDS), st.integers(0, 18), st.integers(0, 1), SIGNS)
@settings(max_examples=500, deadline=None)
def test_a_text_with_one_sign_more_or_another_is_only_the_card_whose_sticker_says_it(card, at, in_place_of, sign):
    text = payload(card)[:at] + sign + payload(card)[at + in_place_of :]
    named = card_id_of(text)

    assert sticker_codes.card_of_text(text) == PRINTED.get(text)
    assert named is None or payload(named) == text


@pytest.mark.parametrize(
    "text", ["MB1:ROLL-17", "MB1:ROLL-00", "MB1:ROLL-99", "MB1:UNKNOWN-01", "mb1:roll-03", "MB1:ROLL-03\n"]
)
def test_a_text_that_no_sticker_says_is_no_card(text):
    assert sticker_codes.card_of_text(text) is None


def test_every_sticker_says_its_card():
    assert [sticker_codes.card_of_text(text) for text in PRINTED] == list(sticker_codes.CARDS)
