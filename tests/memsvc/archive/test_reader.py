"""Reading sessions and messages, each row checked against its checksum."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.archive.client import ArchiveClient
from memsvc.archive.reader import prefix_bounds
from memsvc.archive.rows import Row
from memsvc.errors import StorageError
from memsvc.record import encode_body


def row(seq: int, message_id: str | None = None, chat: bool = True) -> Row:
    return Row(
        seq,
        seq * 10,
        "user",
        chat,
        message_id,
        encode_body({"role": "user", "content": f"text {seq}"}),
    )


async def test_messages_are_read_by_number_time_and_id(archive: ArchiveClient) -> None:
    sid = await archive.store("a", None, [row(n, f"id{n}") for n in range(1, 11)])
    read = archive.read
    assert [r.seq for r in await read.newest(sid, 3)] == [8, 9, 10]
    assert [r.seq for r in await read.newest(sid, 3, before_seq=5)] == [2, 3, 4]
    assert [r.seq for r in await read.stretch(sid, 4, 6)] == [4, 5, 6]
    bounds = {"after_seq": None, "before_seq": None, "limit": None}
    assert [r.seq for r in await read.between(sid, after_ns=30, before_ns=60, **bounds)] == [
        3,
        4,
        5,
    ]
    assert set(await read.picked(sid, [2, 99])) == {2}
    assert {k: r.seq for k, r in (await read.by_message_id(sid, ["id7", "no"])).items()} == {
        "id7": 7
    }
    assert await read.count(sid, 2, 4) == 3
    assert await read.last_seq_before(sid, 45) == 4


async def test_fifty_thousand_ids_are_more_than_sqlite_takes_at_once_and_work(
    archive: ArchiveClient,
) -> None:
    sid = await archive.store("a", None, [row(1, "x")])
    assert set(await archive.read.picked(sid, range(50_000))) == {1}
    assert set(await archive.read.by_message_id(sid, [f"{n}" for n in range(49_999)] + ["x"])) == {
        "x"
    }


async def test_sessions_are_listed_by_prefix_page_by_page(archive: ArchiveClient) -> None:
    for name in ("b", "a/2", "a/1", "a0", "a\U0010ffff"):
        await archive.store(name, None, [row(1)])
    assert [m.session for m in await archive.read.metas("a/", None, 10)] == ["a/1", "a/2"]
    assert [m.session for m in await archive.read.metas("", "a/2", 2)] == ["a0", "a\U0010ffff"]


async def test_only_what_was_said_is_embedded_and_the_rest_counts_as_covered(
    archive: ArchiveClient,
) -> None:
    sid = await archive.store("a", None, [row(1), row(2, chat=False), row(3), row(4, chat=False)])
    passages, up_to = await archive.read.passages(sid, 0, 10)
    assert ([p.seq for p in passages], up_to) == ([1, 3], 4)
    assert await archive.read.passages(sid, 4, 10) == ([], 4)


@pytest.mark.parametrize("column", ["body", "checksum", "seq"])
async def test_a_damaged_row_is_an_error_and_never_an_answer(
    archive: ArchiveClient, tmp_path: Path, column: str
) -> None:
    sid = await archive.store("a", None, [row(1), row(2)])
    damage = {
        "body": "UPDATE messages SET body = CAST(replace(CAST(body AS TEXT), 'text 2', 'test 2') AS BLOB) WHERE seq = 2",
        "checksum": "UPDATE messages SET checksum = x'0000000000000000' WHERE seq = 2",
        "seq": "UPDATE messages SET seq = 3 WHERE seq = 2",
    }
    connection = sqlite3.connect(tmp_path / "history.db")
    with connection:
        connection.execute(damage[column])
    connection.close()
    with pytest.raises(StorageError, match="damaged"):
        await archive.read.newest(sid, 10)
    assert [r.seq for r in await archive.read.stretch(sid, 1, 1)] == [1]


_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=4)


@given(_TEXT, _TEXT)
def test_prefix_bounds_hold_exactly_the_texts_that_begin_with_it(prefix: str, rest: str) -> None:
    low, high = prefix_bounds(prefix)

    def within(value: str) -> bool:
        data = value.encode()
        return data >= low.encode() and (high is None or data < high.encode())

    assert within(prefix + rest)
    if not rest.startswith(prefix):
        assert not within(rest)
