"""Fusing words and meaning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memsvc.search.fusion import fuse
from memsvc.semantic.nearness import Nearness


def test_a_message_earns_part_of_its_neighbours_scores() -> None:
    ranked = dict(fuse({(1, 10): 4.0}, {}))
    assert ranked == {(1, 10): 1.0, (1, 11): 0.6, (1, 9): 0.4, (1, 12): 0.3, (1, 8): 0.3}


def test_neighbours_of_another_session_earn_nothing() -> None:
    assert {sid for (sid, _), _ in fuse({(1, 10): 4.0}, {2: Nearness({11: 0.9}, 0.8, 0.05)})} == {
        1,
        2,
    }
    assert dict(fuse({(1, 10): 4.0}, {2: Nearness({11: 0.9}, 0.8, 0.05)}))[2, 11] == 0.5


def test_what_is_not_nearer_than_usual_earns_nothing_by_meaning() -> None:
    ranked = fuse({}, {1: Nearness({1: 0.7, 2: 0.9, 3: 0.95}, mean=0.8, spread=0.05)})
    assert [seq for (_, seq), _ in ranked] == [3, 2]


def test_nothing_found_is_nothing_ranked() -> None:
    assert fuse({}, {}) == []


_WORDS = st.dictionaries(
    st.tuples(st.integers(1, 3), st.integers(1, 50)), st.floats(1e-6, 100), min_size=1
)
_NEAR = st.dictionaries(
    st.integers(1, 3),
    st.builds(
        Nearness,
        st.dictionaries(st.integers(1, 50), st.floats(-1, 1)),
        st.floats(0, 1),
        st.floats(0, 1),
    ),
)


@given(_WORDS, _NEAR)
def test_a_hit_by_words_alone_always_surfaces_and_the_order_is_by_score(
    words: dict[tuple[int, int], float], near: dict[int, Nearness]
) -> None:
    ranked = fuse(words, near)
    assert set(words) <= {place for place, _ in ranked}
    assert all(score > 0 for place, score in ranked if place in words)
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
