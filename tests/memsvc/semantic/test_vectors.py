"""Vectors in memory: read from the archive once, then only what was added."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from memsvc import MemoryService
from memsvc.settings import Semantic, Settings


async def test_a_search_sees_what_was_embedded_since_the_last_one(memory: MemoryService) -> None:
    chat = memory.session("a")
    for n in range(3):
        await chat.append({"role": "user", "content": f"apple {n}"})
        await memory.flush()
        hits = await chat.search(f"apple {n}", match="semantic", include_window=True)
        assert (len(hits), hits[0].seq) == (n + 1, n + 1)


async def test_more_sessions_than_the_cache_holds_are_all_found(home: Path) -> None:
    settings = Settings(home=str(home), semantic=Semantic(embedder="hash", cache_bytes=3000))
    async with MemoryService.open(settings) as memory:
        for n in range(10):
            await memory.session(f"s{n}").append({"role": "user", "content": f"word{n}"})
        await memory.flush()
        for _ in range(2):
            for n in range(10):
                hits = await memory.session(f"s{n}").search(
                    f"word{n}", match="semantic", include_window=True
                )
                assert [hit.content for hit in hits] == [f"word{n}"]
        assert memory._tree.semantic._vectors.nbytes <= 3000


def indexed(home: Path) -> Settings:
    return Settings(home=str(home), semantic=Semantic(embedder="hash", exact_max=1100))


async def find(memory: MemoryService, number: int) -> int:
    words = f"unique{number} thing{number}"
    hits = await memory.session("a").search(words, match="semantic", include_window=True, limit=3)
    return hits[0].seq


async def filled(home: Path) -> None:
    async with MemoryService.open(indexed(home)) as memory:
        for start in range(0, 1200, 600):
            await memory.session("a").append(
                [
                    {"role": "user", "content": f"unique{n} thing{n}"}
                    for n in range(start, start + 600)
                ]
            )
        await memory.flush()
        assert [await find(memory, n) for n in (3, 700, 1199)] == [4, 701, 1200]


async def test_a_large_session_goes_through_an_index_that_is_kept_in_a_file(home: Path) -> None:
    await filled(home)
    path = home / "store" / "vectors" / "1-1.usearch"
    before = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    async with MemoryService.open(indexed(home)) as memory:
        assert await find(memory, 700) == 701
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "manifest", "other messages"])
async def test_a_damaged_index_file_is_never_read_and_built_anew(home: Path, damage: str) -> None:
    await filled(home)
    path = home / "store" / "vectors" / "1-1.usearch"
    good = path.read_bytes()
    manifest = path.with_suffix(".json")
    if damage == "flip":
        path.write_bytes(good[:5000] + bytes(100) + good[5100:])
    elif damage == "manifest":
        manifest.write_text("{}")
    elif damage == "other messages":
        manifest.write_bytes(manifest.read_bytes().replace(b'"last_seq":1200', b'"last_seq":1201'))
    else:
        path.write_bytes(good[: len(good) // 2] if damage == "cut" else b"")
    async with MemoryService.open(indexed(home)) as memory:
        assert await find(memory, 700) == 701
    assert len(path.read_bytes()) == len(good)
    assert json.loads(manifest.read_bytes())["digest"] == sha256(path.read_bytes()).hexdigest()


async def test_removing_a_session_removes_its_index_file(home: Path) -> None:
    await filled(home)
    async with MemoryService.open(indexed(home)) as memory:
        await memory.session("a").remove()
    assert list((home / "store" / "vectors").iterdir()) == []
