"""Actors by key: woken, put to sleep, never two of one key, and no message lost in between."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_time import virtual

from memsvc_actors import (
    Actor,
    ActorCrashed,
    ActorStopped,
    AskTimeout,
    Backoff,
    Quarantined,
    Registry,
)


class Book:
    """What all incarnations did, and who is alive."""

    def __init__(self) -> None:
        self.alive: dict[str, int] = {}
        self.incarnations = 0
        self.seen: list[tuple[str, Any]] = []
        self.stop_seconds = 0.0
        self.work_seconds = 0.0
        self.broken_starts = 0


class Expected(Exception):
    pass


class Keyed(Actor[Any]):
    expected_errors = (Expected,)

    def __init__(self, key: str, book: Book) -> None:
        self.key, self.book = key, book

    async def on_start(self) -> None:
        if self.book.broken_starts:
            self.book.broken_starts -= 1
            raise OSError("start")
        assert self.book.alive.get(self.key, 0) == 0, "two incarnations of one key at once"
        self.book.alive[self.key] = 1
        self.book.incarnations += 1

    async def on_stop(self) -> None:
        await asyncio.sleep(self.book.stop_seconds)
        self.book.alive[self.key] = 0

    async def receive(self, message: Any) -> object:
        if message == "fail":
            raise ZeroDivisionError
        if message == "expected":
            raise Expected
        await asyncio.sleep(self.book.work_seconds)
        self.book.seen.append((self.key, message))
        return message

    async def receive_nudges(self, keys: list[Any]) -> None:
        self.book.seen += [(self.key, ("nudge", key)) for key in keys]


def registry_of(book: Book, **options: Any) -> Registry[Any]:
    return Registry("r", lambda key: Keyed(key, book), **options)


async def ask(registry: Registry[Any], key: str, message: Any, seconds: float = 100) -> Any:
    return await registry.ref(key).ask(message, timeout_seconds=seconds)


@virtual
async def test_a_key_wakes_with_its_first_message_and_sleeps_when_idle() -> None:
    book = Book()
    registry = registry_of(book, idle_seconds=10, sweep_seconds=1)
    await registry.start()
    assert await ask(registry, "a", 1) == 1
    assert registry.active_keys() == ["a"]
    await asyncio.sleep(8)
    assert await ask(registry, "a", 2) == 2
    await asyncio.sleep(8)
    assert registry.active_keys() == ["a"]
    await asyncio.sleep(5)
    assert registry.active_keys() == []
    assert await ask(registry, "a", 3) == 3
    assert book.incarnations == 2
    await registry.stop(1)


@virtual
async def test_above_the_bound_the_least_recently_used_sleep_and_the_busy_stay() -> None:
    book = Book()
    registry = registry_of(book, max_active=3)
    await registry.start()
    for key in "abc":
        await ask(registry, key, 1)
    await ask(registry, "a", 2)
    await ask(registry, "d", 1)
    assert registry.active_keys() == ["c", "a", "d"]
    book.work_seconds = 5
    busy = [asyncio.create_task(ask(registry, key, 3)) for key in "cad"]
    await asyncio.sleep(1)
    await ask(registry, "e", 1)
    await asyncio.gather(*busy)
    assert len(book.seen) == 9
    await registry.stop(1)


@virtual
async def test_what_arrives_while_an_actor_ends_goes_to_the_next_incarnation_in_order() -> None:
    book = Book()
    book.stop_seconds = 5
    registry = registry_of(book, idle_seconds=1, sweep_seconds=1)
    await registry.start()
    await ask(registry, "a", 0)
    await asyncio.sleep(3)  # its end is under way
    assert book.alive["a"] == 1
    answers = await asyncio.gather(*(ask(registry, "a", n) for n in range(1, 6)))
    assert answers == [1, 2, 3, 4, 5]
    assert [message for _, message in book.seen] == [0, 1, 2, 3, 4, 5]
    await registry.stop(10)


@given(seed=st.integers(0, 10**9))
@settings(max_examples=60, deadline=None)
def test_no_interleaving_of_sending_and_falling_asleep_loses_or_doubles_a_message(
    seed: int,
) -> None:
    @virtual
    async def interleaved() -> None:
        chance = random.Random(seed)
        book = Book()
        book.stop_seconds = chance.choice([0.0, 0.01, 0.3])
        book.work_seconds = chance.choice([0.0, 0.01])
        registry = registry_of(
            book, idle_seconds=0.05, sweep_seconds=0.02, max_active=2, mailbox_capacity=3
        )
        await registry.start()
        sent: list[tuple[str, int]] = []

        async def send(first: int) -> None:
            for number in range(first, first + 10):
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
                if chance.random() < 0.5:
                    await asyncio.sleep(chance.choice([0.02, 0.05, 0.07, 0.1]))
                key = chance.choice("abc")
                assert await ask(registry, key, number) == number
                sent.append((key, number))

        await asyncio.gather(*(send(10 * n) for n in range(5)))
        await registry.stop(10)
        assert sorted(book.seen) == sorted(sent)
        assert not any(book.alive.values())

    interleaved()


@virtual
async def test_a_failed_key_starts_again_with_the_next_message_after_a_growing_wait() -> None:
    book = Book()
    registry = registry_of(book, backoff=Backoff(1.0, 100.0), quarantine_after=10)
    await registry.start()
    loop = asyncio.get_running_loop()
    for wait in (1.0, 2.0):
        with pytest.raises(ActorCrashed):
            await ask(registry, "a", "fail")
        start = loop.time()
        assert await ask(registry, "a", "next") == "next"
        assert loop.time() - start == pytest.approx(wait)
    await registry.stop(1)


@virtual
async def test_messages_behind_the_one_that_failed_go_to_the_next_incarnation() -> None:
    book = Book()
    registry = registry_of(book)
    await registry.start()
    await ask(registry, "a", 0)

    class Single(Keyed):
        batch_limit = 1

    registry.factory = lambda key: Single(key, book)
    await registry.stop_key("a")
    outcomes = await asyncio.gather(
        *(ask(registry, "a", m) for m in (1, "fail", 2, 3)), return_exceptions=True
    )
    assert [o if not isinstance(o, Exception) else type(o) for o in outcomes] == [
        1,
        ActorCrashed,
        2,
        3,
    ]
    await registry.stop(1)


@virtual
async def test_a_key_that_keeps_failing_is_quarantined_and_the_others_are_not() -> None:
    book = Book()
    registry = registry_of(book, quarantine_after=3, quarantine_seconds=60, backoff=Backoff(0.1))
    await registry.start()
    for _ in range(3):
        with pytest.raises(ActorCrashed):
            await ask(registry, "bad", "fail")
    with pytest.raises(Quarantined):
        await ask(registry, "bad", 1)
    assert await ask(registry, "good", 1) == 1
    await asyncio.sleep(61)
    assert await ask(registry, "bad", 2) == 2
    for _ in range(3):
        with pytest.raises(ActorCrashed):
            await ask(registry, "bad", "fail")
    registry.release("bad")
    assert await ask(registry, "bad", 3) == 3
    await registry.stop(1)


@virtual
async def test_a_start_that_fails_answers_those_who_wait_as_what_it_is() -> None:
    book = Book()
    book.broken_starts = 1
    registry = registry_of(book)
    await registry.start()
    with pytest.raises(ActorCrashed) as crashed:
        await ask(registry, "a", 1)
    assert isinstance(crashed.value.__cause__, OSError)
    assert await ask(registry, "a", 2) == 2
    book.broken_starts = 1
    known = registry_of(book, expected_errors=(OSError,))
    await known.start()
    with pytest.raises(OSError, match="start"):
        await ask(known, "b", 1)
    await registry.stop(1)
    await known.stop(1)


@virtual
async def test_a_nudge_does_not_wake_unless_it_is_told_to() -> None:
    book = Book()
    registry = registry_of(book)
    await registry.start()
    registry.ref("a").nudge("due")
    await asyncio.sleep(1)
    assert registry.active_keys() == []
    registry.ref("a").nudge("due", activate=True)
    registry.ref("a").nudge("due")
    await asyncio.sleep(1)
    assert book.seen == [("a", ("nudge", "due"))]
    await registry.stop(1)


@virtual
async def test_stopping_finishes_what_waits_and_refuses_what_comes_after() -> None:
    book = Book()
    book.work_seconds = 1
    registry = registry_of(book)
    await registry.start()
    tasks = [asyncio.create_task(ask(registry, key, n)) for key in "ab" for n in range(3)]
    await asyncio.sleep(0)
    await registry.stop(60)
    assert [task.result() for task in tasks] == [0, 1, 2] * 2
    with pytest.raises(ActorStopped):
        await ask(registry, "a", 9)
    assert not any(book.alive.values())


@virtual
async def test_an_expected_error_is_an_answer() -> None:
    book = Book()
    registry = registry_of(book)
    await registry.start()
    with pytest.raises(Expected):
        await ask(registry, "a", "expected")
    assert book.incarnations == 1
    await registry.stop(1)


@virtual
async def test_a_key_can_be_told_and_the_teller_waits_for_room_within_his_time() -> None:
    book = Book()
    book.work_seconds = 5
    registry = registry_of(book, mailbox_capacity=1)
    await registry.start()
    ref = registry.ref("a")
    for message in (1, 2, 3):
        await ref.tell(message, timeout_seconds=20)
    with pytest.raises(AskTimeout, match="no room within 1 s"):
        await ref.tell(4, timeout_seconds=1)
    await asyncio.sleep(30)
    assert [message for _, message in book.seen] == [1, 2, 3]
    await registry.stop(1)
    with pytest.raises(ActorStopped):
        await ref.tell(5, timeout_seconds=1)


@virtual
async def test_those_who_were_busy_when_the_bound_was_passed_sleep_when_they_are_idle() -> None:
    book = Book()
    book.work_seconds = 5
    registry = registry_of(book, max_active=2, idle_seconds=1000, sweep_seconds=1)
    await registry.start()
    await asyncio.gather(*(ask(registry, key, 1) for key in "abcde"))
    await asyncio.sleep(3)
    assert registry.active_keys() == ["d", "e"]
    await registry.stop(1)
