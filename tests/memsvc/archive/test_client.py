"""The archive through its client: what was stored can be read at once."""

from __future__ import annotations

import pytest

from memsvc.archive.client import ArchiveClient
from memsvc.archive.rows import Row, Vector
from memsvc.errors import ServiceClosed
from memsvc.record import encode_body


def row(seq: int, content: str) -> Row:
    return Row(seq, seq, "user", True, None, encode_body({"role": "user", "content": content}))


async def test_a_store_can_be_read_when_it_returns(archive: ArchiveClient) -> None:
    sid = await archive.store("alice", None, [row(1, "one"), row(2, "two")])
    assert [record.seq for record in await archive.read.newest(sid, 10)] == [1, 2]
    meta = await archive.read.meta("alice")
    assert meta is not None
    assert (meta.sid, meta.last_seq, meta.messages) == (sid, 2, 2)


async def test_vectors_and_their_watermark_are_saved_together(archive: ArchiveClient) -> None:
    sid = await archive.store("alice", None, [row(1, "one"), row(2, "two")])
    model, _ = await archive.use_model("m", 2)
    assert await archive.save_vectors(sid, 1, model, [Vector(1, b"abcd")], 1)
    assert await archive.read.vectors(sid, model) == [(1, b"abcd")]
    assert [d.embedded_seq for d in await archive.read.due_sessions(model, None, 10)] == [1]
    assert await archive.read.waiting(model) == 1


async def test_forgetting_takes_everything_of_a_session(archive: ArchiveClient) -> None:
    sid = await archive.store("alice", None, [row(1, "one")])
    model, _ = await archive.use_model("m", 2)
    await archive.save_vectors(sid, 1, model, [Vector(1, b"abcd")], 1)
    assert await archive.forget("alice")
    assert await archive.read.meta("alice") is None
    assert (await archive.read.totals(model)).embedded == 0


async def test_reading_a_closed_archive_is_an_error_of_ours(archive: ArchiveClient) -> None:
    await archive.store("alice", None, [row(1, "one")])
    await archive.close()
    with pytest.raises(ServiceClosed):
        await archive.read.meta("alice")
