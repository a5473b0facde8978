"""Supervision, by the list that OTP's supervisors are tested by."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from virtual_time import virtual

from memsvc_actors import (
    Actor,
    ActorCrashed,
    ActorStopped,
    Backoff,
    ChildSpec,
    Event,
    RestartBudgetExceeded,
    SingleActor,
    Supervisor,
)
from memsvc_actors.events import BudgetExceeded, Restarted


class Named(Actor[Any]):
    batch_limit = 1

    def __init__(
        self, name: str, log: list[str], broken_starts: list[int], slow_stop: float = 0.0
    ) -> None:
        self.name, self.log = name, log
        self.broken_starts, self.slow_stop = broken_starts, slow_stop

    async def on_start(self) -> None:
        if self.broken_starts[0] > 0:
            self.broken_starts[0] -= 1
            raise OSError(f"{self.name} cannot start")
        self.log.append(f"start {self.name}")

    async def on_stop(self) -> None:
        self.log.append(f"stop {self.name}")

    async def receive(self, message: Any) -> object:
        if message == "fail":
            raise ZeroDivisionError
        if isinstance(message, float):
            await asyncio.sleep(message)
        return f"{self.name}: {message}"


class House:
    """A supervisor over named children, and what happened."""

    def __init__(
        self, *names: str, restart: Any = "permanent", shutdown: float = 5.0, **options: Any
    ) -> None:
        self.log: list[str] = []
        self.events: list[Event] = []
        self.broken = {name: [0] for name in names}
        self.children = {name: SingleActor(name, self.factory(name)) for name in names}
        self.supervisor = Supervisor(
            options.pop("name", "top"),
            [ChildSpec(name, child, restart, shutdown) for name, child in self.children.items()],
            observer=self.events.append,
            backoff=options.pop("backoff", Backoff(0.1, 10.0)),
            **options,
        )

    def factory(self, name: str) -> Callable[[], Named]:
        return lambda: Named(name, self.log, self.broken[name])

    async def ask(self, name: str, message: Any, seconds: float = 50) -> Any:
        return await self.children[name].ref.ask(message, timeout_seconds=seconds)

    async def fail(self, name: str) -> None:
        with pytest.raises(ActorCrashed):
            await self.ask(name, "fail")


@virtual
async def test_children_start_in_order_and_stop_in_reverse() -> None:
    house = House("a", "b", "c")
    await house.supervisor.start()
    await house.supervisor.stop()
    assert house.log == ["start a", "start b", "start c", "stop c", "stop b", "stop a"]


@virtual
async def test_a_start_that_fails_stops_those_started_in_reverse_and_is_raised() -> None:
    house = House("a", "b", "c")
    house.broken["c"][0] = 1
    with pytest.raises(OSError, match="c cannot start"):
        await house.supervisor.start()
    assert house.log == ["start a", "start b", "stop c", "stop b", "stop a"]


@virtual
async def test_a_failed_child_is_replaced_and_what_waits_is_carried_out_by_the_next() -> None:
    house = House("a", "b")
    await house.supervisor.start()
    failing = asyncio.create_task(house.fail("a"))
    waiting = asyncio.create_task(house.ask("a", "waits"))
    await asyncio.gather(failing, waiting)
    assert waiting.result() == "a: waits"
    assert house.log == ["start a", "start b", "stop a", "start a"]
    assert house.supervisor.failed is None
    await house.supervisor.stop()


@virtual
async def test_rest_for_one_restarts_those_that_come_after() -> None:
    house = House("a", "b", "c", strategy="rest_for_one")
    await house.supervisor.start()
    await house.fail("b")
    await asyncio.sleep(1)
    assert await house.ask("c", "x") == "c: x"
    assert house.log[3:] == ["stop b", "stop c", "start b", "start c"]
    await house.supervisor.stop()


@virtual
async def test_one_for_all_restarts_everybody() -> None:
    house = House("a", "b", strategy="one_for_all")
    await house.supervisor.start()
    await house.fail("b")
    await asyncio.sleep(1)
    assert await house.ask("a", "x") == "a: x"
    assert house.log[2:] == ["stop b", "stop a", "start a", "start b"]
    await house.supervisor.stop()


@virtual
async def test_a_temporary_child_is_never_restarted_and_its_mailbox_still_ends() -> None:
    house = House("a", restart="temporary")
    await house.supervisor.start()
    await house.fail("a")
    waiting = asyncio.create_task(house.ask("a", "x"))
    await asyncio.sleep(30)
    assert house.log == ["start a", "stop a"]
    await house.supervisor.stop()
    with pytest.raises(ActorStopped):
        await waiting


@virtual
async def test_a_transient_child_is_restarted_after_a_failure_only() -> None:
    house = House("a", restart="transient")
    await house.supervisor.start()
    await house.fail("a")
    assert await house.ask("a", "x") == "a: x"
    await house.supervisor.stop()
    await asyncio.sleep(30)
    assert house.log == ["start a", "stop a", "start a", "stop a"]


@virtual
async def test_a_burst_beyond_the_budget_fails_the_supervisor_and_closes_its_mailboxes() -> None:
    house = House("a", "b", max_restarts=3, within_seconds=30)
    await house.supervisor.start()
    for _ in range(3):
        await house.fail("a")
    assert await house.ask("a", "alive") == "a: alive"
    await house.fail("a")
    await asyncio.sleep(1)
    assert isinstance(house.supervisor.failed, RestartBudgetExceeded)
    assert any(isinstance(event, BudgetExceeded) for event in house.events)
    for name in ("a", "b"):
        with pytest.raises(ActorStopped):
            await house.ask(name, "x")
    await house.supervisor.stop()


@virtual
async def test_sustained_failures_within_the_budget_go_on_for_ever() -> None:
    house = House("a", max_restarts=3, within_seconds=30)
    await house.supervisor.start()
    for _ in range(30):
        await house.fail("a")
        await asyncio.sleep(11)
    assert house.supervisor.failed is None
    await house.supervisor.stop()


@virtual
async def test_a_child_that_cannot_start_again_is_tried_with_growing_delay_until_the_budget_ends() -> (
    None
):
    house = House("a", max_restarts=3, within_seconds=1000, backoff=Backoff(1.0, 100.0))
    await house.supervisor.start()
    house.broken["a"][0] = 100
    await house.fail("a")
    await asyncio.sleep(60)
    assert [e.delay_seconds for e in house.events if isinstance(e, Restarted)] == [1.0, 2.0, 4.0]
    assert house.supervisor.failed is not None
    assert isinstance(house.supervisor.failed.__cause__, OSError)
    await house.supervisor.stop()


@virtual
async def test_a_slow_child_is_cancelled_at_its_limit_and_the_others_still_stop() -> None:
    house = House("a", "b", shutdown=2.0)
    await house.supervisor.start()
    slow = asyncio.create_task(house.ask("b", 1000.0, 5000))
    await asyncio.sleep(0)
    await house.supervisor.stop()
    assert asyncio.get_running_loop().time() == pytest.approx(2.0)
    with pytest.raises(ActorStopped):
        await slow
    assert house.log == ["start a", "start b", "stop b", "stop a"]


@virtual
async def test_a_stop_during_the_delay_of_a_restart_ends_it() -> None:
    house = House("a", backoff=Backoff(100.0, 100.0))
    await house.supervisor.start()
    await house.fail("a")
    waiting = asyncio.create_task(house.ask("a", "x"))
    await asyncio.sleep(1)
    await house.supervisor.stop()
    with pytest.raises(ActorStopped):
        await waiting
    assert house.log == ["start a", "stop a"]


@virtual
async def test_a_supervisor_that_gives_up_is_its_parent_s_failed_child() -> None:
    inner = House("x", name="inner", max_restarts=0)
    outer = Supervisor(
        "outer",
        [ChildSpec("inner", inner.supervisor)],
        max_restarts=1,
        within_seconds=60,
        backoff=Backoff(0.1),
    )
    await outer.start()
    await inner.fail("x")
    assert await inner.ask("x", "again") == "x: again"
    assert outer.failed is None
    await inner.fail("x")
    await asyncio.sleep(5)
    assert isinstance(outer.failed, RestartBudgetExceeded)
    with pytest.raises(ActorStopped):
        await inner.ask("x", "gone")
    await outer.stop()


def test_two_children_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        Supervisor(
            "top",
            [ChildSpec("a", SingleActor("a", Actor)), ChildSpec("a", SingleActor("a", Actor))],
        )


@virtual
async def test_statistics_name_every_mailbox_below() -> None:
    house = House("a", "b")
    await house.supervisor.start()
    await house.ask("a", "x")
    assert {name: state.accepted for name, state in house.supervisor.statistics().items()} == {
        "a": 1,
        "b": 0,
    }
    await house.supervisor.stop()
