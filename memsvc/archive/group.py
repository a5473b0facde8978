"""One transaction's worth of writes, worked out before SQLite is touched. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memsvc.archive.messages import Store
from memsvc.archive.rows import checksum


class Group:
    """The rows of several `Store`s, and the row ids and sids they get.

    One writer owns the database, so it counts ids itself: the full-text rows of a group can then be
    written by one statement over a range of ids.

    Attributes:
        first_id: row id of the group's first message; `next_id - 1` is that of its last.
        next_id: the first row id after the group.
        next_sid: the first unused session number after the group.
        messages: parameters for `INSERT_MESSAGE`.
        metas: parameters for `UPSERT_META`.
        sids: the session number of each `Store`, in their order.
    """

    __slots__ = ("first_id", "messages", "metas", "next_id", "next_sid", "sids")

    def __init__(self, stores: Sequence[Store], next_id: int, next_sid: int) -> None:
        self.first_id = self.next_id = next_id
        self.next_sid = next_sid
        self.messages: list[tuple[Any, ...]] = []
        self.metas: list[tuple[Any, ...]] = []
        self.sids: list[int] = []
        met: dict[str, int] = {}
        for store in stores:
            sid = store.sid if store.sid is not None else met.get(store.session)
            if sid is None:
                sid = met[store.session] = self.next_sid
                self.next_sid += 1
            self.sids.append(sid)
            self._add(store, sid)

    def _add(self, store: Store, sid: int) -> None:
        row_id = self.next_id
        for row in store.rows:
            self.messages.append(
                (
                    row_id,
                    sid,
                    row.seq,
                    row.sent_at,
                    row.role,
                    row.chat,
                    row.message_id,
                    row.body,
                    checksum(sid, row.seq, row.body),
                )
            )
            row_id += 1
        self.next_id = row_id
        newest = store.rows[-1]
        self.metas.append((sid, store.session, newest.seq, newest.sent_at, len(store.rows)))


INSERT_MESSAGE = """INSERT INTO messages
    (id, sid, seq, sent_at, role, chat, message_id, body, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""

UPSERT_META = """INSERT INTO message_meta (sid, session, last_seq, last_at, messages)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (sid) DO UPDATE SET last_seq = excluded.last_seq,
    last_at = excluded.last_at, messages = messages + excluded.messages"""
