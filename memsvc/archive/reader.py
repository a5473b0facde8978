"""Reading the archive: sessions, their messages, and what waits to be embedded."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

from memsvc.archive.connections import Connections
from memsvc.archive.rows import DueSession, Meta, Passage, Totals, checksum
from memsvc.errors import StorageError
from memsvc.record import Record

_T = TypeVar("_T")

_META = """SELECT sid, session, generation, last_seq, last_at, messages, start_at, start_seq,
    embedded_model, embedded_seq FROM message_meta"""
# SQLite takes 32,766 parameters at most; a batch of ids stays well below.
_PARAMETERS_MAX = 5000


class ArchiveReader:
    """Queries that answer with whole rows. Every body is checked against its checksum."""

    def __init__(self, connections: Connections) -> None:
        self._read = connections.read

    async def meta(self, session: str) -> Meta | None:
        """Return a session's row of `message_meta`, or None when the archive has not met it."""
        rows = await self._read(f"{_META} WHERE session = ?", (session,))
        return Meta(*rows[0]) if rows else None

    async def metas(self, prefix: str, after: str | None, limit: int) -> list[Meta]:
        """Return sessions whose id begins with a prefix, by id, from the first one after `after`."""
        low, high = prefix_bounds(prefix)
        rows = await self._read(
            f"{_META} WHERE session >= ? AND (? IS NULL OR session < ?) AND session > ?"
            " AND messages > 0 ORDER BY session LIMIT ?",
            (low, high, high, after if after is not None else "", limit),
        )
        return [Meta(*row) for row in rows]

    async def recent_metas(self, prefix: str, limit: int) -> list[Meta]:
        """Return sessions whose id begins with a prefix, those last used first."""
        low, high = prefix_bounds(prefix)
        rows = await self._read(
            f"{_META} WHERE session >= ? AND (? IS NULL OR session < ?)"
            " AND messages > 0 ORDER BY last_at DESC LIMIT ?",
            (low, high, high, limit),
        )
        return [Meta(*row) for row in rows]

    async def newest(self, sid: int, limit: int, before_seq: int | None = None) -> list[Record]:
        """Return the newest messages of a session, oldest of them first."""
        rows = await self._read(
            "SELECT seq, sent_at, body, checksum FROM messages WHERE sid = ? AND seq < ?"
            " ORDER BY seq DESC LIMIT ?",
            (sid, 2**62 if before_seq is None else before_seq, limit),
        )
        return self._records(sid, reversed(rows))

    async def stretch(self, sid: int, low_seq: int, high_seq: int, limit: int = -1) -> list[Record]:
        """Return messages from `low_seq` to `high_seq`, both included, oldest first."""
        rows = await self._read(
            "SELECT seq, sent_at, body, checksum FROM messages"
            " WHERE sid = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
            (sid, low_seq, high_seq, limit),
        )
        return self._records(sid, rows)

    async def between(
        self,
        sid: int,
        *,
        after_seq: int | None,
        before_seq: int | None,
        after_ns: int | None,
        before_ns: int | None,
        limit: int | None,
    ) -> list[Record]:
        """Return the newest messages within bounds, oldest of them first.

        Args:
            sid: the session's number in the archive.
            after_seq: only messages with greater numbers.
            before_seq: only messages with smaller numbers.
            after_ns: only messages sent at this time or later, UTC unix nanoseconds.
            before_ns: only messages sent earlier than this time.
            limit: how many, None for all.
        """
        rows = await self._read(
            "SELECT seq, sent_at, body, checksum FROM messages"
            " WHERE sid = ? AND seq > ? AND seq < ?"
            " AND (? IS NULL OR sent_at >= ?) AND (? IS NULL OR sent_at < ?)"
            " ORDER BY seq DESC LIMIT ?",
            (
                sid,
                -1 if after_seq is None else after_seq,
                2**62 if before_seq is None else before_seq,
                after_ns,
                after_ns,
                before_ns,
                before_ns,
                -1 if limit is None else limit,
            ),
        )
        return self._records(sid, reversed(rows))

    async def last_seq_before(self, sid: int, before_ns: int) -> int:
        """Return the newest message sent earlier than a time, 0 for none."""
        rows = await self._read(
            "SELECT coalesce(max(seq), 0) FROM messages WHERE sid = ? AND sent_at < ?",
            (sid, before_ns),
        )
        return int(rows[0][0])

    async def picked(self, sid: int, seqs: Collection[int]) -> dict[int, Record]:
        """Return messages by their numbers; those that are not there are left out."""
        found: dict[int, Record] = {}
        for part in _parts(sorted(set(seqs))):
            rows = await self._read(
                "SELECT seq, sent_at, body, checksum FROM messages WHERE sid = ?"
                f" AND seq IN ({_marks(part)})",
                (sid, *part),
            )
            found.update((record.seq, record) for record in self._records(sid, rows))
        return found

    async def by_message_id(self, sid: int, message_ids: Sequence[str]) -> dict[str, Record]:
        """Return a session's messages by the caller's ids; those that are not there are left out."""
        found: dict[str, Record] = {}
        for part in _parts(message_ids):
            rows = await self._read(
                "SELECT seq, sent_at, body, checksum, message_id FROM messages WHERE sid = ?"
                f" AND message_id IN ({_marks(part)})",
                (sid, *part),
            )
            records = self._records(sid, rows)
            found.update((row[4], record) for row, record in zip(rows, records, strict=True))
        return found

    async def count(self, sid: int, low_seq: int, high_seq: int) -> int:
        """Return how many messages a session has from `low_seq` to `high_seq`, both included."""
        rows = await self._read(
            "SELECT count(*) FROM messages WHERE sid = ? AND seq BETWEEN ? AND ?",
            (sid, low_seq, high_seq),
        )
        return int(rows[0][0])

    async def due_sessions(
        self, model: int, sessions: Collection[str] | None, limit: int
    ) -> list[DueSession]:
        """Return sessions with messages to embed by `model`, among the given ones or all."""
        due = (
            "SELECT sid, session, generation,"
            " max(iif(embedded_model = ?, embedded_seq, 0), start_seq - 1), last_seq"
            " FROM message_meta WHERE (embedded_model != ? OR embedded_seq < last_seq)"
            " AND messages > 0"
        )
        if sessions is None:
            rows = await self._read(f"{due} ORDER BY last_at DESC LIMIT ?", (model, model, limit))
        else:
            part = list(sessions)[:_PARAMETERS_MAX]
            rows = await self._read(
                f"{due} AND session IN ({_marks(part)}) LIMIT ?", (model, model, *part, limit)
            )
        return [DueSession(*row) for row in rows]

    async def passages(self, sid: int, after_seq: int, limit: int) -> tuple[list[Passage], int]:
        """Return the next messages of a session to embed, and how far that reaches.

        Returns:
            The passages, oldest first, and the seq up to which everything is covered when they are
            done: messages that are not embedded (tool traffic, instructions) count as covered.
        """
        rows = await self._read(
            "SELECT id, seq, body, chat FROM messages WHERE sid = ? AND seq > ? ORDER BY seq LIMIT ?",
            (sid, after_seq, limit),
        )
        passages = [Passage(row[0], row[1], row[2]) for row in rows if row[3]]
        return passages, rows[-1][1] if rows else after_seq

    async def vectors(self, sid: int, model: int, after_seq: int = 0) -> list[tuple[int, bytes]]:
        """Return (seq, float16 vector) of a session's messages after `after_seq`, by seq."""
        rows = await self._read(
            "SELECT m.seq, e.vector FROM messages m JOIN embeddings e ON e.id = m.id"
            " WHERE m.sid = ? AND m.seq > ? AND e.model = ? AND e.vector IS NOT NULL"
            " ORDER BY m.seq",
            (sid, after_seq, model),
        )
        return [(row[0], row[1]) for row in rows]

    async def embedded(self, sid: int, model: int) -> int:
        """Return how many messages of a session have a vector of `model`."""
        rows = await self._read(
            "SELECT count(*) FROM messages m JOIN embeddings e ON e.id = m.id"
            " WHERE m.sid = ? AND e.model = ? AND e.vector IS NOT NULL",
            (sid, model),
        )
        return int(rows[0][0])

    async def waiting(self, model: int, sid: int | None = None) -> int:
        """Return how many messages wait to be embedded by `model`, in one session or in all."""
        rows = await self._read(
            "SELECT count(*) FROM message_meta t JOIN messages m ON m.sid = t.sid"
            " AND m.seq > max(iif(t.embedded_model = ?, t.embedded_seq, 0), t.start_seq - 1)"
            " WHERE m.chat AND (t.embedded_model != ? OR t.embedded_seq < t.last_seq)"
            " AND (? IS NULL OR t.sid = ?)",
            (model, model, sid, sid),
        )
        return int(rows[0][0])

    async def totals(self, model: int) -> Totals:
        """Return counts over the whole archive, those of vectors for `model`."""
        rows = await self._read(
            "SELECT (SELECT count(*) FROM message_meta WHERE messages > 0),"
            " (SELECT coalesce(sum(messages), 0) FROM message_meta),"
            " (SELECT count(*) FROM embeddings WHERE model = ? AND vector IS NOT NULL),"
            " (SELECT count(*) FROM embeddings WHERE model = ? AND vector IS NULL)",
            (model, model),
        )
        sessions, messages, embedded, refused = rows[0]
        waiting = await self.waiting(model) if model else 0
        return Totals(sessions, messages, embedded, refused, waiting)

    def _records(self, sid: int, rows: Iterable[sqlite3.Row]) -> list[Record]:
        records = []
        for row in rows:
            seq, sent_at, body = row[0], row[1], row[2]
            if checksum(sid, seq, body) != row[3]:
                raise StorageError(
                    f"Message {seq} in the archive is damaged: its checksum does not fit.",
                    "Keep a copy of the folder `store` and restore a backup; the other messages"
                    " can still be read.",
                )
            records.append(Record(seq, sent_at, body))
        return records


def prefix_bounds(prefix: str) -> tuple[str, str | None]:
    """Return the half-open range [low, high) of texts that begin with a prefix; None is no bound."""
    for end in range(len(prefix), 0, -1):
        last = ord(prefix[end - 1])
        if last < 0x10FFFF:
            # The code points of surrogates cannot stand in a text.
            following = 0xE000 if last == 0xD7FF else last + 1
            return prefix, prefix[: end - 1] + chr(following)
    return prefix, None


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))


def _parts(values: Sequence[_T]) -> Iterable[Sequence[_T]]:
    for start in range(0, len(values), _PARAMETERS_MAX):
        yield values[start : start + _PARAMETERS_MAX]
