"""Read-only connections to the archive: a bounded few, each used by one reader at a time."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import aiosqlite

from memsvc import content, record, text
from memsvc.errors import Overloaded, ServiceClosed, StorageError

# How many steps of its virtual machine SQLite takes between two looks at the sign: about a millisecond.
_STEPS = 20_000


def folded_text(body: bytes, tools: int) -> str:
    """Return the folded text of a message: what was said, and with `tools` its tool traffic too."""
    fields = record.decode_body(body)
    said = content.chat_text(fields)
    return text.fold(f"{said}\n{content.tool_text(fields)}" if tools else said)


class _Reader:
    """A connection, and the sign that what it works on is not wanted any more.

    `sqlite3_interrupt` stops only what runs at that moment; a query that still waits for its thread
    would run on. The sign is looked at while a query runs, however late it began.
    """

    __slots__ = ("connection", "given_up")

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self.connection = connection
        self.given_up = False

    def stop(self) -> bool:
        """Say whether the query that runs is to end; called by SQLite every few thousand steps."""
        return self.given_up


class Connections:
    """A pool of read-only connections. Readers never wait for the writer, nor it for them."""

    def __init__(self, path: Path, size: int, cache_bytes: int, timeout_seconds: float) -> None:
        self._path = path
        self._size = size
        self._cache_kib = max(cache_bytes // 2048, 1)
        self._timeout_seconds = timeout_seconds
        self._free: asyncio.LifoQueue[_Reader] = asyncio.LifoQueue(size)
        self._all: list[_Reader] = []
        self._opening = 0
        self._closed = False

    async def close(self) -> None:
        """Close the connections; a read under way is stopped. Safe to call twice."""
        self._closed = True
        closing, self._all = self._all, []
        for reader in closing:
            reader.given_up = True
        for reader in closing:
            await reader.connection.close()

    async def read(self, query: str, parameters: Iterable[Any] = ()) -> Sequence[sqlite3.Row]:
        """Return the rows of a query. Cancelling it stops the query.

        Raises:
            Overloaded: no connection came free, or the query did not end, within the time limit.
            StorageError: the archive could not be read.
            ServiceClosed: the service is closed.
        """
        if self._closed:
            raise ServiceClosed("The archive is closed.", "Open the service again.")
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reader = await self._next()
                return await self._read(reader, query, parameters)
        except TimeoutError:
            raise Overloaded(
                f"A read of the archive took more than {self._timeout_seconds:g} s.",
                "Ask for less (a shorter time range, rarer words), or try again later.",
            ) from None

    async def _read(
        self, reader: _Reader, query: str, parameters: Iterable[Any]
    ) -> Sequence[sqlite3.Row]:
        try:
            rows = list(await reader.connection.execute_fetchall(query, parameters))
        except sqlite3.Error as error:
            self._free.put_nowait(reader)
            if self._closed:
                raise ServiceClosed("The archive was closed.", "Open the service again.") from None
            raise _explain(error, self._path) from error
        except BaseException:
            reader.given_up = True
            # Owned by this pool; its end puts the connection back.
            task = asyncio.get_running_loop().create_task(self._recover(reader), name="stop a read")
            await asyncio.shield(task)
            raise
        self._free.put_nowait(reader)
        return rows

    async def _recover(self, reader: _Reader) -> None:
        """Wait until a query that was given up has ended, and make its connection free again."""
        if not self._closed:
            await (
                reader.connection.commit()
            )  # changes nothing; its turn comes after the query's end
            reader.given_up = self._closed
            self._free.put_nowait(reader)

    async def _next(self) -> _Reader:
        if self._free.empty() and len(self._all) + self._opening < self._size:
            self._opening += 1
            try:
                return await self._connect()
            finally:
                self._opening -= 1
        return await self._free.get()

    async def _connect(self) -> _Reader:
        try:
            connection = await aiosqlite.connect(f"{self._path.as_uri()}?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise _explain(error, self._path) from error
        reader = _Reader(connection)
        if self._closed:
            await connection.close()
            raise ServiceClosed("The archive was closed.", "Open the service again.")
        try:
            await connection.set_progress_handler(reader.stop, _STEPS)
            await connection.execute_fetchall(f"PRAGMA cache_size = {-self._cache_kib}")
            await connection.create_function("memsvc_folded", 2, folded_text, deterministic=True)
        except BaseException:
            await asyncio.shield(connection.close())  # its thread would keep the process alive
            raise
        self._all.append(reader)
        return reader


def _explain(error: sqlite3.Error, path: Path) -> StorageError:
    return StorageError(
        f"{path} could not be read: {error}.",
        "If it goes on, stop the service, keep a copy of the folder `store`, and restore a backup.",
    )
