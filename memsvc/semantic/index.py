"""The vectors of one session in memory: compared exactly, or through usearch where that is faster.

Up to about ten thousand vectors one matrix product is as fast as a graph index and misses nothing.
Above, an HNSW index finds the candidates and the matrix gives their exact cosines. The index is a cache:
it can be built again from the vectors at any time, and a file of it is only read after its digest was
checked (`memsvc.semantic.index_file`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Chosen for recall@10 of at least 0.98 against exact search at 50,000 clustered vectors.
CONNECTIVITY = 16
EXPANSION_ADD = 128
EXPANSION_SEARCH = 256
# The index is asked for more than is wanted: bounds on seq and exact cosines sift the rest.
_OVERSAMPLING = 4
_SAMPLE = 2000


class SessionVectors:
    """Vectors by seq, in increasing order. One owner at a time; not safe to share between threads.

    Attributes:
        last_seq: the newest message that has a vector here.
        graph: the usearch index, or None while the session is small.
    """

    def __init__(self, exact_max: int) -> None:
        self._exact_max = exact_max
        self._seqs: npt.NDArray[np.int64] | None = None
        self._matrix: npt.NDArray[np.float32] | None = None
        self._count = 0
        self.last_seq = 0
        self.graph: Any = None

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Memory in use, in bytes; about half as much again with a graph."""
        matrix = self._matrix.nbytes if self._matrix is not None else 0
        return matrix + (matrix // 2 if self.graph is not None else 0)

    @property
    def dimensions(self) -> int:
        """Length of the vectors, 0 while there is none."""
        return 0 if self._matrix is None else int(self._matrix.shape[1])

    def extend(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Add vectors.

        Args:
            rows: seq and vector (little-endian float16, of length one), seqs increasing and greater
                than `last_seq`.

        Raises:
            ValueError: a seq is not greater than the one before, or a vector has another length.
        """
        if not rows:
            return
        import numpy as np

        added = np.stack([np.frombuffer(data, dtype="<f2") for _, data in rows]).astype(np.float32)
        seqs = np.array([seq for seq, _ in rows], dtype=np.int64)
        if seqs[0] <= self.last_seq or np.any(np.diff(seqs) <= 0):
            raise ValueError(f"numbers must increase beyond {self.last_seq}")
        if self._matrix is not None and added.shape[1] != self._matrix.shape[1]:
            raise ValueError(f"vectors have {added.shape[1]} dimensions, not {self.dimensions}")
        self._grow(len(rows), added.shape[1])
        assert self._matrix is not None
        assert self._seqs is not None
        self._matrix[self._count : self._count + len(rows)] = added
        self._seqs[self._count : self._count + len(rows)] = seqs
        self._count += len(rows)
        self.last_seq = int(seqs[-1])

    def _grow(self, more: int, dimensions: int) -> None:
        import numpy as np

        needed = self._count + more
        if self._matrix is not None and self._seqs is not None and needed <= len(self._matrix):
            return
        capacity = max(needed, 2 * self._count if self._count else needed)
        matrix = np.empty((capacity, dimensions), dtype=np.float32)
        seqs = np.empty(capacity, dtype=np.int64)
        if self._matrix is not None and self._seqs is not None:
            matrix[: self._count] = self._matrix[: self._count]
            seqs[: self._count] = self._seqs[: self._count]
        self._matrix, self._seqs = matrix, seqs

    @property
    def wants_graph(self) -> bool:
        """Whether there are more vectors than are compared exactly."""
        return self._count > self._exact_max

    def seqs(self) -> Sequence[int]:
        """Return the numbers of all vectors, increasing."""
        return [] if self._seqs is None else self._seqs[: self._count].tolist()

    def adopt(self, graph: Any) -> None:
        """Take a graph of the first vectors here, as `index_file.load` returns it."""
        self.graph = graph

    def index(self) -> int:
        """Bring the graph up to date where one is wanted, and return how many vectors were added."""
        if not self.wants_graph or self._matrix is None:
            return 0
        if self.graph is None:
            self.graph = new_graph(self.dimensions)
        start = len(self.graph)
        for place in range(start, self._count):
            # One a call: a batch blocks searches for seconds. Keys are places in the matrix.
            self.graph.add(place, self._matrix[place], threads=1)
        return self._count - start

    def usual(self, query: Sequence[float]) -> tuple[float, float]:
        """Return mean and standard deviation of the cosines of all vectors, from a sample of many."""
        if self._count == 0 or self._matrix is None:
            return 0.0, 0.0
        import numpy as np

        sample = self._matrix[: self._count : max(self._count // _SAMPLE, 1)]
        cosines = sample @ np.asarray(query, dtype=np.float32)
        return float(cosines.mean()), float(cosines.std())

    def top(
        self, query: Sequence[float], limit: int, low_seq: int | None, high_seq: int | None
    ) -> list[tuple[int, float]]:
        """Return (seq, cosine) of the vectors nearest to a query, nearest first.

        Args:
            query: a vector of length one.
            limit: how many.
            low_seq: only numbers from here on.
            high_seq: only numbers up to here.
        """
        if self._count == 0 or self._matrix is None or self._seqs is None:
            return []
        import numpy as np

        vector = np.asarray(query, dtype=np.float32)
        first, last = 0, self._count
        if low_seq is not None:
            first = int(np.searchsorted(self._seqs[: self._count], low_seq))
        if high_seq is not None:
            last = int(np.searchsorted(self._seqs[: self._count], high_seq, side="right"))
        if first >= last:
            return []
        if self.graph is None or last - first <= self._exact_max:
            cosines = self._matrix[first:last] @ vector
            seqs = self._seqs[first:last]
        else:
            found = self.graph.search(vector, limit * _OVERSAMPLING, threads=1)
            keys = found.keys.astype(np.int64)
            places = keys[(keys >= first) & (keys < last)]
            cosines, seqs = self._matrix[places] @ vector, self._seqs[places]
        best = _best(cosines, limit)
        return [(int(seqs[row]), float(cosines[row])) for row in best]


def new_graph(dimensions: int) -> Any:
    """Return an empty usearch index for vectors of length one."""
    from usearch.index import Index

    return Index(
        ndim=dimensions,
        metric="ip",
        dtype="f16",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )


def _best(cosines: npt.NDArray[np.float32], limit: int) -> npt.NDArray[np.intp]:
    import numpy as np

    if len(cosines) > 4 * limit:
        nearest = np.argpartition(-cosines, limit)[:limit]
        return nearest[np.argsort(-cosines[nearest], kind="stable")]
    return np.argsort(-cosines, kind="stable")[:limit]
