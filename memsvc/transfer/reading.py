"""Reading conversations from OpenAI-style files. Pure but for the file.

Taken are: a JSON array of messages; a JSON object with `messages`; an array or lines of such objects,
each a conversation of its own; and JSONL with one message a line, which is what `export` writes. A
conversation is named by its `session`, `session_id` or `id`, else by the file, with a number when there
are several.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from memsvc.errors import InvalidArgument


class Conversation(msgspec.Struct, frozen=True):
    """A conversation as a file has it.

    Attributes:
        session: the id it should have.
        messages: place in the file and message, in order; not checked yet.
    """

    session: str
    messages: list[tuple[str, dict[str, Any]]]


class Contents(msgspec.Struct, frozen=True):
    """What a file holds.

    Attributes:
        conversations: those that could be read.
        problems: each entry that could not be, with its place.
    """

    conversations: list[Conversation]
    problems: list[str]


def read_file(path: Path, session: str | None = None) -> Contents:
    """Read a file. Blocking; call it in a thread.

    Args:
        path: the file.
        session: the id to give; otherwise it comes from the file.

    Raises:
        InvalidArgument: it cannot be read, or holds no conversation.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror}.", "Check it.") from None
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{path} is not UTF-8: byte {error.start}.", "Convert it to UTF-8 first."
        ) from None
    problems: list[str] = []
    entries = list(_entries(text, problems))
    conversations = _conversations(entries, session or path.stem, session is not None, problems)
    if not conversations and not problems:
        raise InvalidArgument(
            f"{path} holds no messages.",
            "Give JSON or JSONL with messages of `role` and `content`.",
        )
    return Contents(conversations, problems)


def _entries(text: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from _lines(text, problems)
        return
    if isinstance(whole, list):
        for number, entry in enumerate(whole):
            yield f"entry {number + 1}", entry
    else:
        yield "entry 1", whole


def _lines(text: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    # Only a line feed ends a line: others may stand within the text of a message.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number}: it is not JSON ({error}).")


def _conversations(
    entries: list[tuple[str, Any]], name: str, fixed: bool, problems: list[str]
) -> list[Conversation]:
    single: list[tuple[str, dict[str, Any]]] = []
    several: list[tuple[str | None, list[tuple[str, dict[str, Any]]]]] = []
    for place, entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("messages"), list):
            messages = [
                (f"{place}, message {number}", message)
                for number, message in enumerate(entry["messages"], 1)
            ]
            several.append((_name(entry), messages))
        elif isinstance(entry, dict) and "role" in entry:
            single.append((place, entry))
        else:
            problems.append(f"{place}: it is no message (it has no role) and no conversation.")
    found = [Conversation(name, single)] if single else []
    for number, (own, messages) in enumerate(several, 1):
        default = name if len(several) == 1 and not single else f"{name}-{number}"
        found.append(Conversation(default if fixed or own is None else own, messages))
    return found


def _name(entry: dict[str, Any]) -> str | None:
    for key in ("session", "session_id", "id"):
        if isinstance(entry.get(key), str) and entry[key]:
            return str(entry[key])
    return None
