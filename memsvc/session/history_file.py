"""history.json: a session's recent messages, one JSON array that grows in place.

The format, for whoever reads it from another program. UTF-8, no byte order mark; the file is the
JSON array of the session's messages, oldest first, laid out with one record a line:

    [
    {"seq":1,"sendAt":1764583200000000000,"role":"user","content":"We will use Redis."},
    {"seq":2,"sendAt":1764583205000000000,"role":"assistant","content":"Noted."}
    ]

with `\\n` for line breaks, a comma and a line break between records, and no line break after the
last bracket. A record begins with `seq` (from 1, strictly increasing; a number may be missing) and
`sendAt` (UTC unix nanoseconds), in this order and without spaces, followed by the message's own
keys in the order in which they came, `role` always among them. No line break stands within a
record. An empty session is `[\\n]` (or `[]`).

Writing. An append replaces the last two bytes, `\\n]`, by `,\\n`, the new records, and `\\n]`, in
one positioned write. It costs the same at any size and is not synced: the archive is what is
durable. A reader in another process may see the file in the middle of that write, or, after a
crash, a file that ends early; then it may use every whole line. A tail that is not whole is cut
off in place; anything else replaces the file as a whole, by a rename.

Reading. A line is whole or nothing. One of these is found:

    whole       every line is, and the array is closed as above
    torn        it ends early, or what follows the last whole record is not the closing bracket: it
                is cut behind that record, and nothing else is lost
    unreadable  it was damaged in its middle: a line is not a record but a later one is, numbers do
                not increase, bytes are not UTF-8; or it is no JSON array of objects. Nothing in it
                is skipped over
    foreign     a JSON array of objects in another layout, such as Agenvoy's, on one line or
                indented: `role`, `content`, `sendAt`, `sender`, and no numbers

There is no checksum. One letter changed into another inside a text is seen by comparing the line
with the archive's row, whose body is the line without `seq` and `sendAt`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from memsvc.files import (
    PRIVATE_FILE,
    make_private_directory,
    temporary_prefix,
    write_all,
    write_atomically,
)
from memsvc.session.history_reading import (
    CLOSE,
    EMPTY,
    EMPTY_FORMS,
    OPEN,
    OPEN_FLAGS,
    Reading,
    State,
    read,
    read_foreign,
)

__all__ = (
    "HistoryFileChanged",
    "Reading",
    "State",
    "append",
    "cut",
    "read",
    "read_foreign",
    "rewrite",
    "set_aside",
)


class HistoryFileChanged(Exception):
    """Another program changed the file: it does not end as its owner left it."""


def append(path: Path, size: int, lines: Sequence[bytes], *, empty: bool) -> int:
    """Write records to the end of a file, and return its new size.

    The cost does not depend on the size of the file. When the disk refuses, the file is put back to
    what it was.

    Args:
        path: the file; made when `size` is 0.
        size: how long its owner left it, in bytes; 0 for a missing one.
        lines: the records, in order.
        empty: whether it has no record yet.

    Raises:
        HistoryFileChanged: it is missing, has another size, or does not end as it should.
        OSError: the disk refused.
    """
    if not lines:
        return size
    start = 0 if empty or size == 0 else size - len(CLOSE)
    descriptor = _open_for_append(path, size)
    try:
        replaced = _end_of_file(descriptor, path, size, start)
        data = (b",\n" if start else OPEN) + b",\n".join(lines) + CLOSE
        try:
            _write_at(descriptor, data, start)
        except OSError:
            _put_back(descriptor, path, replaced, start)
            raise
    finally:
        os.close(descriptor)
    return start + len(data)


def _open_for_append(path: Path, size: int) -> int:
    flags = os.O_RDWR | OPEN_FLAGS | (0 if size else os.O_CREAT)
    try:
        return os.open(path, flags, PRIVATE_FILE)
    except FileNotFoundError:
        if size == 0:  # its directory is missing
            raise
        raise HistoryFileChanged(f"{path} is missing") from None


def _end_of_file(descriptor: int, path: Path, size: int, start: int) -> bytes:
    """Return the bytes that an append replaces, if they are those that its owner left."""
    found = os.fstat(descriptor).st_size
    if found != size:
        raise HistoryFileChanged(f"{path} has {found} bytes; its owner left it with {size}")
    os.lseek(descriptor, start, os.SEEK_SET)
    end = os.read(descriptor, len(EMPTY) + 1)
    if end not in ((CLOSE,) if start else (b"", *EMPTY_FORMS)):
        raise HistoryFileChanged(f"{path} does not end as its owner left it")
    return end


def _write_at(descriptor: int, data: bytes, offset: int) -> None:
    os.lseek(descriptor, offset, os.SEEK_SET)
    write_all(descriptor, data)


def _put_back(descriptor: int, path: Path, replaced: bytes, start: int) -> None:
    # First over bytes that have their place on the disk already, so that a full one can take them.
    # A disk that refuses this too leaves a torn file, which is mended when it is read again.
    with contextlib.suppress(OSError):
        if not replaced and start == 0:
            path.unlink()
            return
        _write_at(descriptor, replaced, start)
        os.ftruncate(descriptor, start + len(replaced))


def cut(path: Path, good_bytes: int, count: int) -> int:
    """Cut a torn file behind its last whole record, and return its new size. Blocking.

    Args:
        path: the file.
        good_bytes: where that record ends, as it was read.
        count: how many whole records there are; with 0 the file becomes an empty array.

    Raises:
        OSError: the disk refused; the file is torn as before.
    """
    descriptor = os.open(path, os.O_RDWR | OPEN_FLAGS)
    try:
        if not count:
            os.ftruncate(descriptor, 0)
            _write_at(descriptor, EMPTY, 0)
            return len(EMPTY)
        # The bracket first: where a tail stands there is room for it. A crash in between leaves the
        # rest of the tail behind the bracket, and that is torn at the same place.
        _write_at(descriptor, CLOSE, good_bytes)
        os.ftruncate(descriptor, good_bytes + len(CLOSE))
        return good_bytes + len(CLOSE)
    finally:
        os.close(descriptor)


def rewrite(path: Path, lines: Iterable[bytes]) -> int:
    """Write a file anew as a whole, and return its size. Blocking.

    What a rewriting that was killed left behind is deleted, so that no copy outlives an erasure.

    Raises:
        OSError: the disk refused; the old file is untouched.
    """
    body = b",\n".join(lines)
    data = OPEN + body + CLOSE if body else EMPTY
    make_private_directory(path.parent)
    for left_over in path.parent.glob(temporary_prefix(path) + "*"):
        left_over.unlink(missing_ok=True)
    write_atomically(path, data)
    return len(data)


def set_aside(path: Path) -> Path:
    """Keep a file under another name, `history.json.corrupt-<UTC time>`, and return that. Blocking.

    Raises:
        OSError: the disk refused.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    for number in itertools.count():
        kept = path.with_name(f"{path.name}.corrupt-{stamp}" + (f"-{number}" if number else ""))
        if not os.path.lexists(kept):
            path.rename(kept)
            return kept
    raise AssertionError("unreachable")
