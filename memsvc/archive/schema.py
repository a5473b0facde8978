"""The database of the archive: its tables, its version, and how an older one is brought up to date.

`store/history.db`, SQLite in WAL mode, `application_id` 0x6d656d73 ("mems"), `user_version` = the
schema's version. Tables:

* `message_meta`: one row a session, see `rows.Meta`. `start_at` is the cutoff.
* `messages`: one row a message. `id` is the order of writing over all sessions, and the rowid of the
  full-text row. `body` is the message as JSON without number and time; `checksum` is BLAKE2b-64 of it,
  salted with sid and seq. `chat` is 1 for what people said, 0 for tool traffic and instructions.
* `messages_fts`: contentless FTS5. `session` holds one token, `s` and the sid, which makes a session's
  share of the index cheap to find; `text` what was said; `tools` tool traffic and instructions. Both
  texts are folded and segmented (`memsvc.text`), under the version in `properties.text_version`.
* `models`, `embeddings`: vectors as little-endian float16 by message id, with the model that made them.
  A refused one has no vector and says why.
* `properties`: single values by name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memsvc import content, record, text
from memsvc.errors import StorageError

APPLICATION_ID = 0x6D656D73
MINIMUM_SQLITE = (3, 37, 0)  # STRICT tables

_FULL_TEXT = f"""CREATE VIRTUAL TABLE messages_fts USING fts5(
    session, text, tools, content='', tokenize="{text.FTS_TOKENIZE}")"""

_VERSION_1 = (
    """CREATE TABLE message_meta (
        sid INTEGER PRIMARY KEY,
        session TEXT NOT NULL UNIQUE,
        generation INTEGER NOT NULL DEFAULT 1,
        last_seq INTEGER NOT NULL DEFAULT 0,
        last_at INTEGER NOT NULL DEFAULT 0,
        messages INTEGER NOT NULL DEFAULT 0,
        start_at INTEGER,
        start_seq INTEGER NOT NULL DEFAULT 1,
        embedded_model INTEGER NOT NULL DEFAULT 0,
        embedded_seq INTEGER NOT NULL DEFAULT 0
    ) STRICT""",
    """CREATE TABLE messages (
        id INTEGER PRIMARY KEY,
        sid INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        sent_at INTEGER NOT NULL,
        role TEXT NOT NULL,
        chat INTEGER NOT NULL,
        message_id TEXT,
        body BLOB NOT NULL,
        checksum BLOB NOT NULL
    ) STRICT""",
    "CREATE UNIQUE INDEX messages_by_seq ON messages (sid, seq)",
    """CREATE UNIQUE INDEX messages_by_message_id ON messages (sid, message_id)
        WHERE message_id IS NOT NULL""",
    """CREATE TABLE models (
        model INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE embeddings (
        id INTEGER PRIMARY KEY,
        model INTEGER NOT NULL,
        vector BLOB,
        refused TEXT
    ) STRICT""",
    "CREATE TABLE properties (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    _FULL_TEXT,
    f"INSERT INTO properties VALUES ('text_version', '{text.TOKENIZER_VERSION}')",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_VERSION_1,)
"""The statements that lead from version n to n + 1, in order."""

INDEX_RANGE = """INSERT INTO messages_fts (rowid, session, text, tools)
    SELECT id, 's' || sid, memsvc_text(body, chat), memsvc_tools(body, chat)
    FROM messages WHERE id BETWEEN ? AND ?"""

UNINDEX_SESSION = """INSERT INTO messages_fts (messages_fts, rowid, session, text, tools)
    SELECT 'delete', id, 's' || sid, memsvc_text(body, chat), memsvc_tools(body, chat)
    FROM messages WHERE sid = ?"""


def said(body: bytes, chat: int) -> str:
    """Return the index text of what a message says; empty for tool traffic and instructions."""
    return text.index_text(content.spoken_text(record.decode_body(body))) if chat else ""


def tools(body: bytes, chat: int) -> str:
    """Return the index text of a message's tool traffic, or of an instruction."""
    if chat and b'"type"' not in body and b'"tool_calls"' not in body:
        return ""  # plain talk, the usual case
    fields = record.decode_body(body)
    found = content.tool_text(fields)
    if not chat and fields.get("role") in content.CHAT_ROLES:
        found = f"{content.chat_text(fields)}\n{found}"
    return text.index_text(found) if found else ""


def open_writer(
    path: Path,
    durability: str,
    cache_bytes: int,
    migrations: Sequence[Sequence[str]] = MIGRATIONS,
) -> sqlite3.Connection:
    """Return the one connection that writes, the schema made or brought up to date. Blocking.

    Raises:
        StorageError: the file is no archive of memsvc, is damaged, or is of a newer version; or
            the SQLite library is too old. Nothing was changed.
    """
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        raise StorageError(
            f"SQLite {sqlite3.sqlite_version} is too old.",
            "memsvc needs 3.37 or later: use a newer Python or a newer libsqlite3.",
        )
    connection: sqlite3.Connection | None = None
    try:
        path.touch(mode=0o600)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.create_function("memsvc_text", 2, said, deterministic=True)
        connection.create_function("memsvc_tools", 2, tools, deterministic=True)
        _bring_up_to_date(connection, path, migrations)
        connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")
        # macOS keeps its promise only with this; SQLite ignores it elsewhere.
        connection.execute("PRAGMA fullfsync = ON")
        connection.execute(f"PRAGMA cache_size = {-cache_bytes // 1024}")
        _reindex_if_text_changed(connection)
    except (OSError, sqlite3.Error) as error:
        _close(connection)
        raise StorageError(
            f"{path} cannot be opened as an archive: {error}.",
            "Keep the file; check disk and permissions, restore a backup, or move it aside to begin"
            " a new archive.",
        ) from error
    except BaseException:
        _close(connection)
        raise
    return connection


_SYNCHRONOUS = {"full": "FULL", "normal": "NORMAL"}


def _close(connection: sqlite3.Connection | None) -> None:
    if connection is not None:
        connection.close()


def _bring_up_to_date(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Sequence[str]]
) -> None:
    application = _value(connection, "PRAGMA application_id")
    version = _value(connection, "PRAGMA user_version")
    if _value(connection, "SELECT count(*) FROM sqlite_schema") and application != APPLICATION_ID:
        raise StorageError(
            f"{path} is a SQLite database, but not an archive of memsvc.",
            "Point the home somewhere else. Nothing was changed.",
        )
    if version > len(migrations):
        raise StorageError(
            f"{path} has schema version {version}; this memsvc knows up to {len(migrations)}.",
            "It was written by a newer memsvc: use that one. Nothing was changed.",
        )
    connection.execute("PRAGMA journal_mode = WAL")
    for number in range(version, len(migrations)):
        with _transaction(connection):
            for statement in migrations[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number + 1}")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _value(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _reindex_if_text_changed(connection: sqlite3.Connection) -> None:
    """Build the full-text index anew when the rules of `memsvc.text` changed since it was built."""
    rows = connection.execute("SELECT value FROM properties WHERE name = 'text_version'").fetchall()
    if [row[0] for row in rows] == [str(text.TOKENIZER_VERSION)]:
        return
    with _transaction(connection):
        connection.execute("DROP TABLE messages_fts")
        connection.execute(_FULL_TEXT)
        connection.execute(INDEX_RANGE, (0, 2**63 - 1))
        connection.execute(
            "INSERT OR REPLACE INTO properties VALUES ('text_version', ?)",
            (str(text.TOKENIZER_VERSION),),
        )
