"""From one incarnation to the next: the old one's end is over before the new one begins."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from virtual_time import virtual

from memsvc_actors import (
    Actor,
    ActorCrashed,
    Backoff,
    Cell,
    ChildSpec,
    Envelope,
    Mailbox,
    Registry,
    RestartBudgetExceeded,
    SingleActor,
    Supervisor,
)


class Life:
    """Who lives, and what happened; two that live at once are noted."""

    def __init__(self) -> None:
        self.alive = 0
        self.most = 0
        self.log: list[Any] = []


class Mortal(Actor[Any]):
    """Works as many seconds as a float says, and takes its time to end."""

    batch_limit = 1

    def __init__(self, life: Life, start_seconds: float = 0.0, stop_seconds: float = 0.0) -> None:
        self.life = life
        self.start_seconds, self.stop_seconds = start_seconds, stop_seconds

    async def on_start(self) -> None:
        self.life.alive += 1
        self.life.most = max(self.life.most, self.life.alive)
        self.life.log.append("start")
        await asyncio.sleep(self.start_seconds)

    async def on_stop(self) -> None:
        await asyncio.sleep(self.stop_seconds)
        self.life.alive -= 1
        self.life.log.append("stop")

    async def receive(self, message: Any) -> object:
        if message == "fail":
            raise ZeroDivisionError
        if message == "cancelled inside":
            future = asyncio.get_running_loop().create_future()
            future.cancel()
            await future
        if isinstance(message, float):
            await asyncio.sleep(message)
        self.life.log.append(message)
        return message


def registry_of(life: Life, stop_seconds: float, **options: Any) -> Registry[Any]:
    return Registry(
        "r", lambda key: Mortal(life, stop_seconds=stop_seconds), backoff=Backoff(0.1), **options
    )


async def ask(registry: Registry[Any], message: Any, key: str = "a") -> Any:
    return await registry.ref(key).ask(message, timeout_seconds=100)


@virtual
async def test_a_failed_actor_that_is_still_ending_is_not_idle() -> None:
    life = Life()
    registry = registry_of(life, 5.0, idle_seconds=1, sweep_seconds=1)
    await registry.start()
    with pytest.raises(ActorCrashed):
        await ask(registry, "fail")
    await asyncio.sleep(3)  # its end takes five
    assert await ask(registry, "next") == "next"
    assert life.most == 1
    await registry.stop(10)


@virtual
async def test_a_registry_s_stop_waits_for_the_end_of_a_failed_actor() -> None:
    life = Life()
    registry = registry_of(life, 5.0)
    await registry.start()
    with pytest.raises(ActorCrashed):
        await ask(registry, "fail")
    await registry.stop(10)
    left = life.alive
    await asyncio.sleep(10)
    assert left == 0


@virtual
async def test_a_key_stopped_at_once_after_a_message_still_carries_it_out() -> None:
    life = Life()
    registry = registry_of(life, 0.0)
    await registry.start()
    registry.ref("a").tell_nowait("first")
    await registry.stop_key("a")
    assert life.log == ["start", "first", "stop"]
    assert asyncio.get_running_loop().time() < 1
    await registry.stop(1)


@virtual
async def test_one_who_stops_a_key_may_be_cancelled_and_the_next_incarnation_still_waits() -> None:
    life = Life()
    registry = registry_of(life, 5.0)
    await registry.start()
    await ask(registry, 1)
    stopping = asyncio.create_task(registry.stop_key("a"))
    await asyncio.sleep(1)
    stopping.cancel()
    await asyncio.gather(stopping, return_exceptions=True)
    assert await ask(registry, 2) == 2
    assert life.most == 1
    assert life.log == ["start", 1, "stop", "start", 2]
    await registry.stop(10)


@virtual
async def test_everybody_who_stops_a_key_waits_until_its_actor_has_ended() -> None:
    life = Life()
    registry = registry_of(life, 5.0)
    await registry.start()
    await ask(registry, 1)
    first = asyncio.create_task(registry.stop_key("a"))
    await asyncio.sleep(1)
    await registry.stop_key("a")
    assert life.alive == 0
    await first
    await registry.stop(10)


@virtual
async def test_a_key_stopped_while_it_waits_for_an_end_that_takes_too_long_is_still_one_at_a_time() -> (
    None
):
    life = Life()
    registry = registry_of(life, 20.0, idle_seconds=1, sweep_seconds=1, shutdown_seconds=2)
    await registry.start()
    await ask(registry, 1)
    await asyncio.sleep(3)  # falling asleep, until 22
    registry.ref("a").tell_nowait(2)
    await asyncio.sleep(0.1)
    await registry.stop_key("a")
    assert await ask(registry, 3) == 3
    assert life.most == 1
    await registry.stop(100)


@virtual
async def test_an_actor_works_on_nothing_once_its_end_has_begun() -> None:
    life = Life()
    at_work_when_ending: list[bool] = []

    class Watched(Mortal):
        working = False

        async def receive(self, message: Any) -> object:
            self.working = True
            try:
                return await super().receive(message)
            finally:
                self.working = False

        async def on_stop(self) -> None:
            at_work_when_ending.append(self.working)
            await asyncio.sleep(5)
            at_work_when_ending.append(self.working)
            await super().on_stop()

    cell: Cell[Any] = Cell(
        "cell", lambda: Watched(life), Mailbox("cell", 10), lambda cell, error: None
    )
    await cell.start()

    async def talk() -> None:
        for _ in range(
            3
        ):  # the next message comes with the answer to the last, just as the work ends
            await cell.ref.ask(3.0, timeout_seconds=50)

    talking = asyncio.create_task(talk())
    await asyncio.sleep(0.5)
    await cell.stop(60)
    await asyncio.gather(talking, return_exceptions=True)
    await asyncio.sleep(60)
    assert at_work_when_ending == [False, False]
    assert life.log[-1] == "stop"


@virtual
async def test_work_that_is_cancelled_from_inside_does_not_leave_the_others_waiting() -> None:
    life = Life()
    child = SingleActor("a", lambda: Mortal(life))
    top = Supervisor("top", [ChildSpec("a", child)])
    await top.start()
    outcomes = await asyncio.gather(
        *(child.ref.ask(m, timeout_seconds=50) for m in ("cancelled inside", "waits")),
        return_exceptions=True,
    )
    assert isinstance(outcomes[0], Exception)
    assert outcomes[1] == "waits"
    await top.stop()


@virtual
async def test_a_child_that_is_ending_after_a_failure_is_not_started_beside_itself() -> None:
    lives = {name: Life() for name in "ab"}
    children = {
        "a": SingleActor("a", lambda: Mortal(lives["a"], stop_seconds=5.0)),
        "b": SingleActor("b", lambda: Mortal(lives["b"])),
    }
    top = Supervisor(
        "top",
        [ChildSpec(n, c, shutdown_seconds=20) for n, c in children.items()],
        strategy="one_for_all",
    )
    await top.start()
    for name in "ab":
        with pytest.raises(ActorCrashed):
            await children[name].ref.ask("fail", timeout_seconds=50)
    await asyncio.sleep(30)
    assert await children["a"].ref.ask("x", timeout_seconds=50) == "x"
    await top.stop()
    assert (lives["a"].most, lives["a"].alive) == (1, 0)
    assert (lives["b"].most, lives["b"].alive) == (1, 0)


@virtual
async def test_a_child_that_fails_while_the_others_start_does_not_start_them_twice() -> None:
    lives = {name: Life() for name in "ab"}
    children = {
        "a": SingleActor("a", lambda: Mortal(lives["a"])),
        "b": SingleActor("b", lambda: Mortal(lives["b"], start_seconds=10.0)),
    }
    top = Supervisor("top", [ChildSpec(n, c) for n, c in children.items()], strategy="one_for_all")
    early = asyncio.create_task(children["a"].ref.ask("fail", timeout_seconds=50))
    await asyncio.sleep(0)
    await top.start()
    await asyncio.gather(early, return_exceptions=True)
    await asyncio.sleep(60)
    assert await children["b"].ref.ask("x", timeout_seconds=50) == "x"
    await top.stop()
    assert [life.most for life in lives.values()] == [1, 1]
    assert [life.alive for life in lives.values()] == [0, 0]


@virtual
async def test_a_start_that_fails_leaves_nobody_running_even_if_one_had_failed_meanwhile() -> None:
    life = Life()

    class Broken(Actor[Any]):
        async def on_start(self) -> None:
            await asyncio.sleep(0.05)
            raise OSError("b cannot start")

    first = SingleActor("a", lambda: Mortal(life))
    top = Supervisor("top", [ChildSpec("a", first), ChildSpec("b", SingleActor("b", Broken))])
    early = asyncio.create_task(first.ref.ask("fail", timeout_seconds=50))
    await asyncio.sleep(0)
    with pytest.raises(OSError, match="b cannot start"):
        await top.start()
    await asyncio.gather(early, return_exceptions=True)
    await asyncio.sleep(60)
    alive = life.alive
    await top.stop()
    assert alive == 0


@virtual
async def test_a_temporary_child_that_failed_is_not_brought_back_by_another_s_failure() -> None:
    lives = {name: Life() for name in "ab"}
    children = {name: SingleActor(name, lambda name=name: Mortal(lives[name])) for name in "ab"}
    table = [ChildSpec("a", children["a"]), ChildSpec("b", children["b"], restart="temporary")]
    top = Supervisor("top", table, strategy="one_for_all")
    await top.start()
    for name in "ba":
        with pytest.raises(ActorCrashed):
            await children[name].ref.ask("fail", timeout_seconds=50)
        await asyncio.sleep(10)
    assert lives["a"].log == ["start", "stop", "start"]
    assert lives["b"].log == ["start", "stop"]
    await top.stop()


@virtual
async def test_those_who_wait_keep_their_order_when_a_newcomer_takes_the_room_first() -> None:
    mailbox: Mailbox[int] = Mailbox("m", 1)
    mailbox.put_nowait(Envelope(0))
    waiting = [asyncio.create_task(mailbox.put(Envelope(n))) for n in (1, 2)]
    await asyncio.sleep(0)
    taken = [envelope.message for envelope in mailbox.drain(1)]
    newcomer = asyncio.gather(mailbox.put(Envelope(3)))
    if not mailbox.full:  # an ask that finds room does not wait, see `ask_mailbox`
        mailbox.put_nowait(Envelope(4))
    for _ in range(5):
        await asyncio.sleep(1)
        taken += [envelope.message for envelope in mailbox.drain(1)]
    await asyncio.gather(newcomer, *waiting)
    assert [message for message in taken if message in (1, 2, 3)] == [1, 2, 3]


def test_the_delay_has_its_bound_after_any_number_of_failures() -> None:
    assert Backoff(0.1, 5.0).delay_seconds(5000) == 5.0


@virtual
async def test_a_supervisor_that_gives_up_while_its_table_starts_is_not_started_beside_itself() -> (
    None
):
    lives = {name: Life() for name in "ab"}
    children = {
        "a": SingleActor("a", lambda: Mortal(lives["a"])),
        "b": SingleActor("b", lambda: Mortal(lives["b"], start_seconds=10.0)),
    }
    inner = Supervisor("inner", [ChildSpec(n, c) for n, c in children.items()], max_restarts=0)
    outer = Supervisor("outer", [ChildSpec("inner", inner)], backoff=Backoff(0.1))
    early = asyncio.create_task(children["a"].ref.ask("fail", timeout_seconds=50))
    await asyncio.sleep(0)
    await asyncio.gather(outer.start(), return_exceptions=True)
    await asyncio.gather(early, return_exceptions=True)
    await asyncio.sleep(60)
    await outer.stop()
    assert lives["b"].most == 1
    assert [life.alive for life in lives.values()] == [0, 0]


@virtual
async def test_a_start_during_which_the_budget_is_spent_is_a_start_that_fails() -> None:
    lives = {name: Life() for name in "ab"}
    children = {
        "a": SingleActor("a", lambda: Mortal(lives["a"])),
        "b": SingleActor("b", lambda: Mortal(lives["b"], start_seconds=10.0)),
    }
    top = Supervisor("top", [ChildSpec(n, c) for n, c in children.items()], max_restarts=0)
    early = asyncio.create_task(children["a"].ref.ask("fail", timeout_seconds=50))
    await asyncio.sleep(0)
    with pytest.raises(RestartBudgetExceeded):
        await top.start()
    await asyncio.gather(early, return_exceptions=True)
    assert [life.alive for life in lives.values()] == [0, 0]
    await top.stop()
