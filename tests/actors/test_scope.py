"""Request and deadline hold for the message that carries them, and for nothing that happens beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any

import pytest
from virtual_time import virtual

from memsvc_actors import (
    Actor,
    ActorCrashed,
    AskTimeout,
    Backoff,
    ChildSpec,
    Registry,
    SingleActor,
    Supervisor,
    current_request_id,
    request_scope,
)


class Store(Actor[float]):
    """Takes as many seconds as it is told."""

    def __init__(self) -> None:
        self.done: list[float] = []

    async def receive(self, message: float) -> object:
        await asyncio.sleep(message)
        self.done.append(message)
        return message


class Client(Actor[str]):
    """Asks the store at its start, its end, and when nudged; each takes a second."""

    def __init__(self, store: SingleActor, log: list[Any]) -> None:
        self.store, self.log = store, log

    async def _note(self, what: str) -> None:
        await self.store.ref.ask(1.0, timeout_seconds=50)
        self.log.append((what, current_request_id()))

    async def on_start(self) -> None:
        await self._note("start")

    async def on_stop(self) -> None:
        await self._note("stop")

    async def receive_nudges(self, keys: list[Hashable]) -> None:
        await self._note("nudge")

    async def receive(self, message: str) -> object:
        if message == "fail":
            raise ZeroDivisionError
        return message


@virtual
async def test_a_message_whose_time_ends_behind_others_of_its_batch_is_not_carried_out() -> None:
    store = Store()
    child = SingleActor("store", lambda: store)
    await child.start()
    outcomes = await asyncio.gather(
        child.ref.ask(10.0, timeout_seconds=50),
        child.ref.ask(1.0, timeout_seconds=3),
        child.ref.ask(2.0, timeout_seconds=3, must_run=True),
        return_exceptions=True,
    )
    await asyncio.sleep(10)
    assert [type(outcome) for outcome in outcomes] == [float, AskTimeout, AskTimeout]
    assert store.done == [10.0, 2.0]
    await child.stop(1)


@virtual
async def test_nudges_belong_to_no_request_whoever_woke_the_actor() -> None:
    log: list[Any] = []
    store = SingleActor("store", Store)
    await store.start()
    child = SingleActor("client", lambda: Client(store, log))
    await child.start()
    with request_scope("request-7", asyncio.get_running_loop().time() + 0.5):
        child.ref.nudge("key")
    await asyncio.sleep(10)
    assert log == [("start", None), ("nudge", None)]
    await child.stop(5)
    await store.stop(5)


@virtual
async def test_a_restart_is_not_held_to_the_deadline_of_the_request_that_failed() -> None:
    log: list[Any] = []
    store = SingleActor("store", Store)
    await store.start()
    child = SingleActor("client", lambda: Client(store, log))
    top = Supervisor("top", [ChildSpec("client", child)], backoff=Backoff(1.0, 1.0))
    await top.start()
    with (
        request_scope("request-7", asyncio.get_running_loop().time() + 0.5),
        pytest.raises(ActorCrashed),
    ):
        await child.ref.ask("fail", timeout_seconds=50)
    await asyncio.sleep(30)
    assert top.failed is None
    assert log == [("start", None), ("stop", None), ("start", None)]
    await top.stop()
    await store.stop(5)


@virtual
async def test_one_key_s_falling_asleep_is_not_held_to_the_deadline_of_another_s_request() -> None:
    log: list[Any] = []
    store = SingleActor("store", Store)
    await store.start()
    registry: Registry[Any] = Registry("r", lambda key: Client(store, log), max_active=1)
    await registry.start()
    await registry.ref("a").ask("x", timeout_seconds=50)
    log.clear()
    with request_scope("request-7", asyncio.get_running_loop().time() + 0.5):
        await asyncio.gather(registry.ref("b").ask("x", timeout_seconds=50), return_exceptions=True)
    await asyncio.sleep(10)
    assert ("stop", None) in log
    await registry.stop(5)
    await store.stop(5)


@virtual
async def test_a_key_s_start_is_not_held_to_the_deadline_of_the_one_who_woke_it() -> None:
    log: list[Any] = []
    store = SingleActor("store", Store)
    await store.start()
    registry: Registry[Any] = Registry("r", lambda key: Client(store, log))
    await registry.start()
    with request_scope("hurried", asyncio.get_running_loop().time() + 0.5):
        hurried = asyncio.create_task(registry.ref("a").ask("x", timeout_seconds=50))
        await asyncio.sleep(0)
    patient = await registry.ref("a").ask("y", timeout_seconds=50)
    with pytest.raises(AskTimeout):
        await hurried
    assert patient == "y"
    await registry.stop(5)
    await store.stop(5)
