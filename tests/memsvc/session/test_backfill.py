"""A session that has a file and nothing in the archive is taken over whole, once."""

from __future__ import annotations

import json
from pathlib import Path

from memsvc import MemoryService, Settings
from memsvc.session import history_file
from memsvc.session.backfill import read_rows

AGENVOY = [
    {
        "role": "user",
        "content": "當前時間: 2026-02-03 10:00:00\n你好",
        "sendAt": 1_770_000_000_000_000_000,
        "sender": "Mei",
    },
    {"role": "assistant", "content": "你好！", "sendAt": 1_770_000_001_000_000_000},
    {"role": "user", "content": "no time on this one"},
]


def lay(home: Path, entries: object, name: str = "moved-in") -> Path:
    folder = home / "sessions" / name
    folder.mkdir(parents=True)
    path = folder / "history.json"
    path.write_text(
        entries if isinstance(entries, str) else json.dumps(entries, ensure_ascii=False, indent=1),
        "utf-8",
    )
    return path


async def test_an_agenvoy_file_is_read_as_it_is(settings: Settings, home: Path) -> None:
    lay(home, AGENVOY)
    async with MemoryService.open(settings) as memory:
        chat = memory.session("moved-in")
        messages = await chat.messages()
        assert [m.content for m in messages] == ["你好", "你好！", "no time on this one"]
        assert messages[0].sender == "Mei"
        assert messages[1].sent_at == messages[2].sent_at
        assert [h.seq for h in await chat.search("你好", match="keyword", include_window=True)] == [
            2,
            1,
        ]
        assert (await chat.append({"role": "user", "content": "next"})).first_seq == 4


async def test_taking_over_happens_once(settings: Settings, home: Path) -> None:
    lay(home, AGENVOY)
    for _ in range(3):
        async with MemoryService.open(settings) as memory:
            assert len(await memory.session("moved-in").messages(limit=None)) == 3


async def test_a_file_of_ours_keeps_its_numbers(settings: Settings, home: Path) -> None:
    lines = [
        b'{"seq":%d,"sendAt":%d,"role":"user","content":"m%d","id":"i%d"}' % (n, n, n, n)
        for n in (501, 502)
    ]
    path = lay(home, (b"[\n" + b",\n".join(lines) + b"\n]").decode())
    before = path.read_bytes()
    async with MemoryService.open(settings) as memory:
        chat = memory.session("moved-in")
        assert [m.seq for m in await chat.messages()] == [501, 502]
        assert path.read_bytes() == before
        assert (await chat.append({"role": "user", "content": "m501", "id": "i501"})).seqs == (501,)


async def test_entries_that_cannot_be_used_are_reported_and_kept(
    settings: Settings, home: Path
) -> None:
    path = lay(home, [*AGENVOY, {"role": "wizard", "content": "abracadabra"}])
    async with MemoryService.open(settings) as memory:
        assert len(await memory.session("moved-in").messages()) == 3
    kept = list(path.parent.glob("history.json.corrupt-*"))
    assert len(kept) == 1
    assert "abracadabra" in kept[0].read_text("utf-8")


def test_lone_surrogates_of_another_writer_are_no_reason_to_refuse_a_file(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text('[{"role": "user", "content": "half \\ud83d one"}]', "utf-8")
    found = read_rows(path, history_file.read(path, 10))
    assert "half \ufffd one".encode() in found.rows[0].body


async def test_a_file_in_another_layout_keeps_the_numbers_it_has(
    settings: Settings, home: Path
) -> None:
    entries = [{"seq": n, "role": "user", "content": f"m{n}"} for n in (3, 7)]
    lay(home, entries)
    async with MemoryService.open(settings) as memory:
        assert [m.seq for m in await memory.session("moved-in").messages()] == [3, 7]


async def test_a_torn_file_that_moves_in_gives_what_is_whole_and_is_kept(
    settings: Settings, home: Path
) -> None:
    whole = b'[\n{"seq":1,"sendAt":1,"role":"user","content":"one"},\n{"seq":2,"sendAt":2,"ro'
    path = lay(home, whole.decode())
    async with MemoryService.open(settings) as memory:
        chat = memory.session("moved-in")
        assert [m.content for m in await chat.messages()] == ["one"]
        assert (await chat.append({"role": "user", "content": "two"})).first_seq == 2
    assert [k.read_bytes() for k in path.parent.glob("history.json.corrupt-*")] == [whole]


async def test_a_file_that_is_no_history_is_set_aside_and_the_session_begins(
    settings: Settings, home: Path
) -> None:
    path = lay(home, "words, no JSON")
    async with MemoryService.open(settings) as memory:
        assert (
            await memory.session("moved-in").append({"role": "user", "content": "one"})
        ).first_seq == 1
    assert [e["content"] for e in json.loads(path.read_bytes())] == ["one"]
    assert [k.read_text() for k in path.parent.glob("history.json.corrupt-*")] == ["words, no JSON"]
