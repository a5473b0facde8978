"""Vectors of a session: exact below a size, through a graph above."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsvc.semantic.index import SessionVectors


def rows_of(vectors: np.ndarray, seqs: list[int] | None = None) -> list[tuple[int, bytes]]:
    numbers = seqs or list(range(1, len(vectors) + 1))
    return [
        (seq, vector.astype("<f2").tobytes()) for seq, vector in zip(numbers, vectors, strict=True)
    ]


def clustered(count: int, dimensions: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((50, dimensions))
    vectors = centres[rng.integers(0, 50, count)] + 0.7 * rng.standard_normal((count, dimensions))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.integers(1, 12),
    st.integers(1, 60),
    st.integers(1, 60),
)
@settings(max_examples=60, deadline=None)
def test_the_nearest_are_those_of_a_plain_comparison(
    seed: int, count: int, limit: int, low: int, high: int
) -> None:
    vectors = clustered(count, 8, seed)
    session = SessionVectors(10_000)
    for start in range(0, count, 7):
        session.extend(
            rows_of(vectors[start : start + 7], list(range(start + 1, min(start + 7, count) + 1)))
        )
    query = clustered(1, 8, seed + 1)[0]
    stored = vectors.astype("<f2").astype(np.float32)
    cosines = {
        n + 1: float(stored[n] @ query.astype(np.float32))
        for n in range(count)
        if low <= n + 1 <= high
    }
    found = session.top(query, limit, low, high)
    assert len(found) == min(limit, len(cosines))
    best = sorted(cosines.values(), reverse=True)[: len(found)]
    assert [cosine for _, cosine in found] == pytest.approx(best, abs=1e-4)


def test_the_graph_finds_nearly_all_that_exact_search_finds() -> None:
    vectors = clustered(3000, 64, 1)
    exact, graph = SessionVectors(10**9), SessionVectors(1000)
    for session in (exact, graph):
        session.extend(rows_of(vectors))
        session.index()
    assert graph.graph is not None
    assert exact.graph is None
    queries = clustered(100, 64, 2)
    shared = [
        len(
            {s for s, _ in exact.top(q, 10, None, None)}
            & {s for s, _ in graph.top(q, 10, None, None)}
        )
        for q in queries
    ]
    assert sum(shared) / 1000 >= 0.98


def test_numbers_must_increase_and_lengths_agree() -> None:
    session = SessionVectors(100)
    session.extend(rows_of(np.eye(4)[:2], [3, 5]))
    with pytest.raises(ValueError, match="increase"):
        session.extend(rows_of(np.eye(4)[:1], [5]))
    with pytest.raises(ValueError, match="dimensions"):
        session.extend(rows_of(np.eye(5)[:1], [6]))
    assert (len(session), session.last_seq, session.seqs()) == (2, 5, [3, 5])


def test_an_empty_session_finds_nothing() -> None:
    session = SessionVectors(100)
    assert session.top([1.0], 5, None, None) == []
    assert session.usual([1.0]) == (0.0, 0.0)
    session.extend([])
    assert session.index() == 0
