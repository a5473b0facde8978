"""The service: opens a home, hands out sessions, and closes in order."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio.to_thread

from memsvc import files, log, times
from memsvc.errors import InvalidArgument, ServiceClosed, StorageError
from memsvc.handle import Session
from memsvc.model import (
    Hits,
    Match,
    Role,
    ServiceStatus,
    SessionInfo,
    SessionPage,
)
from memsvc.search.request import Request
from memsvc.semantic.choose import make_embedder
from memsvc.semantic.embedder import Embedder
from memsvc.session.tokens import estimate_tokens
from memsvc.settings import Settings
from memsvc.supervision import Tree
from memsvc.tiers import Tiers, TokenCounter
from memsvc.version import __version__

PAGE_MAX = 1000


class MemoryService:
    """The memory of all conversations of one home. Open it with `MemoryService.open()`."""

    def __init__(self, settings: Settings, tree: Tree, count_tokens: TokenCounter) -> None:
        self.settings = settings
        self._tree = tree
        self._closed = False
        self._tiers = Tiers(
            tree.sessions,
            tree.archive,
            tree.semantic,
            tree.searcher,
            settings,
            self._check_open,
            count_tokens,
        )

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        embedder: Embedder | None = None,
        count_tokens: TokenCounter = estimate_tokens,
        create: bool = True,
    ) -> AsyncIterator[MemoryService]:
        """Own a home for the length of a `with` block.

        On the way out, whatever the reason, work under way is finished within `shutdown.grace`, files
        are closed and the home is given up.

        Args:
            settings: where and how; read from environment and file when None.
            embedder: one of your own, instead of the one that the settings name.
            count_tokens: tokens of one chat message, for `max_tokens`; an estimate otherwise.
            create: make the home when it is missing.

        Raises:
            HomeLocked: another process owns the home.
            StorageError: the home or its archive cannot be used; nothing was changed.
            SettingsError: a setting cannot be used.
        """
        settings = Settings.load() if settings is None else settings
        home = settings.home_path
        await anyio.to_thread.run_sync(lambda: files.open_home(home, create=create))
        lock = await anyio.to_thread.run_sync(files.HomeLock.acquire, home)
        try:
            tree = Tree(settings, embedder or make_embedder(settings.semantic))
            service = cls(settings, tree, count_tokens)
            try:
                await tree.start()
                yield service
            finally:
                # A worker thread must not outlive the event loop it answers to, so nothing may
                # interrupt this: not even the cancellation that led here.
                await _uninterrupted(service.close())
        finally:
            lock.release()

    async def close(self) -> None:
        """Finish what is under way and close. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        await self._tree.stop()
        log.info("closed", home=str(self.settings.home_path))

    def _check_open(self) -> None:
        if self._closed:
            raise ServiceClosed("The service is closed.", "Open it again.")
        if self._tree.failure:
            raise StorageError(
                f"The service has failed: {self._tree.failure}.",
                "See the log for the cause; check disk and permissions, then close and open it.",
            )

    def session(self, session_id: str) -> Session:
        """Return the handle of a conversation; it costs nothing until it is used.

        Raises:
            InvalidArgument: the id is empty, longer than 200 characters, or has control characters.
        """
        return Session(session_id, self._tiers)

    async def search(
        self,
        query: str,
        *,
        prefix: str,
        match: Match = "hybrid",
        time_range: str = "all",
        after: datetime | str | None = None,
        before: datetime | str | None = None,
        limit: int = 8,
        include_tools: bool = False,
        role: Role | None = None,
    ) -> Hits:
        """Return the messages that answer a query best, over all sessions of a prefix (SPEC 7).

        Args:
            query: as in `Session.search`.
            prefix: what the ids of the sessions begin with; it may not be empty, so that one tenant
                never meets another by accident.
            match: as in `Session.search`, and so are the others.
            time_range: `1d`, `7d`, `1m`, `1y` or `all`.
            after: only messages from this time on.
            before: only messages before this time.
            limit: how many hits, 1 to 32.
            include_tools: also tool traffic and instructions, by keyword.
            role: only messages of this role.

        Raises:
            InvalidArgument: an argument cannot be used.
            ModelError: the embedder failed in `semantic` mode.
            Overloaded: it took longer than `search.timeout`.
        """
        self._check_open()
        if not isinstance(prefix, str) or not prefix:
            raise InvalidArgument(
                "A search over sessions has no prefix.",
                "Say what their ids begin with, such as 'user-7/'.",
            )
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
        self._tree.searcher.check(request)
        return await self._tree.searcher.in_sessions(request, prefix)

    async def sessions(
        self, prefix: str = "", limit: int = 100, cursor: str | None = None
    ) -> SessionPage:
        """Return sessions in the order of their ids.

        Args:
            prefix: what their ids begin with.
            limit: how many, 1 to 1000.
            cursor: from the page before.

        Raises:
            InvalidArgument: the limit is out of range.
        """
        self._check_open()
        if not 1 <= limit <= PAGE_MAX:
            raise InvalidArgument(f"limit is {limit}.", f"Give 1 to {PAGE_MAX}.")
        metas = await self._tree.archive.read.metas(prefix, cursor, limit + 1)
        page = [
            SessionInfo(
                session=meta.session,
                messages=meta.messages,
                last_seq=meta.last_seq,
                last_at=times.from_ns(meta.last_at),
            )
            for meta in metas[:limit]
        ]
        return SessionPage(sessions=page, cursor=page[-1].session if len(metas) > limit else None)

    async def flush(self) -> None:
        """Wait until everything appended so far is embedded, and so can be found by meaning.

        Raises:
            ModelError: the embedder does not work at present, or needs more than
                `semantic.flush_timeout`; it goes on by itself, and nothing is lost.
        """
        self._check_open()
        await self._tree.semantic.flush()

    async def status(self) -> ServiceStatus:
        """Return counts, sizes, queues, and what does not work as it should."""
        self._check_open()
        embedder = await self._tree.semantic.status()
        totals = await self._tree.archive.read.totals(0)
        degraded = self._tree.degraded
        if embedder.last_error:
            degraded.append(
                f"Embedding does not work: {embedder.last_error} Keyword search is not affected."
            )
        return ServiceStatus(
            version=__version__,
            home=str(self.settings.home_path),
            sqlite=sqlite3.sqlite_version,
            durability=self.settings.durability,
            sessions=totals.sessions,
            messages=totals.messages,
            archive_bytes=await anyio.to_thread.run_sync(
                _archive_bytes, self.settings.home_path / "store"
            ),
            active_sessions=self._tree.active_sessions,
            embedder=embedder,
            degraded=degraded,
            queues=self._tree.queues(),
        )


def _archive_bytes(store: Path) -> int:
    return sum(path.stat().st_size for path in store.glob("history.db*"))


async def _uninterrupted(closing: Coroutine[Any, Any, None]) -> None:
    """Await to the end whatever cancels this task meanwhile, then let the cancellation through."""
    task = asyncio.create_task(closing, name="close memsvc")
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
