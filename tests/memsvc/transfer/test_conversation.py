"""A public session is all that moving in and out needs."""

from __future__ import annotations

from memsvc import MemoryService
from memsvc.transfer.conversation import WritableSession


async def test_a_session_can_be_moved_in_and_out(memory: MemoryService) -> None:
    session: WritableSession = memory.session("a")
    await session.append([{"role": "user", "content": "x"}])
    assert session.id == "a"
    assert len(await session.messages()) == 1
