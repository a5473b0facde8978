"""One key's messages, whatever happens to it meanwhile: none lost in silence, none done twice."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_time import virtual

from memsvc_actors import Actor, ActorCrashed, ActorError, ActorStopped, Backoff, Registry

KEYS = "ab"


class History:
    """What was done, and how many incarnations of a key lived at once."""

    def __init__(self, start_steps: int = 0, stop_steps: int = 0) -> None:
        self.start_steps, self.stop_steps = start_steps, stop_steps
        self.alive: dict[str, int] = dict.fromkeys(KEYS, 0)
        self.most = 0
        self.done: list[int] = []


class Watched(Actor[Any]):
    """Takes some steps of the loop to start, to end and to work; a negative number kills it."""

    batch_limit = 2

    def __init__(self, key: str, history: History) -> None:
        self.key, self.history = key, history

    async def on_start(self) -> None:
        self.history.alive[self.key] += 1
        self.history.most = max(self.history.most, self.history.alive[self.key])
        await steps(self.history.start_steps)

    async def on_stop(self) -> None:
        await steps(self.history.stop_steps)
        self.history.alive[self.key] -= 1

    async def receive(self, message: int) -> object:
        await asyncio.sleep(0)
        self.history.done.append(message)
        if message < 0:
            raise ZeroDivisionError
        return message


async def steps(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def registry_of(history: History, **options: Any) -> Registry[int]:
    return Registry(
        "r",
        lambda key: Watched(key, history),
        backoff=Backoff(0.01, 0.01),
        quarantine_after=10**6,
        **options,
    )


@pytest.mark.parametrize("stop_steps", [0, 1, 3])
@pytest.mark.parametrize("how", ["swept", "crowded out", "stopped"])
@virtual
async def test_a_message_sent_at_any_step_around_falling_asleep_is_done_once(
    how: str, stop_steps: int
) -> None:
    for step in range(20):
        history = History(start_steps=1, stop_steps=stop_steps)
        registry = registry_of(history, idle_seconds=1, sweep_seconds=1.5, max_active=1)
        await registry.start()
        assert await registry.ref("a").ask(1, timeout_seconds=5) == 1
        due = asyncio.get_running_loop().create_future()
        if how == "swept":
            registry._sweep_seconds = 1000  # no second sweep while the steps are counted
            asyncio.get_running_loop().call_later(1.5, due.set_result, None)
            await due
        other = asyncio.create_task(fall_asleep(registry, how))
        await steps(step)
        assert await registry.ref("a").ask(2, timeout_seconds=5) == 2
        await other
        await registry.stop(5)
        assert [number for number in history.done if number < 10] == [1, 2], step
        assert history.most == 1, step
        assert not any(history.alive.values()), step


async def fall_asleep(registry: Registry[int], how: str) -> None:
    if how == "crowded out":
        await registry.ref("b").ask(10, timeout_seconds=5)
    elif how == "stopped":
        await registry.stop_key("a")


@given(seed=st.integers(0, 10**9))
@settings(max_examples=40, deadline=None)
def test_under_failures_stops_and_cancelled_callers_nothing_is_lost_in_silence_or_done_twice(
    seed: int,
) -> None:
    virtual(stormy)(random.Random(seed))


async def stormy(chance: random.Random) -> None:
    history = History(chance.randrange(3), chance.randrange(5))
    registry = registry_of(
        history, idle_seconds=0.03, sweep_seconds=0.02, max_active=1, mailbox_capacity=2
    )
    await registry.start()
    outcomes: dict[int, Any] = {}
    numbers = iter(range(1, 1000))

    async def caller() -> None:
        for _ in range(8):
            await steps(chance.randrange(4))
            if chance.random() < 0.3:
                await asyncio.sleep(chance.choice([0.01, 0.02, 0.05]))
            key, number = chance.choice(KEYS), next(numbers) * chance.choice([1, 1, 1, -1])
            outcomes[number] = await outcome_of(registry, key, number, chance)

    async def stopper() -> None:
        for _ in range(5):
            await asyncio.sleep(chance.choice([0.0, 0.01, 0.03]))
            await registry.stop_key(chance.choice(KEYS))

    await asyncio.gather(stopper(), *(caller() for _ in range(4)))
    await registry.stop(5)
    assert len(history.done) == len(set(history.done))
    assert history.most == 1
    assert not any(history.alive.values())
    for number, outcome in outcomes.items():
        # Told "done": done. Told "crashed" or "stopped": told. A timeout would be silence.
        assert isinstance(outcome, int | ActorCrashed | ActorStopped | asyncio.CancelledError)
        if isinstance(outcome, int):
            assert outcome == number
            assert number in history.done


async def outcome_of(registry: Registry[int], key: str, number: int, chance: random.Random) -> Any:
    asking = asyncio.create_task(registry.ref(key).ask(number, timeout_seconds=500))
    if chance.random() < 0.2:
        await steps(chance.randrange(6))
        asking.cancel()
    try:
        return await asking
    except (ActorError, asyncio.CancelledError) as error:
        return error
