"""Readers: bounded, read-only, and with an end to every query."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memsvc.archive import schema
from memsvc.archive.connections import Connections, folded_text
from memsvc.errors import Overloaded, StorageError
from memsvc.record import encode_body

_ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "history.db"
    schema.open_writer(made, "full", 1 << 20).close()
    return made


async def test_a_query_that_does_not_end_is_stopped_and_its_connection_serves_the_next(
    path: Path,
) -> None:
    connections = Connections(path, 1, 1 << 20, timeout_seconds=0.2)
    with pytest.raises(Overloaded, match=r"more than 0.2 s"):
        await connections.read(_ENDLESS)
    assert [tuple(row) for row in await connections.read("SELECT 7")] == [(7,)]
    await connections.close()


async def test_a_cancelled_reader_does_not_take_its_connection_along(path: Path) -> None:
    connections = Connections(path, 1, 1 << 20, timeout_seconds=5.0)
    await connections.read("SELECT 1")
    endless = asyncio.create_task(connections.read(_ENDLESS))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless
    assert [tuple(row) for row in await connections.read("SELECT 7")] == [(7,)]
    await connections.close()


async def test_a_reader_cannot_write(path: Path) -> None:
    connections = Connections(path, 2, 1 << 20, timeout_seconds=5.0)
    with pytest.raises(StorageError, match="readonly"):
        await connections.read("DELETE FROM messages")
    await connections.close()


async def test_more_readers_than_connections_wait_for_their_turn(path: Path) -> None:
    connections = Connections(path, 2, 1 << 20, timeout_seconds=5.0)
    answers = await asyncio.gather(*(connections.read("SELECT ?", (n,)) for n in range(50)))
    assert [rows[0][0] for rows in answers] == list(range(50))
    await connections.close()
    await connections.close()


def test_folded_text_has_tool_traffic_only_when_asked() -> None:
    body = encode_body(
        {
            "role": "assistant",
            "content": "Sure, ÉCOLE",
            "tool_calls": [{"id": "1", "function": {"name": "fetch", "arguments": "{}"}}],
        }
    )
    assert folded_text(body, 0) == "sure, ecole"
    assert "fetch" in folded_text(body, 1)
