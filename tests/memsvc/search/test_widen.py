"""Neighbours of hits: nothing twice, nothing of the window."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memsvc.search.widen import widen


def test_a_hit_gets_two_before_and_one_after() -> None:
    assert widen([(1, 10)], lambda place: False) == [(((1, 8), (1, 9)), ((1, 11),))]
    assert widen([(1, 1)], lambda place: False) == [((), ((1, 2),))]


@given(
    st.lists(st.tuples(st.integers(1, 2), st.integers(1, 30)), unique=True, max_size=20),
    st.integers(1, 31),
)
def test_no_message_is_shown_twice_and_none_of_the_window(
    hits: list[tuple[int, int]], window: int
) -> None:
    hits = [hit for hit in hits if hit[1] < window]
    widened = widen(hits, lambda place: place[1] >= window)
    shown = [*hits, *(p for before, after in widened for p in (*before, *after))]
    assert len(shown) == len(set(shown))
    assert all(0 < seq < window for _, seq in shown)
    for (sid, seq), (before, after) in zip(hits, widened, strict=True):
        assert all(place[0] == sid and seq - 2 <= place[1] < seq for place in before)
        assert all(place == (sid, seq + 1) for place in after)
