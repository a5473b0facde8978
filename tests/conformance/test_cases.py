"""What users of other memory systems lost, end to end, one test for each kind of fault."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from conftest import make_settings

from memsvc import MemoryService, Message


async def test_characters_that_no_file_can_hold_cost_no_message_and_none_after_it(
    memory: MemoryService,
) -> None:
    chat = memory.session("a")
    odd = [
        "ok \ud83d end",
        "\udc8f",
        "a\x00b",
        "\ufffe\uffff",
        "\u202e\u200b",
        "👩‍👩‍👧",
        "\ud83d\ude00",
    ]
    for n, text in enumerate(odd):
        for content in (text, [{"type": "text", "text": text, text: {"deep": [text]}}]):
            receipt = await chat.append(
                {"role": "user", "content": content, "metadata": {text: text}}
            )
            assert receipt.sanitized == (n in (0, 1, 2, 6))
    assert not (await chat.append({"role": "user", "content": "after"})).sanitized
    messages = await chat.messages(limit=None)
    assert len(messages) == 2 * len(odd) + 1
    assert messages[0].content == "ok \ufffd end"
    assert messages[12].content == "😀"
    assert (await chat.search("end", match="keyword", include_window=True))[0].seq in (1, 2)


async def test_a_time_with_any_offset_is_the_same_moment_and_order_holds_over_a_change_of_summer_time(
    memory: MemoryService,
) -> None:
    chat = memory.session("a")
    moment = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # clocks in Europe go back at 01:00 UTC
    for step in range(6):
        local = (moment + timedelta(minutes=30 * step)).astimezone(
            timezone(timedelta(hours=2 if step < 1 else 1))
        )
        await chat.append({"role": "user", "content": f"{step}", "sent_at": local.isoformat()})
    messages = await chat.messages()
    assert [m.content for m in messages] == [f"{n}" for n in range(6)]
    times = [m.sent_at for m in messages]
    assert times == [moment + timedelta(minutes=30 * n) for n in range(6)]
    assert all(t is not None and t.tzinfo is UTC for t in times)
    found = await chat.search(
        "3", match="keyword", include_window=True, after=moment + timedelta(minutes=90)
    )
    assert [h.seq for h in found] == [4]


@pytest.mark.parametrize("erase", [True, False])
async def test_a_removed_session_leaves_nothing_to_read_and_with_erase_no_byte(
    home: Path, erase: bool
) -> None:
    word, folded = "Kanarienvögel", "kanarienvogel"
    async with MemoryService.open(make_settings(home)) as memory:
        gone, kept = memory.session("user-7/gone"), memory.session("user-7/kept")
        for n in range(30):
            await gone.append(
                {"role": "user", "content": f"{word} {n} 金絲雀", "metadata": {"note": word}}
            )
        await kept.append({"role": "user", "content": "a sparrow"})
        await memory.flush()
        await gone.remove(erase=erase)
        for query in (word, "金絲雀"):
            for match in ("keyword", "semantic", "hybrid"):
                assert all(
                    h.content == "a sparrow"
                    for h in await memory.search(query, prefix="user-7/", match=match)
                )
        assert [s.session for s in await memory.sessions()] == ["user-7/kept"]
        assert (await memory.status()).embedder.embedded == 1
        if erase:
            canaries = [
                word.encode(),
                folded.encode(),
                "金絲雀".encode(),
                word.encode("utf-16-le"),
                b"user-7/gone",
                json.dumps(word)[1:-1].encode(),
            ]
            for path in home.rglob("*"):
                data = path.read_bytes() if path.is_file() else b""
                assert not [c for c in canaries if c in data], path
        assert (await kept.messages())[0].content == "a sparrow"


@pytest.mark.parametrize(
    "ids",
    [["../../etc/x", "..", ".", "/etc/passwd", "a/../b"], ["CON", "con", "con.txt", "NUL", "aux "],
     ["Ä", "A\u0308", "ä", "a\u0308"], ["Bob", "bob", "BOB", "ｂｏｂ"], ["a/b", "a:b", "a\\b", "a b", "a_b", "a%2Fb"],
     ["x" * 200, "x" * 199 + "y", "🎉", "🎉🎉", "~", "a~b", ".hidden", "trailing.", "-"]],
)  # fmt: skip
async def test_ids_that_look_alike_or_dangerous_never_meet_and_never_leave_the_folder(
    memory: MemoryService, home: Path, ids: list[str]
) -> None:
    await asyncio.gather(
        *(memory.session(i).append({"role": "user", "content": f"of {i}"}) for i in ids)
    )
    for session_id in ids:
        assert [m.content for m in await memory.session(session_id).messages()] == [
            f"of {session_id}"
        ]
    folders = sorted(p.name for p in (home / "sessions").iterdir())
    assert len({name.casefold() for name in folders}) == len(ids)
    assert all(
        name.isascii() and "/" not in name and not name.endswith((".", " ")) for name in folders
    )
    assert {p.name for p in home.iterdir()} <= {"sessions", "store", ".lock"}
    assert {p.name for p in home.parent.iterdir()} == {"home"}


async def test_tool_exchanges_are_whole_wherever_the_window_cuts(memory: MemoryService) -> None:
    chat = memory.session("a")
    for n in range(40):
        calls = [
            {"id": f"c{n}{k}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            for k in "ab"
        ]
        for message in (
            {"role": "user", "content": f"q{n}"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"c{n}a", "content": "1"},
            {"role": "tool", "tool_call_id": f"c{n}b", "content": "2"},
            {"role": "assistant", "content": f"a{n}"},
        ):
            await chat.append(message)
            open_calls: set[str] = set()
            for shown in (await chat.context("next")).messages:
                if shown["role"] == "tool":
                    open_calls.remove(shown["tool_call_id"])
                else:
                    assert not open_calls
                    open_calls = {c["id"] for c in shown.get("tool_calls") or []}
            assert not open_calls


async def test_a_summary_that_cannot_be_read_changes_nothing_and_is_reported(
    memory: MemoryService, home: Path
) -> None:
    chat = memory.session("a")
    await chat.append([Message(role="user", content=f"{n}") for n in range(30)])
    folder = home / "sessions" / "a"
    (folder / "summary.json").write_text("I am a helpful assistant, nice to meet you!")
    context = await chat.context("hi")
    assert (context.summary, len(context.window), context.unsummarized) == (None, 16, 14)
    assert "summary.json" in (await chat.status()).problems[0]
    assert (folder / "summary.json").read_text().startswith("I am")
