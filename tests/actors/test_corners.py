"""What the other tests pass by: events told, bounds met exactly, a stop at an odd moment."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any

import pytest
from virtual_time import VirtualTimeLoop, virtual

from memsvc_actors import (
    Actor,
    ActorCrashed,
    ActorStopped,
    AskTimeout,
    Backoff,
    Cell,
    ChildSpec,
    Envelope,
    Event,
    Mailbox,
    Pool,
    Quarantined,
    Registry,
    SingleActor,
    Supervisor,
    current_request_id,
    request_scope,
)
from memsvc_actors.events import DeadLetters, Failed, Passivated, Started, Stopped
from memsvc_actors.mailbox import NUDGES_MAX


class Worker(Actor[Any]):
    """Works as many seconds as a float says, and writes down what it did for which request."""

    batch_limit = 1

    def __init__(self, log: list[Any], start_seconds: float = 0.0, broken: str = "") -> None:
        self.log, self.start_seconds, self.broken = log, start_seconds, broken

    async def on_start(self) -> None:
        await asyncio.sleep(self.start_seconds)
        if self.broken == "start":
            raise OSError("start")

    async def on_stop(self) -> None:
        if self.broken == "stop":
            raise OSError("stop")

    async def receive(self, message: Any) -> object:
        if message == "fail":
            raise ZeroDivisionError
        if isinstance(message, float):
            await asyncio.sleep(message)
        self.log.append((message, current_request_id()))
        return message

    async def receive_nudges(self, keys: list[Hashable]) -> None:
        self.log.append(("nudged", keys))


def cell_of(log: list[Any], events: list[Event], **options: Any) -> Cell[Any]:
    mailbox: Mailbox[Any] = Mailbox("c", 10)
    return Cell(
        "c", lambda: Worker(log, **options), mailbox, lambda cell, error: None, events.append
    )


def registry_of(
    log: list[Any], worker: dict[str, Any] | None = None, **options: Any
) -> Registry[Any]:
    return Registry("r", lambda key: Worker(log, **(worker or {})), **options)


def test_a_deadlock_in_virtual_time_is_an_error_and_not_a_hang() -> None:
    async def wait_for_nobody() -> None:
        await asyncio.get_running_loop().create_future()

    loop = VirtualTimeLoop()
    task = loop.create_task(wait_for_nobody())
    with pytest.raises(RuntimeError, match="deadlock"):
        loop.run_until_complete(task)
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()


@virtual
async def test_a_life_is_told_in_events_with_the_letters_that_nobody_will_read() -> None:
    log: list[Any] = []
    events: list[Event] = []
    cell = cell_of(log, events)
    await cell.start()
    tasks = [asyncio.create_task(cell.ref.ask(100.0, timeout_seconds=500)) for _ in range(3)]
    await asyncio.sleep(1)
    await cell.stop(1)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {ActorStopped}
    assert events == [Started("c"), DeadLetters("c", 2), Stopped("c")]


@virtual
async def test_an_end_that_fails_is_told_and_the_actor_has_stopped_all_the_same() -> None:
    events: list[Event] = []
    cell = cell_of([], events, broken="stop")
    await cell.start()
    await cell.stop(1)
    assert [type(event) for event in events] == [Started, Failed, Stopped]
    assert not cell.running


@virtual
async def test_what_is_past_its_time_is_not_in_the_batch_that_an_actor_is_handed() -> None:
    handed: list[list[Any]] = []

    class Batches(Worker):
        batch_limit = 10

        async def receive_batch(self, batch: list[Envelope[Any]]) -> None:
            handed.append([envelope.message for envelope in batch])
            await asyncio.sleep(5)

    child = SingleActor("b", lambda: Batches([]))
    await child.start()
    first = asyncio.create_task(child.ref.ask("first", timeout_seconds=50))
    await asyncio.sleep(1)
    late = asyncio.create_task(child.ref.ask("late", timeout_seconds=2))
    await child.ref.ask("in time", timeout_seconds=50)
    with pytest.raises(AskTimeout):
        await late
    await first
    assert handed == [["first"], ["in time"]]
    await child.stop(1)


@virtual
async def test_a_stopping_actor_finishes_its_messages_but_follows_no_nudge_any_more() -> None:
    log: list[Any] = []
    cell = cell_of(log, [])
    await cell.start()
    tasks = [asyncio.create_task(cell.ref.ask(2.0, timeout_seconds=50)) for _ in range(2)]
    await asyncio.sleep(1)
    cell.ref.nudge("due")
    await cell.stop(60)
    await asyncio.gather(*tasks)
    assert log == [(2.0, None), (2.0, None)]


@virtual
async def test_a_nudge_that_is_noted_already_is_not_lost_when_no_more_fit() -> None:
    mailbox: Mailbox[Any] = Mailbox("m", 1)
    for number in range(NUDGES_MAX):
        mailbox.nudge(number)
    mailbox.nudge(0)
    assert mailbox.statistics().nudges_dropped == 0
    mailbox.nudge("one more")
    assert mailbox.statistics().nudges_dropped == 1


@virtual
async def test_a_message_told_carries_the_request_too() -> None:
    log: list[Any] = []
    child = SingleActor("a", lambda: Worker(log))
    registry = registry_of(log)
    await child.start()
    await registry.start()
    with request_scope("request-7"):
        await child.ref.tell("told", timeout_seconds=1)
        child.ref.tell_nowait("told at once")
        registry.ref("k").tell_nowait("told to a key")
    child.ref.tell_nowait("told by nobody")
    await asyncio.sleep(1)
    assert set(log) == {
        ("told", "request-7"),
        ("told at once", "request-7"),
        ("told to a key", "request-7"),
        ("told by nobody", None),
    }
    await child.stop(1)
    await registry.stop(1)


@virtual
async def test_a_key_that_cannot_start_waits_longer_each_time_and_is_quarantined_and_not_nudged_awake() -> (
    None
):
    events: list[Event] = []
    registry = registry_of(
        [], {"broken": "start"}, backoff=Backoff(1.0), quarantine_after=3, observer=events.append
    )
    await registry.start()
    loop = asyncio.get_running_loop()
    for wait in (0.0, 1.0, 2.0):
        asked = loop.time()
        with pytest.raises(ActorCrashed):
            await registry.ref("a").ask("x", timeout_seconds=50)
        assert loop.time() - asked == pytest.approx(wait)
    with pytest.raises(Quarantined):
        await registry.ref("a").ask("x", timeout_seconds=50)
    registry.ref("a").nudge("due", activate=True)  # never fails, wakes nobody
    assert registry.active_keys() == []
    assert [type(event) for event in events] == [Failed, DeadLetters] * 3
    await registry.stop(1)


@virtual
async def test_falling_asleep_is_told_and_one_who_is_still_starting_is_left_alone() -> None:
    events: list[Event] = []
    registry = registry_of(
        [], {"start_seconds": 10.0}, idle_seconds=1, sweep_seconds=1, observer=events.append
    )
    await registry.start()
    registry.nudge("a", "due", activate=True)
    cell = registry._cells["a"]
    cell.mailbox.take_nudges()  # so that nothing waits for it while it starts
    await asyncio.sleep(5)
    assert registry.active_keys() == ["a"]
    assert events == []
    await asyncio.sleep(10)
    assert registry.active_keys() == []
    assert events == [Started("r/a"), Passivated("r/a"), Stopped("r/a")]
    await registry.stop(1)


@virtual
async def test_stopping_a_registry_waits_for_those_who_are_falling_asleep() -> None:
    ended: list[float] = []
    loop = asyncio.get_running_loop()

    class Slow(Worker):
        async def on_stop(self) -> None:
            await asyncio.sleep(5)
            ended.append(loop.time())

    registry: Registry[Any] = Registry("r", lambda key: Slow([]), idle_seconds=1, sweep_seconds=1)
    await registry.start()
    await registry.ref("a").ask("x", timeout_seconds=50)
    await asyncio.sleep(3)
    assert registry.active_keys() == []
    await registry.stop(60)
    assert len(ended) == 1


@virtual
async def test_stopping_a_registry_cancels_a_start_that_takes_too_long_and_answers_who_waits() -> (
    None
):
    registry = registry_of([], {"start_seconds": 1000.0})
    await registry.start()
    waiting = asyncio.create_task(registry.ref("a").ask("x", timeout_seconds=5000))
    await asyncio.sleep(1)
    await registry.stop(5)
    assert asyncio.get_running_loop().time() == pytest.approx(6)
    with pytest.raises(ActorStopped):
        await waiting


@virtual
async def test_old_failures_are_forgotten_without_anybody_asking_for_their_key() -> None:
    registry = registry_of([], quarantine_seconds=60, sweep_seconds=5)
    await registry.start()
    for number in range(20):
        with pytest.raises(ActorCrashed):
            await registry.ref(f"key {number}").ask("fail", timeout_seconds=50)
    assert len(registry._failures._times) == 20
    await asyncio.sleep(70)
    assert len(registry._failures._times) == 0
    await registry.stop(1)


@virtual
async def test_one_who_waits_for_room_with_a_failing_key_is_served_by_the_next_incarnation() -> (
    None
):
    log: list[Any] = []

    class AllAtOnce(Worker):
        batch_limit = 10

        async def receive_batch(self, batch: list[Envelope[Any]]) -> None:
            await asyncio.sleep(0)
            await super().receive_batch(batch)

    registry: Registry[Any] = Registry(
        "r", lambda key: AllAtOnce(log), mailbox_capacity=1, backoff=Backoff(0.1)
    )
    await registry.start()
    asks = [registry.ref("a").ask(m, timeout_seconds=50) for m in ("fail", "waits", "waits too")]
    outcomes = await asyncio.gather(*asks, return_exceptions=True)
    assert isinstance(outcomes[0], ActorCrashed)
    assert outcomes[1:] == ["waits", "waits too"]
    await registry.stop(1)


@virtual
async def test_a_key_that_waits_in_a_full_pool_may_be_nudged_again_and_is_forgotten_at_the_stop() -> (
    None
):
    done: list[Hashable] = []

    async def work(key: Hashable) -> None:
        await asyncio.sleep(1)
        done.append(key)

    pool = Pool("p", work, 1, capacity=1)
    await pool.start()
    for key in ("a", "b", "b"):
        pool.nudge(key)
    assert pool.statistics()["p"].nudges_dropped == 0
    await asyncio.sleep(0.5)
    await pool.stop(10)
    assert pool.statistics()["p"].depth == 0
    await pool.start()
    await asyncio.sleep(10)
    assert done == ["a"]
    await pool.stop(1)


@virtual
async def test_one_who_was_just_given_room_keeps_the_actor_awake() -> None:
    log: list[Any] = []
    registry = registry_of(log, mailbox_capacity=1, max_active=1)
    await registry.start()
    await registry.ref("a").ask("first", timeout_seconds=50)
    # In this order: it finds no room, the actor makes some, and another key wants the actor's place.
    waiting = asyncio.create_task(registry.ref("a").ask("waits", timeout_seconds=50))
    registry.ref("a").tell_nowait("fills the mailbox")
    other = asyncio.create_task(registry.ref("b").ask("other", timeout_seconds=50))
    assert await asyncio.gather(waiting, other) == ["waits", "other"]
    await registry.stop(1)


@virtual
async def test_one_who_was_just_given_room_wakes_the_next_incarnation_of_a_failed_key() -> None:
    log: list[Any] = []
    registry = registry_of(log, mailbox_capacity=1, backoff=Backoff(0.1))
    await registry.start()
    await registry.ref("a").ask("first", timeout_seconds=50)
    waiting = asyncio.create_task(registry.ref("a").ask("waits", timeout_seconds=50))
    registry.ref("a").tell_nowait("fail")
    assert await waiting == "waits"
    await registry.stop(1)


@virtual
async def test_a_key_that_is_stopped_while_it_ends_after_a_failure_can_be_woken_again() -> None:
    log: list[Any] = []

    class Slow(Worker):
        async def on_stop(self) -> None:
            await asyncio.sleep(5)

    registry: Registry[Any] = Registry(
        "r", lambda key: Slow(log), shutdown_seconds=60, backoff=Backoff(0.1)
    )
    await registry.start()
    failing = asyncio.create_task(registry.ref("a").ask("fail", timeout_seconds=50))
    behind = asyncio.create_task(registry.ref("a").ask("behind", timeout_seconds=50))
    await asyncio.sleep(1)
    await registry.stop_key("a")
    assert await registry.ref("a").ask("next", timeout_seconds=50) == "next"
    await asyncio.gather(failing, behind, return_exceptions=True)
    assert behind.done()
    await registry.stop(60)


@virtual
async def test_a_child_that_fails_while_the_next_one_s_start_asks_it_is_repaired_for_that() -> None:
    first = SingleActor("first", lambda: Worker([]))

    class Second(Worker):
        async def on_start(self) -> None:
            with pytest.raises(ActorCrashed):
                await first.ref.ask("fail", timeout_seconds=5)
            await first.ref.ask("needed", timeout_seconds=5)

    table = [
        ChildSpec("first", first),
        ChildSpec("second", SingleActor("second", lambda: Second([]))),
    ]
    top = Supervisor("top", table)
    await top.start()
    assert top.failed is None
    await top.stop()
