"""The cheap embedder: deterministic across processes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from memsvc.semantic.embedder import checked
from memsvc.semantic.hashing import DIMENSIONS, HashEmbedder


async def test_texts_that_share_words_are_nearer() -> None:
    raw = await HashEmbedder().embed_passages(
        ["the red fox jumps", "a red fox", "blue whales sing", ""]
    )
    vectors, bad = checked(raw, 4, DIMENSIONS)
    assert bad == {}
    assert vectors[0] @ vectors[1] > 0.4 > vectors[0] @ vectors[2]
    assert np.allclose(await HashEmbedder().embed_query("a red fox"), raw[1])


async def test_another_process_makes_the_same_vectors() -> None:
    script = (
        "import asyncio; from memsvc.semantic.hashing import HashEmbedder;"
        "print([n for n, v in enumerate(asyncio.run(HashEmbedder().embed_query('red 快取'))) if v])"
    )
    there = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    here = [n for n, v in enumerate(await HashEmbedder().embed_query("red 快取")) if v]
    assert there.strip() == str(here)
