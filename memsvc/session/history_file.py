"""history.json: a session's recent messages, one JSON array that grows in place.

The format, for whoever reads it from another program. UTF-8, no byte order mark; the file is the JSON
array of the session's messages, oldest first, laid out with one record a line:

    [
    {"seq":1,"sendAt":1764583200000000000,"role":"user","content":"We will use Redis."},
    {"seq":2,"sendAt":1764583205000000000,"role":"assistant","content":"Noted."}
    ]

with `\\n` for line breaks, a comma and a line break between records, and no line break after the last
bracket. A record begins with `seq` (strictly increasing) and `sendAt` (UTC unix nanoseconds), in this
order and without spaces, followed by the message's own keys in the order in which they came. An empty
session is `[\\n]`.

Writing. An append replaces the last two bytes, `\\n]`, by `,\\n`, the new records, and `\\n]`, in one
positioned write. It costs the same at any size and is not synced: the archive is what is durable. A
reader in another process may see the file in the middle of that write, or, after a crash, a file that
ends early; then it may use every whole line. Everything else (cutting, rebuilding) replaces the file as
a whole.

Reading. A line is whole or nothing. When the file ends early, or what follows the last whole record is
not the closing bracket, it is *torn*, and is cut behind that record. When a line is not a record but a
later one is, or numbers do not increase, the file is *unreadable*: it was damaged in its middle, and
nothing in it is skipped over. An array of objects without numbers, or in another layout, is *foreign*:
another program's (such as Agenvoy's: `role`, `content`, `sendAt`, `sender`).
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from memsvc.files import PRIVATE_FILE, write_atomically
from memsvc.record import Record

State = Literal["missing", "whole", "torn", "foreign", "unreadable"]

_OPEN = b"[\n"
_CLOSE = b"\n]"
_FIRST = b'[\n{"seq":'
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class HistoryFileChanged(Exception):
    """Another program changed the file: it is not as long as its owner left it."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a file was found to be.

    Attributes:
        state: see the module's text; `missing` when there is none.
        size: bytes of the file.
        good_bytes: where its last whole record ends.
        count: how many whole records it has (for a foreign one, how many entries).
        first_seq: number of the first record, None without any.
        last_seq: number of the last record, None without any.
        tail: the newest records, at most as many as were asked for.
        detail: what is wrong and where, for `torn` and `unreadable`.
    """

    state: State
    size: int = 0
    good_bytes: int = 0
    count: int = 0
    first_seq: int | None = None
    last_seq: int | None = None
    tail: tuple[Record, ...] = ()
    detail: str = ""


class _Line(msgspec.Struct, frozen=True, gc=False):
    seq: int
    sent_at: int = msgspec.field(name="sendAt")
    role: str


_decode_line = msgspec.json.Decoder(_Line).decode


def read(path: Path, keep: int) -> Reading:
    """Read a file whole and say what it is. Blocking; call it in a thread.

    Args:
        path: the file.
        keep: how many of the newest records to return.

    Raises:
        OSError: it is there and cannot be read.
    """
    try:
        data = _read_bytes(path)
    except FileNotFoundError:
        return Reading(state="missing")
    if data.startswith(_FIRST):
        return _read_lines(data, keep)
    if _FIRST.startswith(data):
        return Reading(state="torn", size=len(data), detail="it ends before its first record")
    if data == _OPEN + _CLOSE[1:]:
        return Reading(state="whole", size=len(data))
    return _read_array(data)


def _read_bytes(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _read_lines(data: bytes, keep: int) -> Reading:
    lines = data.split(b"\n")
    closed = lines[-1] == b"]"
    rows = lines[1:-1] if closed else lines[1:]
    first_seq, last_seq, good = 0, 0, 0
    for row in rows:
        line = _whole(row.removesuffix(b","))
        if line is None:
            break
        if line.seq <= last_seq:
            return _unreadable(data, f"line {good + 2}: number {line.seq} follows {last_seq}")
        first_seq, last_seq = first_seq or line.seq, line.seq
        good += 1
        if not row.endswith(b","):
            break
    later = rows[good + 1 :] if good < len(rows) else []
    if good and not rows[good - 1].endswith(b","):
        later = rows[good:]
    if any(_whole(row.removesuffix(b",")) is not None for row in later):
        return _unreadable(data, f"line {good + 2} is no record, but later lines are")
    good_bytes = _end_of(rows[:good])
    try:
        data[:good_bytes].decode()  # the parser does not look into what it skips
    except UnicodeDecodeError as error:
        return _unreadable(data, f"byte {error.start} is not UTF-8")
    whole = closed and good == len(rows) and not rows[-1].endswith(b",")
    return Reading(
        state="whole" if whole else "torn",
        size=len(data),
        good_bytes=good_bytes,
        count=good,
        first_seq=first_seq or None,
        last_seq=last_seq or None,
        tail=tuple(_record(row.removesuffix(b",")) for row in rows[max(good - keep, 0) : good]),
        detail="" if whole else f"it ends within line {good + 2}",
    )


def _end_of(rows: Sequence[bytes]) -> int:
    """Return where the last of the first rows of a file ends, without its comma."""
    if not rows:
        return 0
    return len(_OPEN) + sum(map(len, rows)) + len(rows) - 1 - rows[-1].endswith(b",")


def _whole(row: bytes) -> _Line | None:
    """Return the head of a line if it is a whole record, byte by byte in our layout."""
    try:
        line = _decode_line(row)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return line if row.startswith(b'{"seq":%d,"sendAt":%d,"' % (line.seq, line.sent_at)) else None


def _record(row: bytes) -> Record:
    line = _decode_line(row)
    head = len(b'{"seq":%d,"sendAt":%d,' % (line.seq, line.sent_at))
    return Record(line.seq, line.sent_at, b"{" + row[head:])


def _unreadable(data: bytes, detail: str) -> Reading:
    return Reading(state="unreadable", size=len(data), detail=detail)


def _read_array(data: bytes) -> Reading:
    try:
        entries = _parse_array(data)
    except UnicodeDecodeError as error:
        return _unreadable(data, f"byte {error.start} is not UTF-8")
    except (ValueError, RecursionError) as error:
        return _unreadable(data, f"it is not a JSON array of messages ({error})")
    if not entries:
        return Reading(state="whole", size=len(data))
    return Reading(state="foreign", size=len(data), count=len(entries))


def _parse_array(data: bytes) -> list[dict[str, Any]]:
    # The standard library's parser, because it takes lone surrogates that other writers escape.
    entries = json.loads(data.decode("utf-8-sig"))
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("expected an array of objects")
    return entries


def read_foreign(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a file that was read as foreign. Blocking.

    Raises:
        OSError: it cannot be read.
        ValueError: it has changed since and is no array of objects any more.
    """
    return _parse_array(_read_bytes(path))


def append(path: Path, size: int, lines: Sequence[bytes], *, empty: bool) -> int:
    """Write records to the end of a file, and return its new size.

    The cost does not depend on the size of the file. When the disk refuses, the file is cut back to
    what it was.

    Args:
        path: the file; made when it is missing.
        size: how long its owner left it, in bytes; 0 for a missing one.
        lines: the records, in order.
        empty: whether it has no record yet.

    Raises:
        HistoryFileChanged: it has another size.
        OSError: the disk refused.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, PRIVATE_FILE)
    try:
        found = os.fstat(descriptor).st_size
        if found != size:
            raise HistoryFileChanged(f"{path} has {found} bytes; its owner left it with {size}")
        start = 0 if empty else size - len(_CLOSE)
        data = (_OPEN if empty else b",\n") + b",\n".join(lines) + _CLOSE
        try:
            _write_at(descriptor, data, start)
            if start + len(data) < size:
                os.ftruncate(descriptor, start + len(data))
        except OSError:
            _close_array(descriptor, start, empty=empty)
            raise
        return start + len(data)
    finally:
        os.close(descriptor)


def _write_at(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        if hasattr(os, "pwrite"):
            written = os.pwrite(descriptor, view, offset)
        else:  # Windows; the file has one writer
            os.lseek(descriptor, offset, os.SEEK_SET)
            written = os.write(descriptor, view)
        view = view[written:]
        offset += written


def _close_array(descriptor: int, end: int, *, empty: bool) -> None:
    # Best effort: a disk that refuses this too leaves a torn file, which is mended when next read.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0 if empty else end)
        if not empty:
            _write_at(descriptor, _CLOSE, end)


def cut(path: Path, good_bytes: int, count: int) -> int:
    """Cut a torn file behind its last whole record, and return its new size. Blocking.

    Raises:
        OSError: the disk refused; the file is torn as before, or a little shorter.
    """
    descriptor = os.open(path, os.O_RDWR | _FLAGS)
    try:
        os.ftruncate(descriptor, good_bytes if count else 0)
        tail = _CLOSE if count else _OPEN + _CLOSE[1:]
        _write_at(descriptor, tail, good_bytes if count else 0)
        return (good_bytes if count else 0) + len(tail)
    finally:
        os.close(descriptor)


def rewrite(path: Path, lines: Iterable[bytes]) -> int:
    """Write a file anew as a whole, and return its size. Blocking.

    Raises:
        OSError: the disk refused; the old file is untouched.
    """
    body = b",\n".join(lines)
    data = _OPEN + body + _CLOSE if body else _OPEN + _CLOSE[1:]
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(path, data)
    return len(data)


def set_aside(path: Path) -> Path:
    """Keep a file under another name, `history.json.corrupt-<time>`, and return that. Blocking.

    Raises:
        OSError: the disk refused.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number = 0
    while True:
        kept = path.with_name(f"{path.name}.corrupt-{stamp}" + (f"-{number}" if number else ""))
        if not kept.exists():
            path.rename(kept)
            return kept
        number += 1
