"""Actors by key: woken by their first message, asleep again when idle.

A key has one incarnation at a time. The registry alone ends an idle actor, and between its last look at
the mailbox and the removal of the key there is no await, so no message can slip in between. While an
actor's `on_stop` runs, what arrives waits in the mailbox of the next incarnation, which starts after it.

A keyed actor that fails is not started again by itself: messages that wait, or the next one, wake the
next incarnation, after a delay that doubles with each failure. A key that fails too often within a time
is quarantined: its messages are refused until that time has passed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from contextvars import Context
from typing import Any, Generic

from memsvc_actors.actor import Actor, Cell
from memsvc_actors.errors import ActorCrashed, ActorStopped, Quarantined
from memsvc_actors.events import Failed, Observer, Passivated, ignore, notify
from memsvc_actors.failures import Failures
from memsvc_actors.mailbox import Mailbox, MailboxStatistics, MessageT
from memsvc_actors.ref import RegistryRef, detached
from memsvc_actors.supervisor import Backoff, Child, OnFailure


def _not_started() -> float:
    raise ActorStopped("the registry has not started")


class _KeyedCell(Cell[MessageT]):
    """The cell of one key. There may be very many: it holds nothing that it can ask its registry for."""

    __slots__ = ("key", "last_used", "registry")

    def __init__(self, registry: Registry[MessageT], key: str, mailbox: Mailbox[MessageT]) -> None:
        super().__init__(
            mailbox.name, _unused, mailbox, registry.on_cell_failure, registry.observer
        )
        self.registry = registry
        self.key = key
        self.last_used = 0.0

    def _make(self) -> Actor[MessageT]:
        return self.registry.factory(self.key)


def _unused() -> Actor[Any]:
    raise NotImplementedError


class Registry(Child, Generic[MessageT]):
    """Holds the actors that are awake."""

    def __init__(
        self,
        name: str,
        factory: Callable[[str], Actor[MessageT]],
        *,
        idle_seconds: float = 300.0,
        max_active: int = 10_000,
        sweep_seconds: float = 5.0,
        mailbox_capacity: int = 1024,
        shutdown_seconds: float = 5.0,
        expected_errors: tuple[type[Exception], ...] = (),
        backoff: Backoff | None = None,
        quarantine_after: int = 3,
        quarantine_seconds: float = 60.0,
        observer: Observer = ignore,
    ) -> None:
        self.name = name
        self.factory = factory
        self._idle_seconds = idle_seconds
        self._max_active = max_active
        self._sweep_seconds = sweep_seconds
        self._mailbox_capacity = mailbox_capacity
        self._shutdown_seconds = shutdown_seconds
        self._expected_errors = expected_errors
        self.observer = observer
        self.on_cell_failure = self._failed
        # In the order of last use: the first is the least recently used.
        self._cells: dict[str, _KeyedCell[MessageT]] = {}
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._ending: dict[str, asyncio.Task[None]] = {}
        self._failures = Failures(backoff or Backoff(), quarantine_after, quarantine_seconds)
        self._timer: asyncio.TimerHandle | None = None
        self._open = False
        self._clock: Callable[[], float] = _not_started

    async def start(self) -> None:
        """Take messages from now on."""
        self._open = True
        self._clock = asyncio.get_running_loop().time
        self._wait_for_sweep()

    async def stop(self, within_seconds: float, *, close: bool = True) -> None:
        """Let every actor finish what waits, or what can be finished in time, and end it."""
        self._open = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for key in list(self._cells):
            self._begin_end(key, within_seconds)
        if self._ending:
            await asyncio.wait(list(self._ending.values()))

    def _begin_end(self, key: str, within_seconds: float) -> asyncio.Task[None]:
        """Take a key's actor out and end it; what comes for the key goes to the next incarnation."""
        cell = self._cells.pop(key)
        # What is under way for the key is taken now: later it may be the next incarnation's.
        starting, before = self._starting.pop(key, None), self._ending.get(key)
        task = detached(self._finish(cell, starting, before, within_seconds), f"stop {cell.name}")
        self._ending[key] = task
        return task

    async def _finish(
        self,
        cell: _KeyedCell[MessageT],
        starting: asyncio.Task[None] | None,
        before: asyncio.Task[None] | None,
        within_seconds: float,
    ) -> None:
        try:
            if starting is not None:
                done, _ = await asyncio.wait({starting}, timeout=within_seconds)
                if not done:
                    starting.cancel()
                    await asyncio.wait({starting})
            await cell.stop(within_seconds)
            if before is not None:
                await asyncio.wait({before})
        finally:
            if self._ending.get(cell.key) is asyncio.current_task():
                del self._ending[cell.key]

    def on_failure(self, report: OnFailure) -> None:
        """Do nothing: the failure of a key is not the registry's."""

    def statistics(self) -> dict[str, MailboxStatistics]:
        """Return the sum of the mailboxes of all that are awake."""
        states = [cell.mailbox.statistics() for cell in self._cells.values()]
        return {
            self.name: MailboxStatistics(
                depth=sum(state.depth for state in states),
                capacity=self._mailbox_capacity,
                highest=max((state.highest for state in states), default=0),
                accepted=sum(state.accepted for state in states),
                refused=sum(state.refused for state in states),
                nudges=sum(state.nudges for state in states),
                nudges_dropped=sum(state.nudges_dropped for state in states),
            )
        }

    def active_keys(self) -> list[str]:
        """Return the keys that are awake, least recently used first."""
        return list(self._cells)

    def ref(self, key: str) -> RegistryRef[MessageT]:
        """Return how to speak to a key's actor. Costs nothing until used."""
        return RegistryRef(self, key)

    def release(self, key: str) -> None:
        """Forget a key's failures, so that it is started again."""
        self._failures.forget(key)

    def nudge(self, key: str, due: Hashable, *, activate: bool = False) -> None:
        """Nudge a key's actor if it is awake, or, with `activate`, in any case."""
        cell = self._cells.get(key)
        if cell is not None:
            cell.mailbox.nudge(due)
        elif activate and self._open and not self._failures.quarantined(key):
            self.mailbox(key).nudge(due)

    def mailbox(self, key: str) -> Mailbox[MessageT]:
        """Return the mailbox of a key's actor, waking it where it sleeps.

        Raises:
            ActorStopped: the registry has stopped.
            Quarantined: the key failed too often.
        """
        if not self._open:
            raise ActorStopped(f"{self.name} has stopped")
        cell = self._cells.pop(key, None)
        if cell is None:
            if self._failures.quarantined(key):
                raise Quarantined(f"{self.name}/{key} failed too often")
            self._make_room(1)
            cell = self._activate(key, Mailbox(f"{self.name}/{key}", self._mailbox_capacity))
        self._cells[key] = cell
        cell.last_used = self._clock()
        return cell.mailbox

    def _activate(self, key: str, mailbox: Mailbox[MessageT]) -> _KeyedCell[MessageT]:
        cell = _KeyedCell(self, key, mailbox)
        cell.last_used = self._clock()
        self._starting[key] = detached(
            self._start(cell, self._ending.get(key)), f"start {cell.name}"
        )
        return cell

    async def _start(self, cell: _KeyedCell[MessageT], before: asyncio.Task[None] | None) -> None:
        try:
            if before is not None:
                await asyncio.wait({before})
            await asyncio.sleep(self._failures.delay_seconds(cell.key))
            await cell.start()
        except Exception as error:  # noqa: BLE001  told to those who wait
            self._start_failed(cell, error)
        finally:
            if self._starting.get(cell.key) is asyncio.current_task():
                del self._starting[cell.key]

    def _start_failed(self, cell: _KeyedCell[MessageT], error: Exception) -> None:
        self._forget(cell)
        if isinstance(error, self._expected_errors):
            cell.close(error)
            return
        notify(self.observer, Failed(cell.name, error))
        self._failures.count(cell.key)
        crashed = ActorCrashed(f"{cell.name} could not start: {type(error).__name__}")
        crashed.__cause__ = error
        cell.close(crashed)

    def _failed(self, failed: Cell[Any], error: BaseException) -> None:
        assert isinstance(failed, _KeyedCell)
        key, mailbox = failed.key, failed.mailbox
        current = self._cells.get(key) is failed
        self._forget(failed)
        self._failures.count(key)
        if self._failures.quarantined(key):
            failed.close(Quarantined(f"{failed.name} failed too often"))
        elif current and self._open and (mailbox.pending or mailbox.awaited):
            self._cells[key] = self._activate(key, mailbox)
        else:  # nobody waits, or it is being ended, and its mailbox with it
            failed.close(ActorStopped(f"{failed.name} has failed"))

    def _forget(self, cell: _KeyedCell[MessageT]) -> None:
        if self._cells.get(cell.key) is cell:
            del self._cells[cell.key]

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        oldest = loop.time() - self._idle_seconds
        for cell in list(self._cells.values()):
            if cell.last_used > oldest:
                break
            self._passivate(cell)
        self._make_room(0)  # those who were busy when others came may be idle now
        self._failures.forget_old()
        self._wait_for_sweep()

    def _make_room(self, more: int) -> None:
        excess = len(self._cells) + more - self._max_active
        if excess <= 0:
            return
        for cell in list(self._cells.values()):
            excess -= self._passivate(cell)
            if excess <= 0:
                return

    def _passivate(self, cell: _KeyedCell[MessageT]) -> bool:
        """End an actor that has nothing to do; False when it has.

        There is no await between the look at the mailbox and the removal of the key.
        """
        if not cell.idle or cell.mailbox.awaited or cell.key in self._starting:
            return False
        cell.close(ActorStopped(f"{cell.name} is asleep"))  # it holds nothing
        self._begin_end(cell.key, self._shutdown_seconds)
        notify(self.observer, Passivated(cell.name))
        return True

    async def stop_key(self, key: str) -> None:
        """Let a key's actor finish what waits, and end it. It wakes again with the next message.

        Cancelling it does not cancel the end.
        """
        ending = (
            self._begin_end(key, self._shutdown_seconds)
            if key in self._cells
            else self._ending.get(key)
        )
        if ending is not None:
            await asyncio.wait({ending})

    def _wait_for_sweep(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(
            self._sweep_seconds, self._sweep, context=Context()
        )
