"""Reading a session that the archive has never met from its history.json (SPEC 8, backfill).

The file may be ours, moved in from another home, or another writer's: an Agenvoy file has `role`,
`content`, `sendAt` and `sender`, and no numbers. What cannot be used is reported, never dropped in
silence: the caller keeps the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from memsvc import content
from memsvc.archive.rows import Row
from memsvc.errors import InvalidMessage
from memsvc.record import decode_body
from memsvc.session import history_file
from memsvc.session.draft import draft
from memsvc.settings import Limits

# A file that exists was acceptable to its writer: only what JSON or SQLite cannot hold is refused.
_LIMITS = Limits(max_message_bytes=2**30, max_batch_bytes=2**30)


class Backfilled(msgspec.Struct, frozen=True):
    """A file's messages as rows.

    Attributes:
        rows: the messages, numbered.
        rewrite: whether history.json must be written anew, with numbers and one record a line.
        unusable: for each entry that could not be used, its place and why.
    """

    rows: tuple[Row, ...]
    rewrite: bool
    unusable: tuple[str, ...] = ()


def read_rows(path: Path, reading: history_file.Reading) -> Backfilled:
    """Return the messages of a file that was read as `reading`. Blocking; call it in a thread."""
    if reading.state == "foreign":
        return _foreign(path)
    whole = history_file.read(path, reading.count)
    rows = []
    for record in whole.tail:
        fields = decode_body(record.body)
        rows.append(
            Row(
                record.seq,
                record.sent_at,
                fields["role"],
                content.is_chat(fields),
                fields.get("id"),
                record.body,
            )
        )
    torn = reading.state == "torn"
    return Backfilled(tuple(rows), rewrite=torn, unusable=(reading.detail,) if torn else ())


def _foreign(path: Path) -> Backfilled:
    rows: list[Row] = []
    unusable: list[str] = []
    # Entries without a time take that of the one before; the first ones that of the file.
    last_ns = path.stat().st_mtime_ns // 1000 * 1000
    entries = history_file.read_foreign(path)
    first_known = next((e["sendAt"] for e in entries if isinstance(e.get("sendAt"), int)), last_ns)
    last_ns = min(first_known, last_ns)
    numbered = _numbered(entries)
    for place, entry in enumerate(entries):
        try:
            taken = draft(_without_number(entry), f"[{place}]", _LIMITS, strip=True)
        except InvalidMessage as error:
            unusable.append(str(error))
            continue
        last_ns = taken.sent_at if taken.sent_at is not None else last_ns
        seq = entry["seq"] if numbered else len(rows) + 1
        rows.append(Row(seq, last_ns, taken.role, taken.chat, taken.message_id, taken.body))
    return Backfilled(tuple(rows), rewrite=True, unusable=tuple(unusable))


def _numbered(entries: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether the entries carry numbers of their own that can be kept."""
    numbers = [number for entry in entries if type(number := entry.get("seq")) is int]
    return len(numbers) == len(entries) and all(
        first < second for first, second in pairwise((0, *numbers))
    )


def _without_number(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "seq"}
