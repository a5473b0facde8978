"""Asking a session's actor: backpressure instead of memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

from conftest import make_settings

from memsvc import MemoryService, Overloaded
from memsvc.settings import Limits


async def test_a_full_mailbox_is_an_error_with_advice_and_loses_nothing(home: Path) -> None:
    async with MemoryService.open(make_settings(home, limits=Limits(mailbox=8))) as memory:
        chat = memory.session("a")
        outcomes = await asyncio.gather(
            *(chat.append({"role": "user", "content": f"{n}"}) for n in range(200)),
            return_exceptions=True,
        )
        refused = [o for o in outcomes if isinstance(o, Overloaded)]
        stored = [o for o in outcomes if not isinstance(o, BaseException)]
        assert len(refused) + len(stored) == 200
        assert refused
        assert "limits.mailbox" in str(refused[0])
        assert refused[0].retry_after_seconds > 0
        assert len(await chat.messages(limit=None)) == len(stored)
