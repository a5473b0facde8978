"""An actor, and the cell it lives in: a mailbox, and a task while there is something to do.

An idle cell has no task. The first arrival starts one, which drains the mailbox batch by batch and ends
when it is empty; there is no await between the last look at the mailbox and the end, so nothing can
arrive unseen.

An error that the actor expects (`expected_errors`) is an answer. Any other means that its memory can no
longer be trusted: the messages it was working on are answered `ActorCrashed`, the actor is dropped, and
its owner decides whether a new one takes over the mailbox. The message that did it is not tried again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Generic

from memsvc_actors.errors import ActorCrashed, ActorStopped, AskTimeout
from memsvc_actors.events import DeadLetters, Failed, Observer, Started, Stopped, ignore, notify
from memsvc_actors.mailbox import Envelope, Mailbox, MessageT
from memsvc_actors.ref import ActorRef, cancellations, detached, request_scope

END_SECONDS = 60.0
"""How long an actor's `on_stop` may take before it is given up: every wait ends."""


class Actor(Generic[MessageT]):
    """Owns something that changes, and works on one batch of messages at a time.

    Override `receive` for one message at a time, or `receive_batch` for all that wait.

    Attributes:
        expected_errors: errors that are answers; the actor goes on after them.
        batch_limit: most messages handed over at once.
    """

    __slots__ = ()

    expected_errors: ClassVar[tuple[type[Exception], ...]] = ()
    batch_limit: int = 64

    async def on_start(self) -> None:
        """Run before the first message; what it raises keeps the actor from starting."""

    async def on_stop(self) -> None:
        """Run after the last message, also when the actor failed."""

    async def receive(self, message: MessageT) -> object:
        """Work on one message and return the answer."""
        raise NotImplementedError(f"{type(self).__name__} does not answer {message!r}")

    async def receive_batch(self, batch: list[Envelope[MessageT]]) -> None:
        """Work on the messages that wait. What it leaves unanswered is answered None."""
        for envelope in batch:
            if envelope.expired(asyncio.get_running_loop().time()):
                envelope.fail(AskTimeout("the time was up before its turn came"))
                continue
            with request_scope(envelope.request_id, envelope.deadline):
                try:
                    envelope.reply(await self.receive(envelope.message))
                except self.expected_errors as error:
                    envelope.fail(error)

    async def receive_nudges(self, keys: list[Hashable]) -> None:
        """Look after the keys that something may be due under."""


class Cell(Generic[MessageT]):
    """Holds one actor with its mailbox and its task.

    Attributes:
        name: the actor's name.
        mailbox: what it has not seen yet; outlives the actor.
        ref: how others speak to it.
    """

    __slots__ = (
        "_actor",
        "_factory",
        "_observer",
        "_on_failure",
        "_stopping",
        "_task",
        "mailbox",
        "name",
    )

    def __init__(
        self,
        name: str,
        factory: Callable[[], Actor[MessageT]],
        mailbox: Mailbox[MessageT],
        on_failure: Callable[[Cell[Any], BaseException], None],
        observer: Observer = ignore,
    ) -> None:
        self.name = name
        self.mailbox = mailbox
        self._factory = factory
        self._on_failure = on_failure
        self._observer = observer
        self._actor: Actor[MessageT] | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def ref(self) -> ActorRef[MessageT]:
        """How others speak to the actor."""
        return ActorRef(self.mailbox)

    @property
    def idle(self) -> bool:
        """Whether nothing is being done and nothing waits."""
        return self._task is None and not self.mailbox.pending

    @property
    def running(self) -> bool:
        """Whether there is an actor: started, not failed, not stopped."""
        return self._actor is not None

    def _make(self) -> Actor[MessageT]:
        return self._factory()

    async def start(self) -> None:
        """Make the actor, wait for its `on_start`, and let it work on what waits already.

        Raises:
            ActorCrashed: what `on_start` waited for was cancelled; there is no actor then.
            Exception: what `on_start` raises; there is no actor then.
        """
        actor = self._make()
        before = cancellations()
        try:
            await actor.on_start()
        except BaseException as error:
            await self._end(actor)
            if isinstance(error, asyncio.CancelledError) and cancellations() == before:
                raise ActorCrashed(f"{self.name}: its start was cancelled from inside") from error
            raise
        self._actor = actor
        self._stopping = False
        self.mailbox.on_arrival(self)
        notify(self._observer, Started(self.name))
        self.arrived()

    async def stop(self, within_seconds: float, *, close: bool = True) -> None:
        """Finish what waits, or what can be finished in time, and end the actor.

        Args:
            within_seconds: after this the work under way is cancelled.
            close: take nothing any more, and answer what was not finished. With False the mailbox
                stays as it is, for the next actor.
        """
        self._stopping = True
        task = self._task
        if task is not None:
            done, _ = await asyncio.wait({task}, timeout=within_seconds)
            if not done:
                task.cancel()
                await asyncio.wait({task})
        self.mailbox.on_arrival(None)
        actor, self._actor = self._actor, None
        if actor is not None:
            await self._end(actor)
        if close:
            self.close(ActorStopped(f"{self.name} has stopped"))
        notify(self._observer, Stopped(self.name))

    def close(self, error: Exception) -> None:
        """Take nothing any more, and answer all that waits with an error."""
        count = self.mailbox.close(error)
        if count:
            notify(self._observer, DeadLetters(self.name, count))

    async def _end(self, actor: Actor[MessageT]) -> None:
        before = cancellations()
        try:
            async with asyncio.timeout(END_SECONDS):
                await actor.on_stop()
        except asyncio.CancelledError as error:
            if cancellations() > before:
                raise
            notify(self._observer, Failed(self.name, error))
        except Exception as error:  # noqa: BLE001  reported; a failing end must not stop the others'
            notify(self._observer, Failed(self.name, error))

    def arrived(self) -> None:
        """Begin to work if there is something to do, an actor to do it, and none does yet."""
        ready = self._task is None and self._actor is not None and not self._stopping
        if ready and self.mailbox.pending:
            assert self._actor is not None
            self._task = detached(self._drain(self._actor), self.name)

    async def _drain(self, actor: Actor[MessageT]) -> None:
        batch: list[Envelope[MessageT]] = []
        try:
            while self.mailbox.pending:
                batch = self._next_batch(actor)
                if batch:
                    await self._work(actor, batch)
                    batch = []
                keys = [] if self._stopping else self.mailbox.take_nudges()
                if keys:
                    await actor.receive_nudges(keys)
                if self._stopping and not len(self.mailbox):
                    break
        except asyncio.CancelledError as error:
            if cancellations():
                self._answer(batch, ActorStopped(f"{self.name} was stopped at work"))
                raise
            # Something that the actor waited for was cancelled, not the actor.
            await self._fail(actor, batch, error)
        except Exception as error:  # noqa: BLE001  whatever it was, the owner decides
            await self._fail(actor, batch, error)
        finally:
            self._task = None
        # From here to the end of the task there is no await: an arrival finds no task and wakes one.

    async def _work(self, actor: Actor[MessageT], batch: list[Envelope[MessageT]]) -> None:
        if len(batch) == 1:
            with request_scope(batch[0].request_id, batch[0].deadline):
                await actor.receive_batch(batch)
        else:
            await actor.receive_batch(batch)
        for envelope in batch:
            envelope.reply(None)

    def _next_batch(self, actor: Actor[MessageT]) -> list[Envelope[MessageT]]:
        now = asyncio.get_running_loop().time()
        batch = []
        for envelope in self.mailbox.drain(actor.batch_limit):
            if envelope.expired(now):
                envelope.fail(AskTimeout(f"{self.name}: the time was up before its turn came"))
            else:
                batch.append(envelope)
        return batch

    def _answer(self, batch: list[Envelope[MessageT]], error: Exception) -> None:
        for envelope in batch:
            envelope.fail(error)

    async def _fail(
        self, actor: Actor[MessageT], batch: list[Envelope[MessageT]], error: BaseException
    ) -> None:
        self._actor = None
        self.mailbox.on_arrival(None)
        for envelope in batch:
            crashed = ActorCrashed(f"{self.name} failed: {type(error).__name__}")
            crashed.__cause__ = error
            envelope.fail(crashed)
        notify(self._observer, Failed(self.name, error))
        await self._end(actor)
        self._on_failure(self, error)
