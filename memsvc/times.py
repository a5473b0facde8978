"""Times: UTC unix nanoseconds inside, timezone-aware datetimes outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

from memsvc.errors import InvalidArgument

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# What a signed 64-bit count of nanoseconds can hold, in whole microseconds: years 1677 to 2262.
_MIN_NS = -(2**63) // 1000 * 1000 + 1000
_MAX_NS = (2**63 - 1) // 1000 * 1000


def to_ns(value: datetime) -> int:
    """Return an aware datetime as UTC unix nanoseconds.

    Raises:
        ValueError: the datetime has no zone, or lies outside 1677 to 2262.
    """
    if value.tzinfo is None or value.utcoffset() is None:
        raise ValueError("the time has no zone")
    ns = (value - _EPOCH) // _MICROSECOND * 1000
    if not _MIN_NS <= ns <= _MAX_NS:
        raise ValueError("the time lies outside the years 1677 to 2262")
    return ns


def from_ns(ns: int) -> datetime:
    """Return UTC unix nanoseconds as an aware datetime in UTC, cut to microseconds."""
    return _EPOCH + timedelta(microseconds=ns // 1000)


def parse(value: datetime | str) -> int:
    """Return a datetime or RFC 3339 text as UTC unix nanoseconds.

    Raises:
        ValueError: it is no time, has no zone, or lies outside 1677 to 2262.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError("it is not an RFC 3339 time") from None
    if not isinstance(value, datetime):  # callers without a type checker give numbers and dates
        raise ValueError(f"it is of type {type(value).__name__}, not a time")
    return to_ns(value)


def parse_local(value: str, zone: tzinfo | None = None) -> int:
    """Return a time that people or programs wrote down, as UTC unix nanoseconds.

    Args:
        value: such as `2026-03-14 09:26:53`, or RFC 3339 text, whose zone then counts.
        zone: where a time without zone was written; the local one when None.

    Raises:
        ValueError: it is no time, or lies outside 1677 to 2262.
    """
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone) if zone is not None else moment.astimezone()
        return to_ns(moment)
    except (ValueError, OverflowError, OSError):
        raise ValueError("it is no time between 1677 and 2262") from None


_RANGES = {"1d": 1, "7d": 7, "1m": 30, "1y": 365}


def window_ns(
    time_range: str,
    after: datetime | str | None,
    before: datetime | str | None,
    now_ns: int,
) -> tuple[int | None, int | None]:
    """Return the half-open range [after, before) in nanoseconds that a search is held to (SPEC 7).

    Args:
        time_range: `1d`, `7d`, `1m` (30 days), `1y` (365 days) or `all`.
        after: not before this time; narrows `time_range`.
        before: earlier than this time.
        now_ns: the present, UTC unix nanoseconds.

    Raises:
        InvalidArgument: a range or time that cannot be read, or an empty range.
    """
    if time_range != "all" and time_range not in _RANGES:
        raise InvalidArgument(
            f"time_range {time_range!r} is not known.", "Use one of: 1d, 7d, 1m, 1y, all."
        )
    low = None if time_range == "all" else now_ns - _RANGES[time_range] * 86_400 * 10**9
    after_ns = _bound("after", after)
    high = _bound("before", before)
    if after_ns is not None:
        low = after_ns if low is None else max(low, after_ns)
    if low is not None and high is not None and low >= high:
        raise InvalidArgument(
            "The time range is empty: `after` is not earlier than `before`.", "Swap or widen them."
        )
    return low, high


def _bound(name: str, value: datetime | str | None) -> int | None:
    if value is None:
        return None
    try:
        return parse(value)
    except ValueError as error:
        raise InvalidArgument(
            f"{name}: {error}.", "Give an aware datetime or RFC 3339 text with its zone."
        ) from None
