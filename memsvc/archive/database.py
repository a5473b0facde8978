"""The database of the archive as its writer uses it: commands in, one transaction, answers out.

All of it blocks and runs in the writer's own thread. One call carries out a whole group: a hop between
threads for each statement would cost more than the statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from memsvc.archive import erase, schema
from memsvc.archive.group import INSERT_MESSAGE, UPSERT_META, Group
from memsvc.archive.messages import Command, Forget, SaveVectors, Scrub, Store, UseModel
from memsvc.settings import Settings


class Database:
    """The one connection that writes, and the next free numbers."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self._connection = schema.open_writer(
            path, settings.durability, settings.archive.cache_bytes
        )
        self._next_id = 1
        self._next_sid = 1
        self._count()

    def close(self) -> None:
        """Close the connection, which also writes the log back into the database."""
        self._connection.close()

    def carry_out(self, commands: Sequence[Command]) -> list[object]:
        """Carry out commands in one transaction, all or none, and return their answers.

        Raises:
            sqlite3.Error: nothing was written, or, after an input/output error, it is not known.
            MemsvcError: nothing was written.
        """
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            answers = self._write(commands)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._count()
            raise
        if any(isinstance(command, Scrub) for command in commands):
            erase.scrub(self._connection)  # it cannot run inside a transaction
        return answers

    def _write(self, commands: Sequence[Command]) -> list[object]:
        stores = [command for command in commands if isinstance(command, Store)]
        sids = iter(self._store(stores) if stores else ())
        return [
            next(sids) if isinstance(command, Store) else self._do(command) for command in commands
        ]

    def _store(self, stores: Sequence[Store]) -> list[int]:
        group = Group(stores, self._next_id, self._next_sid)
        self._connection.executemany(INSERT_MESSAGE, group.messages)
        self._connection.execute(schema.INDEX_RANGE, (group.first_id, group.next_id - 1))
        self._connection.executemany(UPSERT_META, group.metas)
        self._next_id, self._next_sid = group.next_id, group.next_sid
        return group.sids

    def _do(self, command: UseModel | SaveVectors | Forget | Scrub) -> object:
        match command:
            case UseModel():
                return self._use_model(command)
            case SaveVectors():
                return self._save_vectors(command)
            case Forget():
                return erase.forget(
                    self._connection, command.session, self._next_id, self._next_sid
                )
            case Scrub():
                return None
        assert_never(command)

    def _use_model(self, command: UseModel) -> tuple[int, int]:
        self._connection.execute(
            "INSERT INTO models (name, dimensions) VALUES (?, ?) ON CONFLICT (name)"
            " DO UPDATE SET dimensions = max(dimensions, excluded.dimensions)",
            (command.name, command.dimensions),
        )
        row = self._connection.execute(
            "SELECT model, dimensions FROM models WHERE name = ?", (command.name,)
        ).fetchone()
        return int(row[0]), int(row[1])

    def _save_vectors(self, command: SaveVectors) -> bool:
        current = self._connection.execute(
            "SELECT 1 FROM message_meta WHERE sid = ? AND generation = ?",
            (command.sid, command.generation),
        ).fetchone()
        if current is None:
            return False
        self._connection.executemany(
            "INSERT OR REPLACE INTO embeddings (id, model, vector, refused) VALUES (?, ?, ?, ?)",
            [(v.id, command.model, v.data, v.refused) for v in command.vectors],
        )
        self._connection.execute(
            "UPDATE message_meta SET embedded_model = ?, embedded_seq = ? WHERE sid = ?",
            (command.model, command.up_to_seq, command.sid),
        )
        return True

    def _count(self) -> None:
        """Find the next free numbers; they are never given twice, not even after a deletion."""
        query = """SELECT max(coalesce(max({0}), 0) + 1, coalesce((SELECT CAST(value AS INTEGER)
            FROM properties WHERE name = ?), 1)) FROM {1}"""
        for_ids = query.format("id", "messages"), ("next_id",)
        for_sids = query.format("sid", "message_meta"), ("next_sid",)
        self._next_id = int(self._connection.execute(*for_ids).fetchone()[0])
        self._next_sid = int(self._connection.execute(*for_sids).fetchone()[0])


# After these the connection, or the file under it, can no longer be trusted.
_FATAL = ("SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN", "SQLITE_PROTOCOL")


def is_fatal(error: Exception) -> bool:
    """Say whether, after this error, connection or file can no longer be trusted."""
    name = getattr(error, "sqlite_errorname", "")
    # A write that was refused is rolled back and known not to have happened.
    return name != "SQLITE_IOERR_WRITE" and name.startswith(_FATAL)
