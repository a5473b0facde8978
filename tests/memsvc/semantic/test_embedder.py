"""The check that every vector passes."""

from __future__ import annotations

import numpy as np
import pytest

from memsvc.errors import ModelError
from memsvc.semantic.embedder import checked


def test_good_vectors_get_length_one_whatever_their_size() -> None:
    vectors, bad = checked([[3.0, 4.0], [3e30, 4e30], [3e-8, 4e-8]], 3, 2)
    assert bad == {}
    assert np.allclose(vectors, [[0.6, 0.8]] * 3, atol=1e-3)
    assert vectors.dtype == np.float32


@pytest.mark.parametrize(
    ("row", "why"),
    [([0.0, 0.0], "zero"), ([float("nan"), 1.0], "finite"), ([1.0, float("-inf")], "finite")],
)
def test_a_bad_row_is_named_and_the_others_stay(row: list[float], why: str) -> None:
    vectors, bad = checked([[1.0, 0.0], row, [0.0, 2.0]], 3, None)
    assert list(bad) == [1]
    assert why in bad[1]
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize(
    "raw", [[[1.0], [1.0, 2.0]], [[1.0]], [1.0, 2.0], "words", [], [[], []], None, [["a"], ["b"]]]
)
def test_an_answer_of_the_wrong_shape_is_refused_whole(raw: object) -> None:
    with pytest.raises(ModelError):
        checked(raw, 2, None)


def test_another_length_than_the_model_had_is_refused_with_advice() -> None:
    with pytest.raises(ModelError, match=r"semantic\.model"):
        checked([[1.0, 2.0]], 1, 3)
