"""The public data: messages, receipts, contexts, hits, statuses. All of it frozen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, overload

import msgspec

# Anything that JSON can hold. Message parts are the caller's own and are kept as they are, so their
# type cannot be known more closely than this.
Json = Any

Role = Literal["user", "assistant", "system", "developer", "tool"]
ROLES: tuple[str, ...] = ("user", "assistant", "system", "developer", "tool")

Match = Literal["hybrid", "keyword", "semantic"]
Evidence = Literal["strong", "weak", "none"]
Tier = Literal["hot", "archive", "semantic"]


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of a session.

    Attributes:
        role: who speaks: user, assistant, system, developer or tool.
        content: text, a list of parts (chat, Responses, Anthropic style), or None with tool calls.
        sender: who it was, where several people or channels share a role.
        id: the caller's own id; appending it twice changes nothing.
        sent_at: when it was said, timezone-aware. None when appending means now.
        seq: its number in the session, from 1; set by the service.
        name: the name field of a chat message.
        tool_calls: the calls an assistant makes, as the model's API gave them.
        tool_call_id: the call that a tool message answers.
        metadata: the caller's own notes; stored, never searched.
        extra: keys of the message that memsvc does not know; stored and returned as they were.
    """

    role: Role
    content: str | list[Json] | None = None
    sender: str | None = None
    id: str | None = None
    sent_at: datetime | None = None
    seq: int | None = None
    name: str | None = None
    tool_calls: list[Json] | None = None
    tool_call_id: str | None = None
    metadata: dict[str, Json] | None = None
    extra: dict[str, Json] = {}

    def to_dict(self) -> dict[str, Json]:
        """Return the message as a JSON object, times as RFC 3339 in UTC, unset fields left out."""
        result: dict[str, Json] = {"role": self.role, "content": self.content}
        for field in ("sender", "id", "name", "tool_calls", "tool_call_id", "metadata", "seq"):
            value = getattr(self, field)
            if value is not None:
                result[field] = value
        if self.sent_at is not None:
            result["sent_at"] = self.sent_at.astimezone(UTC).isoformat()
        result.update(self.extra)
        return result


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an append.

    Attributes:
        session: the session appended to.
        first_seq: the number of the batch's first message.
        last_seq: the number of its last message.
        seqs: the number of every message, in the order given.
        duplicate: every message of the batch was there already; nothing was changed.
        sanitized: a lone surrogate or NUL in the text was replaced by U+FFFD.
    """

    session: str
    first_seq: int
    last_seq: int
    seqs: tuple[int, ...]
    duplicate: bool = False
    sanitized: bool = False


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A session's rolling summary, as its summary.json holds it.

    Attributes:
        key_decisions: rules that hold from now on.
        past_discussions: earlier topics.
        current_discussion: the topic under way.
        data: the whole of summary.json, with keys that memsvc does not know.
    """

    key_decisions: list[Json] = []
    past_discussions: list[Json] = []
    current_discussion: Json = None
    data: dict[str, Json] = {}


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a model should see at this turn.

    Attributes:
        messages: chat messages as dicts, ready for a chat completion.
        summary: the summary that `messages` carries, or None.
        window: the recent messages among them, oldest first.
        unsummarized: messages older than the window that no summary has seen yet.
        omitted: messages that were left out of the window to keep within `max_tokens`.
    """

    messages: list[dict[str, Json]]
    summary: Summary | None = None
    window: list[Message] = []
    unsummarized: int = 0
    omitted: int = 0


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One message that a search found.

    Attributes:
        session: the session it stands in.
        seq: its number there.
        role: who spoke.
        sender: who it was, where known.
        content: what was said, as stored.
        sent_at: when, timezone-aware UTC.
        score: higher is better; comparable within one answer only.
        tier: where it was found: by keyword among recent messages (`hot`), by keyword further back
            (`archive`), or by meaning alone (`semantic`).
        before: up to 2 messages before it that no better hit has shown already.
        after: up to 1 message after it that no better hit has shown already.
    """

    session: str
    seq: int
    role: Role
    sender: str | None
    content: str | list[Json] | None
    sent_at: datetime
    score: float
    tier: Tier
    before: list[Message] = []
    after: list[Message] = []


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a search: a sequence of hits, best first.

    Attributes:
        hits: the hits.
        evidence: how far the whole answer can be relied on: `strong`, `weak` or `none`.
        note: what limited the answer (embedding under way, a broad query), empty when nothing did.
    """

    hits: Sequence[Hit] = ()
    evidence: Evidence = "none"
    note: str = ""

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[index]


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a list of sessions.

    Attributes:
        session: its id.
        messages: how many messages it has.
        last_seq: the number of its newest message.
        last_at: when that was sent.
    """

    session: str
    messages: int
    last_seq: int
    last_at: datetime


class SessionPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some sessions, in the order of their ids.

    Attributes:
        sessions: the sessions.
        cursor: hand this back to get the next page; None on the last one.
    """

    sessions: Sequence[SessionInfo] = ()
    cursor: str | None = None

    def __len__(self) -> int:
        return len(self.sessions)

    def __iter__(self) -> Iterator[SessionInfo]:
        return iter(self.sessions)

    def __getitem__(self, index: int) -> SessionInfo:
        return self.sessions[index]


class SessionStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one session.

    Attributes:
        session: its id.
        messages: how many messages the archive has.
        last_seq: the number of the newest.
        last_at: when the newest was sent.
        directory: where its files are.
        history_bytes: size of history.json.
        history_from_seq: the oldest message in history.json, None when it is empty.
        cutoff: the time of the oldest message in history.json once it was compacted.
        cursor_seq: how far the summary reaches.
        unsummarized: messages older than the window that no summary has seen yet.
        embedded: messages that can be found by meaning.
        waiting_for_embedding: messages that will be.
        problems: what is not as it should be, each with what to do.
    """

    session: str
    messages: int
    last_seq: int
    last_at: datetime
    directory: str
    history_bytes: int
    history_from_seq: int | None = None
    cutoff: datetime | None = None
    cursor_seq: int = 0
    unsummarized: int = 0
    embedded: int = 0
    waiting_for_embedding: int = 0
    problems: list[str] = []


class EmbedderStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the semantic tier.

    Attributes:
        name: the embedder and its model, or `none`.
        dimensions: length of its vectors, 0 until the first one was made.
        network: whether it sends text to a URL.
        embedded: messages that have a vector of this model.
        waiting: messages that will get one.
        refused: messages whose vector was refused; found by keyword only.
        last_error: why the last attempt failed, empty when it did not.
    """

    name: str
    dimensions: int = 0
    network: bool = False
    embedded: int = 0
    waiting: int = 0
    refused: int = 0
    last_error: str = ""


class ServiceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the service.

    Attributes:
        version: of memsvc.
        home: where its data is.
        sqlite: the version of the SQLite library.
        durability: what an acknowledged append survives: `full` or `normal`.
        sessions: how many sessions there are.
        messages: how many messages.
        archive_bytes: size of history.db and its write-ahead log.
        active_sessions: how many are in memory.
        embedder: the state of the semantic tier.
        degraded: what does not work as it should, each with what to do; empty when all is well.
        queues: depth and bound of every mailbox, by actor.
    """

    version: str
    home: str
    sqlite: str
    durability: str
    sessions: int
    messages: int
    archive_bytes: int
    active_sessions: int
    embedder: EmbedderStatus
    degraded: list[str] = []
    queues: dict[str, dict[str, int]] = {}
