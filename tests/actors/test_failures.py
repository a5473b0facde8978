"""What is remembered of failing keys."""

from __future__ import annotations

import asyncio

from virtual_time import virtual

from memsvc_actors.failures import Failures
from memsvc_actors.supervisor import Backoff


@virtual
async def test_the_wait_doubles_and_too_many_failures_quarantine_for_a_time() -> None:
    failures = Failures(Backoff(1.0, 100.0), quarantine_after=3, quarantine_seconds=60)
    assert failures.delay_seconds("a") == 0
    for expected in (1.0, 2.0, 4.0):
        assert not failures.quarantined("a")
        failures.count("a")
        assert failures.delay_seconds("a") == expected
    assert failures.quarantined("a")
    assert not failures.quarantined("b")
    await asyncio.sleep(61)
    failures.forget_old()
    assert not failures.quarantined("a")
    assert failures.delay_seconds("a") == 0


@virtual
async def test_failures_far_apart_are_not_too_many() -> None:
    failures = Failures(Backoff(), quarantine_after=3, quarantine_seconds=60)
    for _ in range(10):
        failures.count("a")
        await asyncio.sleep(40)
        assert not failures.quarantined("a")


@virtual
async def test_a_key_that_is_forgotten_starts_afresh() -> None:
    failures = Failures(Backoff(), quarantine_after=1, quarantine_seconds=60)
    failures.count("a")
    assert failures.quarantined("a")
    failures.forget("a")
    assert not failures.quarantined("a")
