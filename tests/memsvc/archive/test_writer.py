"""The writer as an actor: groups, answers of its own for each command, errors that say what to do."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memsvc import Settings
from memsvc.archive.messages import Store
from memsvc.archive.rows import Row
from memsvc.archive.writer import ArchiveWriter, _explain
from memsvc.errors import StorageError
from memsvc.record import encode_body
from memsvc_actors import SingleActor


def store(session: str, seq: int, sid: int | None = None) -> Store:
    body = encode_body({"role": "user", "content": f"{session} {seq}"})
    return Store(session, sid, (Row(seq, seq, "user", True, None, body),))


@pytest.fixture
async def writer(tmp_path: Path) -> AsyncIterator[SingleActor]:
    actor = SingleActor(
        "archive", lambda: ArchiveWriter(tmp_path / "history.db", Settings(home=str(tmp_path)))
    )
    await actor.start()
    yield actor
    await actor.stop(5.0)


async def ask(writer: SingleActor, command: object) -> Any:
    return await writer.ref.ask(command, timeout_seconds=10, must_run=True)


async def test_in_a_group_only_the_command_at_fault_fails(writer: SingleActor) -> None:
    await ask(writer, store("a", 1))
    answers = await asyncio.gather(
        ask(writer, store("b", 1)),
        ask(writer, store("a", 1, sid=1)),
        ask(writer, store("c", 1)),
        return_exceptions=True,
    )
    assert isinstance(answers[1], StorageError)
    assert "nothing was written" in str(answers[1])
    assert {answers[0], answers[2]} == {2, 3}


async def test_a_cancelled_caller_s_write_is_carried_out_whole(
    writer: SingleActor, tmp_path: Path
) -> None:
    callers = [asyncio.create_task(ask(writer, store(f"s{n}", 1))) for n in range(20)]
    await asyncio.sleep(0)
    for caller in callers[::2]:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    await ask(writer, store("last", 1))
    connection = sqlite3.connect(tmp_path / "history.db")
    assert connection.execute("SELECT count(*) FROM messages").fetchone() == (21,)
    assert connection.execute(
        "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH '1'"
    ).fetchone() == (21,)
    connection.close()


_FULL_DISK = """
import asyncio, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from memsvc import MemoryService, Settings, StorageError
from memsvc.settings import Semantic

async def main(home):
    async with MemoryService.open(Settings(home=home, semantic=Semantic(embedder="none"))) as memory:
        chat = memory.session("a")
        await chat.append({"role": "user", "content": "before"})
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        stored, refused = 0, 0
        for n in range(60):
            try:
                await chat.append({"role": "user", "content": f"{n} " + "x" * 10_000})
                stored += 1
            except StorageError as error:
                refused += 1
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        for _ in range(100):
            try:
                last = (await chat.append({"role": "user", "content": "after"})).last_seq
                break
            except StorageError:
                await asyncio.sleep(0.1)
        messages = await chat.messages(limit=None)
        print(stored, refused, last, len(messages), messages[-1].content)

asyncio.run(main(sys.argv[1]))
"""


def test_a_full_disk_refuses_appends_loses_none_and_recovers_by_itself(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FULL_DISK, str(tmp_path / "home")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    stored, refused, last, count, newest = done.stdout.split()
    assert int(stored) > 0
    assert int(refused) > 0
    assert int(last) == int(count) == int(stored) + 2
    assert newest == "after"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SQLITE_FULL", "takes no more; nothing was written"),
        ("SQLITE_READONLY", "read-only; nothing was written"),
        ("SQLITE_CORRUPT", "damaged"),
        ("SQLITE_IOERR_FSYNC", "not known whether"),
        ("SQLITE_CONSTRAINT_UNIQUE", "refused the write"),
    ],
)
def test_every_failure_says_what_is_known_and_what_to_do(name: str, words: str) -> None:
    error = sqlite3.OperationalError("why")
    error.sqlite_errorname = name
    explained = _explain(error, Path("/somewhere/history.db"))
    assert words in str(explained)
    assert explained.next_step
