"""One session: numbering, order, idempotent ids, what survives what."""

from __future__ import annotations

import asyncio
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memsvc import Conflict, MemoryService, Settings


def said(text: str, **more: object) -> dict[str, object]:
    return {"role": "user", "content": text, **more}


async def test_appends_at_once_get_numbers_without_gaps_in_the_order_they_were_made(
    memory: MemoryService,
) -> None:
    chat = memory.session("a")
    receipts = await asyncio.gather(
        *(chat.append([said(f"{n}a"), said(f"{n}b")]) for n in range(100))
    )
    assert [(r.first_seq, r.last_seq) for r in receipts] == [
        (2 * n + 1, 2 * n + 2) for n in range(100)
    ]
    assert [m.content for m in await chat.messages(limit=None)] == [
        f"{n}{x}" for n in range(100) for x in "ab"
    ]


async def test_an_id_that_is_there_changes_nothing_and_returns_the_first_receipt(
    memory: MemoryService,
) -> None:
    chat = memory.session("a")
    first = await chat.append(said("x", id="1"))
    again = await chat.append(said("x", id="1"))
    assert (again.first_seq, again.duplicate, first.duplicate) == (first.first_seq, True, False)
    mixed = await chat.append([said("x", id="1"), said("y", id="2")])
    assert (mixed.seqs, mixed.duplicate) == ((1, 2), False)


async def test_two_equal_appends_at_once_store_one_message(memory: MemoryService) -> None:
    chat = memory.session("a")
    receipts = await asyncio.gather(*(chat.append(said("x", id="same")) for _ in range(20)))
    assert sorted(r.duplicate for r in receipts) == [False] + [True] * 19
    assert {r.first_seq for r in receipts} == {1}
    assert len(await chat.messages(limit=None)) == 1


async def test_the_same_id_with_other_words_is_a_conflict_and_stores_none_of_its_batch(
    memory: MemoryService,
) -> None:
    chat = memory.session("a")
    await chat.append(said("x", id="1"))
    with pytest.raises(Conflict, match="'1'"):
        await chat.append([said("new"), said("other", id="1")])
    assert (await chat.append(said("next"))).first_seq == 2


async def test_order_by_time_agrees_with_order_by_number_when_the_clock_is_set_back(
    memory: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = memory.session("a")
    await chat.append(said("now"))
    ahead = datetime.now(UTC) + timedelta(hours=1)
    await chat.append(said("from a machine that is ahead", sent_at=ahead))
    await chat.append(said("without a time"))
    times = [m.sent_at for m in await chat.messages()]
    assert all(t is not None for t in times)
    assert times == sorted(times)  # type: ignore[type-var]
    assert times[1] == ahead


async def test_what_was_acknowledged_is_there_after_a_restart_and_numbers_go_on(
    settings: Settings,
) -> None:
    async with MemoryService.open(settings) as memory:
        await memory.session("a").append([said("one", id="1"), said("two")])
    async with MemoryService.open(settings) as memory:
        assert (await memory.session("a").append(said("one", id="1"))).duplicate
        assert (await memory.session("a").append(said("three"))).first_seq == 3


async def test_a_cancelled_append_is_carried_out_whole_or_not_at_all(memory: MemoryService) -> None:
    chat = memory.session("a")
    tasks = [asyncio.create_task(chat.append([said(f"{n}"), said(f"{n}")])) for n in range(40)]
    await asyncio.sleep(0)
    for task in tasks[::3]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await chat.append(said("last"))
    contents = [m.content for m in await chat.messages(limit=None)][:-1]
    assert contents[::2] == contents[1::2]
    assert len(contents) >= 2 * sum(not task.cancelled() for task in tasks)


async def test_the_file_holds_every_message_and_is_valid_json(
    memory: MemoryService, home: Path
) -> None:
    chat = memory.session("a")
    for n in range(5):
        await chat.append(said(f"{n}"))
    entries = json.loads((home / "sessions" / "a" / "history.json").read_bytes())
    assert [(e["seq"], e["role"], e["content"]) for e in entries] == [
        (n + 1, "user", f"{n}") for n in range(5)
    ]
    assert all(isinstance(e["sendAt"], int) for e in entries)


async def test_a_folder_that_vanishes_under_the_service_costs_no_message(
    memory: MemoryService, home: Path
) -> None:
    chat = memory.session("a")
    await chat.append(said("one"))
    shutil.rmtree(home / "sessions" / "a")
    assert (await chat.append(said("two"))).first_seq == 2
    assert (await chat.append(said("three"))).first_seq == 3
    entries = json.loads((home / "sessions" / "a" / "history.json").read_bytes())
    assert [e["content"] for e in entries] == ["one", "two", "three"]


async def test_a_file_that_another_program_changed_is_kept_and_built_anew(
    memory: MemoryService, home: Path
) -> None:
    chat = memory.session("a")
    await chat.append(said("one"))
    path = home / "sessions" / "a" / "history.json"
    path.write_text('[{"role": "user", "content": "not from here"}]', "utf-8")
    await chat.append(said("two"))
    await chat.append(said("three"))
    assert [e["content"] for e in json.loads(path.read_bytes())] == ["one", "two", "three"]
    kept = list(path.parent.glob("history.json.corrupt-*"))
    assert len(kept) == 1
    assert "not from here" in kept[0].read_text("utf-8")


async def test_removing_a_session_takes_its_files_and_it_can_begin_again(
    memory: MemoryService, home: Path
) -> None:
    chat = memory.session("a")
    await chat.append(said("one"))
    assert await chat.remove()
    assert not (home / "sessions" / "a").exists()
    assert not await chat.remove()
    assert (await chat.append(said("again"))).first_seq == 1
    assert [m.content for m in await chat.messages()] == ["again"]
