"""Equal workers on one set of keys."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

import pytest
from virtual_time import virtual

from memsvc_actors import Actor, Event, Pool, SingleActor, current_request_id, request_scope
from memsvc_actors.events import Failed


class Work:
    def __init__(self, seconds: float = 1.0) -> None:
        self.seconds = seconds
        self.running: set[Hashable] = set()
        self.most = 0
        self.done: list[Hashable] = []

    async def __call__(self, key: Hashable) -> None:
        assert key not in self.running, "one key twice at once"
        self.running.add(key)
        self.most = max(self.most, len(self.running))
        try:
            await asyncio.sleep(self.seconds)
            if key == "bad":
                raise ZeroDivisionError
            self.done.append(key)
        finally:
            self.running.discard(key)


@virtual
async def test_no_more_than_its_size_work_at_once_and_equal_nudges_coalesce() -> None:
    work = Work()
    pool = Pool("p", work, 2)
    await pool.start()
    for key in ("a", "b", "c", "d", "c", "d"):
        pool.nudge(key)
    await asyncio.sleep(10)
    assert work.done == ["a", "b", "c", "d"]
    assert work.most == 2
    await pool.stop(1)


@virtual
async def test_a_key_nudged_while_it_is_worked_on_runs_once_more_afterwards() -> None:
    work = Work()
    pool = Pool("p", work, 4)
    await pool.start()
    pool.nudge("a")
    await asyncio.sleep(0.5)
    for _ in range(3):
        pool.nudge("a")
    await asyncio.sleep(10)
    assert work.done == ["a", "a"]
    await pool.stop(1)


@virtual
async def test_a_key_that_fails_is_reported_and_holds_nobody_up() -> None:
    work, events = Work(), list[Event]()
    pool = Pool("p", work, 1, observer=events.append)
    await pool.start()
    for key in ("bad", "good"):
        pool.nudge(key)
    await asyncio.sleep(5)
    assert work.done == ["good"]
    assert [type(event) for event in events] == [Failed]
    await pool.stop(1)


@virtual
async def test_too_many_keys_are_dropped_and_counted() -> None:
    pool = Pool("p", Work(), 1, capacity=2)
    for key in range(5):
        pool.nudge(key)
    state = pool.statistics()["p"]
    assert (state.nudges, state.nudges_dropped) == (2, 3)
    await pool.stop(1)


@virtual
async def test_stopping_finishes_what_is_under_way_or_cancels_it_at_its_time() -> None:
    quick, slow = Work(1.0), Work(1000.0)
    for work in (quick, slow):
        pool = Pool("p", work, 1)
        await pool.start()
        pool.nudge("a")
        pool.nudge("waits")
        await asyncio.sleep(0.5)
        await pool.stop(5)
    assert (quick.done, slow.done) == (["a"], [])
    assert asyncio.get_running_loop().time() < 10


def test_a_pool_of_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Pool("p", Work(), 0)


@virtual
async def test_work_belongs_to_no_request_whoever_nudged() -> None:
    seen: list[str | None] = []

    class Sleeper(Actor[float]):
        async def receive(self, message: float) -> object:
            await asyncio.sleep(message)
            return None

    child = SingleActor("sleeper", Sleeper)
    await child.start()

    async def work(key: Hashable) -> None:
        await child.ref.ask(5.0, timeout_seconds=50)
        seen.append(current_request_id())

    pool = Pool("p", work, 1)
    await pool.start()
    with request_scope("request-7", asyncio.get_running_loop().time() + 1):
        pool.nudge("a")
    await asyncio.sleep(10)
    assert seen == [None]
    await pool.stop(1)
    await child.stop(1)
