"""Equal workers on one set of nudged keys: each key is worked on by one of them at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable

from memsvc_actors.events import Failed, Observer, ignore, notify
from memsvc_actors.mailbox import NUDGES_MAX, MailboxStatistics
from memsvc_actors.ref import cancellations, detached
from memsvc_actors.supervisor import Child, OnFailure


class Pool(Child):
    """Runs `work(key)` for every key it is nudged with, at most `size` at a time.

    Equal nudges coalesce while they wait. A key that is nudged while it is being worked on is worked on
    once more afterwards, never twice at once. What `work` raises is reported to the observer; the key
    waits for its next nudge.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[Hashable], Awaitable[None]],
        size: int,
        *,
        capacity: int = NUDGES_MAX,
        observer: Observer = ignore,
    ) -> None:
        if size < 1:
            raise ValueError(f"size is {size}: give at least 1")
        self.name = name
        self._work = work
        self._size = size
        self._capacity = capacity
        self._observer = observer
        self._waiting: dict[Hashable, None] = {}
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}
        self._accepted = self._dropped = self._highest = 0
        self._open = False

    async def start(self) -> None:
        """Work on what waits, and on what comes."""
        self._open = True
        self._fill()

    async def stop(self, within_seconds: float, *, close: bool = True) -> None:
        """Finish what is under way, or cancel it when the time is up. What waits is forgotten."""
        self._open = False
        self._waiting.clear()
        tasks = set(self._tasks.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=within_seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    def on_failure(self, report: OnFailure) -> None:
        """Do nothing: the failure of a key is not the pool's."""

    def nudge(self, key: Hashable) -> None:
        """Say that something is due under a key. Never waits, never fails, may be lost."""
        if key not in self._waiting and len(self._waiting) >= self._capacity:
            self._dropped += 1
            return
        self._waiting[key] = None
        self._accepted += 1
        self._highest = max(self._highest, len(self._waiting))
        self._fill()

    def statistics(self) -> dict[str, MailboxStatistics]:
        """Return how many keys wait."""
        return {
            self.name: MailboxStatistics(
                depth=len(self._waiting),
                capacity=self._capacity,
                highest=self._highest,
                accepted=self._accepted,
                refused=0,
                nudges=len(self._waiting),
                nudges_dropped=self._dropped,
            )
        }

    def _fill(self) -> None:
        while self._open and len(self._tasks) < self._size:
            key = next((key for key in self._waiting if key not in self._tasks), None)
            if key is None and not any(key not in self._tasks for key in self._waiting):
                return
            del self._waiting[key]
            self._tasks[key] = detached(self._run(key), f"{self.name} {key}")

    async def _run(self, key: Hashable) -> None:
        try:
            await self._work(key)
        except asyncio.CancelledError as error:
            if cancellations():
                raise
            notify(self._observer, Failed(f"{self.name} {key}", error))
        except Exception as error:  # noqa: BLE001  reported; one key must not end the others
            notify(self._observer, Failed(f"{self.name} {key}", error))
        finally:
            del self._tasks[key]
            self._fill()
