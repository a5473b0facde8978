"""Folding and segmenting."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.text import _SLICE_CHARS, fold, index_text, segment


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ＡＢＣ １２", "abc 12"),
        ("Café ÜBER Ångström", "cafe uber angstrom"),
        ("Straße ﬁle", "strasse file"),
        ("Ёлка ΆΛΦΑ", "елка αλφα"),
        ("अनीता", "अनीता"),
        ("がぎ", "がぎ"),
        ("“smart” ‘quotes’ – dash", "\"smart\" 'quotes' - dash"),
    ],
)
def test_what_readers_take_for_equal_becomes_equal(text: str, folded: str) -> None:
    assert fold(text) == unicodedata.normalize("NFKC", folded)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("重跑gen-itgc后50条", ["重", "跑", "gen-itgc", "后", "50", "条"]),
        ("C盘", ["c", "盘"]),
        ("한국어", ["한", "국", "어"]),
        ("しりとり", ["し", "り", "と", "り"]),
        ("hi🎉there", ["hi", "🎉", "there"]),
        ("plain words", ["plain", "words"]),
        ("अनीता", ["अनीता"]),
    ],
)
def test_unspaced_scripts_and_symbols_become_single_characters(
    text: str, tokens: list[str]
) -> None:
    assert index_text(text).split() == tokens


@given(st.text(max_size=80))
def test_folding_is_final_and_segmenting_adds_only_spaces(text: str) -> None:
    once = fold(text)
    assert fold(once) == once
    assert "".join(segment(once).split()) == "".join(once.split())


@given(st.integers(-3, 3), st.sampled_from(["é", "e\u0301", "ｅ", "世", "क्ष", "각"]))
def test_long_text_is_folded_in_slices_as_it_would_be_whole(shift: int, character: str) -> None:
    text = "é" + "x" * (_SLICE_CHARS + shift - 1) + character * 5 + "y" * 100
    short = fold("é") + "x" * (_SLICE_CHARS + shift - 1) + fold(character * 5) + "y" * 100
    assert fold(text) == short
