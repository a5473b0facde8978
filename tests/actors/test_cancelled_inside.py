"""What an actor waits for may be cancelled: that is a failure of the actor, never an order to it."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any

import pytest
from virtual_time import virtual

from memsvc_actors import (
    Actor,
    ActorCrashed,
    Backoff,
    Cell,
    ChildSpec,
    Event,
    Mailbox,
    Pool,
    Registry,
    SingleActor,
    Supervisor,
)
from memsvc_actors.events import Failed, Stopped


async def cancelled_from_inside() -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


class Fragile(Actor[Any]):
    """Waits for something cancelled in those starts, counted from 1, and those ends."""

    batch_limit = 1

    def __init__(
        self, log: list[str], starts: tuple[int, ...] = (), ends: tuple[int, ...] = ()
    ) -> None:
        self.log, self.starts, self.ends = log, starts, ends

    async def on_start(self) -> None:
        self.log.append("start")
        if self.log.count("start") in self.starts:
            await cancelled_from_inside()

    async def on_stop(self) -> None:
        self.log.append("stop")
        if self.log.count("stop") in self.ends:
            await cancelled_from_inside()

    async def receive(self, message: Any) -> object:
        if message == "fail":
            raise ZeroDivisionError
        return message


async def supervised(log: list[str], **when: tuple[int, ...]) -> tuple[SingleActor, Supervisor]:
    child = SingleActor("a", lambda: Fragile(log, **when))
    top = Supervisor("top", [ChildSpec("a", child)], backoff=Backoff(0.1))
    await top.start()
    with pytest.raises(ActorCrashed):
        await child.ref.ask("fail", timeout_seconds=5)
    return child, top


@virtual
async def test_a_key_whose_start_is_cancelled_from_inside_answers_and_wakes_again() -> None:
    log: list[str] = []
    events: list[Event] = []
    registry: Registry[Any] = Registry(
        "r", lambda key: Fragile(log, starts=(1,)), observer=events.append
    )
    await registry.start()
    with pytest.raises(ActorCrashed) as told:
        await registry.ref("a").ask("x", timeout_seconds=5)
    assert isinstance(told.value.__cause__, ActorCrashed)
    assert isinstance(told.value.__cause__.__cause__, asyncio.CancelledError)
    assert any(isinstance(event, Failed) for event in events)
    assert await registry.ref("a").ask("y", timeout_seconds=5) == "y"
    await registry.stop(1)


@virtual
async def test_a_key_that_failed_and_whose_end_is_cancelled_from_inside_wakes_again() -> None:
    log: list[str] = []
    registry: Registry[Any] = Registry("r", lambda key: Fragile(log, ends=(1,)))
    await registry.start()
    with pytest.raises(ActorCrashed):
        await registry.ref("a").ask("fail", timeout_seconds=5)
    assert await registry.ref("a").ask("y", timeout_seconds=5) == "y"
    await registry.stop(1)


@virtual
async def test_a_restart_that_is_cancelled_from_inside_is_tried_again() -> None:
    log: list[str] = []
    child, top = await supervised(log, starts=(2,))
    assert await child.ref.ask("x", timeout_seconds=5) == "x"
    assert log.count("start") == 3
    await top.stop()


@virtual
async def test_a_failed_actor_whose_end_is_cancelled_from_inside_is_restarted() -> None:
    child, top = await supervised([], ends=(1,))
    assert await child.ref.ask("x", timeout_seconds=5) == "x"
    await top.stop()


@virtual
async def test_an_end_that_is_cancelled_from_inside_does_not_keep_the_others_from_stopping() -> (
    None
):
    logs: dict[str, list[str]] = {"a": [], "b": []}
    children = {
        "a": SingleActor("a", lambda: Fragile(logs["a"])),
        "b": SingleActor("b", lambda: Fragile(logs["b"], ends=(1,))),
    }
    top = Supervisor("top", [ChildSpec(name, child) for name, child in children.items()])
    await top.start()
    await top.stop()
    assert logs == {"a": ["start", "stop"], "b": ["start", "stop"]}


@virtual
async def test_one_who_stops_an_actor_while_being_cancelled_himself_still_tells_the_two_apart() -> (
    None
):
    log: list[str] = []
    events: list[Event] = []
    mailbox: Mailbox[Any] = Mailbox("c", 1)
    cell: Cell[Any] = Cell(
        "c", lambda: Fragile(log, ends=(1,)), mailbox, lambda cell, error: None, events.append
    )
    await cell.start()

    async def owner() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            await cell.stop(1)

    owning = asyncio.create_task(owner())
    await asyncio.sleep(1)
    owning.cancel()
    await asyncio.wait({owning})
    assert owning.cancelled()
    assert [type(event) for event in events[-2:]] == [Failed, Stopped]
    assert mailbox.closed


@virtual
async def test_a_start_that_is_cancelled_from_outside_ends_as_cancelled() -> None:
    class Slow(Fragile):
        async def on_start(self) -> None:
            await asyncio.sleep(1000)

    log: list[str] = []
    child = SingleActor("a", lambda: Slow(log))
    starting = asyncio.create_task(child.start())
    await asyncio.sleep(1)
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    assert log == ["stop"]


@virtual
async def test_an_end_that_is_cancelled_from_outside_ends_as_cancelled() -> None:
    class Slow(Fragile):
        async def on_stop(self) -> None:
            await asyncio.sleep(50)

    child = SingleActor("a", lambda: Slow([]))
    await child.start()
    stopping = asyncio.create_task(child.stop(1))
    await asyncio.sleep(1)
    stopping.cancel()
    await asyncio.wait({stopping})
    assert stopping.cancelled()
    assert asyncio.get_running_loop().time() < 2


@virtual
async def test_work_of_a_pool_that_is_cancelled_from_inside_is_reported() -> None:
    events: list[Event] = []
    done: list[Hashable] = []

    async def work(key: Hashable) -> None:
        if key == "bad":
            await cancelled_from_inside()
        done.append(key)

    pool = Pool("p", work, 1, observer=events.append)
    await pool.start()
    for key in ("bad", "good"):
        pool.nudge(key)
    await asyncio.sleep(1)
    assert [event.name for event in events] == ["p bad"]
    assert done == ["good"]
    await pool.stop(1)
