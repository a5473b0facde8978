"""The public handle of one conversation, end to end."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memsvc import InvalidArgument, InvalidMessage, MemoryService, Message, SessionNotFound

_TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=30)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(
    metadata=st.dictionaries(_TEXT, _JSON, max_size=4),
    parts=st.lists(_JSON, max_size=4),
    text=_TEXT,
)
@hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_any_json_comes_back_as_it_was_with_the_order_of_its_keys(
    memory: MemoryService, metadata: dict[str, Any], parts: list[Any], text: str
) -> None:
    chat = memory.session("json")
    given_messages = [
        {"role": "user", "content": text, "metadata": metadata, "x-unknown": parts},
        {"role": "assistant", "content": parts},
    ]
    receipt = await chat.append(given_messages)
    whole, list_content = await chat.messages(after=receipt.first_seq - 1)
    assert repr(whole.metadata) == repr(metadata)
    assert repr(whole.extra) == repr({"x-unknown": parts})
    assert whole.content == text
    assert repr(list_content.content) == repr(parts)


async def test_tool_calls_and_their_results_come_back_word_for_word(memory: MemoryService) -> None:
    chat = memory.session("tools")
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": '{"b": 1, "a": 2}'},
    }
    await chat.append(
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": "data:x"}},
                ],
            },
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "42"},
        ]
    )
    context = await chat.context("and now?")
    assert [m["role"] for m in context.messages] == ["user", "assistant", "tool", "user"]
    assert context.messages[1]["tool_calls"] == [call]
    assert context.messages[1]["content"] is None


async def test_messages_are_bounded_by_number_or_time(memory: MemoryService) -> None:
    chat = memory.session("a")
    start = datetime(2026, 1, 1, tzinfo=UTC)
    await chat.append(
        [Message(role="user", content=f"{n}", sent_at=start.replace(day=n)) for n in range(1, 11)]
    )
    assert [m.seq for m in await chat.messages(limit=3)] == [8, 9, 10]
    assert [m.seq for m in await chat.messages(limit=2, before=5)] == [3, 4]
    assert [m.seq for m in await chat.messages(limit=None, after=8)] == [9, 10]
    assert [m.seq for m in await chat.messages(after=start.replace(day=9))] == [9, 10]
    assert [m.seq for m in await chat.messages(before="2026-01-03T00:00:00Z")] == [1, 2]
    with pytest.raises(InvalidArgument, match="after"):
        await chat.messages(after=datetime(2026, 1, 1))


async def test_reading_what_does_not_exist_is_an_error_and_makes_nothing(
    memory: MemoryService,
) -> None:
    nobody = memory.session("nobody")
    for read in (nobody.messages(), nobody.search("x"), nobody.status()):
        with pytest.raises(SessionNotFound):
            await read
    context = await nobody.context("hello", system="You help.")
    assert context.messages == [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "hello"},
    ]
    assert (await memory.sessions()).sessions == []


async def test_a_refused_batch_changes_nothing(memory: MemoryService) -> None:
    chat = memory.session("a")
    with pytest.raises(InvalidMessage) as refused:
        await chat.append(
            [
                {"role": "user", "content": "good"},
                {"role": "user", "content": [{"text": float("nan")}]},
            ]
        )
    assert refused.value.field == "messages[1].content[0].text"
    with pytest.raises(SessionNotFound):
        await chat.messages()


async def test_a_token_budget_leaves_out_the_oldest_turns_and_says_how_many(
    memory: MemoryService,
) -> None:
    chat = memory.session("a")
    for n in range(6):
        await chat.append(
            [
                {"role": "user", "content": f"question {n} " + "word " * 40},
                {"role": "assistant", "content": f"answer {n} " + "word " * 40},
            ]
        )
    everything = await chat.context("now")
    little = await chat.context("now", max_tokens=200)
    assert (len(everything.window), everything.omitted) == (12, 0)
    assert 0 < len(little.window) < 12
    assert little.omitted == 12 - len(little.window)
    assert little.window[0].role == "user"
    assert little.window[-1].seq == 12
    least = await chat.context("now", max_tokens=1)
    assert least.messages[-1] == {"role": "user", "content": "now"}


async def test_what_the_caller_does_to_a_context_stays_with_the_caller(
    memory: MemoryService,
) -> None:
    chat = memory.session("a")
    await chat.append({"role": "user", "content": [{"type": "text", "text": "original"}]})
    first = await chat.context("x")
    first.messages[0]["content"][0]["text"] = "changed"
    assert (await chat.context("x")).messages[0]["content"] == [
        {"type": "text", "text": "original"}
    ]


async def test_messages_before_the_window_are_counted_as_not_summarised(
    memory: MemoryService,
) -> None:
    chat = memory.session("a")
    await chat.append([{"role": "user", "content": f"{n}"} for n in range(40)])
    context = await chat.context("x")
    assert len(context.window) + context.unsummarized == 40
    assert (await chat.status()).unsummarized == context.unsummarized
