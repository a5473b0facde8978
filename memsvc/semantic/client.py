"""Search by meaning as others see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence

from memsvc.archive.client import ArchiveClient
from memsvc.archive.rows import DueSession
from memsvc.errors import ModelError
from memsvc.model import EmbedderStatus
from memsvc.semantic.embedder import Embedder, checked
from memsvc.semantic.nearness import Nearness
from memsvc.semantic.progress import Progress, Waiter
from memsvc.semantic.vectors import VectorCache
from memsvc.settings import Semantic

_SESSIONS_MAX = 2**31


class SemanticClient:
    """Embeds queries, compares them, and waits for the worker. Without an embedder it finds nothing."""

    def __init__(
        self,
        embedder: Embedder | None,
        archive: ArchiveClient,
        vectors: VectorCache,
        progress: Progress,
        settings: Semantic,
        nudge: Callable[[Hashable], None],
    ) -> None:
        self._embedder = embedder
        self._archive = archive
        self._vectors = vectors
        self._progress = progress
        self._settings = settings
        self._nudge = nudge

    @property
    def available(self) -> bool:
        """Whether there is an embedder."""
        return self._embedder is not None

    @property
    def usual_cosines(self) -> tuple[float, float] | None:
        """The cosines between which the embedder's answers are doubtful, None where not known."""
        usual: tuple[float, float] | None = getattr(self._embedder, "usual_cosines", None)
        return usual

    async def open(self) -> None:
        """Remember the embedder's model in the archive. Vectors of other models stay, unused."""
        if self._embedder is not None:
            self._progress.model, self._progress.dimensions = await self._archive.use_model(
                self._embedder.name, 0
            )

    async def close(self) -> None:
        """Let go of the embedder."""
        if self._embedder is not None:
            await self._embedder.close()

    async def embed_query(self, text: str) -> Sequence[float]:
        """Return the vector of a query, of length one.

        Raises:
            ModelError: there is no embedder, it failed, or its vector cannot be used.
        """
        if self._embedder is None:
            raise ModelError(
                "There is no embedder (semantic.embedder is none).",
                "Search with match='keyword', or choose an embedder.",
            )
        text = text[: self._settings.max_chars]
        try:
            async with asyncio.timeout(self._settings.timeout):
                vector = await self._embedder.embed_query(text)
        except TimeoutError:
            raise ModelError(
                f"The embedder took more than {self._settings.timeout:g} s for the query.",
                "Search with match='keyword', or try again.",
            ) from None
        vectors, bad = checked([vector], 1, self._progress.dimensions or None)
        if bad:
            raise ModelError(
                f"The query's vector cannot be used: {bad[0]}.", "Search with match='keyword'."
            )
        row: Sequence[float] = vectors[0]
        return row

    async def nearest(
        self, sid: int, query: Sequence[float], limit: int, before_seq: int | None = None
    ) -> Nearness:
        """Return a session's messages nearest to a query's vector."""
        return await self._vectors.nearest(sid, self._progress.model, query, limit, before_seq)

    async def waiting(self, sid: int) -> int:
        """Return how many messages of a session wait to be embedded."""
        if self._embedder is None:
            return 0
        return await self._archive.read.waiting(self._progress.model, sid)

    async def embedded(self, sid: int) -> int:
        """Return how many messages of a session can be found by meaning."""
        if self._embedder is None:
            return 0
        return await self._archive.read.embedded(sid, self._progress.model)

    def forget(self, sid: int) -> None:
        """Drop what is kept in memory of a session that is gone."""
        self._vectors.forget(sid)

    async def flush(self) -> None:
        """Wait until everything appended so far is embedded. Cancelling it cancels no embedding.

        Raises:
            ModelError: the embedder does not work at present, or did not come to the end within
                `semantic.flush_timeout`; it goes on trying by itself.
        """
        if self._embedder is None:
            return
        due = await self._due()
        waiter = Waiter({session.sid: session.last_seq for session in due})
        self._progress.add(waiter)
        try:
            # What was done between the look and the registration is told to nobody: look again.
            waiter.only({session.sid for session in await self._due()})
            for session in due:
                self._nudge(session.session)
            async with asyncio.timeout(self._settings.flush_timeout):
                await waiter.wait()
        except TimeoutError:
            raise ModelError(
                f"{waiter.remaining} sessions were not embedded within"
                f" {self._settings.flush_timeout:g} s.",
                "Embedding goes on; call flush() again, or raise semantic.flush_timeout.",
            ) from None
        finally:
            self._progress.remove(waiter)
        if waiter.error:
            raise ModelError(
                f"The embedder does not work at present: {waiter.error}",
                "Nothing is lost: it is tried again by itself, and keyword search works.",
            )

    async def _due(self) -> list[DueSession]:
        return await self._archive.read.due_sessions(self._progress.model, None, _SESSIONS_MAX)

    async def status(self) -> EmbedderStatus:
        """Return the state of the semantic tier."""
        if self._embedder is None:
            return EmbedderStatus(name="none")
        totals = await self._archive.read.totals(self._progress.model)
        return EmbedderStatus(
            name=self._embedder.name,
            dimensions=self._progress.dimensions,
            network=self._embedder.network,
            embedded=totals.embedded,
            waiting=totals.waiting,
            refused=totals.refused,
            last_error=self._progress.error,
        )
