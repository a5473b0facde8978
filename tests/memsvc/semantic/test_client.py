"""Search by meaning without an embedder, and flush with one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from conftest import make_settings

from memsvc import MemoryService, ModelError


async def test_without_an_embedder_words_are_searched_and_meaning_is_refused_in_words(
    home: Path,
) -> None:
    async with MemoryService.open(make_settings(home, "none")) as memory:
        chat = memory.session("a")
        await chat.append({"role": "user", "content": "a needle"})
        await memory.flush()
        assert [h.seq for h in await chat.search("needle", include_window=True)] == [1]
        with pytest.raises(ModelError, match="no embedder"):
            await chat.search("needle", match="semantic", include_window=True)
        assert (await memory.status()).embedder.name == "none"


async def test_flush_with_nothing_to_do_returns_at_once(memory: MemoryService) -> None:
    await memory.flush()
    await memory.session("a").append({"role": "user", "content": "x"})
    await memory.flush()
    await memory.flush()


async def test_flush_ends_when_the_last_batch_is_done_while_it_looks(memory: MemoryService) -> None:
    client = memory._tree.semantic
    looked = client._due

    async def slow_look() -> object:
        due = await looked()
        while await looked():  # the worker comes to the end before the caller has its answer
            await asyncio.sleep(0)
        return due

    client._due = slow_look  # type: ignore[assignment,method-assign]
    for n in range(5):
        await memory.session("a").append({"role": "user", "content": f"{n}"})
        await asyncio.wait_for(memory.flush(), 10)
