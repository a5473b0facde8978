"""A cheap, deterministic embedder: hashed words and pieces of words. For tests and tiny machines."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from memsvc import text as texts_module

DIMENSIONS = 256


class HashEmbedder:
    """Texts that share words, or parts of them, have near vectors. It knows no meaning."""

    name = f"hash/{DIMENSIONS}"
    network = False

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        """Return one vector for each text, shape (n, 256). See `Embedder`."""
        return [_vector(text) for text in texts]

    async def embed_query(self, text: str) -> Any:
        """Return the vector of a query, shape (256,). See `Embedder`."""
        return _vector(text)

    async def close(self) -> None:
        """Do nothing; there is nothing to let go of."""


def _vector(text: str) -> list[float]:
    vector = [0.0] * DIMENSIONS
    vector[0] = 1e-3  # an empty text still has a direction
    for feature in _features(text):
        code = zlib.crc32(feature.encode())
        vector[code % DIMENSIONS] += 1.0 if code & 0x8000_0000 else -1.0
    return vector


def _features(text: str) -> Iterator[str]:
    for word in texts_module.index_text(text).split():
        yield word
        for start in range(len(word) - 3):
            yield word[start : start + 4]
