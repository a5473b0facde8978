"""What moving in and out needs of a session: to append to it and to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from memsvc.model import Json, Message, Receipt


class ReadableSession(Protocol):
    """A session that can be read, such as `memsvc.Session`."""

    @property
    def id(self) -> str:
        """The session's id."""

    async def messages(
        self, limit: int | None = 16, before: int | None = None, after: int | None = None
    ) -> list[Message]:
        """See `memsvc.Session.messages`."""


class WritableSession(ReadableSession, Protocol):
    """A session that can be appended to as well."""

    async def append(
        self, messages: Sequence[Mapping[str, Json]], *, strip_prefixes: bool | None = None
    ) -> Receipt:
        """See `memsvc.Session.append`."""
