"""The verdict on an answer."""

from __future__ import annotations

import pytest

from memsvc.archive.query import parse_query
from memsvc.search.evidence import judge

USUAL = (0.81, 0.84)
QUERY = parse_query("printer connection broken")


@pytest.mark.parametrize(
    ("texts", "cosine", "usual", "verdict"),
    [
        ([], 0.99, USUAL, "none"),
        (["the printer connection is broken"], 0.7, USUAL, "strong"),
        (["the printer connection"], 0.86, USUAL, "strong"),
        (["the printer connection"], 0.82, USUAL, "weak"),
        (["the printer"], 0.86, USUAL, "weak"),
        (["the printer"], 0.815, USUAL, "none"),
        (["a kangaroo"], 0.75, USUAL, "none"),
        (["a kangaroo"], 0.99, None, "none"),
        (["the printer"], None, None, "weak"),
        (["the printer connection is broken"], None, USUAL, "strong"),
    ],
)
def test_words_and_meaning_speak_for_an_answer(
    texts: list[str], cosine: float | None, usual: tuple[float, float] | None, verdict: str
) -> None:
    assert judge(QUERY, texts, cosine, usual, every_word=False) == verdict


def test_a_hit_with_every_word_speaks_for_itself() -> None:
    assert judge(QUERY, ["x"], None, None, every_word=True) == "strong"
    assert judge(QUERY, [], None, None, every_word=True) == "none"
