"""Taking off the lines that agents glue to the start of a message (SPEC 3). Pure.

    sendAt: 2026-03-14 09:26:53          當前時間：2026-03-14 09:26:53
    sender: Ann                          工作目錄：~/project
    channelId: general                   傳送者：Ann

in any order, each at most once, perhaps with an empty line behind. A line whose time cannot be read
is none of them and stays, with all that follows.
"""

from __future__ import annotations

import re
from datetime import tzinfo

import msgspec

from memsvc import times
from memsvc.model import Json

_TIME_NAMES = ("sendAt", "當前時間")
_SENDER_NAMES = ("sender", "傳送者")
_CHANNEL_NAMES = ("channelId", "工作目錄")
_NAMES = (*_TIME_NAMES, *_SENDER_NAMES, *_CHANNEL_NAMES)
_LINE = re.compile(rf"({'|'.join(_NAMES)})[ \t]*[:：][ \t]*([^\r\n]*)(?:\r?\n|\Z)")
_EMPTY_LINE = re.compile(r"[ \t]*\r?\n")
_TEXT_PARTS = ("text", "input_text", "output_text")
# The number of digits of today's unix time in seconds, milli-, micro- and nanoseconds.
_NANOSECONDS_PER_UNIT = {10: 10**9, 13: 10**6, 16: 10**3, 19: 1}


class Stripped(msgspec.Struct, frozen=True):
    """What was found.

    Attributes:
        content: the content without its prefix lines.
        sent_at: the time they gave, UTC unix nanoseconds, or None.
        sender: the sender they gave, or None.
    """

    content: Json
    sent_at: int | None = None
    sender: str | None = None


def strip_content(content: Json, zone: tzinfo | None = None) -> Stripped:
    """Return content without prefix lines: of a text, or of the first text among its parts.

    Args:
        content: a message's content, of any shape.
        zone: where a time without zone was written; the local one when None.
    """
    if isinstance(content, str):
        return strip_prefixes(content, zone)
    if isinstance(content, list):
        for place, part in enumerate(content):
            if isinstance(part, dict) and part.get("type", "text") in _TEXT_PARTS:
                if not isinstance(part.get("text"), str):
                    break
                found = strip_prefixes(part["text"], zone)
                shorter = {**part, "text": found.content}
                parts = [*content[:place], shorter, *content[place + 1 :]]
                return Stripped(parts, found.sent_at, found.sender)
    return Stripped(content)


def strip_prefixes(content: str, zone: tzinfo | None = None) -> Stripped:
    """Return a text without its prefix lines.

    A text that consists of nothing else is left as it is: stripping must not lose a message.

    Args:
        content: the text of a message.
        zone: where a time without zone was written; the local one when None.
    """
    end, seen = 0, dict[str, str]()
    sent_at: int | None = None
    while (found := _LINE.match(content, end)) and found[1] not in seen:
        if found[1] in _TIME_NAMES:
            moment = _read_time(found[2].strip(), zone)
            if moment is None:
                break
            sent_at = moment if sent_at is None else sent_at
        seen[found[1]] = found[2].strip()
        end = found.end()
    if seen and (empty := _EMPTY_LINE.match(content, end)):
        end = empty.end()
    if not seen or not content[end:].strip():
        return Stripped(content)
    sender = next((seen[name] for name in _SENDER_NAMES if seen.get(name)), None)
    return Stripped(content[end:], sent_at, sender)


def _read_time(value: str, zone: tzinfo | None) -> int | None:
    if value.isascii() and value.isdigit():
        unit_ns = _NANOSECONDS_PER_UNIT.get(len(value))
        return int(value) * unit_ns if unit_ns and int(value) * unit_ns < 2**63 else None
    try:
        return times.parse_local(value, zone)
    except ValueError:
        return None
