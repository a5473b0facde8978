"""Tool calls and their results in a message, in each style that messages come in. Pure.

Chat completions: `tool_calls` of an assistant, answered by messages of role `tool` with `tool_call_id`.
Anthropic: `tool_use` blocks, answered by `tool_result` blocks with `tool_use_id` in a user message.
Responses: `function_call` items, answered by `function_call_output` items with `call_id`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memsvc.model import Message

_CALL_KEYS = {"tool_use": "id", "function_call": "call_id", "custom_tool_call": "call_id"}
_RESULT_KEYS = {
    "tool_result": "tool_use_id",
    "function_call_output": "call_id",
    "custom_tool_call_output": "call_id",
}


def calls(message: Message) -> tuple[str, ...]:
    """Return the ids of the tool calls that a message makes."""
    found = [str(call["id"]) for call in _objects(message.tool_calls) if call.get("id") is not None]
    found.extend(_ids(message.content, _CALL_KEYS))
    return tuple(found)


def results(message: Message) -> tuple[str, ...]:
    """Return the ids of the tool calls that a message answers."""
    found = [message.tool_call_id] if message.tool_call_id is not None else []
    found.extend(_ids(message.content, _RESULT_KEYS))
    return tuple(found)


def is_result(message: Message) -> bool:
    """Say whether a message answers tool calls: of role `tool`, or with results among its parts."""
    return message.role == "tool" or bool(results(message))


def _ids(content: Any, keys: dict[str, str]) -> Iterator[str]:
    for part in _objects(content):
        key = keys.get(str(part.get("type")))
        if key is not None and part.get(key) is not None:
            yield str(part[key])


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
