"""Background embedding: what was said becomes findable by meaning; failures wait, and nothing is mixed."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import make_settings

from memsvc import MemoryService, ModelError
from memsvc.semantic.hashing import HashEmbedder
from memsvc.settings import Semantic, Settings


class Recording(HashEmbedder):
    """The deterministic embedder, with a name, a record of what it saw, and failures on demand."""

    def __init__(self, name: str = "recording/1", dimensions: int = 256) -> None:
        self.name = name
        self.seen: list[str] = []
        self.fail = 0
        self.poison = ""
        self.spoil: Any = None
        self._dimensions = dimensions

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        if self.fail:
            self.fail -= 1
            raise ModelError("It is down.", "Wait.")
        if self.poison and any(self.poison in text for text in texts):
            raise ModelError("It chokes on this.", "Wait.")
        self.seen.extend(texts)
        vectors = [self._shorten(vector) for vector in await super().embed_passages(texts)]
        return self.spoil(texts, vectors) if self.spoil else vectors

    async def embed_query(self, text: str) -> Any:
        return self._shorten(await super().embed_query(text))

    def _shorten(self, vector: Sequence[float]) -> list[float]:
        return [sum(vector[place :: self._dimensions]) for place in range(self._dimensions)]


def quick(home: Path, **changes: Any) -> Settings:
    return Settings(
        home=str(home),
        semantic=Semantic(embedder="hash", retry_initial=0.01, retry_max=0.02, **changes),
    )


async def flushed(memory: MemoryService, tries: int = 200) -> None:
    for _ in range(tries):
        try:
            await memory.flush()
        except ModelError:
            await asyncio.sleep(0.01)
        else:
            return
    raise AssertionError("it never recovered")


async def test_only_what_people_said_is_embedded_with_who_said_it(home: Path) -> None:
    embedder = Recording()
    async with MemoryService.open(make_settings(home), embedder=embedder) as memory:
        await memory.session("a").append(
            [
                {"role": "user", "content": "hello", "sender": "Ann"},
                {"role": "system", "content": "obey"},
                {"role": "tool", "tool_call_id": "1", "content": "42"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "parts"},
                        {"type": "image_url", "image_url": {}},
                    ],
                },
                {"role": "user", "content": "   "},
                {"role": "user", "content": "[memsvc:context]\nan echo of ours"},
            ]
        )
        await memory.flush()
        status = await memory.status()
    assert embedder.seen == ["Ann: hello", "parts"]
    assert (status.embedder.embedded, status.embedder.waiting) == (2, 0)


async def test_many_sessions_are_embedded_and_each_message_once(home: Path) -> None:
    embedder = Recording()
    async with MemoryService.open(make_settings(home), embedder=embedder) as memory:
        await asyncio.gather(
            *(
                memory.session(f"s{n}").append(
                    [{"role": "user", "content": f"{n}-{k}"} for k in range(n % 40 + 1)]
                )
                for n in range(60)
            )
        )
        await memory.flush()
        expected = sorted(f"{n}-{k}" for n in range(60) for k in range(n % 40 + 1))
        assert sorted(embedder.seen) == expected
        assert (await memory.status()).embedder.embedded == len(expected)


async def test_a_restart_embeds_what_was_left_and_nothing_twice(home: Path) -> None:
    settings, first, second = make_settings(home), Recording(), Recording()
    first.fail = 10**9
    async with MemoryService.open(settings, embedder=first) as memory:
        await memory.session("a").append({"role": "user", "content": "left over"})
    async with MemoryService.open(settings, embedder=second) as memory:
        await memory.flush()
        await memory.session("a").append({"role": "user", "content": "new"})
        await memory.flush()
    assert second.seen == ["left over", "new"]


async def test_a_failing_embedder_fails_no_append_and_is_tried_again(home: Path) -> None:
    embedder = Recording()
    embedder.fail = 4
    async with MemoryService.open(quick(home), embedder=embedder) as memory:
        chat = memory.session("a")
        await chat.append({"role": "user", "content": "needle in hay"})
        with pytest.raises(ModelError, match="down"):
            await memory.flush()
        status = await memory.status()
        assert (status.embedder.waiting, status.embedder.last_error != "") == (1, True)
        assert any("Embedding" in problem for problem in status.degraded)
        hits = await chat.search("needle", include_window=True)
        assert [hit.seq for hit in hits] == [1]
        assert "not embedded yet" in hits.note
        await flushed(memory)
        assert (await memory.status()).degraded == []


async def test_one_bad_message_is_refused_alone_and_keeps_nobody_waiting(home: Path) -> None:
    embedder = Recording()
    embedder.poison = "poison"
    async with MemoryService.open(quick(home), embedder=embedder) as memory:
        chat = memory.session("a")
        await chat.append(
            [{"role": "user", "content": text} for text in ("one", "poison", "three")]
        )
        await flushed(memory)
        status = await memory.status()
        assert (status.embedder.embedded, status.embedder.refused, status.embedder.waiting) == (
            2,
            1,
            0,
        )
        assert [
            h.seq for h in await chat.search("poison", match="keyword", include_window=True)
        ] == [2]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
async def test_vectors_that_cannot_be_compared_never_reach_the_index(
    home: Path, value: float
) -> None:
    embedder = Recording()
    embedder.spoil = lambda texts, vectors: [
        [value] * len(v) if "bad" in t else v for t, v in zip(texts, vectors, strict=True)
    ]
    async with MemoryService.open(quick(home), embedder=embedder) as memory:
        chat = memory.session("a")
        await chat.append(
            [{"role": "user", "content": f"{'bad' if n % 2 else 'good'} {n}"} for n in range(20)]
        )
        await flushed(memory)
        status = await memory.status()
        assert (status.embedder.embedded, status.embedder.refused) == (10, 10)
        hits = await chat.search("good 4", match="semantic", include_window=True, limit=10)
        assert hits[0].seq == 5
        assert all(hit.seq % 2 for hit in hits)


@pytest.mark.parametrize("dimensions", [256, 64])
async def test_after_a_change_of_model_nothing_is_mixed_purged_or_stopped(
    home: Path, dimensions: int
) -> None:
    settings = make_settings(home)
    async with MemoryService.open(settings, embedder=Recording("old/1")) as memory:
        await memory.session("a").append(
            [{"role": "user", "content": f"old {n}"} for n in range(5)]
        )
        await memory.flush()
    stalled = Recording("new/1", dimensions)
    stalled.fail = 10**9
    async with MemoryService.open(settings, embedder=stalled) as memory:
        chat = memory.session("a")
        assert len(await chat.search("old 3", match="semantic", include_window=True)) == 0
        assert len(await chat.search("old 3", match="keyword", include_window=True)) == 1
        status = (await memory.status()).embedder
        assert (status.embedded, status.waiting) == (0, 5)
        assert (await chat.append({"role": "user", "content": "new"})).first_seq == 6
    connection = sqlite3.connect(home / "store" / "history.db")
    assert connection.execute(
        "SELECT count(*) FROM embeddings WHERE vector IS NOT NULL"
    ).fetchone() == (5,)
    connection.close()
    async with MemoryService.open(settings, embedder=Recording("new/1", dimensions)) as memory:
        await memory.flush()
        status = (await memory.status()).embedder
        assert (status.embedded, status.waiting, status.dimensions) == (6, 0, dimensions)
        hits = await memory.session("a").search("old 3", match="semantic", include_window=True)
        assert hits[0].content == "old 3"


async def test_a_model_that_changes_its_dimensions_under_the_same_name_is_not_mixed_in(
    home: Path,
) -> None:
    settings = quick(home)
    async with MemoryService.open(settings, embedder=Recording("same", 256)) as memory:
        await memory.session("a").append({"role": "user", "content": "one"})
        await memory.flush()
    async with MemoryService.open(settings, embedder=Recording("same", 64)) as memory:
        await memory.session("a").append({"role": "user", "content": "two"})
        with pytest.raises(ModelError, match="64 dimensions; this model's had 256"):
            await memory.flush()
        assert (await memory.status()).embedder.embedded == 1


async def test_what_is_removed_meanwhile_is_not_written_back(home: Path) -> None:
    gate = asyncio.Event()

    class Slow(Recording):
        async def embed_passages(self, texts: Sequence[str]) -> Any:
            self.seen.extend(texts)
            await gate.wait()
            return await HashEmbedder.embed_passages(self, texts)

    embedder = Slow()
    async with MemoryService.open(make_settings(home), embedder=embedder) as memory:
        chat = memory.session("a")
        await chat.append({"role": "user", "content": "going"})
        while not embedder.seen:
            await asyncio.sleep(0)
        await chat.remove()
        await chat.append({"role": "user", "content": "coming"})
        gate.set()
        await memory.flush()
        assert (await memory.status()).embedder.embedded == 1
        hits = await chat.search("coming", match="semantic", include_window=True)
        assert [hit.content for hit in hits] == ["coming"]
