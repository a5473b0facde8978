"""Giving messages their numbers and times, and telling repeats from new ones. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memsvc.archive.rows import Row
from memsvc.errors import Conflict
from memsvc.model import Receipt
from memsvc.record import Record
from memsvc.session.draft import Draft, same_content


class Numbered(msgspec.Struct, frozen=True):
    """An append with its numbers: the rows that are new, and the receipt once they are stored."""

    rows: tuple[Row, ...]
    receipt: Receipt


class Numbering:
    """Numbers the appends of one session in their order.

    Nothing is final before the archive has it: the actor takes `last_seq` and `last_at` over after the
    commit, and drops this object otherwise.

    Attributes:
        last_seq: the newest number given.
        last_at: time of that message, UTC unix nanoseconds.
    """

    def __init__(
        self,
        session: str,
        last_seq: int,
        last_at: int,
        known: Mapping[str, Record],
        now_ns: int,
    ) -> None:
        self._session = session
        self.last_seq = last_seq
        self.last_at = last_at
        self._now_ns = now_ns
        self._known: dict[str, tuple[int, bytes]] = {
            message_id: (record.seq, record.body) for message_id, record in known.items()
        }

    def number(self, drafts: Sequence[Draft]) -> Numbered:
        """Return one append with its numbers.

        Raises:
            Conflict: an id that is known comes with other content; no number is used up.
        """
        before = (
            self.last_seq,
            self.last_at,
            dict(self._known) if len(drafts) > 1 else self._known,
        )
        rows: list[Row] = []
        seqs: list[int] = []
        try:
            seqs.extend(self._repeated(draft) or self._add(draft, rows) for draft in drafts)
        except Conflict:
            self.last_seq, self.last_at, self._known = before
            raise
        receipt = Receipt(
            session=self._session,
            first_seq=min(seqs),
            last_seq=max(seqs),
            seqs=tuple(seqs),
            duplicate=not rows,
            sanitized=any(draft.sanitized for draft in drafts),
        )
        return Numbered(tuple(rows), receipt)

    def _repeated(self, draft: Draft) -> int | None:
        known = self._known.get(draft.message_id) if draft.message_id is not None else None
        if known is None:
            return None
        seq, body = known
        if not same_content(body, draft.body):
            raise Conflict(
                f"Message id {draft.message_id!r} of session {self._session!r} is message {seq},"
                " with other content.",
                "Give a new message an id of its own. Nothing was changed.",
            )
        return seq

    def _add(self, draft: Draft, rows: list[Row]) -> int:
        self.last_seq += 1
        if draft.sent_at is None:
            # Order by time must agree with order by number, also when the clock was set back.
            self.last_at = max(self._now_ns, self.last_at)
        else:
            self.last_at = draft.sent_at
        rows.append(
            Row(self.last_seq, self.last_at, draft.role, draft.chat, draft.message_id, draft.body)
        )
        if draft.message_id is not None:
            self._known[draft.message_id] = (self.last_seq, draft.body)
        return self.last_seq
