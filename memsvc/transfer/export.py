"""Writing a conversation out: JSONL, or one JSON array as the chat completions API has it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

import msgspec

from memsvc.model import Message
from memsvc.transfer.conversation import ReadableSession

Format = Literal["jsonl", "openai"]
_PAGE = 1000


async def export(session: ReadableSession, form: Format) -> AsyncIterator[bytes]:
    """Yield a session as text, piece by piece.

    `jsonl` is one message a line with all that is known of it; importing it gives the same messages.
    `openai` is one JSON array of messages without numbers and times, for other programs.

    Raises:
        SessionNotFound: the session has no messages.
    """
    first = True
    async for message in _messages(session):
        if form == "jsonl":
            yield msgspec.json.encode(message.to_dict()) + b"\n"
            continue
        fields = message.to_dict()
        for name in ("seq", "sent_at", "sender", "id", "metadata"):
            fields.pop(name, None)
        yield (b"[\n" if first else b",\n") + msgspec.json.encode(fields)
        first = False
    if form == "openai":
        yield b"\n]\n"


async def _messages(session: ReadableSession) -> AsyncIterator[Message]:
    after = 0
    while page := await session.messages(limit=_PAGE, after=after, before=after + _PAGE + 1):
        for message in page:
            yield message
        after = page[-1].seq or 0
