"""Read-only connections to the archive: a bounded few, each used by one reader at a time."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite

from memsvc import content, record, text
from memsvc.errors import Overloaded, ServiceClosed, StorageError


def folded_text(body: bytes, tools: int) -> str:
    """Return the folded text of a message: what was said, and with `tools` its tool traffic too."""
    fields = record.decode_body(body)
    said = content.chat_text(fields)
    return text.fold(f"{said}\n{content.tool_text(fields)}" if tools else said)


class Connections:
    """A pool of read-only connections. Readers never wait for the writer, nor it for them."""

    def __init__(self, path: Path, size: int, cache_bytes: int, timeout_seconds: float) -> None:
        self._path = path
        self._size = size
        self._cache_kib = max(cache_bytes // 2048, 1)
        self._timeout_seconds = timeout_seconds
        self._free: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue(size)
        self._all: list[aiosqlite.Connection] = []
        self._opening = 0
        self._closed = False

    async def close(self) -> None:
        """Close the connections; a read under way is stopped. Safe to call twice."""
        self._closed = True
        closing, self._all = self._all, []
        for connection in closing:
            await connection.interrupt()
            await connection.close()

    async def read(self, query: str, parameters: Iterable[Any] = ()) -> Sequence[sqlite3.Row]:
        """Return the rows of a query.

        Raises:
            Overloaded: no connection came free, or the query did not end, within the time limit.
            StorageError: the archive could not be read.
            ServiceClosed: the service is closed.
        """
        async with self._borrow() as connection:
            try:
                return list(await connection.execute_fetchall(query, parameters))
            except sqlite3.Error as error:
                raise _explain(error, self._path) from error

    @asynccontextmanager
    async def _borrow(self) -> AsyncIterator[aiosqlite.Connection]:
        if self._closed:
            raise ServiceClosed("The archive is closed.", "Open the service again.")
        connection: aiosqlite.Connection | None = None
        try:
            async with asyncio.timeout(self._timeout_seconds):
                connection = await self._next()
                yield connection
        except TimeoutError:
            raise Overloaded(
                f"A read of the archive took more than {self._timeout_seconds:g} s.",
                "Ask for less (a shorter time range, rarer words), or try again later.",
            ) from None
        finally:
            if connection is not None:
                # A read that was given up still runs in its thread: stop it before the next one.
                await asyncio.shield(self._give_back(connection))

    async def _next(self) -> aiosqlite.Connection:
        if self._free.empty() and len(self._all) + self._opening < self._size:
            self._opening += 1
            try:
                return await self._connect()
            finally:
                self._opening -= 1
        return await self._free.get()

    async def _connect(self) -> aiosqlite.Connection:
        try:
            connection = await aiosqlite.connect(f"{self._path.as_uri()}?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise _explain(error, self._path) from error
        self._all.append(connection)
        await connection.execute_fetchall(f"PRAGMA cache_size = {-self._cache_kib}")
        await connection.create_function("memsvc_folded", 2, folded_text, deterministic=True)
        return connection

    async def _give_back(self, connection: aiosqlite.Connection) -> None:
        if connection in self._all:
            await connection.interrupt()
            self._free.put_nowait(connection)


def _explain(error: sqlite3.Error, path: Path) -> StorageError:
    return StorageError(
        f"{path} could not be read: {error}.",
        "If it goes on, stop the service, keep a copy of the folder `store`, and restore a backup.",
    )
