"""Deleting a session from the archive, and leaving no byte of it behind."""

from __future__ import annotations

import aiosqlite

from memsvc.archive.schema import UNINDEX_SESSION
from memsvc.errors import StorageError


async def forget(
    connection: aiosqlite.Connection, session: str, next_id: int, next_sid: int
) -> bool:
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
    found = list(
        await connection.execute_fetchall(
            "SELECT sid FROM message_meta WHERE session = ?", (session,)
        )
    )
    if not found:
        return False
    sid = (found[0][0],)
    await connection.execute(UNINDEX_SESSION, sid)
    await connection.execute(
        "DELETE FROM embeddings WHERE id IN (SELECT id FROM messages WHERE sid = ?)", sid
    )
    await connection.execute("DELETE FROM messages WHERE sid = ?", sid)
    await connection.execute("DELETE FROM message_meta WHERE sid = ?", sid)
    await connection.executemany(
        "INSERT OR REPLACE INTO properties VALUES (?, ?)",
        [("next_id", str(next_id)), ("next_sid", str(next_sid))],
    )
    return True


async def scrub(connection: aiosqlite.Connection) -> None:
    """Rewrite the full-text index and the database without what was deleted, and empty the log.

    Deleting marks space as free, and FTS5 keeps deleted tokens until its segments are merged; the
    bytes go when both are written anew.

    Raises:
        StorageError: a reader kept the log from being emptied.
    """
    await connection.execute_fetchall("PRAGMA secure_delete = ON")
    try:
        await connection.execute_fetchall(
            "INSERT INTO messages_fts (messages_fts) VALUES ('optimize')"
        )
        await connection.commit()
        await connection.execute_fetchall("VACUUM")
    finally:
        await connection.execute_fetchall("PRAGMA secure_delete = OFF")
    rows = list(await connection.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)"))
    if rows[0][0]:
        raise StorageError(
            "A search was still reading; the write-ahead log could not be emptied.",
            "What was deleted is hidden; ask for erasure again to remove its last bytes.",
        )
