"""Bringing conversations in, so that it can be repeated.

A conversation that is there already, whole or in part, is recognised by its first messages: what the
session has is skipped and the rest appended. A session that has gone another way is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from memsvc.errors import InvalidMessage, SessionNotFound
from memsvc.model import Message
from memsvc.record import decode_body
from memsvc.session.draft import Draft, draft
from memsvc.settings import Limits
from memsvc.transfer.conversation import ReadableSession, WritableSession
from memsvc.transfer.reading import Conversation


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a conversation.

    Attributes:
        session: its id.
        appended: messages that are new.
        skipped: messages that were there already.
        problems: each message that could not be used, with its place.
    """

    session: str
    appended: int = 0
    skipped: int = 0
    problems: list[str] = []


async def import_conversation(
    session: WritableSession,
    conversation: Conversation,
    limits: Limits,
    progress: Callable[[int], None] = lambda done: None,
) -> Imported:
    """Append what a session does not have yet of a conversation.

    Args:
        session: where to.
        conversation: what was read.
        limits: sizes that are taken.
        progress: called with the number of messages done so far.

    Raises:
        StorageError: the archive failed; repeat the import to go on.
    """
    problems: list[str] = []
    usable: list[tuple[Mapping[str, Any], Draft]] = []
    for place, raw in conversation.messages:
        try:
            usable.append((raw, draft(raw, place, limits, strip=True)))
        except InvalidMessage as error:
            problems.append(str(error))
    there = await _existing(session)
    skipped = _common(there, [taken for _, taken in usable])
    if skipped < len(there) and skipped < len(usable):
        problems.append(
            f"session {session.id!r} has other messages from number {skipped + 1} on: nothing was"
            " imported. Import under another session id."
        )
        return Imported(session=session.id, skipped=skipped, problems=problems)
    fresh = [raw for raw, _ in usable[skipped:]]
    for start in range(0, len(fresh), limits.max_batch):
        await session.append(fresh[start : start + limits.max_batch], strip_prefixes=True)
        progress(skipped + start + len(fresh[start : start + limits.max_batch]))
    return Imported(session=session.id, appended=len(fresh), skipped=skipped, problems=problems)


async def _existing(session: ReadableSession) -> list[Message]:
    try:
        return await session.messages(limit=None)
    except SessionNotFound:
        return []


def _common(there: list[Message], taken: list[Draft]) -> int:
    count = 0
    for message, coming in zip(there, taken, strict=False):
        if _bare(message) != decode_body(coming.body):
            break
        count += 1
    return count


def _bare(message: Message) -> dict[str, Any]:
    fields = message.to_dict()
    for name in ("seq", "sent_at"):
        fields.pop(name, None)
    return fields
