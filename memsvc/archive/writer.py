"""The archive writer: owner of the one connection that writes.

All commands waiting in its mailbox become one transaction, and one fsync; there is no timer, it takes
what is there. Its task belongs to the runtime and no caller can cancel it: a caller cancelled between
INSERT and COMMIT would otherwise leave its rows to a stranger's commit. The connection lives in a thread
of its own, and a group is one call to it.

When a group fails on one command's account, the commands are carried out one by one, so that each gets
its own answer. When the disk fails under a commit, nothing is known about it any more: all are told so,
and the writer starts again on a new connection, for after a failed fsync the next one on the same
descriptor may report success over lost data.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from memsvc.archive.database import Database, is_fatal
from memsvc.archive.messages import Command
from memsvc.errors import MemsvcError, StorageError
from memsvc.settings import Settings
from memsvc_actors import Actor, Envelope

_T = TypeVar("_T")


class ArchiveWriter(Actor[Command]):
    """Writes the archive, a group of commands at a time."""

    expected_errors = (MemsvcError,)

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path = path
        self._settings = settings
        self.batch_limit = settings.archive.group_max
        self._thread = ThreadPoolExecutor(1, "memsvc-archive")
        self._database: Database | None = None

    async def on_start(self) -> None:
        """Open the database, bring its schema up to date, and find the next free numbers."""
        self._database = await self._call(lambda: Database(self._path, self._settings))

    async def on_stop(self) -> None:
        """Close the connection, which also writes the log back into the database."""
        database, self._database = self._database, None
        try:
            if database is not None:
                await self._call(database.close)
        finally:
            self._thread.shutdown(wait=False)

    async def receive_batch(self, batch: list[Envelope[Command]]) -> None:
        """Carry out all of the batch in one transaction, or each alone when that fails."""
        try:
            answers = await self._carry_out([envelope.message for envelope in batch])
        except (sqlite3.Error, MemsvcError) as error:
            if len(batch) == 1 or is_fatal(error):
                self._fail(batch, error)
                return
        else:
            for envelope, answer in zip(batch, answers, strict=True):
                envelope.reply(answer)
            return
        for envelope in batch:
            await self.receive_batch([envelope])

    def _fail(self, batch: Sequence[Envelope[Command]], error: Exception) -> None:
        reason = error if isinstance(error, MemsvcError) else _explain(error, self._path)
        for envelope in batch:
            envelope.fail(reason)
        if is_fatal(error):
            raise error

    async def _carry_out(self, commands: Sequence[Command]) -> list[object]:
        database = self._database
        if database is None:
            raise StorageError("The archive is not open.", "Try again in a moment.")
        return await self._call(lambda: database.carry_out(commands))

    async def _call(self, function: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)


def _explain(error: Exception, path: Path) -> StorageError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR_WRITE")):
        return StorageError(
            f"The disk under {path} is full or takes no more; nothing was written.",
            "Free some space and append again; the service goes on by itself.",
        )
    if name.startswith("SQLITE_READONLY"):
        return StorageError(
            f"{path} has become read-only; nothing was written.",
            "Make it writable again and append again.",
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StorageError(
            f"{path} is damaged ({error}); nothing was written.",
            "Keep a copy of the folder `store` and restore a backup.",
        )
    if is_fatal(error):
        return StorageError(
            f"The disk failed under {path} ({error}); it is not known whether this was written.",
            "Append again with the same message ids: what is there already is not stored twice.",
        )
    return StorageError(
        f"The archive {path} refused the write: {error}.", "Append again; nothing was written."
    )
