"""Opening and closing a home: one owner, clear refusals, a clean end whatever happens."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import make_settings

from memsvc import (
    HomeLocked,
    InvalidArgument,
    MemoryService,
    ServiceClosed,
    Settings,
    StorageError,
)

_HOLD = """
import asyncio, sys
from memsvc import MemoryService, Settings
from memsvc.settings import Semantic
async def main():
    async with MemoryService.open(Settings(home=sys.argv[1], semantic=Semantic(embedder="hash"))) as memory:
        await memory.session("a").append({"role": "user", "content": "mine"})
        print("open", flush=True)
        %s
asyncio.run(main())
"""


def hold(home: Path, then: str = "await asyncio.sleep(60)") -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD % then, str(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


async def test_a_second_process_is_told_who_owns_the_home_and_changes_nothing(home: Path) -> None:
    process = hold(home)
    try:
        with pytest.raises(HomeLocked, match=str(process.pid)) as refused:
            async with MemoryService.open(make_settings(home)):
                pass
        assert refused.value.pid == process.pid
    finally:
        process.kill()
        process.communicate()
    async with MemoryService.open(make_settings(home)) as memory:
        assert [m.content for m in await memory.session("a").messages()] == ["mine"]


async def test_twelve_at_once_have_one_owner_and_no_message_is_lost(home: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from memsvc import HomeLocked, MemoryService, Settings\n"
        "from memsvc.settings import Semantic\n"
        "async def main():\n"
        "    async with MemoryService.open(Settings(home=sys.argv[1], semantic=Semantic(embedder='none'))) as m:\n"
        "        await m.session('a').append({'role': 'user', 'content': sys.argv[2]})\n"
        "try:\n    asyncio.run(main()); print('stored')\n"
        "except HomeLocked: print('locked')\n"
    )
    running = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, str(home), str(n), stdout=asyncio.subprocess.PIPE
        )
        for n in range(12)
    ]
    answers = [(await process.communicate())[0].decode().strip() for process in running]
    assert set(answers) <= {"stored", "locked"}
    async with MemoryService.open(make_settings(home)) as memory:
        assert len(await memory.session("a").messages(limit=None)) == answers.count("stored") >= 1


async def test_the_same_process_cannot_open_a_home_twice(
    settings: Settings, memory: MemoryService
) -> None:
    with pytest.raises(HomeLocked, match=str(os.getpid())):
        async with MemoryService.open(settings):
            pass
    await memory.session("a").append({"role": "user", "content": "still works"})


@pytest.mark.parametrize(
    "then",
    [
        "raise RuntimeError('mine')",
        "raise KeyboardInterrupt",
        "await asyncio.sleep(60)",
        "sys.exit(3)",
    ],
    ids=["exception", "keyboard interrupt", "ctrl-c", "exit"],
)
def test_the_end_is_clean_whatever_leads_to_it(home: Path, then: str) -> None:
    process = hold(home, then)
    if "sleep" in then:
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode != 0
    for trouble in (
        "loop is closed",
        "never awaited",
        "never retrieved",
        "Exception in thread",
        "ResourceWarning",
        "destroyed",
    ):
        assert trouble not in errors
    connection = sqlite3.connect(home / "store" / "history.db")
    assert connection.execute("SELECT count(*) FROM messages").fetchone() == (1,)
    connection.close()


async def test_closing_finishes_what_was_taken_and_refuses_what_comes_after(
    settings: Settings,
) -> None:
    async with MemoryService.open(settings) as memory:
        chat = memory.session("a")
        pending = [
            asyncio.create_task(chat.append({"role": "user", "content": f"{n}"})) for n in range(50)
        ]
        await asyncio.sleep(0)
        await memory.close()
        await memory.close()
        outcomes = await asyncio.gather(*pending, return_exceptions=True)
        with pytest.raises(ServiceClosed):
            await chat.append({"role": "user", "content": "late"})
        with pytest.raises(ServiceClosed):
            await memory.status()
    stored = sum(not isinstance(outcome, BaseException) for outcome in outcomes)
    assert all(isinstance(o, ServiceClosed) for o in outcomes if isinstance(o, BaseException))
    async with MemoryService.open(settings) as memory:
        assert len(await memory.session("a").messages(limit=None)) == stored == 50


async def test_a_home_that_is_a_file_is_refused_and_kept(home: Path) -> None:
    home.write_text("precious")
    with pytest.raises(StorageError, match="a file is in the way"):
        async with MemoryService.open(make_settings(home)):
            pass
    assert home.read_text() == "precious"


async def test_reading_a_home_that_is_not_there_makes_none(home: Path) -> None:
    with pytest.raises(StorageError, match="There is nothing at"):
        async with MemoryService.open(make_settings(home), create=False):
            pass
    assert not home.exists()


async def test_a_home_of_a_newer_version_is_refused_and_its_lock_given_back(
    settings: Settings, home: Path
) -> None:
    async with MemoryService.open(settings):
        pass
    connection = sqlite3.connect(home / "store" / "history.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    for _ in range(2):
        with pytest.raises(StorageError, match="newer memsvc"):
            async with MemoryService.open(settings):
                pass


async def test_sessions_are_listed_by_prefix_and_page(memory: MemoryService) -> None:
    for name in ("user-7/a", "user-7/b", "user-70/a", "Ümlaut"):
        await memory.session(name).append({"role": "user", "content": name})
    page = await memory.sessions(prefix="user-7/", limit=1)
    assert [s.session for s in page] == ["user-7/a"]
    rest = await memory.sessions(prefix="user-7/", limit=5, cursor=page.cursor)
    assert ([s.session for s in rest], rest.cursor) == (["user-7/b"], None)
    with pytest.raises(InvalidArgument):
        await memory.sessions(limit=0)


@pytest.mark.parametrize("bad", ["", "x" * 201, "a\nb", "a\x00", "\ud800", 7])
def test_a_session_id_that_cannot_be_used_is_refused_by_name(
    memory: MemoryService, bad: object
) -> None:
    with pytest.raises(InvalidArgument, match="session id"):
        memory.session(bad)  # type: ignore[arg-type]


async def test_status_tells_counts_and_that_nothing_is_degraded(memory: MemoryService) -> None:
    await memory.session("a").append({"role": "user", "content": "hello"})
    await memory.flush()
    status = await memory.status()
    assert (status.sessions, status.messages, status.embedder.embedded) == (1, 1, 1)
    assert status.degraded == []
    assert status.durability == "full"
    assert status.archive_bytes > 0
    assert set(status.queues) == {"archive", "sessions", "embedding"}
