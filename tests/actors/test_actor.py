"""An actor in its cell: one batch at a time, a task only while there is work, errors told apart."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from virtual_time import virtual

from memsvc_actors import Actor, ActorCrashed, ActorStopped, Cell, Envelope, Mailbox


class Expected(Exception):
    pass


class Recorder(Actor[Any]):
    expected_errors = (Expected,)
    batch_limit = 3

    def __init__(self, log: list[Any]) -> None:
        self.log = log

    async def on_start(self) -> None:
        self.log.append("start")

    async def on_stop(self) -> None:
        self.log.append("stop")

    async def receive(self, message: Any) -> object:
        if isinstance(message, Exception):
            raise message
        if isinstance(message, float):
            await asyncio.sleep(message)
        self.log.append(message)
        return message


def cell_of(log: list[Any], failures: list[BaseException] | None = None, **kind: Any) -> Cell[Any]:
    def failed(cell: Cell[Any], error: BaseException) -> None:
        (failures if failures is not None else log).append(error)

    return Cell("cell", kind.get("factory", lambda: Recorder(log)), Mailbox("cell", 100), failed)


async def ask(cell: Cell[Any], message: Any) -> Any:
    return await cell.ref.ask(message, timeout_seconds=100)


@virtual
async def test_an_idle_actor_has_no_task() -> None:
    cell = cell_of([])
    await cell.start()
    assert cell.idle
    assert len(asyncio.all_tasks()) == 1
    assert await ask(cell, "x") == "x"
    await asyncio.sleep(0)
    assert cell.idle
    assert len(asyncio.all_tasks()) == 1
    await cell.stop(1)


@virtual
async def test_what_waits_is_handed_over_in_batches_in_order() -> None:
    sizes: list[list[Any]] = []

    class Batches(Recorder):
        async def receive_batch(self, batch: list[Envelope[Any]]) -> None:
            sizes.append([envelope.message for envelope in batch])
            await asyncio.sleep(1)

    cell = cell_of([], factory=lambda: Batches([]))
    await cell.start()
    answers = await asyncio.gather(*(ask(cell, n) for n in range(8)))
    assert sizes == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert answers == [None] * 8  # left unanswered by the actor
    await cell.stop(1)


@virtual
async def test_messages_before_the_start_wait_for_it() -> None:
    log: list[Any] = []
    cell = cell_of(log)
    early = asyncio.create_task(ask(cell, "early"))
    await asyncio.sleep(1)
    assert log == []
    await cell.start()
    await early
    assert log == ["start", "early"]
    await cell.stop(1)


@virtual
async def test_an_expected_error_is_an_answer_and_the_actor_goes_on() -> None:
    log: list[Any] = []
    cell = cell_of(log)
    await cell.start()
    with pytest.raises(Expected):
        await ask(cell, Expected())
    assert await ask(cell, "next") == "next"
    assert log == ["start", "next"]
    await cell.stop(1)


@virtual
async def test_an_unforeseen_error_answers_its_batch_ends_the_actor_and_is_not_tried_again() -> (
    None
):
    log: list[Any] = []
    failures: list[BaseException] = []
    cell = cell_of(log, failures)
    await cell.start()
    error = ZeroDivisionError("mine")
    outcomes = [asyncio.create_task(ask(cell, m)) for m in ("fine", error, "same batch", "waits")]
    await asyncio.sleep(1)
    assert outcomes[0].result() == "fine"
    for crashed in outcomes[1:3]:
        with pytest.raises(ActorCrashed) as raised:
            await crashed
        assert raised.value.__cause__ is error
    assert failures == [error]
    assert not cell.running
    assert log == ["start", "fine", "stop"]
    await cell.start()  # a new one on the old mailbox
    assert await outcomes[3] == "waits"
    assert log == ["start", "fine", "stop", "start", "waits"]
    await cell.stop(1)


@virtual
async def test_a_start_that_fails_is_raised_and_leaves_no_actor() -> None:
    class Broken(Recorder):
        async def on_start(self) -> None:
            raise OSError("no disk")

    log: list[Any] = []
    cell = cell_of(log, factory=lambda: Broken(log))
    with pytest.raises(OSError, match="no disk"):
        await cell.start()
    assert not cell.running
    assert log == ["stop"]


@virtual
async def test_a_stop_finishes_what_waits_and_answers_what_comes_too_late() -> None:
    log: list[Any] = []
    cell = cell_of(log)
    await cell.start()
    tasks = [asyncio.create_task(ask(cell, float(n))) for n in (1, 2, 3)]
    await asyncio.sleep(0.5)
    await cell.stop(60)
    assert [task.result() for task in tasks] == [1.0, 2.0, 3.0]
    assert log[-1] == "stop"
    with pytest.raises(ActorStopped):
        await ask(cell, "late")


@virtual
async def test_a_stop_that_takes_too_long_cancels_the_work_and_answers_everybody() -> None:
    log: list[Any] = []
    cell = cell_of(log)
    await cell.start()
    tasks = [asyncio.create_task(ask(cell, 1000.0)) for _ in range(5)]
    await asyncio.sleep(1)
    await cell.stop(5)
    assert asyncio.get_running_loop().time() == pytest.approx(6)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {ActorStopped}
    assert log == ["start", "stop"]


@virtual
async def test_a_failing_end_is_reported_and_does_not_stop_the_stopping() -> None:
    class Broken(Recorder):
        async def on_stop(self) -> None:
            raise OSError("at the end")

    cell = cell_of([], factory=lambda: Broken([]))
    await cell.start()
    await cell.stop(1)
    assert cell.mailbox.closed


@virtual
async def test_an_actor_that_answers_nothing_says_so() -> None:
    failures: list[BaseException] = []
    cell = cell_of([], failures, factory=lambda: Actor[Any]())
    await cell.start()
    with pytest.raises(ActorCrashed):
        await ask(cell, "x")
    assert isinstance(failures[0], NotImplementedError)


@virtual
async def test_an_end_that_never_comes_is_given_up_and_reported() -> None:
    class Endless(Recorder):
        async def on_stop(self) -> None:
            await asyncio.Event().wait()

    events: list[object] = []
    cell: Cell[Any] = Cell(
        "cell", lambda: Endless([]), Mailbox("cell", 1), lambda cell, error: None, events.append
    )
    await cell.start()
    await cell.stop(1)
    assert asyncio.get_running_loop().time() == pytest.approx(60)
    assert any(isinstance(getattr(event, "error", None), TimeoutError) for event in events)
    assert cell.mailbox.closed
