"""Random conversations with tool calls in every style, and a checker that stands in for an API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from memsvc import Message

CALL_PARTS = {
    "tool_use": ("id", "tool_result", "tool_use_id"),
    "function_call": ("call_id", "function_call_output", "call_id"),
}
RESULT_KEYS = {result: key for _, result, key in CALL_PARTS.values()}


def user(text: str = "hi") -> Message:
    return Message(role="user", content=text)


def said(text: str = "well") -> Message:
    return Message(role="assistant", content=text)


def chat_calls(*ids: str) -> Message:
    calls = [
        {"id": each, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for each in ids
    ]
    return Message(role="assistant", content=None, tool_calls=calls)


def chat_result(call_id: str, text: str = "42") -> Message:
    return Message(role="tool", content=text, tool_call_id=call_id)


def block_calls(*ids: str, kind: str = "tool_use") -> Message:
    key = CALL_PARTS[kind][0]
    return Message(
        role="assistant", content=[{"type": kind, key: each, "name": "f"} for each in ids]
    )


def block_results(*ids: str, kind: str = "tool_use", text: str | None = None) -> Message:
    _, result, key = CALL_PARTS[kind]
    parts: list[dict[str, Any]] = [{"type": result, key: each, "content": "42"} for each in ids]
    if text is not None:
        parts.append({"type": "text", "text": text})
    return Message(role="user", content=parts)


def result_and_call(answered_id: str, call_id: str) -> Message:
    """Return an assistant's message that brings a result and makes the next call."""
    parts = [
        {"type": "function_call_output", "call_id": answered_id, "output": "42"},
        {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"},
    ]
    return Message(role="assistant", content=parts)


def numbered(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with seqs from 1."""
    return [
        Message(
            role=message.role,
            content=message.content,
            tool_calls=message.tool_calls,
            tool_call_id=message.tool_call_id,
            seq=place + 1,
        )
        for place, message in enumerate(messages)
    ]


def made(message: Mapping[str, Any]) -> list[str]:
    """Return the ids of the calls in a message, as an API would collect them."""
    ids = [call["id"] for call in message.get("tool_calls") or ()]
    parts = [part for part in _parts(message) if part.get("type") in CALL_PARTS]
    return ids + [part[CALL_PARTS[part["type"]][0]] for part in parts]


def answered(message: Mapping[str, Any]) -> list[str]:
    """Return the ids that a message answers, as an API would collect them."""
    if message["role"] == "tool" and message.get("tool_call_id") is not None:
        return [message["tool_call_id"]]
    return [
        part[RESULT_KEYS[part["type"]]]
        for part in _parts(message)
        if part.get("type") in RESULT_KEYS
    ]


def complaint(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return why a model's API would refuse the conversation, empty when it would not.

    Every call must be answered, each once, by the messages right behind it, and nothing else may be.
    """
    owed: list[str] = []
    for place, message in enumerate(messages):
        for call_id in answered(message):
            if call_id not in owed:
                return f"message {place} answers {call_id}, which was not asked"
            owed.remove(call_id)
        if not answered(message) and owed:
            return f"message {place} stands between {owed} and the answer"
        calls = made(message)
        if calls and owed:
            return f"message {place} calls while {owed} waits"
        owed.extend(calls)
    return f"{owed} is never answered" if owed else ""


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [p for p in content if isinstance(p, dict)] if isinstance(content, list) else []


_ids = st.lists(st.sampled_from(["call_0", "call_1", "a", "b", "c"]), min_size=1, max_size=3)
_loose = st.one_of(
    st.builds(user, st.sampled_from(["hi", "go on", "stop"])),
    st.builds(said, st.sampled_from(["well", "done"])),
    _ids.map(lambda ids: chat_calls(*dict.fromkeys(ids))),
    st.sampled_from(["call_0", "call_1", "a", "b", "c"]).map(chat_result),
    _ids.map(lambda ids: block_calls(*dict.fromkeys(ids))),
    _ids.map(lambda ids: block_results(*dict.fromkeys(ids))),
    _ids.map(lambda ids: block_results(*dict.fromkeys(ids), text="and this")),
    _ids.map(lambda ids: block_calls(*dict.fromkeys(ids), kind="function_call")),
    st.builds(result_and_call, st.sampled_from(["a", "b"]), st.sampled_from(["b", "c"])),
    _ids.map(lambda ids: block_results(*dict.fromkeys(ids), kind="function_call")),
)


@st.composite
def _exchange(draw: st.DrawFn) -> list[Message]:
    """One whole turn as agents have it: a question, rounds of calls with results, an answer."""
    messages = [user(draw(st.sampled_from(["hi", "go on"])))]
    for _ in range(draw(st.integers(0, 2))):
        ids = list(dict.fromkeys(draw(_ids)))
        if draw(st.booleans()):
            messages.append(chat_calls(*ids))
            messages.extend(map(chat_result, draw(st.permutations(ids))))
        else:
            messages.extend((block_calls(*ids), block_results(*draw(st.permutations(ids)))))
    return [*messages, said()]


def orderly() -> st.SearchStrategy[list[Message]]:
    """Conversations in which every call is answered at once."""
    return st.lists(_exchange(), max_size=6).map(
        lambda turns: numbered([message for turn in turns for message in turn])
    )


def any_conversation() -> st.SearchStrategy[list[Message]]:
    """Conversations of any order: interrupted calls, late results, orphans, ids used again."""
    loose = st.lists(_loose, max_size=12)
    mixed = st.lists(st.one_of(_exchange(), loose), max_size=4).map(
        lambda turns: [message for turn in turns for message in turn]
    )
    return st.one_of(loose, mixed).map(numbered)
