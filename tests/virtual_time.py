"""An event loop whose time is virtual: waiting costs nothing, and every run takes the same course."""

from __future__ import annotations

import asyncio
import functools
import selectors
from typing import Any


class _InstantSelector(selectors.SelectSelector):
    """Never waits: where a loop would, its clock is set forward instead."""

    clock = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("deadlock: everybody waits and nothing is due")
            self.clock += max(timeout, 0.0)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop on which `asyncio.sleep(3600)` returns at once, an hour later by `loop.time()`."""

    def __init__(self) -> None:
        self._instant = _InstantSelector()
        super().__init__(self._instant)
        # Sums of delays fall a little short of their due time otherwise, and time would stand still.
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self._instant.clock


def virtual(main: Any) -> Any:
    """Make a test of a coroutine function: it runs to its end in virtual time, nothing left over."""

    @functools.wraps(main)
    def test(*args: Any, **kwargs: Any) -> None:
        async def whole() -> None:
            await main(*args, **kwargs)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, f"tasks without an owner: {left}"

        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(whole())

    return test
