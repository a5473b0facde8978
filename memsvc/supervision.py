"""The supervision tree as a table: the only place where actors are built and wired.

    memsvc            one_for_one, 3 restarts in 30 s, then the service is failed
    ├─ archive        ArchiveWriter: restarted on a new connection
    ├─ sessions       registry of SessionActors: woken again by the next message, with back-off per key
    └─ background     one_for_one, 5 in 60 s: embedding; its failure degrades `status`, never appends

Refs point at mailboxes, which outlive a restart: what waits for the archive writer is carried out by the
next one, and a session that was in the middle of a write reads its state from disk again. So nobody else
needs to start again after the writer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from memsvc import log
from memsvc.archive.client import ArchiveClient
from memsvc.archive.writer import ArchiveWriter
from memsvc.errors import MemsvcError
from memsvc.search.query import Searcher
from memsvc.semantic.client import SemanticClient
from memsvc.semantic.embedder import Embedder
from memsvc.semantic.progress import Progress
from memsvc.semantic.vectors import VectorCache
from memsvc.semantic.worker import EmbeddingWorker
from memsvc.session.actor import SessionActor, SessionDependencies
from memsvc.session.client import SessionClient
from memsvc.settings import Settings
from memsvc_actors import ActorRef, Backoff, ChildSpec, Event, Registry, SingleActor, Supervisor
from memsvc_actors.events import BudgetExceeded, Failed, Restarted

# Each restart of the writer waits a little longer: 0.1, 0.2, 0.4 s.
_BACKOFF = Backoff(initial_seconds=0.1, max_seconds=5.0)


class Tree:
    """The running parts of a service.

    Attributes:
        archive: every message ever appended.
        sessions: the owners of the conversations.
        semantic: search by meaning.
        searcher: the search over all of them.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None) -> None:
        home = settings.home_path
        self._settings = settings
        self._grace = settings.shutdown.grace
        writer = SingleActor(
            "archive",
            lambda: ArchiveWriter(home / "store" / "history.db", settings),
            settings.archive.mailbox,
            observe,
        )
        self.archive = ArchiveClient(home / "store" / "history.db", writer.ref, settings)
        self.semantic, worker = _semantic(home, settings, embedder, self.archive)
        dependencies = SessionDependencies(
            str(home / "sessions"), self.archive, settings, _nudging(worker)
        )
        self._registry: Registry[Any] = Registry(
            "sessions",
            lambda session: SessionActor(session, dependencies),
            idle_seconds=settings.sessions.idle,
            max_active=settings.sessions.max_active,
            mailbox_capacity=settings.limits.mailbox,
            shutdown_seconds=self._grace,
            expected_errors=(MemsvcError,),
            observer=observe,
        )
        self.sessions = SessionClient(self._registry.ref, settings.limits.timeout)
        self.searcher = Searcher(self.archive, self.semantic, settings)
        self._background = Supervisor(
            "background",
            [ChildSpec("embedding", worker, shutdown_seconds=self._grace)] if worker else [],
            max_restarts=5,
            within_seconds=60.0,
            backoff=_BACKOFF,
            observer=observe,
        )
        self._top = Supervisor(
            "memsvc",
            [
                ChildSpec("archive", writer, shutdown_seconds=self._grace),
                ChildSpec("sessions", self._registry, shutdown_seconds=self._grace),
                ChildSpec("background", self._background, "temporary", self._grace),
            ],
            max_restarts=3,
            within_seconds=30.0,
            backoff=_BACKOFF,
            observer=observe,
        )

    async def start(self) -> None:
        """Start in the table's order.

        Raises:
            StorageError: the archive cannot be opened.
        """
        await self._top.start()
        await self.semantic.open()

    async def stop(self) -> None:
        """Finish what is under way, within `shutdown.grace` each, in reverse order of start."""
        await self._top.stop()
        await self.archive.close()
        await self.semantic.close()

    @property
    def failure(self) -> str:
        """Why the service has failed as a whole, empty while it has not."""
        return str(self._top.failed or "")

    @property
    def degraded(self) -> list[str]:
        """What does not work at present."""
        problems = []
        if self.failure:
            problems.append(f"The service has failed: {self.failure}. Close and open it again.")
        if self._background.failed is not None:
            problems.append(
                f"Background work has stopped: {self._background.failed}. Messages are kept and"
                " found by keyword; open the service again to go on embedding."
            )
        return problems

    @property
    def active_sessions(self) -> int:
        """How many sessions are in memory."""
        return len(self._registry.active_keys())

    def queues(self) -> dict[str, dict[str, int]]:
        """Return depth and bound of every mailbox, by actor."""
        return {
            name: {
                "depth": state.depth + state.nudges,
                "capacity": state.capacity,
                "highest": state.highest,
                "refused": state.refused,
            }
            for name, state in self._top.statistics().items()
        }


def _semantic(
    home: Path, settings: Settings, embedder: Embedder | None, archive: ArchiveClient
) -> tuple[SemanticClient, SingleActor | None]:
    progress = Progress()
    vectors = VectorCache(
        archive.read,
        home / "store" / "vectors",
        settings.semantic.cache_bytes,
        settings.semantic.exact_max,
    )
    worker: SingleActor | None = None

    def nudge(key: Hashable) -> None:
        if worker is not None:
            worker.ref.nudge(key)

    if embedder is not None:
        chosen = embedder
        worker = SingleActor(
            "embedding",
            lambda: EmbeddingWorker(chosen, archive, settings.semantic, progress, nudge),
            observer=observe,
        )
    client = SemanticClient(embedder, archive, vectors, progress, settings.semantic, nudge)
    return client, worker


def _nudging(worker: SingleActor | None) -> Callable[[str], None]:
    if worker is None:
        return lambda session: None
    ref: ActorRef[Any] = worker.ref
    return ref.nudge


def observe(event: Event) -> None:
    """Log what a person should know of the runtime's life; the rest is counted elsewhere."""
    match event:
        case Failed():
            log.warning("actor failed", actor=event.name, error=repr(event.error))
        case Restarted():
            log.warning("actor restarts", actor=event.name, delay_seconds=event.delay_seconds)
        case BudgetExceeded():
            log.warning("supervisor gave up", supervisor=event.name, error=repr(event.error))
        case _:
            return
