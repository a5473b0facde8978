"""Reading history.json, and saying what state it is in; its format is told in history_file."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from memsvc.record import Record

State = Literal["missing", "whole", "torn", "foreign", "unreadable"]

OPEN = b"[\n"
CLOSE = b"\n]"
EMPTY = b"[\n]"
EMPTY_FORMS = (b"[]", EMPTY)
OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_FIRST = b'[\n{"seq":'
_HEAD = b'{"seq":%d,"sendAt":%d,"'
_BEHIND = b"\0\r ,]"


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a file was found to be.

    Attributes:
        state: see history_file; `missing` when there is none.
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


class _Head(msgspec.Struct, frozen=True, gc=False):
    seq: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
    sent_at: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] = msgspec.field(name="sendAt")
    role: str


# It checks the JSON of what it skips, too, but neither that this is UTF-8 nor the keys' order.
_decode_head = msgspec.json.Decoder(_Head).decode
_NO_RECORD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


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
    if data in EMPTY_FORMS:
        return Reading(state="whole", size=len(data))
    if _FIRST.startswith(data):
        return Reading(state="torn", size=len(data), detail="it ends before its first record")
    return _read_array(data)


def _read_bytes(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | OPEN_FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _read_lines(data: bytes, keep: int) -> Reading:
    lines = data.split(b"\n")
    heads = _heads(lines)
    _take_last(lines, heads)
    count = len(heads)
    if (line := _out_of_order([head.seq for head in heads])) is not None:
        return _unreadable(data, f"the number in line {line + 2} does not follow the one before")
    good_bytes = _end_of(lines[1 : count + 1])
    # Behind the last whole record of a file that is not closed, anything may stand.
    if (place := _not_utf8(data if data.endswith(CLOSE) else data[:good_bytes])) is not None:
        return _unreadable(data, f"byte {place} is not UTF-8")
    rest = data[good_bytes:]
    whole = count > 0 and rest == CLOSE
    if not whole and rest.strip() != b"]":  # such a bracket is an editor's work: cut, and closed
        if _is_foreign(data):
            return _read_array(data)
        if any(map(_is_record, lines[count + 1 :])):
            return _unreadable(data, f"line {count + 2} is no record, but a later one is")
    return Reading(
        state="whole" if whole else "torn",
        size=len(data),
        good_bytes=good_bytes,
        count=count,
        first_seq=heads[0].seq if heads else None,
        last_seq=heads[-1].seq if heads else None,
        tail=tuple(map(_record, heads[max(count - keep, 0) :], lines[max(count - keep, 0) + 1 :])),
        detail="" if whole else f"what follows its whole records is not its end (line {count + 2})",
    )


def _heads(lines: Sequence[bytes]) -> list[_Head]:
    """Return the heads of the whole records that stand without a break from the second line on."""
    heads: list[_Head] = []
    with contextlib.suppress(*_NO_RECORD):
        for line in itertools.islice(lines, 1, None):  # written flat: it runs for every line
            row = line.removesuffix(b",")
            head = _decode_head(row)
            if not row.startswith(_HEAD % (head.seq, head.sent_at)) or not row.endswith(b"}"):
                break
            heads.append(head)
            if len(row) == len(line):  # without a comma nothing follows
                break
    return heads


def _take_last(lines: list[bytes], heads: list[_Head]) -> None:
    """Take in the next line if it is a record with what a crash or an editor leaves behind one."""
    place = len(heads) + 1
    if place < len(lines) and (not heads or lines[place - 1].endswith(b",")):
        row = lines[place].rstrip(_BEHIND)
        if found := _heads((b"", row)):
            lines[place] = row
            heads.extend(found)


def _is_record(row: bytes) -> bool:
    return bool(_heads((b"", row)))


def _record(head: _Head, line: bytes) -> Record:
    start = len(_HEAD % (head.seq, head.sent_at)) - 1
    return Record(head.seq, head.sent_at, b"{" + line.removesuffix(b",")[start:])


def _end_of(rows: Sequence[bytes]) -> int:
    """Return where the last of the first rows of a file ends, without its comma."""
    if not rows:
        return 0
    return len(OPEN) + sum(map(len, rows)) + len(rows) - 1 - rows[-1].endswith(b",")


def _out_of_order(seqs: Sequence[int]) -> int | None:
    """Return the place of the first number that is not above the one before it, None without."""
    pairs = enumerate(itertools.pairwise(seqs), 1)
    return next((place for place, (one, other) in pairs if other <= one), None)


def _not_utf8(data: bytes) -> int | None:
    """Return where data stops being UTF-8, None when it is all well."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def _unreadable(data: bytes, detail: str) -> Reading:
    return Reading(state="unreadable", size=len(data), detail=detail)


def _read_array(data: bytes) -> Reading:
    try:
        entries = _parse_array(data)
    except UnicodeDecodeError as error:
        return _unreadable(data, f"byte {error.start} is not UTF-8")
    except (ValueError, RecursionError) as error:
        return _unreadable(data, f"it is not a JSON array of messages ({error})")
    if not entries:  # of another layout, so that it cannot be appended to as it is
        return Reading(state="torn", size=len(data), detail="an empty array in another layout")
    return Reading(state="foreign", size=len(data), count=len(entries))


def _is_foreign(data: bytes) -> bool:
    return data.rstrip().endswith(b"]") and _read_array(data).state == "foreign"


def _parse_array(data: bytes) -> list[dict[str, Any]]:
    # The standard library's parser, because it takes lone surrogates that other writers escape.
    entries = json.loads(data.decode("utf-8-sig"))
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("expected an array of objects")
    return entries


def read_foreign(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a file that was read as foreign, in order. Blocking.

    Raises:
        OSError: it cannot be read.
        ValueError: it has changed since and is no array of objects any more.
    """
    return _parse_array(_read_bytes(path))
