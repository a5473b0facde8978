"""Commands in one transaction: all or none, numbers never given twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsvc import Settings
from memsvc.archive.database import Database, is_fatal
from memsvc.archive.messages import Forget, SaveVectors, Store, UseModel
from memsvc.archive.rows import Row, Vector
from memsvc.record import encode_body


def row(seq: int, content: str = "hello", message_id: str | None = None) -> Row:
    return Row(
        seq, seq * 1000, "user", True, message_id, encode_body({"role": "user", "content": content})
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(path, Settings(home=str(path.parent)))
    yield opened
    opened.close()


def count(path: Path, query: str) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(query).fetchone()[0])
    finally:
        connection.close()


def test_sessions_of_one_group_get_their_own_numbers(database: Database) -> None:
    answers = database.carry_out([Store("a", None, (row(1),)), Store("b", None, (row(1), row(2)))])
    assert answers == [1, 2]
    assert database.carry_out([Store("b", 2, (row(3),))]) == [2]


def test_a_new_session_twice_in_a_group_is_one_session(database: Database) -> None:
    assert database.carry_out([Store("a", None, (row(1),)), Store("a", None, (row(2),))]) == [1, 1]


def test_a_group_with_a_repeated_number_writes_nothing(database: Database, path: Path) -> None:
    database.carry_out([Store("a", None, (row(1),))])
    with pytest.raises(sqlite3.IntegrityError):
        database.carry_out([Store("b", None, (row(1),)), Store("a", 1, (row(1, "other"),))])
    assert count(path, "SELECT count(*) FROM messages") == 1
    assert count(path, "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'other'") == 0
    assert database.carry_out([Store("b", None, (row(1),))]) == [2]


def test_a_message_id_is_unique_in_its_session_only(database: Database) -> None:
    database.carry_out(
        [Store("a", None, (row(1, message_id="x"),)), Store("b", None, (row(1, message_id="x"),))]
    )
    with pytest.raises(sqlite3.IntegrityError):
        database.carry_out([Store("a", 1, (row(2, message_id="x"),))])


def test_numbers_are_not_given_twice_after_a_deletion_and_a_restart(path: Path) -> None:
    settings = Settings(home=str(path.parent))
    database = Database(path, settings)
    database.carry_out([Store("a", None, (row(1), row(2)))])
    assert database.carry_out([Forget("a")]) == [True]
    assert database.carry_out([Forget("a")]) == [False]
    database.close()
    database = Database(path, settings)
    assert database.carry_out([Store("a", None, (row(1),))]) == [2]
    assert count(path, "SELECT id FROM messages") == 3
    database.close()


def test_forgetting_a_session_takes_it_out_of_the_index_and_leaves_others(
    database: Database, path: Path
) -> None:
    database.carry_out(
        [Store("a", None, (row(1, "secret"),)), Store("b", None, (row(1, "public"),))]
    )
    database.carry_out([Forget("a")])
    assert count(path, "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'secret'") == 0
    assert count(path, "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'public'") == 1


def test_a_model_keeps_its_number_and_learns_its_dimensions(database: Database) -> None:
    assert database.carry_out([UseModel("m", 0)]) == [(1, 0)]
    assert database.carry_out([UseModel("m", 384)]) == [(1, 384)]
    assert database.carry_out([UseModel("m", 0), UseModel("n", 8)]) == [(1, 384), (2, 8)]


def test_vectors_of_a_session_that_is_gone_are_dropped(database: Database, path: Path) -> None:
    database.carry_out([Store("a", None, (row(1),))])
    database.carry_out([UseModel("m", 2)])
    late = SaveVectors(1, 1, 1, (Vector(1, b"\0\0\0\0"),), 1)
    assert database.carry_out([late]) == [True]
    database.carry_out([Forget("a")])
    assert database.carry_out([late]) == [False]
    assert count(path, "SELECT count(*) FROM embeddings") == 0


def test_only_a_failing_disk_or_file_is_fatal() -> None:
    class Failure(sqlite3.OperationalError):
        sqlite_errorname = "SQLITE_IOERR_FSYNC"

    class Full(sqlite3.OperationalError):
        sqlite_errorname = "SQLITE_FULL"

    assert is_fatal(Failure())
    assert not is_fatal(Full())
    assert not is_fatal(ValueError())
