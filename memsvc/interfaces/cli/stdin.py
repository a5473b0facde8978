"""Messages on standard input: JSONL with a message a line, or plain text."""

from __future__ import annotations

import json
from typing import Any, TextIO

from memsvc.errors import InvalidArgument


def read_messages(source: TextIO, role: str) -> list[dict[str, Any]]:
    """Return the messages on a stream. Blocking.

    Args:
        source: text; when its first line is a JSON object with a role, every line must be one.
        role: of a message that is plain text.

    Raises:
        InvalidArgument: nothing is there, or a line is no message.
    """
    if source.isatty():
        raise InvalidArgument("There is no text.", "Give it as an argument, or on stdin.")
    text = source.read()
    if not text.strip():
        raise InvalidArgument("Standard input is empty.", "Give text, or JSONL with messages.")
    lines = [line for line in text.split("\n") if line.strip()]
    if _object(lines[0]) is None:
        return [{"role": role, "content": text.removesuffix("\n")}]
    messages = []
    for number, line in enumerate(lines, 1):
        message = _object(line)
        if message is None:
            raise InvalidArgument(
                f"Line {number} of standard input is no message.",
                "Give one JSON object with a role a line. Nothing was appended.",
            )
        messages.append(message)
    return messages


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "role" in value else None
