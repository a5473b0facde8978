"""The public handle of one conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memsvc import times
from memsvc.archive.rows import Meta
from memsvc.errors import InvalidArgument, SessionNotFound
from memsvc.model import (
    Context,
    Hits,
    Json,
    Match,
    Message,
    Receipt,
    Role,
    SessionStatus,
)
from memsvc.record import to_message
from memsvc.search.request import Request
from memsvc.session import prompt, window
from memsvc.session.directory import check_session_id, directory_name
from memsvc.session.draft import drafts
from memsvc.session.messages import Viewed
from memsvc.tiers import Tiers

AnyMessage = Message | Mapping[str, Json]


class Session:
    """One conversation. Costs nothing until it is used; appending creates it.

    Attributes:
        id: the session's id.
    """

    __slots__ = ("_tiers", "id")

    def __init__(self, session_id: str, tiers: Tiers) -> None:
        self.id: str = check_session_id(session_id)
        self._tiers = tiers

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

    async def append(
        self,
        messages: AnyMessage | Sequence[AnyMessage],
        *,
        strip_prefixes: bool | None = None,
    ) -> Receipt:
        """Store one message or several, all or none, in order, with consecutive numbers.

        When it returns, the messages are durable (SPEC 3): under `durability = "full"` they survive
        power loss. Once taken an append is carried out, also when the caller is cancelled; to try
        again safely, give messages an `id`.

        Args:
            messages: a message or a sequence of them, as `Message` or as dicts.
            strip_prefixes: take `sendAt:`, `sender:` and `channelId:` lines off the start of content;
                the setting of that name decides when None.

        Returns:
            The receipt, with the numbers the messages got.

        Raises:
            InvalidMessage: a message cannot be used; nothing was changed.
            Conflict: an id that the session has comes with other content; nothing was changed.
            Overloaded: too much is waiting, or no answer came in time.
            StorageError: the disk failed; the error says whether anything was written.
            ServiceClosed: the service was closed.
        """
        self._tiers.check_open()
        settings = self._tiers.settings
        strip = settings.strip_prefixes if strip_prefixes is None else strip_prefixes
        taken = drafts(messages, settings.limits, strip=strip)
        return await self._tiers.sessions.append(self.id, taken)

    async def messages(
        self,
        limit: int | None = 16,
        before: int | datetime | str | None = None,
        after: int | datetime | str | None = None,
    ) -> list[Message]:
        """Return the newest messages within bounds, oldest of them first.

        Args:
            limit: how many; None is all of them.
            before: a seq, or a time (aware datetime or RFC 3339): only earlier messages.
            after: a seq, or a time: only later messages (from that time on).

        Raises:
            SessionNotFound: the session has no messages.
            InvalidArgument: a bound cannot be read.
            StorageError: the archive could not be read.
        """
        self._tiers.check_open()
        if limit is not None and limit < 0:
            raise InvalidArgument(f"limit is {limit}.", "Give 0 or more, or None for all.")
        low_seq, low_ns = _bound("after", after)
        high_seq, high_ns = _bound("before", before)
        meta = await self._meta()
        records = await self._tiers.archive.read.between(
            meta.sid,
            after_seq=low_seq,
            before_seq=high_seq,
            after_ns=low_ns,
            before_ns=high_ns,
            limit=limit,
        )
        return [to_message(record) for record in records]

    async def context(
        self,
        user_input: str | list[Json] | None = None,
        system: str | None = None,
        max_tokens: int | None = None,
    ) -> Context:
        """Return what a model should see at this turn, ready for a chat completion (SPEC 4).

        A session that has no messages yet gives the system prompt and the input alone.

        Args:
            user_input: what the user says now, as text or parts; it is not stored.
            system: the caller's system prompt.
            max_tokens: leave out the oldest whole turns until the estimate fits.

        Raises:
            InvalidArgument: `max_tokens` is below 1.
            StorageError: the session could not be read.
        """
        self._tiers.check_open()
        if max_tokens is not None and max_tokens < 1:
            raise InvalidArgument(f"max_tokens is {max_tokens}.", "Give 1 or more, or None.")
        view = await self._tiers.sessions.view(self.id)
        shown, omitted = list(view.window.messages), 0
        if max_tokens is not None:
            fixed = prompt.build(system, view.summary.summary, [], user_input)
            room = max_tokens - sum(map(self._tiers.count_tokens, fixed))
            shown, omitted = window.drop_oldest_turns(
                shown, room, self._tiers.count_tokens, keep_newest=user_input is None
            )
        if view.chat is not None and not omitted:
            chat = [dict(message) for message in view.chat]
        else:
            chat = window.chat_messages(shown)
        return Context(
            messages=prompt.build(system, view.summary.summary, chat, user_input),
            summary=view.summary.summary,
            window=shown,
            unsummarized=_unsummarized(view, view.window.first_seq),
            omitted=omitted,
        )

    async def search(
        self,
        query: str,
        *,
        match: Match = "hybrid",
        time_range: str = "all",
        after: datetime | str | None = None,
        before: datetime | str | None = None,
        limit: int = 8,
        include_window: bool = False,
        include_tools: bool = False,
        role: Role | None = None,
    ) -> Hits:
        """Return the messages that answer a query best, each with its neighbours (SPEC 6, 7).

        Args:
            query: text, never a syntax; in keyword mode all its words must occur, and a part in
                double quotes is a phrase.
            match: `hybrid` (words and meaning), `keyword`, or `semantic`.
            time_range: `1d`, `7d`, `1m`, `1y` or `all`.
            after: only messages from this time on.
            before: only messages before this time.
            limit: how many hits, 1 to 32.
            include_window: also messages that the model sees anyway.
            include_tools: also tool traffic and instructions, by keyword.
            role: only messages of this role.

        Raises:
            InvalidArgument: an argument cannot be used.
            SessionNotFound: the session has no messages.
            ModelError: the embedder failed in `semantic` mode; `hybrid` falls back on words.
            Overloaded: it took longer than `search.timeout`.
        """
        self._tiers.check_open()
        request = Request(
            query=query,
            match=match,
            time_range=time_range,
            after=after,
            before=before,
            limit=limit,
            include_tools=include_tools,
            role=role,
        )
        self._tiers.searcher.check(request)
        meta = await self._meta()
        before_seq = None
        if not include_window:
            view = await self._tiers.sessions.view(self.id)
            before_seq = view.window.first_seq or None
        return await self._tiers.searcher.in_session(request, meta, before_seq)

    async def status(self) -> SessionStatus:
        """Return counts, sizes and waiting work of the session.

        Raises:
            SessionNotFound: the session has no messages.
        """
        self._tiers.check_open()
        meta = await self._meta()
        view = await self._tiers.sessions.view(self.id)
        return SessionStatus(
            session=self.id,
            messages=meta.messages,
            last_seq=meta.last_seq,
            last_at=times.from_ns(meta.last_at),
            directory=str(self._tiers.settings.home_path / "sessions" / directory_name(self.id)),
            history_bytes=view.history_bytes,
            history_from_seq=view.history_from_seq,
            cutoff=None if meta.start_at is None else times.from_ns(meta.start_at),
            cursor_seq=view.cursor_seq,
            unsummarized=_unsummarized(view, view.window.first_seq),
            embedded=await self._tiers.semantic.embedded(meta.sid),
            waiting_for_embedding=await self._tiers.semantic.waiting(meta.sid),
            problems=[text for text in (view.problem, view.summary.problem) if text],
        )

    async def remove(self, erase: bool = False) -> bool:
        """Delete the session: its messages, index entries, embeddings and files.

        Args:
            erase: return only when no byte of it is left in the files of the home.

        Returns:
            Whether there was such a session.
        """
        self._tiers.check_open()
        meta = await self._tiers.archive.read.meta(self.id)
        was_there = await self._tiers.sessions.remove(self.id)
        if meta is not None:
            self._tiers.semantic.forget(meta.sid)
        if erase:
            await self._tiers.archive.scrub()
        return was_there

    async def _meta(self) -> Meta:
        archive = self._tiers.archive.read
        meta = await archive.meta(self.id)
        if meta is None or meta.messages == 0:
            # Perhaps its directory was moved in from elsewhere: its actor takes it over.
            view = await self._tiers.sessions.view(self.id)
            meta = await archive.meta(self.id) if view.sid is not None else None
        if meta is None or meta.messages == 0:
            raise SessionNotFound(
                f"Session {self.id!r} has no messages.", "Check the id, or append the first one."
            )
        return meta


def _unsummarized(view: Viewed, window_first_seq: int) -> int:
    oldest_shown = window_first_seq or view.last_seq + 1
    return max(oldest_shown - 1 - view.cursor_seq, 0)


def _bound(name: str, value: Any) -> tuple[int | None, int | None]:
    """Return a bound as (seq, None) or (None, nanoseconds)."""
    if value is None:
        return None, None
    if isinstance(value, int) and not isinstance(value, bool):
        return value, None
    try:
        return None, times.parse(value)
    except (ValueError, AttributeError):
        raise InvalidArgument(
            f"{name} is neither a number of a message nor a time with its zone.",
            "Give a seq, an aware datetime, or RFC 3339 text.",
        ) from None
