"""How others speak to an actor: ask, tell, nudge. They hold a ref, never the actor.

A ref points at a mailbox, so it survives the actor's restart. A context variable does not cross a
mailbox; the request id and the deadline travel in the envelope and are bound again around the work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Hashable
from contextvars import Context, ContextVar, Token
from typing import Any, Generic, Protocol

from memsvc_actors.errors import AskTimeout
from memsvc_actors.mailbox import Envelope, Mailbox, MailboxStatistics, MessageT

_request: ContextVar[tuple[str | None, float | None]] = ContextVar(
    "memsvc_actors.request", default=(None, None)
)


def current_request_id() -> str | None:
    """Return the id of the request being worked on, or None."""
    return _request.get()[0]


def detached(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """Start a task of the runtime's own; it belongs to no request, whoever caused it."""
    return asyncio.get_running_loop().create_task(work, name=name, context=Context())


def cancellations() -> int:
    """Return how often the running task was told to end.

    A `CancelledError` that does not raise this number came from something that was waited for: it is a
    failure like any other, not an order.
    """
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


class request_scope:  # noqa: N801  used like a function; a class costs a third of a generator
    """Bind a request id and a deadline (loop time in seconds) to all asks within the block."""

    __slots__ = ("_bound", "_token")

    _token: Token[tuple[str | None, float | None]]

    def __init__(self, request_id: str | None, deadline: float | None = None) -> None:
        self._bound = (request_id, deadline)

    def __enter__(self) -> None:
        self._token = _request.set(self._bound)

    def __exit__(self, *exception: object) -> None:
        _request.reset(self._token)


async def ask_mailbox(
    mailbox: Mailbox[MessageT],
    message: MessageT,
    timeout_seconds: float,
    wait_for_room: bool,
    must_run: bool,
) -> Any:
    """Put a message into a mailbox and wait for its answer; see `ActorRef.ask`."""
    loop = asyncio.get_running_loop()
    request_id, inherited = _request.get()
    deadline = loop.time() + timeout_seconds
    if inherited is not None:
        deadline = min(deadline, inherited)
    future: asyncio.Future[object] = loop.create_future()
    envelope = Envelope(message, future, request_id, None if must_run else deadline)
    if wait_for_room and mailbox.full:
        await _put(mailbox, envelope, deadline, timeout_seconds)
    else:
        mailbox.put_nowait(envelope)
    # A bare timer, not asyncio.timeout(): every message passes here, and this is a third of its cost.
    timer = loop.call_at(deadline, _expire, future, mailbox.name, timeout_seconds)
    try:
        return await future
    finally:
        timer.cancel()


async def tell_mailbox(mailbox: Mailbox[MessageT], message: MessageT, seconds: float) -> None:
    """Put a message that needs no answer into a mailbox; see `ActorRef.tell`."""
    try:
        async with asyncio.timeout(seconds):
            await mailbox.put(Envelope(message, request_id=current_request_id()))
    except TimeoutError:
        raise AskTimeout(f"{mailbox.name}: no room within {seconds:g} s") from None


async def _put(
    mailbox: Mailbox[MessageT], envelope: Envelope[MessageT], deadline: float, seconds: float
) -> None:
    try:
        async with asyncio.timeout_at(deadline):
            await mailbox.put(envelope)
    except TimeoutError:
        raise AskTimeout(f"{mailbox.name}: no room within {seconds:g} s") from None


def _expire(future: asyncio.Future[object], name: str, seconds: float) -> None:
    if not future.done():
        future.set_exception(AskTimeout(f"{name}: no answer within {seconds:g} s"))


class ActorRef(Generic[MessageT]):
    """Speaks to one actor."""

    __slots__ = ("_mailbox",)

    def __init__(self, mailbox: Mailbox[MessageT]) -> None:
        self._mailbox = mailbox

    @property
    def name(self) -> str:
        """The actor's name."""
        return self._mailbox.name

    async def ask(
        self,
        message: MessageT,
        *,
        timeout_seconds: float,
        wait_for_room: bool = True,
        must_run: bool = False,
    ) -> Any:
        """Send a message and return its answer. Cancelling it does not cancel work that was taken.

        Args:
            message: what to send.
            timeout_seconds: how long to wait for room and answer together; the deadline of the
                request being worked on shortens it.
            wait_for_room: wait where the mailbox is full, instead of failing at once.
            must_run: carry it out even after the deadline, once it was taken.

        Raises:
            MailboxFull: the mailbox is full and `wait_for_room` is False.
            AskTimeout: no answer came in time.
            ActorStopped: the actor has stopped, or stops before it comes to the message.
            ActorCrashed: the actor failed on it in an unforeseen way.
            Exception: an error that the actor answers with.
        """
        return await ask_mailbox(self._mailbox, message, timeout_seconds, wait_for_room, must_run)

    async def tell(self, message: MessageT, *, timeout_seconds: float) -> None:
        """Send a message that needs no answer, waiting for room. Cancelled, it is not sent.

        Raises:
            AskTimeout: no room came in time.
            ActorStopped: the actor has stopped.
        """
        await tell_mailbox(self._mailbox, message, timeout_seconds)

    def tell_nowait(self, message: MessageT) -> None:
        """Send a message that needs no answer.

        Raises:
            MailboxFull: as many wait as may.
            ActorStopped: the actor has stopped.
        """
        self._mailbox.put_nowait(Envelope(message, request_id=current_request_id()))

    def nudge(self, key: Hashable) -> None:
        """Say that something may be due under a key. Never waits, never fails, may be lost."""
        self._mailbox.nudge(key)

    def statistics(self) -> MailboxStatistics:
        """Return the state of the actor's mailbox."""
        return self._mailbox.statistics()


class KeyedMailboxes(Protocol[MessageT]):
    """Mailboxes by key, such as a registry's."""

    def mailbox(self, key: str) -> Mailbox[MessageT]:
        """Return the mailbox of a key's actor, waking it where it sleeps."""

    def nudge(self, key: str, due: Hashable, *, activate: bool = False) -> None:
        """Nudge a key's actor."""


class RegistryRef(Generic[MessageT]):
    """Speaks to the actor of one key, waking it where it sleeps."""

    __slots__ = ("_key", "_registry")

    def __init__(self, registry: KeyedMailboxes[MessageT], key: str) -> None:
        self._registry = registry
        self._key = key

    async def ask(
        self,
        message: MessageT,
        *,
        timeout_seconds: float,
        wait_for_room: bool = True,
        must_run: bool = False,
    ) -> Any:
        """Send a message and return its answer; see `ActorRef.ask`.

        Raises:
            Quarantined: the key's actor failed too often.
        """
        mailbox = self._registry.mailbox(self._key)
        return await ask_mailbox(mailbox, message, timeout_seconds, wait_for_room, must_run)

    async def tell(self, message: MessageT, *, timeout_seconds: float) -> None:
        """Send a message that needs no answer, waiting for room; see `ActorRef.tell`.

        Raises:
            Quarantined: the key's actor failed too often.
        """
        await tell_mailbox(self._registry.mailbox(self._key), message, timeout_seconds)

    def tell_nowait(self, message: MessageT) -> None:
        """Send a message that needs no answer; see `ActorRef.tell_nowait`."""
        envelope = Envelope(message, request_id=current_request_id())
        self._registry.mailbox(self._key).put_nowait(envelope)

    def nudge(self, key: Hashable, *, activate: bool = False) -> None:
        """Nudge the key's actor if it is awake, or, with `activate`, in any case."""
        self._registry.nudge(self._key, key, activate=activate)
