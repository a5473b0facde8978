"""Waiting for the worker."""

from __future__ import annotations

import asyncio

from memsvc.semantic.progress import Progress, Waiter


async def test_a_waiter_wakes_when_its_last_target_is_reached_or_gone() -> None:
    progress = Progress()
    waiter = Waiter({1: 10, 2: 5, 3: 1})
    progress.add(waiter)
    progress.reached(1, 9)
    progress.reached(2, 7)
    progress.reached(3, None)
    assert waiter.remaining == 1
    progress.reached(1, 10)
    await asyncio.wait_for(waiter.wait(), 1)
    assert waiter.error == ""


async def test_a_failure_wakes_those_who_wait_and_a_success_clears_it() -> None:
    progress = Progress()
    waiter, other = Waiter({1: 1}), Waiter({1: 1})
    progress.add(waiter)
    progress.add(other)
    progress.remove(other)
    progress.failed("down")
    await asyncio.wait_for(waiter.wait(), 1)
    assert (waiter.error, other.error, progress.error) == ("down", "", "down")
    progress.succeeded()
    assert progress.error == ""


async def test_nothing_to_wait_for_is_over_at_once() -> None:
    await asyncio.wait_for(Waiter({}).wait(), 1)
