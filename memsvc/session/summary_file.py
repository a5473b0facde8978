"""summary.json and .summary_cursor: what is remembered of older messages, and how far that reaches.

`summary.json` is one JSON object with `key_decisions` (a list), `past_discussions` (a list) and
`current_discussion` (an object); other keys are kept. `.summary_cursor` is text of two lines:

    2026-03-14 09:26:53
    118

the time of the last summarised message in the local zone, and its number. Older writers left out the
second line; the cursor is then read by its time.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from memsvc import times
from memsvc.model import Summary


class Cursor(msgspec.Struct, frozen=True):
    """How far a summary reaches: up to a number, or, in older files, up to a time (nanoseconds)."""

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
    for path in (directory / "summary.json", directory / ".summary_cursor"):
        try:
            found = path.stat()
        except OSError:
            marks.append(0)
        else:
            marks.extend((found.st_mtime_ns, found.st_size, found.st_ino))
    return tuple(marks)


def read(directory: Path) -> SummaryState:
    """Read both files of a session's directory. Blocking; call it in a thread. Raises nothing."""
    problems: list[str] = []
    summary = _read_summary(directory / "summary.json", problems)
    cursor = _read_cursor(directory / ".summary_cursor", problems)
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
        problems.append(f"{path} cannot be used: {error}. The context goes without it.")
        return None


def _read_cursor(path: Path, problems: list[str]) -> Cursor | None:
    try:
        lines = path.read_text("utf-8").split()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        problems.append(f"{path} cannot be used: {error}. Everything counts as not summarised.")
        return None
    if len(lines) >= 3 and lines[2].isdigit():
        return Cursor(seq=int(lines[2]))
    try:
        moment = datetime.fromisoformat(" ".join(lines[:2])).astimezone()
        return Cursor(sent_at=times.to_ns(moment))
    except (ValueError, OverflowError):
        problems.append(f"{path} is no cursor. Everything counts as not summarised.")
        return None
