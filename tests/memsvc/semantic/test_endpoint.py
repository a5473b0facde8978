"""The embedder behind an endpoint, end to end over real HTTP."""

from __future__ import annotations

from pathlib import Path

from fake_model_server import Call, FakeModelServer, embeddings, respond

from memsvc import MemoryService, Settings
from memsvc.semantic.hashing import _vector
from memsvc.settings import Semantic


def settings_for(home: Path, server: FakeModelServer) -> Settings:
    return Settings(
        home=str(home),
        semantic=Semantic(
            embedder="openai",
            base_url=server.url,
            model="m",
            api_key="sk-secret",
            retry_initial=0.01,
        ),
    )


async def test_messages_are_embedded_and_found_through_an_endpoint(home: Path) -> None:
    async with FakeModelServer(embeddings(lambda n, text: _vector(text))).running() as server:
        async with MemoryService.open(settings_for(home, server)) as memory:
            chat = memory.session("a")
            await chat.append(
                [{"role": "user", "content": text} for text in ("red fox", "blue whale")]
            )
            await memory.flush()
            hits = await chat.search("a red fox", match="semantic", include_window=True)
            status = await memory.status()
        assert hits[0].content == "red fox"
        assert (status.embedder.name, status.embedder.network) == ("openai/m", True)
        assert all(call.headers["authorization"] == "Bearer sk-secret" for call in server.calls)


async def test_null_and_nan_in_an_answer_cost_only_their_own_message(home: Path) -> None:
    def spoiled(n: int, text: str) -> list[float | None]:
        return [None, *_vector(text)[1:]] if "bad" in text else list(_vector(text))

    async with FakeModelServer(embeddings(spoiled)).running() as server:
        async with MemoryService.open(settings_for(home, server)) as memory:
            await memory.session("a").append(
                [{"role": "user", "content": text} for text in ("good", "bad", "fine")]
            )
            await memory.flush()
            status = (await memory.status()).embedder
    assert (status.embedded, status.refused) == (2, 1)


async def test_a_refused_key_shows_in_the_status_without_the_key(home: Path) -> None:
    seen: list[Call] = []
    async with FakeModelServer(
        respond(401, b'{"error": {"message": "bad key sk-secret"}}')
    ).running() as server:
        async with MemoryService.open(settings_for(home, server)) as memory:
            chat = memory.session("a")
            await chat.append({"role": "user", "content": "needle"})
            while not (status := await memory.status()).degraded:
                pass
            assert [h.seq for h in await chat.search("needle", include_window=True)] == [1]
        seen = server.calls
    assert "status 401" in status.embedder.last_error
    assert "sk-secret" not in str(status)
    assert seen
