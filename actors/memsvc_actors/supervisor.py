"""Supervision as a table: what is started in which order, and what happens when it fails.

Children start in the table's order and stop in reverse. A failed child is replaced after a delay that
doubles with each failure; more failures than `max_restarts` within `within_seconds` are the
supervisor's own failure, which it reports upward, and at the top it stays failed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol

from memsvc_actors.actor import Actor, Cell
from memsvc_actors.errors import ActorStopped, RestartBudgetExceeded
from memsvc_actors.events import BudgetExceeded, Observer, Restarted, ignore, notify
from memsvc_actors.mailbox import Mailbox, MailboxStatistics
from memsvc_actors.ref import ActorRef, detached

Restart = Literal["permanent", "transient", "temporary"]
Strategy = Literal["one_for_one", "rest_for_one", "one_for_all"]
OnFailure = Callable[[BaseException], None]


class Child(Protocol):
    """Something that a supervisor can start, stop and start again."""

    async def start(self) -> None:
        """Start, or start again after a stop or a failure."""

    async def stop(self, within_seconds: float, *, close: bool = True) -> None:
        """Stop; with `close` for good."""

    def on_failure(self, report: OnFailure) -> None:
        """Call `report` when it fails."""

    def statistics(self) -> dict[str, MailboxStatistics]:
        """Return the state of its mailboxes by name."""


class SingleActor(Child):
    """One actor as a child."""

    def __init__(
        self,
        name: str,
        factory: Callable[[], Actor[Any]],
        mailbox_capacity: int = 1024,
        observer: Observer = ignore,
    ) -> None:
        self._report: OnFailure | None = None
        self._cell: Cell[Any] = Cell(
            name, factory, Mailbox(name, mailbox_capacity), self._failed, observer
        )

    @property
    def ref(self) -> ActorRef[Any]:
        """How others speak to it; good across restarts."""
        return self._cell.ref

    async def start(self) -> None:
        """Start the actor."""
        await self._cell.start()

    async def stop(self, within_seconds: float, *, close: bool = True) -> None:
        """Stop the actor; its mailbox stays open unless `close`."""
        await self._cell.stop(within_seconds, close=close)

    def on_failure(self, report: OnFailure) -> None:
        """Call `report` when the actor fails."""
        self._report = report

    def statistics(self) -> dict[str, MailboxStatistics]:
        """Return the state of its mailbox."""
        return {self._cell.name: self._cell.mailbox.statistics()}

    def _failed(self, cell: Cell[Any], error: BaseException) -> None:
        if self._report is not None:
            self._report(error)


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """A row of the table.

    Attributes:
        name: unique among its siblings.
        child: what is started.
        restart: `permanent` and `transient` children are started again after a failure (an actor of
            ours ends well only when it is told to, so the two agree), `temporary` ones are not.
        shutdown_seconds: how long it may take to stop before its work is cancelled.
    """

    name: str
    child: Child
    restart: Restart = "permanent"
    shutdown_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before a restart: `initial_seconds`, doubling up to `max_seconds`."""

    initial_seconds: float = 0.1
    max_seconds: float = 5.0

    def delay_seconds(self, failures: int) -> float:
        """Return the delay after this many failures in a row."""
        return min(self.initial_seconds * 2.0 ** min(failures - 1, 63), self.max_seconds)


@dataclass(slots=True)
class _Budget:
    max_restarts: int
    within_seconds: float
    failures: deque[float] = field(default_factory=deque)

    def spend(self, now: float) -> bool:
        """Count a failure; False when there were too many."""
        self.failures.append(now)
        while self.failures and now - self.failures[0] > self.within_seconds:
            self.failures.popleft()
        return len(self.failures) <= self.max_restarts


class Supervisor(Child):
    """Starts, watches, restarts and stops its children.

    Attributes:
        name: for events and statistics.
        failed: why it gave up, or None.
    """

    def __init__(
        self,
        name: str,
        table: Sequence[ChildSpec],
        *,
        strategy: Strategy = "one_for_one",
        max_restarts: int = 3,
        within_seconds: float = 30.0,
        backoff: Backoff | None = None,
        observer: Observer = ignore,
    ) -> None:
        if len({spec.name for spec in table}) != len(table):
            raise ValueError(f"{name}: two children have the same name")
        self.name = name
        self.failed: BaseException | None = None
        self._table = tuple(table)
        self._strategy = strategy
        self._backoff = backoff or Backoff()
        self._budget = _Budget(max_restarts, within_seconds)
        self._observer = observer
        self._report: OnFailure | None = None
        self._running: set[str] = set()
        self._repairs: deque[tuple[ChildSpec, BaseException]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._starting = False
        self._gone: set[str] = set()
        self._begun: set[str] = set()
        for spec in self._table:
            spec.child.on_failure(partial(self._child_failed, spec))

    async def start(self) -> None:
        """Start the children in order. If one fails, those started are stopped and it is raised."""
        self.failed = None
        self._stopping = False
        self._budget.failures.clear()
        self._gone.clear()
        self._begun.clear()
        self._starting = True
        try:
            for spec in self._table:
                await self._start_child(spec)
                self._begun.add(spec.name)
                if self.failed is not None:
                    raise self.failed
        except BaseException:
            await self._end_repairs()
            await self._stop_children(self._table, close=False)
            raise
        finally:
            self._starting = False

    async def stop(self, within_seconds: float | None = None, *, close: bool = True) -> None:
        """Stop the children in reverse order, each within its own time."""
        self._stopping = True
        await self._end_repairs()
        await self._stop_children(self._table, close=close)

    def on_failure(self, report: OnFailure) -> None:
        """Call `report` when the restart budget is exceeded."""
        self._report = report

    def statistics(self) -> dict[str, MailboxStatistics]:
        """Return the state of all mailboxes below, by actor."""
        return {
            name: state for spec in self._table for name, state in spec.child.statistics().items()
        }

    async def _start_child(self, spec: ChildSpec) -> None:
        await spec.child.start()
        self._running.add(spec.name)

    async def _stop_children(self, specs: Sequence[ChildSpec], *, close: bool) -> None:
        for spec in reversed(specs):
            if spec.name in self._running or close:
                self._running.discard(spec.name)
                await spec.child.stop(spec.shutdown_seconds, close=close)

    def _child_failed(self, spec: ChildSpec, error: BaseException) -> None:
        self._running.discard(spec.name)
        if spec.restart == "temporary":
            self._gone.add(spec.name)
        elif not self._stopping and self.failed is None:
            self._repairs.append((spec, error))
            self._begin_repairs()

    def _begin_repairs(self) -> None:
        if self._repairs and self._task is None:
            self._task = detached(self._repair(), f"supervisor {self.name}")

    async def _end_repairs(self) -> None:
        self._repairs.clear()
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            await asyncio.wait({task})

    async def _repair(self) -> None:
        try:
            while self._repairs:
                spec, error = self._repairs.popleft()
                if spec.name not in self._running and not await self._restart(spec, error):
                    return
        finally:
            if self._task is asyncio.current_task():
                self._task = None

    async def _restart(self, spec: ChildSpec, error: BaseException) -> bool:
        """Start a failed child again, with those that depend on it; False when the budget is spent."""
        loop = asyncio.get_running_loop()
        while self._budget.spend(loop.time()):
            delay = self._backoff.delay_seconds(len(self._budget.failures))
            notify(self._observer, Restarted(spec.name, delay))
            affected = self._affected(spec)
            await self._stop_children(affected, close=False)
            await asyncio.sleep(delay)
            try:
                for each in affected:
                    if each.name not in self._running and each.name not in self._gone:
                        await self._start_child(each)
            except Exception as failure:  # noqa: BLE001  a start that fails is one more failure
                error = failure
                continue
            return True
        await self._give_up(error)
        return False

    def _affected(self, spec: ChildSpec) -> Sequence[ChildSpec]:
        if self._strategy == "one_for_one":
            return (spec,)
        place = self._table.index(spec) if self._strategy == "rest_for_one" else 0
        # While the table is being started, those whose turn has not come are not touched.
        return [
            each
            for each in self._table[place:]
            if each is spec or not self._starting or each.name in self._begun
        ]

    async def _give_up(self, error: BaseException) -> None:
        reason = RestartBudgetExceeded(
            f"{self.name}: more than {self._budget.max_restarts} failures"
            f" within {self._budget.within_seconds:g} s"
        )
        reason.__cause__ = error
        self.failed = reason
        self._repairs.clear()
        notify(self._observer, BudgetExceeded(self.name, error))
        if self._starting:
            return  # the start raises it, and stops what it has begun
        # A parent may start it again, so its mailboxes stay open; at the top they close for good.
        await self._stop_children(self._table, close=self._report is None)
        if self._report is not None:
            self._report(reason)


__all__ = [
    "ActorStopped",
    "Backoff",
    "Child",
    "ChildSpec",
    "SingleActor",
    "Supervisor",
]
