"""The database: made, recognised, brought up to date, refused where it is not ours or newer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from memsvc import text
from memsvc.archive import schema
from memsvc.errors import StorageError
from memsvc.record import encode_body


def open_at(
    path: Path, migrations: tuple[tuple[str, ...], ...] = schema.MIGRATIONS
) -> sqlite3.Connection:
    return schema.open_writer(path, "full", 1 << 20, migrations)


def test_a_new_archive_is_private_and_carries_its_version(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    connection = open_at(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert connection.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    connection.close()


def test_a_migration_is_applied_once_and_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    connection = open_at(path)
    connection.execute("INSERT INTO message_meta (sid, session) VALUES (1, 'alice')")
    connection.close()
    newer = (*schema.MIGRATIONS, ("ALTER TABLE message_meta ADD COLUMN colour TEXT",))
    for _ in range(2):
        connection = open_at(path, newer)
        rows = connection.execute("SELECT session, colour FROM message_meta").fetchall()
        assert rows == [("alice", None)]
        connection.close()


def test_a_migration_that_fails_leaves_the_archive_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    open_at(path).close()
    broken = (*schema.MIGRATIONS, ("CREATE TABLE extra (x)", "nonsense"))
    with pytest.raises(StorageError):
        open_at(path, broken)
    connection = open_at(path)
    assert connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"
    ).fetchone() == (0,)
    connection.close()


def test_an_archive_of_a_newer_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    open_at(path, (*schema.MIGRATIONS, ("CREATE TABLE future (x)",))).close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="newer memsvc"):
        open_at(path)
    assert path.read_bytes() == before


def test_a_stranger_s_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    stranger = sqlite3.connect(path)
    stranger.execute("CREATE TABLE theirs (x)")
    stranger.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="not an archive of memsvc"):
        open_at(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    path.write_bytes(b"these are words, not pages" * 100)
    with pytest.raises(StorageError, match="cannot be opened as an archive"):
        open_at(path)
    assert path.read_bytes() == b"these are words, not pages" * 100


def test_a_change_of_the_text_rules_builds_the_index_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.db"
    connection = open_at(path)
    body = encode_body({"role": "user", "content": "Über Brücken"})
    connection.execute(
        "INSERT INTO messages VALUES (1, 1, 1, 0, 'user', 1, NULL, ?, x'00')", (body,)
    )
    connection.execute("UPDATE properties SET value = '0' WHERE name = 'text_version'")
    assert connection.execute(
        "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'brucken'"
    ).fetchone() == (0,)
    connection.close()
    connection = open_at(path)
    assert connection.execute(
        "SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'brucken'"
    ).fetchall() == [(1,)]
    assert connection.execute(
        "SELECT value FROM properties WHERE name = 'text_version'"
    ).fetchone() == (str(text.TOKENIZER_VERSION),)
    connection.close()


def test_tool_traffic_and_talk_are_indexed_apart() -> None:
    talk = encode_body({"role": "user", "content": "hello there", "sender": "Ann"})
    call = encode_body(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "function": {"name": "fetch_page", "arguments": "{}"}}],
        }
    )
    assert schema.said(talk, 1) == "ann: hello there"
    assert schema.tools(talk, 1) == ""
    assert schema.said(call, 0) == ""
    assert "fetch_page" in schema.tools(call, 0)
