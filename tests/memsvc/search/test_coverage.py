"""How much of a query's wording the found texts share."""

from __future__ import annotations

import pytest

from memsvc.archive.query import parse_query
from memsvc.search.coverage import coverage


@pytest.mark.parametrize(
    ("query", "texts", "share"),
    [
        ("connected printers", ["The connection of the printer"], 1.0),
        ("connected printers", ["a printer"], 0.5),
        ("what did we do", ["anything"], None),
        ("部署流程", ["部署很慢"], 1 / 3),
        ("Straße", ["STRASSE"], 1.0),
        ("printers", [], 0.0),
    ],
)
def test_longer_words_and_neighbouring_characters_are_counted(
    query: str, texts: list[str], share: float | None
) -> None:
    assert coverage(parse_query(query), texts) == (share if share is None else pytest.approx(share))
