"""A real HTTP server on loopback that plays an embeddings endpoint, well or badly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

Answer = Callable[["Call", asyncio.StreamWriter], Awaitable[None]]


class Call:
    """One request that came in."""

    def __init__(self, path: str, headers: dict[str, str], body: Any) -> None:
        self.path = path
        self.headers = headers
        self.body = body


class FakeModelServer:
    """Answers with the scripted answers in turn, the last one for ever."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.calls: list[Call] = []
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[FakeModelServer]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = request.split("\r\n")
            headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines if line)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            call = Call(first.split()[1], headers, json.loads(body or b"null"))
            self.calls.append(call)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            await answer(call, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # the client has seen enough
        finally:
            writer.close()


def respond(status: int, body: bytes, kind: str = "application/json", **headers: str) -> Answer:
    async def answer(call: Call, writer: asyncio.StreamWriter) -> None:
        extra = "".join(f"{k.replace('_', '-')}: {v}\r\n" for k, v in headers.items())
        writer.write(
            f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
            f"connection: close\r\n{extra}\r\n".encode()
            + body
        )

    return answer


def embeddings(
    make: Callable[[int, str], Any], change: Callable[[list[Any]], Any] = list
) -> Answer:
    async def answer(call: Call, writer: asyncio.StreamWriter) -> None:
        data = [
            {"object": "embedding", "index": n, "embedding": make(n, text)}
            for n, text in enumerate(call.body["input"])
        ]
        body = json.dumps({"object": "list", "model": "m", "data": change(data)}).encode()
        await respond(200, body)(call, writer)

    return answer


def endless(chunk: bytes, pause_seconds: float) -> Answer:
    async def answer(call: Call, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
        )
        while not writer.is_closing():
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(pause_seconds)

    return answer


def half(body: bytes) -> Answer:
    async def answer(call: Call, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 X\r\ncontent-length: {2 * len(body)}\r\n\r\n".encode() + body)

    return answer
