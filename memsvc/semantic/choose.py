"""From settings to an embedder."""

from __future__ import annotations

import os

from memsvc.llm import Endpoint
from memsvc.semantic.builtin import BuiltinEmbedder
from memsvc.semantic.embedder import Embedder
from memsvc.semantic.endpoint import EndpointEmbedder
from memsvc.semantic.hashing import HashEmbedder
from memsvc.settings import Semantic


def make_embedder(settings: Semantic) -> Embedder | None:
    """Return the embedder that the settings name, or None for keyword search only."""
    match settings.embedder:
        case "builtin":
            return BuiltinEmbedder(settings.threads)
        case "hash":
            return HashEmbedder()
        case "openai":
            key = settings.api_key or os.environ.get("OPENAI_API_KEY", "")
            endpoint = Endpoint(settings.base_url, key, settings.timeout)
            return EndpointEmbedder(endpoint, settings.model, settings.dimensions)
        case "none":
            return None
