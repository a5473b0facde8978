"""The embedder behind any OpenAI-compatible endpoint, hosted or local."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memsvc.llm import Endpoint


class EndpointEmbedder:
    """Sends texts to a URL and gets their vectors back."""

    network = True

    def __init__(self, endpoint: Endpoint, model: str, dimensions: int) -> None:
        self._endpoint = endpoint
        self._model = model
        self._dimensions = dimensions or None
        self.name = f"openai/{model}" + (f"@{dimensions}" if dimensions else "")

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        """Return one vector for each text. See `Embedder`."""
        return await self._endpoint.embeddings(self._model, texts, self._dimensions)

    async def embed_query(self, text: str) -> Any:
        """Return the vector of a query. See `Embedder`."""
        vectors = await self._endpoint.embeddings(self._model, [text], self._dimensions)
        return vectors[0]

    async def close(self) -> None:
        """Close the connection."""
        await self._endpoint.close()
