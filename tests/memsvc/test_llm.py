"""An OpenAI-compatible endpoint over real HTTP: good answers taken, bad ones ended and explained."""

from __future__ import annotations

import base64
import struct
import time

import pytest
from fake_model_server import FakeModelServer, embeddings, endless, half, respond

from memsvc.errors import ModelError
from memsvc.llm import Endpoint

GOOD = embeddings(lambda n, text: [float(n), float(len(text))])


async def ask(
    server: FakeModelServer, *, seconds: float = 10.0, most: int = 100_000, key: str = "sk-secret"
) -> list[list[float]]:
    endpoint = Endpoint(server.url, key, seconds, most)
    try:
        return await endpoint.embeddings("m", ["a", "bb", "ccc"])
    finally:
        await endpoint.close()


async def test_vectors_come_back_in_the_order_of_their_texts() -> None:
    shuffled = embeddings(lambda n, text: [float(n), 1.0], lambda data: data[::-1])
    async with FakeModelServer(shuffled).running() as server:
        assert await ask(server) == [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
        assert server.calls[0].headers["authorization"] == "Bearer sk-secret"
        assert server.calls[0].body["input"] == ["a", "bb", "ccc"]


async def test_base64_vectors_are_read() -> None:
    packed = embeddings(lambda n, text: base64.b64encode(struct.pack("<2f", n, 0.5)).decode())
    async with FakeModelServer(packed).running() as server:
        assert await ask(server) == [[0.0, 0.5], [1.0, 0.5], [2.0, 0.5]]


async def test_dimensions_are_asked_for_when_they_are_set() -> None:
    async with FakeModelServer(GOOD).running() as server:
        endpoint = Endpoint(server.url, "", 10.0)
        await endpoint.embeddings("m", ["x"], 256)
        await endpoint.close()
        assert server.calls[0].body["dimensions"] == 256


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_passes_is_tried_again(status: int) -> None:
    async with FakeModelServer(respond(status, b"{}"), GOOD).running() as server:
        assert len(await ask(server)) == 3
        assert len(server.calls) == 2


async def test_retry_after_is_honoured() -> None:
    async with FakeModelServer(respond(429, b"{}", Retry_After="1"), GOOD).running() as server:
        start = time.monotonic()
        await ask(server)
        assert time.monotonic() - start >= 1.0


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "API key"), (404, "name of the model"), (400, "own log")]
)
async def test_what_does_not_pass_is_not_tried_again_and_advised_on(
    status: int, advice: str
) -> None:
    async with FakeModelServer(
        respond(status, b'{"error": {"message": "sk-secret ccc"}}')
    ).running() as server:
        with pytest.raises(ModelError, match=advice) as failed:
            await ask(server)
        assert len(server.calls) == 1
        assert "sk-secret" not in str(failed.value)
        assert "ccc" not in str(failed.value)


@pytest.mark.parametrize(
    "answer",
    [
        respond(200, b"<html>hello</html>", "text/html"),
        respond(200, b""),
        respond(200, b"[1, 2]"),
        respond(200, b'{"data": "none"}'),
        embeddings(lambda n, text: [1.0], lambda data: data[:2]),
        embeddings(lambda n, text: [1.0], lambda data: [*data, data[0]]),
        embeddings(lambda n, text: "not base64!"),
        embeddings(lambda n, text: {"a": 1}),
    ],
    ids=["html", "empty", "list", "no data", "too few", "twice", "no base64", "object"],
)
async def test_an_answer_that_is_none_is_an_error_of_ours(answer: object) -> None:
    async with FakeModelServer(answer).running() as server:  # type: ignore[arg-type]
        with pytest.raises(ModelError, match="embeddings"):
            await ask(server)


async def test_an_answer_a_byte_at_a_time_ends_at_the_deadline() -> None:
    async with FakeModelServer(endless(b" ", 0.02)).running() as server:
        with pytest.raises(ModelError, match=r"within 0.5 s"):
            await ask(server, seconds=0.5)


async def test_an_endless_answer_ends_at_its_number_of_bytes() -> None:
    async with FakeModelServer(endless(b"x" * 50_000, 0)).running() as server:
        with pytest.raises(ModelError, match="more than 100000 bytes"):
            await ask(server)


async def test_half_an_answer_is_tried_again_and_then_an_error() -> None:
    async with FakeModelServer(half(b'{"data": ['), GOOD).running() as server:
        assert len(await ask(server)) == 3
    async with FakeModelServer(half(b'{"data": [')).running() as server:
        with pytest.raises(ModelError):
            await ask(server, seconds=1.0)


async def test_a_redirect_is_not_followed() -> None:
    async with FakeModelServer(GOOD).running() as other:
        redirect = respond(307, b"", Location=f"{other.url}/embeddings")
        async with FakeModelServer(redirect).running() as server:
            with pytest.raises(ModelError, match="status 307"):
                await ask(server)
        assert other.calls == []


async def test_nobody_there_is_an_error_with_advice() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", "k", 1.0)
    with pytest.raises(ModelError, match=r"(cannot be reached|did not answer)"):
        await endpoint.embeddings("m", ["x"])
    await endpoint.close()


def test_the_key_is_in_no_repr() -> None:
    assert "sk-secret" not in repr(Endpoint("http://x", "sk-secret", 1.0))
