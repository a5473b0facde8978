"""How far embedding has come: told by the worker, waited for by `flush()`."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping


class Waiter:
    """One who waits for some sessions to be embedded up to some messages."""

    def __init__(self, targets: Mapping[int, int]) -> None:
        self._targets = dict(targets)
        self._changed = asyncio.Event()
        self.error = ""
        if not self._targets:
            self._changed.set()

    @property
    def remaining(self) -> int:
        """How many sessions are not there yet."""
        return len(self._targets)

    def reached(self, sid: int, seq: int | None) -> None:
        """Take note that a session has come to `seq`, or is gone."""
        target = self._targets.get(sid)
        if target is not None and (seq is None or seq >= target):
            del self._targets[sid]
            if not self._targets:
                self._changed.set()

    def only(self, sids: Collection[int]) -> None:
        """Wait for these sessions only; the others have come as far as they can."""
        for sid in set(self._targets).difference(sids):
            self.reached(sid, None)

    def failed(self, error: str) -> None:
        """Give up: the embedder does not work at present."""
        self.error = error
        self._changed.set()

    async def wait(self) -> None:
        """Wait until every target is reached, or the embedder fails. Cancelling changes nothing."""
        await self._changed.wait()


class Progress:
    """What the worker has come to.

    Attributes:
        error: why the last attempt failed, empty when it did not.
        model: number of the model in use, 0 until the archive gave it one.
        dimensions: length of its vectors, 0 until the first one was made.
    """

    def __init__(self) -> None:
        self.error = ""
        self.model = 0
        self.dimensions = 0
        self._waiters: set[Waiter] = set()

    def add(self, waiter: Waiter) -> None:
        """Tell a waiter of everything from now on."""
        self._waiters.add(waiter)

    def remove(self, waiter: Waiter) -> None:
        """Tell a waiter nothing any more."""
        self._waiters.discard(waiter)

    def reached(self, sid: int, seq: int | None) -> None:
        """Say that a session is embedded up to `seq`, or, with None, that it is gone."""
        for waiter in self._waiters:
            waiter.reached(sid, seq)

    def succeeded(self) -> None:
        """Say that the embedder works."""
        self.error = ""

    def failed(self, error: str) -> None:
        """Say that the embedder does not work at present."""
        self.error = error
        for waiter in self._waiters:
            waiter.failed(error)
