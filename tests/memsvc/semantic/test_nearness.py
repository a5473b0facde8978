"""The answer of a comparison."""

from __future__ import annotations

from memsvc.semantic.nearness import Nearness


def test_nothing_compared_is_nothing_near() -> None:
    assert Nearness({}) == Nearness({}, 0.0, 0.0)
