"""The embedding worker: embeds in the background what people said.

It is told of a session by a nudge, which carries no data and may be lost: what is due is asked of the
archive, where a watermark in each session says how far embedding has come. Vectors and watermark are
saved together, so a restart forgets nothing and embeds nothing twice. It works in small batches and
looks at its mailbox in between.

When the embedder fails, the batch is tried again after a growing delay, for ever; appends and keyword
search are not touched. After three failures in a row its messages are tried one by one: what fails
alone while others succeed is refused for good, and can be found by keyword only.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence

import msgspec

from memsvc import content, log
from memsvc.archive.client import ArchiveClient
from memsvc.archive.rows import DueSession, Passage, Vector
from memsvc.errors import MemsvcError, ModelError
from memsvc.record import decode_body
from memsvc.semantic.embedder import Embedder, checked
from memsvc.semantic.progress import Progress
from memsvc.settings import Semantic
from memsvc_actors import Actor

SWEEP = ""
"""The key of a nudge that means all sessions; no session has an empty id."""

NEXT = None
"""The key of the worker's nudge to itself: go on with what is queued."""

_SESSIONS_MAX = 1000
_SINGLY_AFTER = 3


class Batch(msgspec.Struct, frozen=True):
    """Some messages of one session to embed together."""

    session: DueSession
    passages: tuple[Passage, ...]
    up_to_seq: int


class EmbeddingWorker(Actor[object]):
    """Embeds what is due, a batch at a time."""

    expected_errors = (MemsvcError,)

    def __init__(
        self,
        embedder: Embedder,
        archive: ArchiveClient,
        settings: Semantic,
        progress: Progress,
        nudge: Callable[[Hashable], None],
    ) -> None:
        self._embedder = embedder
        self._archive = archive
        self._settings = settings
        self._progress = progress
        self._nudge = nudge
        self._due: dict[Hashable, None] = {}
        self._queue: deque[DueSession] = deque()
        self._failures = 0
        self._retry: asyncio.TimerHandle | None = None

    async def on_start(self) -> None:
        """Begin with whatever an earlier run left undone."""
        self._nudge(SWEEP)

    async def on_stop(self) -> None:
        """Forget the timer of the next attempt; the archive knows what is due."""
        if self._retry is not None:
            self._retry.cancel()

    async def receive_nudges(self, keys: list[Hashable]) -> None:
        """Embed one batch, and come back for the next."""
        self._due.update(dict.fromkeys(keys))
        if self._retry is not None:
            return  # the embedder is given time; the timer nudges
        try:
            batches = await self._next_batches()
            await self._embed(batches)
        except ModelError as error:
            self._wait_after(error)
            return
        self._failures = 0
        self._progress.succeeded()
        if self._queue or self._due:
            self._nudge(next(iter(self._due), NEXT))

    async def _next_batches(self) -> list[Batch]:
        """Return messages of one or several sessions, about as many as one call should carry."""
        if not self._queue:
            await self._refill()
        batches: list[Batch] = []
        room = self._settings.batch
        # Each session gives at most one batch, then goes to the end: a long import does not keep
        # the others waiting.
        for _ in range(len(self._queue)):
            if room <= 0:
                break
            session = self._queue.popleft()
            passages, up_to_seq = await self._archive.read.passages(
                session.sid, session.embedded_seq, room
            )
            batches.append(Batch(session, tuple(passages), up_to_seq))
            room -= max(len(passages), 1)
            if session.embedded_seq < up_to_seq < session.last_seq:
                self._queue.append(msgspec.structs.replace(session, embedded_seq=up_to_seq))
        return batches

    async def _refill(self) -> None:
        wanted = None if SWEEP in self._due else [str(key) for key in self._due if key != NEXT]
        self._due.clear()
        if self._progress.model == 0:
            self._progress.model, self._progress.dimensions = await self._archive.use_model(
                self._embedder.name, 0
            )
        if wanted == []:
            return
        due = await self._archive.read.due_sessions(self._progress.model, wanted, _SESSIONS_MAX)
        self._queue.extend(due)
        if len(due) == _SESSIONS_MAX:
            self._due[SWEEP] = None

    async def _embed(self, batches: Sequence[Batch]) -> None:
        texts = [self._text(passage) for batch in batches for passage in batch.passages]
        outcome = await self._outcomes(texts)
        start = 0
        for batch in batches:
            end = start + len(batch.passages)
            vectors = [
                Vector(passage.id, *result)
                for passage, result in zip(batch.passages, outcome[start:end], strict=True)
            ]
            start = end
            there = await self._archive.save_vectors(
                batch.session.sid,
                batch.session.generation,
                self._progress.model,
                vectors,
                batch.up_to_seq,
            )
            self._progress.reached(batch.session.sid, batch.up_to_seq if there else None)

    def _text(self, passage: Passage) -> str:
        return content.spoken_text(decode_body(passage.body))[: self._settings.max_chars]

    async def _outcomes(self, texts: Sequence[str]) -> list[tuple[bytes | None, str | None]]:
        if not texts:
            return []
        if self._failures < _SINGLY_AFTER:
            return await self._call(texts)
        outcomes: list[tuple[bytes | None, str | None]] = []
        for text in texts:
            try:
                outcomes.extend(await self._call([text]))
            except ModelError as error:
                outcomes.append((None, str(error)))
        if all(vector is None for vector, _ in outcomes):
            raise ModelError(
                f"The embedder failed on each of {len(texts)} messages: {outcomes[0][1]}",
                "It is tried again by itself.",
            )
        return outcomes

    async def _call(self, texts: Sequence[str]) -> list[tuple[bytes | None, str | None]]:
        try:
            async with asyncio.timeout(self._settings.timeout):
                raw = await self._embedder.embed_passages(texts)
        except TimeoutError:
            raise ModelError(
                f"The embedder took more than {self._settings.timeout:g} s for {len(texts)} texts.",
                "It is tried again by itself; raise semantic.timeout or lower semantic.batch.",
            ) from None
        vectors, bad = checked(raw, len(texts), self._progress.dimensions or None)
        if not self._progress.dimensions and len(bad) < len(texts):
            self._progress.dimensions = int(vectors.shape[1])
            await self._archive.use_model(self._embedder.name, self._progress.dimensions)
        halves = vectors.astype("<f2")
        return [
            (None, bad[row]) if row in bad else (halves[row].tobytes(), None)
            for row in range(len(texts))
        ]

    def _wait_after(self, error: ModelError) -> None:
        self._failures += 1
        delay = min(
            self._settings.retry_initial * 2 ** (self._failures - 1), self._settings.retry_max
        )
        # What was taken off the queue is still due; the archive is asked again.
        self._queue.clear()
        self._progress.failed(f"{error.what} Tried {self._failures} times; again in {delay:g} s.")
        log.warning("embedding failed", reason=error.what, failures=self._failures, again_in=delay)
        self._retry = asyncio.get_running_loop().call_later(delay, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        self._nudge(SWEEP)
