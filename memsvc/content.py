"""The text of a message, whatever shape its content has (SPEC 3).

Chat parts (`text`, `image_url` …), Responses items (`input_text`, `output_text`, `function_call` …) and
Anthropic blocks (`text`, `tool_use`, `tool_result` …) are read; anything else has no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# The keys of a part that hold what a person would read, for each type of part.
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
_CALL_TYPES = frozenset({"function_call", "tool_use", "tool_call", "custom_tool_call"})
_RESULT_TYPES = frozenset({"tool_result", "function_call_output", "custom_tool_call_output"})

CHAT_ROLES = frozenset({"user", "assistant"})

# What memsvc itself puts into a prompt begins with this mark, so that it is recognised when an agent
# hands it back (SPEC 3: memory does not learn its own echo).
ECHO_MARK = "[memsvc:context]"


def chat_text(message: Mapping[str, Any]) -> str:
    """Return what was said in a message: its text parts, joined by line breaks; no tool traffic."""
    return _join(_said(message.get("content")))


def spoken_text(message: Mapping[str, Any]) -> str:
    """Return what was said with who said it in front, as it is embedded and ranked.

    People ask "when did Ann go to Rome?"; what Ann said has no "Ann" in it. With the sender in front,
    search by meaning finds 53 % of the evidence on LoCoMo instead of 19, and BM25 58 instead of 53.
    """
    said = chat_text(message)
    sender = message.get("sender")
    return f"{sender}: {said}" if isinstance(sender, str) and sender and said else said


def tool_text(message: Mapping[str, Any]) -> str:
    """Return the tool traffic of a message: names and arguments of calls, and their results."""
    return _join(_tools(message))


def is_chat(message: Mapping[str, Any]) -> bool:
    """Say whether the message takes part in search by default, in meaning and in summaries."""
    if message.get("role") not in CHAT_ROLES:
        return False
    text = chat_text(message)
    return bool(text.strip()) and not text.lstrip().startswith(ECHO_MARK)


def _join(texts: Iterator[str]) -> str:
    return "\n".join(text for text in texts if text)


def _said(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, dict):
                kind = part.get("type", "text")
                text = part.get("refusal" if kind == "refusal" else "text")
                if kind in _TEXT_TYPES and isinstance(text, str):
                    yield text
                elif kind == "message":
                    yield from _said(part.get("content"))
                elif kind in ("input_audio", "output_audio", "audio") and isinstance(
                    part.get("transcript"), str
                ):
                    yield part["transcript"]


def _tools(message: Mapping[str, Any]) -> Iterator[str]:
    if message.get("role") not in CHAT_ROLES:
        yield from _said(message.get("content"))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            yield from _call(call.get("function", call))
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") in _CALL_TYPES:
            yield from _call(part)
        elif isinstance(part, dict) and part.get("type") in _RESULT_TYPES:
            yield from _said(part.get("content"))
            yield from _said(part.get("output"))


def _call(call: Any) -> Iterator[str]:
    if isinstance(call, dict):
        for key in ("name", "arguments", "input"):
            value = call.get(key)
            if isinstance(value, str):
                yield value
            elif isinstance(value, dict):
                yield from (item for item in value.values() if isinstance(item, str))
