"""summary.json and .summary_cursor: what is remembered of older messages, and how far that reaches.

`summary.json` is one JSON object, UTF-8, with

    key_decisions        list: rules that hold from now on
    past_discussions     list: earlier topics
    current_discussion   object: the topic under way

and other keys, which are kept. `.summary_cursor` is text of two lines:

    2026-03-14 09:26:53
    118

the time of the last summarised message in the local zone, and its number. Older writers left out
the second line; the cursor is then read by its time.
"""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path
from typing import Any

import msgspec

from memsvc import times
from memsvc.model import Summary

_SUMMARY = "summary.json"
_CURSOR = ".summary_cursor"
_CURSOR_BYTES_MAX = 1024
_SEQ_DIGITS_MAX = 18


class Cursor(msgspec.Struct, frozen=True):
    """How far a summary reaches.

    Attributes:
        seq: the last summarised message's number; None in older files.
        sent_at: its time to the second, UTC unix nanoseconds; None when it cannot be read.
    """

    seq: int | None = None
    sent_at: int | None = None


class SummaryState(msgspec.Struct, frozen=True):
    """What the two files hold.

    Attributes:
        summary: the summary, or None.
        cursor: how far it reaches, or None.
        problem: why a file that is there could not be used, empty when nothing is wrong.
    """

    summary: Summary | None = None
    cursor: Cursor | None = None
    problem: str = ""


def fingerprint(directory: Path) -> tuple[int, ...]:
    """Return numbers that change when one of the files does. Two cheap system calls."""
    marks: list[int] = []
    for path in (directory / _SUMMARY, directory / _CURSOR):
        try:
            found = path.stat()
        except OSError:
            marks.append(0)
        else:
            marks.extend((found.st_mtime_ns, found.st_size, found.st_ino))
    return tuple(marks)


def read(directory: Path, zone: tzinfo | None = None) -> SummaryState:
    """Read both files of a session's directory. Blocking; call it in a thread. Raises nothing.

    Args:
        directory: the session's directory.
        zone: where the cursor's time was written; the local one when None.
    """
    problems: list[str] = []
    summary = _read_summary(directory / _SUMMARY, problems)
    cursor = _read_cursor(directory / _CURSOR, zone, problems)
    return SummaryState(summary, cursor, " ".join(problems))


def _read_summary(path: Path, problems: list[str]) -> Summary | None:
    try:
        data = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        return Summary(
            key_decisions=msgspec.convert(data.get("key_decisions") or [], list[Any]),
            past_discussions=msgspec.convert(data.get("past_discussions") or [], list[Any]),
            current_discussion=data.get("current_discussion"),
            data=data,
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        problems.append(
            f"{path} cannot be used ({_reason(error)}); the context goes without it. Mend the file,"
            " or move it away to have the session summarised anew."
        )
        return None


def _read_cursor(path: Path, zone: tzinfo | None, problems: list[str]) -> Cursor | None:
    try:
        with path.open("rb") as file:
            lines = file.read(_CURSOR_BYTES_MAX).decode("utf-8-sig").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        lines, reason = [], _reason(error)
    else:
        reason = "it is no time and number"
    first, second = (*(line.strip() for line in lines[:2]), "", "")[:2]
    is_seq = second.isascii() and second.isdigit() and len(second) <= _SEQ_DIGITS_MAX
    seq = int(second) if is_seq else None
    sent_at = _read_time(first, zone)
    if seq is None and sent_at is None:
        problems.append(
            f"{path} cannot be used ({reason}); all messages count as not summarised. Mend the"
            " file, or delete it."
        )
        return None
    return Cursor(seq, sent_at)


def _read_time(value: str, zone: tzinfo | None) -> int | None:
    try:
        return times.parse_local(value, zone)
    except ValueError:
        return None


def _reason(error: Exception) -> str:
    return (error.strerror or "it cannot be read") if isinstance(error, OSError) else str(error)
