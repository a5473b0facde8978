"""The archive writer: owner of the one connection that writes.

All commands waiting in its mailbox become one transaction, and one fsync; there is no timer, it takes
what is there. Its task belongs to the runtime and no caller can cancel it: a caller cancelled between
INSERT and COMMIT would otherwise leave its rows to a stranger's commit.

When a group fails on one command's account, the commands are carried out one by one, so that each gets
its own answer. When the disk fails under a commit, nothing is known about it any more: all are told so,
and the writer starts again on a new connection, for after a failed fsync the next one on the same
descriptor may report success over lost data.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

import aiosqlite
from memsvc_actors import Actor, Envelope

from memsvc.archive import erase, schema
from memsvc.archive.group import INSERT_MESSAGE, UPSERT_META, Group
from memsvc.archive.messages import Command, Forget, SaveVectors, Scrub, Store, UseModel
from memsvc.errors import MemsvcError, StorageError
from memsvc.settings import Settings

# After these the connection, or the file under it, can no longer be trusted.
_FATAL = ("SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN", "SQLITE_PROTOCOL")


class ArchiveWriter(Actor[Command]):
    """Writes the archive, a group of commands at a time."""

    expected_errors = (MemsvcError,)

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path = path
        self._settings = settings
        self.batch_limit = settings.archive.group_max
        self._connection: aiosqlite.Connection | None = None
        self._next_id = 1
        self._next_sid = 1

    async def on_start(self) -> None:
        """Open the database, bring its schema up to date, and find the next free numbers."""
        self._connection = await schema.open_writer(
            self._path, self._settings.durability, self._settings.archive.cache_bytes
        )
        await self._count()

    async def on_stop(self) -> None:
        """Close the connection, which also writes the log back into the database."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def receive_batch(self, batch: list[Envelope[Command]]) -> None:
        """Carry out all of the batch in one transaction, or each alone when that fails."""
        try:
            answers = await self._transact([envelope.message for envelope in batch])
        except (sqlite3.Error, MemsvcError) as error:
            await self._open.rollback()
            if len(batch) == 1 or _is_fatal(error):
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
        if _is_fatal(error):
            raise error

    async def _transact(self, commands: Sequence[Command]) -> list[object]:
        stores = [command for command in commands if isinstance(command, Store)]
        sids: list[int] = []
        group: Group | None = None
        if stores:
            group = Group(stores, self._next_id, self._next_sid)
            await self._store(group)
            sids = group.sids
        remaining = iter(sids)
        answers: list[object] = []
        for command in commands:
            answers.append(next(remaining) if isinstance(command, Store) else await self._do(command))
        await self._open.commit()
        if group is not None:
            self._next_id, self._next_sid = group.next_id, group.next_sid
        if any(isinstance(command, Scrub) for command in commands):
            await erase.scrub(self._open)
        return answers

    async def _store(self, group: Group) -> None:
        # The implicit BEGIN IMMEDIATE of the first statement opens the transaction: one hop less.
        await self._open.executemany(INSERT_MESSAGE, group.messages)
        await self._open.execute(schema.INDEX_RANGE, (group.first_id, group.next_id - 1))
        await self._open.executemany(UPSERT_META, group.metas)

    async def _do(self, command: UseModel | SaveVectors | Forget | Scrub) -> object:
        match command:
            case UseModel():
                return await self._use_model(command)
            case SaveVectors():
                return await self._save_vectors(command)
            case Forget():
                return await erase.forget(
                    self._open, command.session, self._next_id, self._next_sid
                )
            case Scrub():
                return None  # after the commit: it cannot run inside a transaction
        assert_never(command)

    async def _use_model(self, command: UseModel) -> tuple[int, int]:
        await self._open.execute(
            "INSERT INTO models (name, dimensions) VALUES (?, ?) ON CONFLICT (name)"
            " DO UPDATE SET dimensions = max(dimensions, excluded.dimensions)",
            (command.name, command.dimensions),
        )
        query = "SELECT model, dimensions FROM models WHERE name = ?"
        rows = list(await self._open.execute_fetchall(query, (command.name,)))
        return int(rows[0][0]), int(rows[0][1])

    async def _save_vectors(self, command: SaveVectors) -> bool:
        current = await self._value(
            "SELECT count(*) FROM message_meta WHERE sid = ? AND generation = ?",
            command.sid,
            command.generation,
        )
        if not current:
            return False
        await self._open.executemany(
            "INSERT OR REPLACE INTO embeddings (id, model, vector, refused) VALUES (?, ?, ?, ?)",
            [(v.id, command.model, v.data, v.refused) for v in command.vectors],
        )
        await self._open.execute(
            "UPDATE message_meta SET embedded_model = ?, embedded_seq = ? WHERE sid = ?",
            (command.model, command.up_to_seq, command.sid),
        )
        return True

    async def _count(self) -> None:
        last_id = "SELECT coalesce(max(id), 0) FROM messages"
        last_sid = "SELECT coalesce(max(sid), 0) FROM message_meta"
        counted = "SELECT coalesce(max(CAST(value AS INTEGER)), 1) FROM properties WHERE name = ?"
        self._next_id = max(1 + await self._value(last_id), await self._value(counted, "next_id"))
        self._next_sid = max(1 + await self._value(last_sid), await self._value(counted, "next_sid"))

    async def _value(self, query: str, *parameters: object) -> int:
        rows = list(await self._open.execute_fetchall(query, parameters))
        return int(rows[0][0])

    @property
    def _open(self) -> aiosqlite.Connection:
        if self._connection is None:
            raise StorageError("The archive is not open.", "Try again in a moment.")
        return self._connection


def _is_fatal(error: Exception) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(_FATAL)


def _explain(error: Exception, path: Path) -> StorageError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_FULL"):
        return StorageError(
            f"The disk under {path} is full; nothing was written.",
            "Free some space and append again; the service goes on by itself.",
        )
    if name.startswith("SQLITE_READONLY"):
        return StorageError(
            f"{path} has become read-only; nothing was written.",
            "Make it writable again and append again.",
        )
    if name.startswith("SQLITE_CORRUPT") or name.startswith("SQLITE_NOTADB"):
        return StorageError(
            f"{path} is damaged ({error}); nothing was written.",
            "Keep a copy of the folder `store` and restore a backup.",
        )
    if name.startswith(_FATAL):
        return StorageError(
            f"The disk failed under {path} ({error}); it is not known whether this was written.",
            "Append again with the same message ids: what is there already is not stored twice.",
        )
    return StorageError(
        f"The archive {path} refused the write: {error}.", "Append again; nothing was written."
    )
