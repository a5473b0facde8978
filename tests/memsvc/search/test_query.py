"""Searching a session, or the sessions of a prefix, end to end."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from memsvc import Hits, InvalidArgument, MemoryService, Session

START = datetime(2026, 1, 1, tzinfo=UTC)


async def fill(memory: MemoryService, name: str, texts: list[str]) -> Session:
    chat = memory.session(name)
    await chat.append(
        [
            {
                "role": "user" if n % 2 == 0 else "assistant",
                "content": text,
                "sent_at": START + timedelta(days=n),
            }
            for n, text in enumerate(texts)
        ]
    )
    await memory.flush()
    return chat


def seqs(hits: Hits) -> list[int]:
    return [hit.seq for hit in hits]


FILLER = [f"filler number {n} about nothing" for n in range(30)]


async def test_keyword_needs_every_word_in_any_order_and_phrases_as_they_stand(
    memory: MemoryService,
) -> None:
    chat = await fill(
        memory, "a", ["ok the deployment went fine", "the deployment failed", "fine, ok"]
    )
    find = lambda query: chat.search(query, match="keyword", include_window=True)  # noqa: E731
    assert seqs(await find("deployment ok")) == [1]
    assert seqs(await find("ok deploymentx")) == []
    assert seqs(await find('"deployment went"')) == [1]
    assert seqs(await find('"went deployment"')) == []
    assert set(seqs(await find("DEPLOY"))) == {1, 2}


@pytest.mark.parametrize("query", ["gen", "itgc", "重跑", "重", "50条", "gen-itgc"])
async def test_words_glued_to_unspaced_text_are_found(memory: MemoryService, query: str) -> None:
    chat = await fill(memory, "a", ["重跑gen-itgc后50条", "別的"])
    assert seqs(await chat.search(query, match="keyword", include_window=True)) == [1]
    assert 1 in seqs(await chat.search(query, include_window=True))


@pytest.mark.parametrize(
    "query",
    [
        "c++",
        '"quoted"',
        "AND",
        "user*",
        ":-)",
        "NEAR(a b)",
        "col:x",
        "-x",
        '"',
        '""',
        "(",
        'a"b',
        "'; DROP TABLE messages; --",
        "_",
        "%",
        "\\",
        "^a",
        "{",
        "🎉",
        "\u200b",
        "don't",
        "GB/s",
        "pre-edit",
        "x" * 10_000,
        "a " * 4000,
        "\ud83d",
        "\0",
    ],
)
async def test_no_query_is_an_error_and_characters_are_just_characters(
    memory: MemoryService, query: str
) -> None:
    text = "we use c++ AND user* :-) with NEAR(a b) col:x -x 🎉 don't 5 GB/s pre-edit"
    chat = await fill(memory, "a", [text, "plain words"])
    for match in ("keyword", "hybrid", "semantic"):
        hits = await chat.search(query, match=match, include_window=True)
        if match == "keyword" and query in text:
            assert seqs(hits) == [1]


async def test_the_window_is_left_out_unless_asked_for(memory: MemoryService) -> None:
    chat = await fill(memory, "a", ["a needle here", *FILLER, "another needle"])
    assert seqs(await chat.search("needle", match="keyword")) == [1]
    assert set(seqs(await chat.search("needle", match="keyword", include_window=True))) == {1, 32}
    window_start = (await chat.context("x")).window[0].seq or 0
    for match in ("keyword", "semantic", "hybrid"):
        for hit in await chat.search("filler needle", match=match, limit=32):
            shown = [hit.seq, *(m.seq or 0 for m in (*hit.before, *hit.after))]
            assert max(shown) < window_start


async def test_hits_bring_their_neighbours_and_nothing_is_said_twice(memory: MemoryService) -> None:
    chat = await fill(
        memory, "a", [*FILLER[:5], "needle one", "x", "needle two", *FILLER[5:], *FILLER]
    )
    hits = await chat.search("needle", match="keyword")
    shown = [
        seq
        for hit in hits
        for seq in (*(m.seq for m in hit.before), hit.seq, *(m.seq for m in hit.after))
    ]
    assert sorted(shown) == [4, 5, 6, 7, 8, 9]
    assert all(m.content for hit in hits for m in (*hit.before, *hit.after))


async def test_time_role_and_limit_bound_the_answer(memory: MemoryService) -> None:
    chat = await fill(memory, "a", [f"needle {n}" for n in range(10)])
    find = lambda **more: chat.search("needle", include_window=True, limit=32, **more)  # noqa: E731
    for match in ("keyword", "semantic", "hybrid"):
        assert set(seqs(await find(match=match, role="assistant"))) == {2, 4, 6, 8, 10}
        bounded = await find(
            match=match, after=START + timedelta(days=3), before="2026-01-06T00:00:00Z"
        )
        assert set(seqs(bounded)) == {4, 5}
        assert len(await chat.search("needle", match=match, include_window=True, limit=3)) == 3
        assert seqs(await find(match=match, time_range="1d")) == []


async def test_tool_traffic_is_found_only_when_asked_for(memory: MemoryService) -> None:
    chat = memory.session("a")
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "fetch_weather", "arguments": '{"city": "Taipei"}'},
    }
    await chat.append(
        [
            {"role": "system", "content": "you speak of marmots"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "marmots in the rain"},
        ]
    )
    assert seqs(await chat.search("marmots", match="keyword", include_window=True)) == []
    with_tools = await chat.search(
        "marmots", match="keyword", include_window=True, include_tools=True
    )
    assert set(seqs(with_tools)) == {1, 3}
    assert seqs(
        await chat.search("taipei", match="keyword", include_window=True, include_tools=True)
    ) == [2]


async def test_a_message_found_by_words_alone_surfaces_while_nothing_is_embedded(
    memory: MemoryService,
) -> None:
    chat = memory.session("a")
    await chat.append([{"role": "user", "content": text} for text in FILLER])
    await chat.append({"role": "user", "content": "the zebra crossing"})
    assert seqs(await chat.search("zebra", include_window=True))[0] == 31


async def test_a_search_across_sessions_keeps_to_its_prefix_and_names_the_session(
    memory: MemoryService,
) -> None:
    for name in ("user-7/a", "user-7/b", "user-70/a", "user-8/a"):
        await fill(memory, name, [f"the needle of {name}", "something else"])
    for match in ("keyword", "semantic", "hybrid"):
        hits = await memory.search("needle", prefix="user-7/", match=match, limit=32)
        assert {hit.session for hit in hits} == {"user-7/a", "user-7/b"}
        assert all(m.content == "something else" for hit in hits for m in hit.after)
    assert len(await memory.search("needle", prefix="nobody/")) == 0
    with pytest.raises(InvalidArgument, match="prefix"):
        await memory.search("needle", prefix="")


@pytest.mark.parametrize(
    "arguments",
    [
        {"match": "magic"},
        {"limit": 0},
        {"limit": 33},
        {"limit": True},
        {"time_range": "2w"},
        {"role": "wizard"},
        {"after": "yesterday"},
        {"after": datetime(2026, 1, 1)},
        {"after": "2026-02-01T00:00:00Z", "before": "2026-01-01T00:00:00Z"},
    ],
)
async def test_an_argument_that_cannot_be_used_is_refused(
    memory: MemoryService, arguments: dict[str, object]
) -> None:
    chat = await fill(memory, "a", ["x"])
    with pytest.raises(InvalidArgument):
        await chat.search("x", **arguments)  # type: ignore[arg-type]


async def test_evidence_says_when_there_is_nothing(memory: MemoryService) -> None:
    chat = await fill(memory, "a", ["We will use Redis for the cache.", "Noted."])
    assert (await chat.search("kangaroo", match="keyword", include_window=True)).evidence == "none"
    assert (
        await chat.search("redis cache", match="keyword", include_window=True)
    ).evidence == "strong"
    assert (await chat.search("redis cache", include_window=True)).evidence == "strong"
    assert (await chat.search("   ", include_window=True)).evidence == "none"


async def test_searches_and_appends_at_once_do_not_disturb_each_other(
    memory: MemoryService,
) -> None:
    chat = await fill(memory, "a", FILLER)

    async def write() -> None:
        for n in range(30):
            await chat.append({"role": "user", "content": f"filler late {n}"})

    async def read() -> None:
        for _ in range(20):
            hits = await chat.search("filler", limit=32, include_window=True)
            assert len(set(seqs(hits))) == 32 or len(hits) >= 30

    await asyncio.gather(write(), read(), read())
