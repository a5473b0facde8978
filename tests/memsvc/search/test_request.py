"""The check of a search's arguments."""

from __future__ import annotations

import pytest

from memsvc.errors import InvalidArgument
from memsvc.search.request import Request, check

NOW = 1_770_000_000_000_000_000
DAY = 86_400 * 10**9


def test_ranges_and_bounds_narrow_each_other() -> None:
    checked = check(Request(query="x", time_range="7d"), NOW, 100)
    assert (checked.after_ns, checked.before_ns) == (NOW - 7 * DAY, None)
    narrowed = check(Request(query="x", time_range="1y", after="2026-02-01T00:00:00Z"), NOW, 100)
    assert narrowed.after_ns == 1_769_904_000_000_000_000


def test_surrogates_and_nul_in_a_query_are_made_harmless() -> None:
    assert check(Request(query="a\ud83db\0c"), NOW, 100).text == "a\ufffdb c"


@pytest.mark.parametrize(
    "wrong",
    [{"query": 5}, {"query": "x" * 101}, {"limit": 1.5}, {"match": "Keyword"}, {"time_range": ""}],
)
def test_what_cannot_be_used_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        check(Request(**({"query": "x"} | wrong)), NOW, 100)  # type: ignore[arg-type]
