"""Vectors of the sessions searched lately, kept in memory within a bound.

They come from the archive: the first search of a session reads all of its vectors, a later one what
was added since. So worker and search share nothing but the archive.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread

from memsvc.archive.reader import ArchiveReader
from memsvc.semantic.index import SessionVectors
from memsvc.semantic.nearness import Nearness

# Above this many vectors a comparison is worth the hop to a thread that hides it.
_INLINE_VECTORS = 1000


class VectorCache:
    """The vectors of sessions, least recently searched first out."""

    def __init__(self, archive: ArchiveReader, root: Path, cache_bytes: int, exact_max: int) -> None:
        self._archive = archive
        self._root = root
        self._cache_bytes = cache_bytes
        self._exact_max = exact_max
        self._sessions: OrderedDict[tuple[int, int], SessionVectors] = OrderedDict()

    async def nearest(
        self, sid: int, model: int, query: Sequence[float], limit: int, before_seq: int | None
    ) -> Nearness:
        """Return the messages of a session nearest to a query, with their cosines.

        Args:
            sid: the session's number in the archive.
            model: the model that made the query's vector; only its vectors are compared.
            query: a vector of length one.
            limit: how many to return.
            before_seq: only messages with smaller numbers, or None.
        """
        vectors = await self._load(sid, model)
        if len(vectors) == 0:
            return Nearness({})
        high = None if before_seq is None else before_seq - 1
        if len(vectors) <= _INLINE_VECTORS:
            return _compare(vectors, query, limit, high)
        return await anyio.to_thread.run_sync(_compare, vectors, query, limit, high)

    async def _load(self, sid: int, model: int) -> SessionVectors:
        key = (sid, model)
        vectors = self._sessions.get(key)
        if vectors is None:
            vectors = SessionVectors(self._exact_max)
        rows = await self._archive.vectors(sid, model, vectors.last_seq)
        if rows:
            await self._extend(vectors, rows)
        self._sessions[key] = vectors
        self._sessions.move_to_end(key)
        self._shrink()
        return vectors

    async def _extend(self, vectors: SessionVectors, rows: Sequence[tuple[int, bytes]]) -> None:
        # Two searches may have read the same rows: only what is newer than the last one counts.
        fresh = [row for row in rows if row[0] > vectors.last_seq]
        if len(fresh) <= _INLINE_VECTORS and len(vectors) <= self._exact_max:
            vectors.extend(fresh)
        else:
            await anyio.to_thread.run_sync(vectors.extend, fresh)

    def _shrink(self) -> None:
        size = sum(vectors.nbytes for vectors in self._sessions.values())
        while size > self._cache_bytes and len(self._sessions) > 1:
            _, dropped = self._sessions.popitem(last=False)
            size -= dropped.nbytes

    def forget(self, sid: int) -> None:
        """Drop the vectors of a session that is gone."""
        for key in [key for key in self._sessions if key[0] == sid]:
            del self._sessions[key]


def _compare(
    vectors: SessionVectors, query: Sequence[float], limit: int, high_seq: int | None
) -> Nearness:
    mean, spread = vectors.usual(query)
    return Nearness(dict(vectors.top(query, limit, None, high_seq)), mean, spread)
