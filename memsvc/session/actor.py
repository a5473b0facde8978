"""The session actor: the one owner of a conversation's directory and numbering.

It takes its messages in order, so that appends to one session are serialised and two equal ones meet.
An append is stored in the archive, then written into history.json, and only then acknowledged. What is
in memory (numbers, newest messages, size of the file) comes from disk when the actor is activated, and
again after any store whose outcome is not known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import assert_never

from memsvc import log
from memsvc.archive.client import ArchiveClient
from memsvc.archive.rows import Row
from memsvc.errors import Conflict, MemsvcError
from memsvc.model import Json, Message
from memsvc.record import Record, to_message
from memsvc.session.directory import directory_name
from memsvc.session.messages import Append, Command, Remove, View, Viewed
from memsvc.session.numbering import Numbered, Numbering
from memsvc.session.projection import Projection
from memsvc.session.window import Window, chat_messages, choose_window
from memsvc.settings import Settings
from memsvc_actors import Actor, Envelope

_MICROSECOND_NS = 1000


class SessionDependencies:
    """What all session actors share.

    Attributes:
        root: the directory of all session directories.
        archive: where messages are kept.
        settings: limits and sizes.
        appended: called with a session's id when it has something new to embed.
        clock_ns: the present, UTC unix nanoseconds.
    """

    __slots__ = ("appended", "archive", "clock_ns", "root", "settings")

    def __init__(
        self,
        root: str,
        archive: ArchiveClient,
        settings: Settings,
        appended: Callable[[str], None],
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self.root = root
        self.archive = archive
        self.settings = settings
        self.appended = appended
        self.clock_ns = clock_ns


class SessionActor(Actor[Command]):
    """Owns one session."""

    __slots__ = (
        "_deps",
        "_last_at",
        "_last_seq",
        "_newest",
        "_projection",
        "_session",
        "_sid",
        "_stale",
        "_window",
    )

    expected_errors = (MemsvcError,)
    batch_limit = 256

    def __init__(self, session: str, deps: SessionDependencies) -> None:
        self._session = session
        self._deps = deps
        self._sid: int | None = None
        self._last_seq = 0
        self._last_at = 0
        self._newest: tuple[Record, ...] = ()
        self._window: tuple[Window, tuple[dict[str, Json], ...]] | None = None
        self._projection = Projection(deps.root, directory_name(session))
        self._stale = True

    async def on_start(self) -> None:
        """Read the session's state from the archive, and mend its file by it."""
        await self._load()

    async def receive_batch(self, batch: list[Envelope[Command]]) -> None:
        """Answer in order; appends that stand together are one transaction."""
        if self._stale:
            await self._load()
        appends: list[Envelope[Command]] = []
        for envelope in batch:
            if isinstance(envelope.message, Append):
                appends.append(envelope)
                continue
            await self._append(appends)
            appends = []
            try:
                envelope.reply(await self._answer(envelope.message))
            except MemsvcError as error:
                envelope.fail(error)
        await self._append(appends)

    async def _answer(self, message: View | Remove) -> object:
        match message:
            case View():
                return await self._view()
            case Remove():
                return await self._remove()
        assert_never(message)

    async def _load(self) -> None:
        archive = self._deps.archive.read
        meta = await archive.meta(self._session)
        keep = 2 * self._deps.settings.window.max_messages
        newest = await self._projection.mend(self._session, meta, self._deps.archive, keep)
        if meta is None and newest:  # backfilled: the archive has just met it
            meta = await archive.meta(self._session)
        self._sid = meta.sid if meta else None
        self._last_seq = meta.last_seq if meta else 0
        self._last_at = meta.last_at if meta else 0
        self._newest, self._window = tuple(newest), None
        self._stale = False

    async def _append(self, envelopes: Sequence[Envelope[Command]]) -> None:
        if not envelopes:
            return
        known = await self._known_ids(envelopes)
        now_ns = self._deps.clock_ns() // _MICROSECOND_NS * _MICROSECOND_NS
        numbering = Numbering(self._session, self._last_seq, self._last_at, known, now_ns)
        numbered: list[tuple[Envelope[Command], Numbered]] = []
        for envelope in envelopes:
            assert isinstance(envelope.message, Append)
            try:
                numbered.append((envelope, numbering.number(envelope.message.drafts)))
            except Conflict as error:
                envelope.fail(error)
        rows = [row for _, append in numbered for row in append.rows]
        if rows:
            try:
                await self._store(rows)
            except MemsvcError as error:
                for envelope, _ in numbered:
                    envelope.fail(error)
                return
        for envelope, append in numbered:
            envelope.reply(append.receipt)

    async def _known_ids(self, envelopes: Sequence[Envelope[Command]]) -> dict[str, Record]:
        ids = [
            draft.message_id
            for envelope in envelopes
            if isinstance(envelope.message, Append)
            for draft in envelope.message.drafts
            if draft.message_id is not None
        ]
        if not ids or self._sid is None:
            return {}
        return await self._deps.archive.read.by_message_id(self._sid, ids)

    async def _store(self, rows: Sequence[Row]) -> None:
        self._stale = True  # until the archive says what became of it
        self._sid = await self._deps.archive.store(self._session, self._sid, rows)
        self._last_seq, self._last_at = rows[-1].seq, rows[-1].sent_at
        self._stale = False
        records = [Record(row.seq, row.sent_at, row.body) for row in rows]
        keep = 2 * self._deps.settings.window.max_messages
        self._newest, self._window = (*self._newest, *records)[-keep:], None
        if not await self._projection.append(self._session, records):
            # The messages are safe in the archive; the file is mended from it by the next message.
            self._stale = True
        if any(row.chat for row in rows):
            self._deps.appended(self._session)

    async def _view(self) -> Viewed:
        summary, cursor_seq = await self._projection.summary(self._deps.archive.read, self._sid)
        window, chat = self._shown()
        return Viewed(
            sid=self._sid,
            last_seq=self._last_seq,
            window=window,
            chat=chat,
            summary=summary,
            cursor_seq=min(cursor_seq, self._last_seq),
            history_bytes=self._projection.size,
            history_from_seq=self._projection.first_seq,
            problem=self._projection.problem,
        )

    def _shown(self) -> tuple[Window, tuple[dict[str, Json], ...] | None]:
        """Return the window, and its chat messages where they can be handed out again and again.

        Text cannot be changed by a caller, so it is worked out once; parts, calls and metadata can be,
        and are made anew for each.
        """
        if self._window is not None:
            return self._window
        window = choose_window(
            [to_message(record) for record in self._newest],
            self._deps.settings.window.max_messages,
        )
        if not all(_is_plain(message) for message in window.messages):
            return window, None
        self._window = window, tuple(chat_messages(window.messages))
        return self._window

    async def _remove(self) -> bool:
        self._stale = True
        was_there = await self._deps.archive.forget(self._session)
        await self._projection.delete()
        log.info("session removed", was_there=was_there)
        await self._load()
        return was_there


def _is_plain(message: Message) -> bool:
    return (
        isinstance(message.content, str)
        and message.tool_calls is None
        and message.metadata is None
        and not message.extra
    )
