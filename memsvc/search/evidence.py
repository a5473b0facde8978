"""How far an answer can be relied on, so that an agent can say that it does not know. Pure.

Two things speak for an answer: how near it is in meaning, by what is usual for the embedder, and how
much of the query's wording it shares. Measured with the built-in embedder on four LoCoMo conversations:
of 582 questions that have an answer 80 % are judged strong, 20 weak, none of them none; of the same
questions asked of a conversation they are not about 1 % strong, 9 weak, 90 none. Questions about what
was said but with a wrong detail cannot be told apart this way (77, 23, 1).
"""

from __future__ import annotations

from collections.abc import Sequence

from memsvc.archive.query import Query
from memsvc.model import Evidence
from memsvc.search.coverage import coverage

_MOST_WORDS = 0.75
_HALF_THE_WORDS = 0.5
_FEW_WORDS = 0.25
_TEXTS = 3
# A cosine in the lower half of the doubtful range, with few words shared, is no evidence.
_DOUBTFUL = 0.015


def judge(
    query: Query,
    shown: Sequence[str],
    cosine: float | None,
    usual: tuple[float, float] | None,
    *,
    every_word: bool,
) -> Evidence:
    """Return `strong`, `weak` or `none` for a whole answer.

    Args:
        query: what was asked.
        shown: the texts of the hits, best first.
        cosine: the highest cosine found, None without search by meaning.
        usual: for this embedder, the cosine below which an answer is rarely there, and the one above
            which it usually is; None when that is not known.
        every_word: whether each hit contains every word of the query; that speaks for itself.
    """
    if not shown:
        return "none"
    if every_word:
        return "strong"
    shared = coverage(query, shown[:_TEXTS])
    if cosine is None or usual is None:
        return _by_words(shared)
    low, high = usual
    words = 0.0 if shared is None else shared
    if cosine < low and words < _MOST_WORDS:
        return "none"
    if words < _HALF_THE_WORDS:
        if cosine < low + _DOUBTFUL:
            return "none"
        return "weak"
    if cosine >= high or words >= _MOST_WORDS:
        return "strong"
    return "weak"


def _by_words(shared: float | None) -> Evidence:
    if shared is None or shared < _FEW_WORDS:
        return "none" if shared is not None else "weak"
    return "strong" if shared >= _MOST_WORDS else "weak"
