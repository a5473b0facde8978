"""Vectors of the sessions searched lately, kept in memory within a bound.

They come from the archive: the first search of a session reads all of its vectors, a later one what
was added since. So worker and search share nothing but the archive.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread

from memsvc import log
from memsvc.archive.reader import ArchiveReader
from memsvc.semantic import index_file
from memsvc.semantic.index import SessionVectors
from memsvc.semantic.nearness import Nearness

# Up to this many vectors a comparison costs less than the hop to a thread that would hide it.
_INLINE_VECTORS = 1000
# A graph is written to its file again when it has grown by this share.
_SAVE_GROWTH = 0.1


class _Entry:
    """The vectors of one session, and the lock that makes one search at a time their owner."""

    __slots__ = ("lock", "vectors")

    def __init__(self, exact_max: int) -> None:
        self.vectors = SessionVectors(exact_max)
        self.lock = asyncio.Lock()


class VectorCache:
    """The vectors of sessions, least recently searched first out."""

    def __init__(
        self, archive: ArchiveReader, root: Path, cache_bytes: int, exact_max: int
    ) -> None:
        self._archive = archive
        self._root = root
        self._cache_bytes = cache_bytes
        self._exact_max = exact_max
        self._sessions: OrderedDict[tuple[int, int], _Entry] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Memory in use, in bytes."""
        return sum(entry.vectors.nbytes for entry in self._sessions.values())

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
        entry = self._sessions.get((sid, model)) or _Entry(self._exact_max)
        self._sessions[sid, model] = entry
        self._sessions.move_to_end((sid, model))
        high = None if before_seq is None else before_seq - 1
        async with entry.lock:
            rows = await self._archive.vectors(sid, model, entry.vectors.last_seq)
            if len(entry.vectors) + len(rows) <= _INLINE_VECTORS:
                entry.vectors.extend(rows)
                found = _compare(entry.vectors, query, limit, high)
            else:
                path = self._root / f"{sid}-{model}.usearch"
                found = await anyio.to_thread.run_sync(
                    _extend_and_compare, entry.vectors, rows, path, query, limit, high
                )
        self._shrink()
        return found

    def _shrink(self) -> None:
        size = self.nbytes
        for key in list(self._sessions)[:-1]:
            if size <= self._cache_bytes:
                return
            if not self._sessions[key].lock.locked():
                size -= self._sessions.pop(key).vectors.nbytes

    def forget(self, sid: int) -> None:
        """Drop the vectors of a session that is gone, from memory and from the cache files."""
        for key in [key for key in self._sessions if key[0] == sid]:
            del self._sessions[key]
        for path in self._root.glob(f"{sid}-*"):
            path.unlink(missing_ok=True)


def _compare(
    vectors: SessionVectors, query: Sequence[float], limit: int, high_seq: int | None
) -> Nearness:
    mean, spread = vectors.usual(query)
    return Nearness(dict(vectors.top(query, limit, None, high_seq)), mean, spread)


def _extend_and_compare(
    vectors: SessionVectors,
    rows: Sequence[tuple[int, bytes]],
    path: Path,
    query: Sequence[float],
    limit: int,
    high_seq: int | None,
) -> Nearness:
    vectors.extend(rows)
    if vectors.wants_graph:
        _bring_graph_up_to_date(vectors, path)
    return _compare(vectors, query, limit, high_seq)


def _bring_graph_up_to_date(vectors: SessionVectors, path: Path) -> None:
    model = path.stem
    if vectors.graph is None:
        graph, reason = index_file.load(path, model, vectors.dimensions, vectors.seqs())
        if graph is not None:
            vectors.adopt(graph)
        elif path.exists():
            log.warning("vector index built anew", path=str(path), reason=reason)
    if vectors.index() > _SAVE_GROWTH * len(vectors):
        try:
            index_file.save(path, vectors.graph, model, vectors.last_seq)
        except OSError as error:  # it is a cache: the next start builds it again
            log.warning("vector index not written", path=str(path), reason=error.strerror)
