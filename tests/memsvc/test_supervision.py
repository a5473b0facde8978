"""The tree: the writer is replaced under running sessions, and gives up in words when it cannot be."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest

from memsvc import MemoryService, MemsvcError, StorageError
from memsvc.archive.database import Database


class Broken(sqlite3.OperationalError):
    sqlite_errorname = "SQLITE_IOERR_FSYNC"


async def test_after_a_failed_fsync_the_writer_starts_anew_and_nothing_is_lost_or_doubled(
    memory: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = memory.session("a")
    await chat.append({"role": "user", "content": "0", "id": "0"})
    whole, failures = Database.carry_out, [2]

    def failing(self: Database, commands: object) -> list[object]:
        answers = whole(self, commands)  # type: ignore[arg-type]
        if failures[0]:
            failures[0] -= 1
            raise Broken("after the commit: the outcome is not known")
        return answers

    monkeypatch.setattr(Database, "carry_out", failing)
    for n in range(1, 8):
        for _ in range(10):
            try:
                await chat.append({"role": "user", "content": f"{n}", "id": f"{n}"})
                break
            except StorageError as error:
                assert "same message ids" in str(error)
    assert [m.content for m in await chat.messages(limit=None)] == [f"{n}" for n in range(8)]
    assert (await memory.status()).degraded == []


async def test_a_disk_that_goes_on_failing_fails_the_service_with_advice(
    memory: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(self: Database, commands: object) -> list[object]:
        raise Broken("for ever")

    chat = memory.session("a")
    await chat.append({"role": "user", "content": "before"})
    monkeypatch.setattr(Database, "carry_out", failing)
    seen: list[MemsvcError] = []
    for _ in range(20):
        try:
            await chat.append({"role": "user", "content": "x"})
        except MemsvcError as error:
            seen.append(error)
        await asyncio.sleep(0.05)
    assert isinstance(seen[-1], StorageError)
    assert "close and open" in str(seen[-1])


async def test_an_unforeseen_error_of_one_session_is_its_own(
    memory: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memsvc.session.actor import SessionActor

    whole = SessionActor.receive_batch

    async def failing(self: SessionActor, batch: object) -> None:
        if self._session == "bad":
            raise ZeroDivisionError
        await whole(self, batch)  # type: ignore[arg-type]

    monkeypatch.setattr(SessionActor, "receive_batch", failing)
    with pytest.raises(StorageError, match="unforeseen"):
        await memory.session("bad").append({"role": "user", "content": "x"})
    assert (await memory.session("good").append({"role": "user", "content": "x"})).first_seq == 1
    monkeypatch.undo()
    assert (await memory.session("bad").append({"role": "user", "content": "x"})).first_seq == 1
