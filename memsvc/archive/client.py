"""The archive as others see it: reads, searches, and writes that are durable when they return."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memsvc.archive.connections import Connections
from memsvc.archive.lookup import ArchiveLookup
from memsvc.archive.messages import Command, Forget, SaveVectors, Scrub, Store, UseModel
from memsvc.archive.reader import ArchiveReader
from memsvc.archive.rows import Row, Vector
from memsvc.asking import ask
from memsvc.settings import Settings
from memsvc_actors import ActorRef


class ArchiveClient:
    """The only way to the archive.

    Attributes:
        read: queries for sessions and messages.
        lookup: queries by words.
    """

    def __init__(self, path: Path, ref: ActorRef[Command], settings: Settings) -> None:
        self._ref = ref
        self._timeout = settings.limits.timeout
        self._connections = Connections(
            path,
            settings.archive.readers,
            settings.archive.cache_bytes,
            settings.search.timeout,
        )
        self.read = ArchiveReader(self._connections)
        self.lookup = ArchiveLookup(
            self._connections, settings.search.rank_hits_max, settings.search.scan_max
        )

    async def close(self) -> None:
        """Close the readers; reads under way are stopped."""
        await self._connections.close()

    async def store(self, session: str, sid: int | None, rows: Sequence[Row]) -> int:
        """Write messages of one session, all or none, and return its number.

        Once taken it is carried out, whatever becomes of the caller.

        Raises:
            StorageError: nothing was written, or, as the error says, it is not known.
            Overloaded: the archive did not answer in time; it may still be carried out.
        """
        return int(await self._ask(Store(session, sid, tuple(rows))))

    async def use_model(self, name: str, dimensions: int) -> tuple[int, int]:
        """Remember an embedding model; return its number and the length of its vectors.

        A length of 0 is one that is not known yet.
        """
        model, known = await self._ask(UseModel(name, dimensions))
        return int(model), int(known)

    async def save_vectors(
        self, sid: int, generation: int, model: int, vectors: Sequence[Vector], up_to_seq: int
    ) -> bool:
        """Write vectors and how far they reach, together; False when the session is gone."""
        command = SaveVectors(sid, generation, model, tuple(vectors), up_to_seq)
        return bool(await self._ask(command))

    async def forget(self, session: str) -> bool:
        """Delete a session from the archive; return whether it was there."""
        return bool(await self._ask(Forget(session)))

    async def scrub(self) -> None:
        """Leave no byte of what was deleted in the archive's files."""
        await self._ask(Scrub())

    async def _ask(self, command: Command) -> Any:
        return await ask(self._ref, command, timeout_seconds=self._timeout, must_run=True)
