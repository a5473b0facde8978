"""A handle counts tokens as its caller wants."""

from __future__ import annotations

from pathlib import Path

from conftest import make_settings

from memsvc import MemoryService


async def test_a_counter_of_the_caller_s_own_decides_what_fits(home: Path) -> None:
    async with MemoryService.open(make_settings(home), count_tokens=lambda message: 10) as memory:
        chat = memory.session("a")
        await chat.append([{"role": "user", "content": "x" * 1000} for _ in range(8)])
        context = await chat.context("now", max_tokens=45)
    assert (len(context.window), context.omitted) == (3, 5)
