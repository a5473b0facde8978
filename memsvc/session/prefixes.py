"""Taking off the lines that agents glue to the start of a message (SPEC 3). Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

import msgspec

from memsvc import times

_TIME_NAMES = ("sendAt", "當前時間")
_SENDER_NAMES = ("sender", "傳送者")
_OTHER_NAMES = ("channelId", "工作目錄")
_LINE = re.compile(
    rf"({'|'.join((*_TIME_NAMES, *_SENDER_NAMES, *_OTHER_NAMES))})[ \t]*[:：][ \t]*([^\n]*)(?:\n|$)"
)


class Stripped(msgspec.Struct, frozen=True):
    """What was found.

    Attributes:
        content: the text without its prefix lines.
        sent_at: the time they gave, UTC unix nanoseconds, or None.
        sender: the sender they gave, or None.
    """

    content: str
    sent_at: int | None = None
    sender: str | None = None


def strip_prefixes(content: str, zone: tzinfo | None = None) -> Stripped:
    """Return a text without its prefix lines, each name at most once, in any order.

    A text that consists of nothing else is left as it is: stripping must not lose a message.

    Args:
        content: the text of a message.
        zone: where a time without zone was written; the local one when None.
    """
    rest, seen = content, dict[str, str]()
    while found := _LINE.match(rest):
        name = found.group(1)
        if name in seen:
            break
        seen[name] = found.group(2).strip()
        rest = rest[found.end() :]
    if not seen or not rest.strip():
        return Stripped(content)
    if rest.startswith("\n"):
        rest = rest[1:]  # the empty line between the block and the text
    sent_at = next((seen[name] for name in _TIME_NAMES if name in seen), "")
    sender = next((seen[name] for name in _SENDER_NAMES if name in seen), "")
    return Stripped(rest, _read_time(sent_at, zone), sender or None)


def _read_time(value: str, zone: tzinfo | None) -> int | None:
    if value.isascii() and value.isdigit():
        return _read_number(int(value))
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone) if zone is not None else moment.astimezone()
        return times.to_ns(moment.astimezone(UTC))
    except (ValueError, OverflowError, OSError):
        return None


def _read_number(value: int) -> int | None:
    # Unix seconds, milliseconds, microseconds or nanoseconds, told apart by their size.
    for limit, factor in ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3), (2**63, 1)):
        if value < limit:
            return value * factor
    return None
