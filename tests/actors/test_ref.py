"""Asking, telling, nudging: every wait ends, and what was taken is carried out."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

import pytest
from virtual_time import virtual

from memsvc_actors import (
    Actor,
    ActorStopped,
    AskTimeout,
    MailboxFull,
    SingleActor,
    current_request_id,
    request_scope,
)


class Slow(Actor[float]):
    """Takes as many seconds as it is told."""

    batch_limit = 1

    def __init__(self) -> None:
        self.done: list[float] = []
        self.nudged: list[Hashable] = []

    async def receive(self, message: float) -> object:
        await asyncio.sleep(message)
        self.done.append(message)
        return current_request_id()

    async def receive_nudges(self, keys: list[Hashable]) -> None:
        self.nudged += keys


async def started(capacity: int = 10) -> tuple[SingleActor, Slow]:
    actor = Slow()
    child = SingleActor("slow", lambda: actor, capacity)
    await child.start()
    return child, actor


@virtual
async def test_an_ask_ends_at_its_time_and_work_under_way_goes_on() -> None:
    child, actor = await started()
    loop = asyncio.get_running_loop()
    with pytest.raises(AskTimeout, match="slow"):
        await child.ref.ask(5.0, timeout_seconds=2)
    assert loop.time() == pytest.approx(2)
    await asyncio.sleep(4)
    assert actor.done == [5.0]
    await child.stop(1)


@virtual
async def test_what_is_past_its_time_in_the_mailbox_is_not_carried_out_unless_it_must() -> None:
    child, actor = await started()
    busy = asyncio.create_task(child.ref.ask(10.0, timeout_seconds=20))
    await asyncio.sleep(0)
    late = asyncio.create_task(child.ref.ask(1.0, timeout_seconds=3))
    must = asyncio.create_task(child.ref.ask(2.0, timeout_seconds=3, must_run=True))
    outcomes = await asyncio.gather(busy, late, must, return_exceptions=True)
    assert [type(o) for o in outcomes[1:]] == [AskTimeout, AskTimeout]
    await asyncio.sleep(5)
    assert actor.done == [10.0, 2.0]
    await child.stop(1)


@virtual
async def test_a_cancelled_ask_does_not_cancel_the_work_nor_hurt_the_actor() -> None:
    child, actor = await started()
    ask = asyncio.create_task(child.ref.ask(3.0, timeout_seconds=10))
    await asyncio.sleep(1)
    ask.cancel()
    await asyncio.sleep(5)
    assert actor.done == [3.0]
    await child.ref.ask(0.0, timeout_seconds=1)
    await child.stop(1)


@virtual
async def test_a_full_mailbox_is_waited_for_or_refused_as_asked() -> None:
    child, actor = await started(capacity=1)
    first = asyncio.create_task(child.ref.ask(4.0, timeout_seconds=20))
    await asyncio.sleep(0.1)
    child.ref.tell_nowait(1.0)
    with pytest.raises(MailboxFull):
        await child.ref.ask(1.0, timeout_seconds=20, wait_for_room=False)
    with pytest.raises(MailboxFull):
        child.ref.tell_nowait(1.0)
    with pytest.raises(AskTimeout, match="no room"):
        await child.ref.ask(1.0, timeout_seconds=2)
    with pytest.raises(AskTimeout, match="no room"):
        await child.ref.tell(1.0, timeout_seconds=1)
    await child.ref.ask(2.0, timeout_seconds=20)
    await first
    assert actor.done == [4.0, 1.0, 2.0]
    await child.stop(1)


@virtual
async def test_asking_one_that_has_stopped_fails_at_once() -> None:
    child, _ = await started()
    await child.stop(1)
    for attempt in (child.ref.ask(0.0, timeout_seconds=9), child.ref.tell(0.0, timeout_seconds=9)):
        with pytest.raises(ActorStopped):
            await attempt
    child.ref.nudge("key")  # never fails
    assert asyncio.get_running_loop().time() == 0


@virtual
async def test_request_id_and_deadline_cross_the_mailbox() -> None:
    child, _ = await started()
    loop = asyncio.get_running_loop()
    with request_scope("request-7", loop.time() + 2):
        assert await child.ref.ask(1.0, timeout_seconds=50) == "request-7"
        with pytest.raises(AskTimeout):
            await child.ref.ask(30.0, timeout_seconds=50)
    assert loop.time() == pytest.approx(2)
    assert current_request_id() is None
    await child.stop(100)


@virtual
async def test_nudges_reach_the_actor_once_each() -> None:
    child, actor = await started()
    for key in ("a", "b", "a"):
        child.ref.nudge(key)
    await asyncio.sleep(1)
    assert actor.nudged == ["a", "b"]
    assert child.ref.statistics().nudges == 0
    await child.stop(1)
