"""What the archive writer answers."""

from __future__ import annotations

import msgspec

from memsvc.archive.rows import Row, Vector


class Store(msgspec.Struct, frozen=True, gc=False):
    """Write messages of one session, all or none; answered with its sid.

    Attributes:
        session: the session's id.
        sid: its number, or None when the archive has not met it.
        rows: the messages, seqs ascending and above the session's last one.
    """

    session: str
    sid: int | None
    rows: tuple[Row, ...]


class UseModel(msgspec.Struct, frozen=True, gc=False):
    """Remember an embedding model; answered with its number and the length of its vectors."""

    name: str
    dimensions: int


class SaveVectors(msgspec.Struct, frozen=True, gc=False):
    """Write embeddings of one session, in step with its watermark; answered with whether they were.

    They are dropped when the session was reset or removed meanwhile (its generation moved).
    """

    sid: int
    generation: int
    model: int
    vectors: tuple[Vector, ...]
    up_to_seq: int


class Forget(msgspec.Struct, frozen=True, gc=False):
    """Delete a session's messages, index rows and embeddings; answered with whether it was there."""

    session: str


class Scrub(msgspec.Struct, frozen=True, gc=False):
    """Leave no byte of what was deleted in the database file or its write-ahead log."""


Command = Store | UseModel | SaveVectors | Forget | Scrub
