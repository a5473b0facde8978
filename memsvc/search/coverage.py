"""How much of a query's wording the found texts share. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memsvc import text
from memsvc.archive.query import STOP_WORDS, Query, pieces

# Shorter words of spaced scripts are mostly those that every sentence has.
_WORD_CHARS_LEAST = 4
# Endings are left out of the comparison: "connected" shares "connec" with "connection".
_ENDING_CHARS = 2


def coverage(query: Query, shown: Sequence[str]) -> float | None:
    """Return the share of the query's longer words that the texts contain, 0 to 1.

    Args:
        query: what was asked.
        shown: the texts of the best hits.

    Returns:
        None for a query that has no such word.
    """
    words = {piece for term in query.terms for piece in pieces(term.segmented) if _counts(piece)}
    if not words:
        return None
    found = " ".join(text.segment(text.fold(said)) for said in shown)
    found = " ".join(found.split())
    return sum(_stem(word) in found for word in words) / len(words)


def _counts(piece: str) -> bool:
    if piece in STOP_WORDS:
        return False
    return " " in piece or len(piece) >= _WORD_CHARS_LEAST or not piece.isascii()


def _stem(piece: str) -> str:
    if " " in piece:
        return piece
    return piece[: max(_WORD_CHARS_LEAST, len(piece) - _ENDING_CHARS)]
