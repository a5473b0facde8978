"""Imports that can be repeated, and that leave alone what has gone another way."""

from __future__ import annotations

from typing import Any

from memsvc import MemoryService
from memsvc.settings import Limits
from memsvc.transfer.importing import Imported, import_conversation
from memsvc.transfer.reading import Conversation


def conversation(count: int, **more: Any) -> Conversation:
    return Conversation(
        "a", [(f"line {n}", {"role": "user", "content": f"m{n}", **more}) for n in range(count)]
    )


async def take(memory: MemoryService, count: int, **more: Any) -> Imported:
    return await import_conversation(
        memory.session("a"), conversation(count, **more), Limits(max_batch=3)
    )


async def test_a_repeated_import_adds_only_what_is_new(memory: MemoryService) -> None:
    assert (await take(memory, 5)).appended == 5
    again = await take(memory, 8)
    assert (again.appended, again.skipped) == (3, 5)
    assert (await take(memory, 2)).appended == 0
    assert [m.content for m in await memory.session("a").messages()] == [f"m{n}" for n in range(8)]


async def test_a_session_that_has_gone_another_way_is_left_alone(memory: MemoryService) -> None:
    await memory.session("a").append(
        [{"role": "user", "content": "m0"}, {"role": "user", "content": "mine"}]
    )
    done = await take(memory, 5)
    assert (done.appended, len(done.problems)) == (0, 1)
    assert "another session id" in done.problems[0]


async def test_prefix_lines_are_taken_off_and_their_time_used(memory: MemoryService) -> None:
    raw = {"role": "user", "content": "sendAt: 2026-01-02T03:04:05+00:00\nsender: Mei\nhello"}
    await import_conversation(memory.session("a"), Conversation("a", [("line 1", raw)]), Limits())
    message = (await memory.session("a").messages())[0]
    assert (message.content, message.sender) == ("hello", "Mei")
    assert str(message.sent_at) == "2026-01-02 03:04:05+00:00"
