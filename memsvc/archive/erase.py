"""Deleting a session from the archive, and leaving no byte of it behind."""

from __future__ import annotations

import sqlite3

from memsvc.archive.schema import UNINDEX_SESSION
from memsvc.errors import StorageError


def forget(connection: sqlite3.Connection, session: str, next_id: int, next_sid: int) -> bool:
    """Delete a session's messages, index rows and embeddings, within the open transaction.

    Args:
        connection: the write connection.
        session: the session's id.
        next_id: the next row id, kept so that numbers are never given twice: work under way for the
            deleted session must not meet a new one of the same number.
        next_sid: the next session number, kept likewise.

    Returns:
        Whether the session was there.
    """
    sid = connection.execute(
        "SELECT sid FROM message_meta WHERE session = ?", (session,)
    ).fetchone()
    if sid is None:
        return False
    connection.execute(UNINDEX_SESSION, sid)
    connection.execute(
        "DELETE FROM embeddings WHERE id IN (SELECT id FROM messages WHERE sid = ?)", sid
    )
    connection.execute("DELETE FROM messages WHERE sid = ?", sid)
    connection.execute("DELETE FROM message_meta WHERE sid = ?", sid)
    connection.executemany(
        "INSERT OR REPLACE INTO properties VALUES (?, ?)",
        [("next_id", str(next_id)), ("next_sid", str(next_sid))],
    )
    return True


def scrub(connection: sqlite3.Connection) -> None:
    """Rewrite the full-text index and the database without what was deleted, and empty the log.

    Deleting marks space as free, and FTS5 keeps deleted tokens until its segments are merged; the
    bytes go when both are written anew.

    Raises:
        StorageError: a reader kept the log from being emptied.
    """
    connection.execute("PRAGMA secure_delete = ON")
    try:
        connection.execute("INSERT INTO messages_fts (messages_fts) VALUES ('optimize')")
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA secure_delete = OFF")
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise StorageError(
            "A search was still reading; the write-ahead log could not be emptied.",
            "What was deleted is hidden; ask for erasure again to remove its last bytes.",
        )
