"""history.json against the archive: mended by it when a session is next opened."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memsvc import MemoryService, Settings


async def fill(settings: Settings, count: int = 5) -> Path:
    async with MemoryService.open(settings) as memory:
        for n in range(count):
            await memory.session("a").append({"role": "user", "content": f"message {n} 世界"})
    return Path(settings.home) / "sessions" / "a" / "history.json"


async def contents(settings: Settings) -> list[object]:
    async with MemoryService.open(settings) as memory:
        await memory.session("a").context("wake up")
        return [m.content for m in await memory.session("a").messages(limit=None)]


def in_file(path: Path) -> list[str]:
    return [entry["content"] for entry in json.loads(path.read_bytes())]


EXPECTED = [f"message {n} 世界" for n in range(5)]


@pytest.mark.parametrize("kept_share", [0.0, 0.01, 0.3, 0.5, 0.9, 0.99])
async def test_a_file_cut_anywhere_is_completed_from_the_archive(
    settings: Settings, kept_share: float
) -> None:
    path = await fill(settings)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept_share)])
    assert await contents(settings) == EXPECTED
    assert path.read_bytes() == data
    assert not list(path.parent.glob("*.corrupt-*"))


async def test_a_missing_file_is_built_anew(settings: Settings) -> None:
    path = await fill(settings)
    data = path.read_bytes()
    path.unlink()
    assert await contents(settings) == EXPECTED
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.replace(b"message 1", b"mess\xffge 1"),
        lambda data: data.replace(b'{"seq":2,', b'{"seq":7,'),
        lambda data: data.replace(b'{"seq":3,', b'"seq":3,'),
        lambda data: data[:60] + bytes(80) + data[140:],
        lambda data: b"words, no JSON",
        lambda data: data.replace(
            b"\n]", b',\n{"seq":6,"sendAt":1,"role":"user","content":"ahead"}\n]'
        ),
    ],
    ids=["not utf-8", "numbers", "broken line", "zeroes", "no json", "ahead of the archive"],
)
async def test_a_damaged_file_is_set_aside_with_a_warning_and_restored(
    settings: Settings, damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    path = await fill(settings)
    good = path.read_bytes()
    bad = damage(good)  # type: ignore[operator]
    path.write_bytes(bad)
    assert await contents(settings) == EXPECTED
    assert path.read_bytes() == good
    kept = list(path.parent.glob("history.json.corrupt-*"))
    assert [k.read_bytes() for k in kept] == [bad]
    assert str(kept[0]) in caplog.text


async def test_a_file_that_cannot_be_read_is_left_alone_and_reported(settings: Settings) -> None:
    path = await fill(settings)
    target = path.with_name("elsewhere.json")
    path.rename(target)
    path.symlink_to(target)  # never followed: it could point out of the home
    async with MemoryService.open(settings) as memory:
        chat = memory.session("a")
        assert (await chat.append({"role": "user", "content": "six"})).first_seq == 6
        status = await chat.status()
    assert status.problems
    assert str(path) in status.problems[0]
    assert in_file(target) == EXPECTED


async def test_files_and_folders_are_for_their_owner_only(settings: Settings) -> None:
    old = os.umask(0)
    try:
        path = await fill(settings)
    finally:
        os.umask(old)
    home = Path(settings.home)
    for found in (home, *home.rglob("*")):
        mode = found.stat().st_mode & 0o777
        assert mode == (0o700 if found.is_dir() else 0o600), found
    assert path.exists()


async def test_a_summary_that_lies_in_the_folder_is_in_the_context_at_once(
    settings: Settings,
) -> None:
    path = await fill(settings, 20)
    async with MemoryService.open(settings) as memory:
        chat = memory.session("a")
        before = await chat.context("hello", system="You help.")
        assert (before.summary, before.unsummarized) == (None, 4)
        summary = {
            "key_decisions": ["Do: use Redis."],
            "past_discussions": [],
            "current_discussion": {},
        }
        (path.parent / "summary.json").write_text(json.dumps(summary), "utf-8")
        (path.parent / ".summary_cursor").write_text("2026-01-01 10:00:00\n3\n", "utf-8")
        after = await chat.context("hello", system="You help.")
    assert after.summary is not None
    assert after.summary.key_decisions == ["Do: use Redis."]
    assert after.unsummarized == 1
    assert "Do: use Redis." in after.messages[-2]["content"]
    assert "Prior Conversation Context" in after.messages[0]["content"]
    assert len(after.messages) == len(before.messages) + 1
