"""Nanoseconds inside, aware datetimes outside."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc import InvalidArgument, times

DAY_NS = 86_400 * 10**9
NOW = times.to_ns(datetime(2026, 3, 14, tzinfo=UTC))
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1678, 1, 1), datetime(2261, 1, 1), timezones=zones)


@given(moments)
def test_a_time_comes_back_as_the_same_moment_in_utc(moment: datetime) -> None:
    back = times.from_ns(times.to_ns(moment))
    assert back == moment
    assert back.tzinfo is UTC


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_count_that_fits_64_bits_can_be_shown(ns: int) -> None:
    shown = times.from_ns(ns)
    assert ns - (shown - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000 >= 0
    assert times.from_ns(ns + 1) >= shown


@given(moments, moments)
def test_the_order_of_times_is_the_order_of_numbers(one: datetime, other: datetime) -> None:
    assert (times.to_ns(one) < times.to_ns(other)) == (one < other)


def test_the_hour_that_comes_twice_is_told_apart() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first = datetime(2026, 10, 25, 2, 30, tzinfo=berlin)
    second = first.replace(fold=1)
    assert times.to_ns(second) - times.to_ns(first) == 3600 * 10**9


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 3, 14),
        datetime(1500, 1, 1, tzinfo=UTC),
        datetime(2300, 1, 1, tzinfo=UTC),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        "2026-03-14T09:26:53",
        "2026-03-14",
        "soon",
        "\ud800",
        "",
        5,
        5.5,
        True,
        None,
        date(2026, 3, 14),
    ],
)
def test_what_is_no_time_with_a_zone_is_an_error_of_value(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^(it is|the time)"):
        times.parse(value)


@pytest.mark.parametrize("text", ["2026-03-14T00:00:00Z", "2026-03-14 08:00:00+08:00"])
def test_rfc_3339_text_is_read(text: str) -> None:
    assert times.parse(text) == NOW


def test_a_time_that_was_written_down_is_local_unless_it_says_otherwise() -> None:
    taipei = timezone(timedelta(hours=8))
    assert times.parse_local("2026-03-14 08:00:00", taipei) == NOW
    assert times.parse_local("2026-03-14T00:00:00Z", taipei) == NOW
    local = datetime(2026, 3, 14, 8).astimezone()
    assert times.parse_local("2026-03-14 08:00:00") == times.to_ns(local)
    for text in ("soon", "0001-01-01 00:00:00", "9999-12-31 23:59:59"):
        with pytest.raises(ValueError, match="no time"):
            times.parse_local(text)


@pytest.mark.parametrize(("name", "days"), [("1d", 1), ("7d", 7), ("1m", 30), ("1y", 365)])
def test_a_time_range_reaches_back_from_now(name: str, days: int) -> None:
    assert times.window_ns(name, None, None, NOW) == (NOW - days * DAY_NS, None)


def test_bounds_narrow_a_time_range_and_never_widen_it() -> None:
    early, late = times.from_ns(NOW - 30 * DAY_NS), times.from_ns(NOW - DAY_NS)
    assert times.window_ns("7d", early, None, NOW) == (NOW - 7 * DAY_NS, None)
    assert times.window_ns("7d", late, None, NOW) == (NOW - DAY_NS, None)
    assert times.window_ns("all", early, late.isoformat(), NOW) == (
        NOW - 30 * DAY_NS,
        NOW - DAY_NS,
    )
    assert times.window_ns("all", None, None, NOW) == (None, None)


@pytest.mark.parametrize(
    ("time_range", "after", "before"),
    [
        ("2d", None, None),
        ("", None, None),
        (None, None, None),
        ("all", "soon", None),
        ("all", 5, None),
        ("all", None, datetime(2026, 3, 14)),
        ("all", times.from_ns(NOW), times.from_ns(NOW)),
        ("1d", None, times.from_ns(NOW - 2 * DAY_NS)),
    ],
)
def test_a_range_that_cannot_be_used_is_refused_with_advice(
    time_range: Any, after: Any, before: Any
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        times.window_ns(time_range, after, before, NOW)
    assert caught.value.next_step
