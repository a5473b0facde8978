"""What goes into the archive and what comes out: rows of its tables, frozen."""

from __future__ import annotations

import struct
from hashlib import blake2b

import msgspec


class Row(msgspec.Struct, frozen=True, gc=False):
    """A message to be stored.

    Attributes:
        seq: its number in the session.
        sent_at: UTC unix nanoseconds.
        role: who speaks.
        chat: whether it takes part in search by default and is embedded.
        message_id: the caller's id, unique in the session, or None.
        body: the message as JSON without seq and time (see `memsvc.record`).
    """

    seq: int
    sent_at: int
    role: str
    chat: bool
    message_id: str | None
    body: bytes


class Meta(msgspec.Struct, frozen=True, gc=False):
    """A session's row of `message_meta`.

    Attributes:
        sid: the session's number inside the archive.
        session: its id.
        generation: grows by one at every reset and removal, so that late work is recognised.
        last_seq: the newest number ever given; it does not fall when messages are taken back.
        last_at: time of the newest message, UTC unix nanoseconds.
        messages: how many messages there are.
        start_at: the cutoff (SPEC 8), UTC unix nanoseconds; None until history.json was compacted.
        start_seq: the oldest message that history.json should hold.
        embedded_model: the model whose vectors `embedded_seq` speaks of; 0 for none.
        embedded_seq: every message up to this one was embedded, or refused for good.
    """

    sid: int
    session: str
    generation: int
    last_seq: int
    last_at: int
    messages: int
    start_at: int | None
    start_seq: int
    embedded_model: int
    embedded_seq: int


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A message to be embedded: its row id, its number, and its body."""

    id: int
    seq: int
    body: bytes


class Vector(msgspec.Struct, frozen=True, gc=False):
    """What became of an embedding: the vector as little-endian float16, or why it was refused."""

    id: int
    data: bytes | None
    refused: str | None = None


class Found(msgspec.Struct, frozen=True, gc=False):
    """A message that a keyword query found: where it is, and minus its BM25 (higher is better)."""

    sid: int
    seq: int
    score: float


class DueSession(msgspec.Struct, frozen=True, gc=False):
    """A session that has messages to embed: those after `embedded_seq`."""

    sid: int
    session: str
    generation: int
    embedded_seq: int
    last_seq: int


class Totals(msgspec.Struct, frozen=True, gc=False):
    """Counts over the whole archive."""

    sessions: int
    messages: int
    embedded: int
    refused: int
    waiting: int


_PLACE = struct.Struct(">QQ")


def checksum(sid: int, seq: int, body: bytes) -> bytes:
    """Return 8 bytes that change when the body changes or stands in another place.

    SQLite's own integrity check passes most damage inside a value, so each row proves itself.
    """
    return blake2b(body, digest_size=8, salt=_PLACE.pack(sid, seq)).digest()
