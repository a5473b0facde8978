"""A bounded queue of envelopes, and beside it a set of nudges.

An idle mailbox costs little: the queue is made with the first envelope and dropped with the last.
A nudge is a key without data; equal ones coalesce, and losing one is harmless by design, because its
receiver asks elsewhere what is due. So nudges never wait and never fail.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from memsvc_actors.errors import ActorStopped, MailboxFull

MessageT = TypeVar("MessageT")

NUDGES_MAX = 10_000


class Envelope(Generic[MessageT]):
    """A message on its way.

    Attributes:
        message: what was sent.
        future: where the answer is awaited, or None when nobody awaits one.
        request_id: names the request that led to this message.
        deadline: loop time in seconds after which it is not carried out, or None.
    """

    __slots__ = ("deadline", "future", "message", "request_id")

    def __init__(
        self,
        message: MessageT,
        future: asyncio.Future[object] | None = None,
        request_id: str | None = None,
        deadline: float | None = None,
    ) -> None:
        self.message = message
        self.future = future
        self.request_id = request_id
        self.deadline = deadline

    def reply(self, value: object) -> None:
        """Answer, unless there is an answer already or the asker was cancelled."""
        if self.future is not None and not self.future.done():
            self.future.set_result(value)

    def fail(self, error: BaseException) -> None:
        """Answer with an error, unless there is an answer already or the asker was cancelled."""
        if self.future is not None and not self.future.done():
            self.future.set_exception(error)

    @property
    def answered(self) -> bool:
        """Whether nobody awaits an answer any more."""
        return self.future is None or self.future.done()

    def expired(self, now: float) -> bool:
        """Whether its deadline has passed at loop time `now`."""
        return self.deadline is not None and now >= self.deadline


@dataclass(frozen=True, slots=True)
class MailboxStatistics:
    """The state of a mailbox.

    Attributes:
        depth: envelopes waiting.
        capacity: how many may wait.
        highest: the most that ever waited.
        accepted: envelopes taken since it was made.
        refused: envelopes refused because it was full.
        nudges: nudges waiting.
        nudges_dropped: nudges lost because too many were waiting.
    """

    depth: int
    capacity: int
    highest: int
    accepted: int
    refused: int
    nudges: int
    nudges_dropped: int


class Listener(Protocol):
    """One who is told of arrivals."""

    def arrived(self) -> None:
        """Something has arrived."""


class Mailbox(Generic[MessageT]):
    """Holds what an actor has not seen yet."""

    __slots__ = (
        "_accepted",
        "_given",
        "_highest",
        "_listener",
        "_nudges",
        "_nudges_dropped",
        "_putters",
        "_queue",
        "_reason",
        "_refused",
        "capacity",
        "name",
    )

    def __init__(self, name: str, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity is {capacity}: give at least 1")
        self.name = name
        self.capacity = capacity
        self._queue: deque[Envelope[MessageT]] | None = None
        self._nudges: dict[Hashable, None] | None = None
        self._putters: deque[asyncio.Future[None]] | None = None
        self._listener: Listener | None = None
        self._reason: Exception | None = None  # why it is closed
        self._given = 0
        self._highest = self._accepted = self._refused = self._nudges_dropped = 0

    def __len__(self) -> int:
        return len(self._queue) if self._queue is not None else 0

    @property
    def closed(self) -> bool:
        """Whether it takes nothing any more."""
        return self._reason is not None

    @property
    def full(self) -> bool:
        """Whether one more has to wait: no room is free, or others wait for it already."""
        return bool(self._putters) or len(self) + self._given >= self.capacity

    @property
    def pending(self) -> bool:
        """Whether an envelope or a nudge waits."""
        return bool(self._queue) or bool(self._nudges)

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for room, or was just given it."""
        return bool(self._putters) or self._given > 0

    def on_arrival(self, listener: Listener | None) -> None:
        """Tell a listener of every arrival from now on."""
        self._listener = listener

    def put_nowait(self, envelope: Envelope[MessageT]) -> None:
        """Take an envelope.

        Raises:
            MailboxFull: as many wait as may, or others wait for room already.
            ActorStopped: the mailbox is closed.
        """
        self._check_open()
        if self.full:
            self._refused += 1
            raise MailboxFull(f"{self.name}: {self.capacity} messages are waiting")
        self._take(envelope)

    def _take(self, envelope: Envelope[MessageT]) -> None:
        if self._queue is None:
            self._queue = deque()
        self._queue.append(envelope)
        self._accepted += 1
        if len(self._queue) > self._highest:
            self._highest = len(self._queue)
        if self._listener is not None:
            self._listener.arrived()

    async def put(self, envelope: Envelope[MessageT]) -> None:
        """Take an envelope, waiting for room in line. Cancelled while waiting, it is not taken.

        Raises:
            ActorStopped: the mailbox is closed.
            Exception: it closes meanwhile, for this reason.
        """
        self._check_open()
        if self.full:
            await self._room()
            if self._reason is not None:
                raise self._reason.with_traceback(None)  # one error for all who waited
        self._take(envelope)

    async def _room(self) -> None:
        if self._putters is None:
            self._putters = deque()
        room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._putters.append(room)
        try:
            await room
        except asyncio.CancelledError:
            if room.done() and not room.cancelled():
                self._given -= 1
                self._offer_room()  # the room this one was given is the next one's
            raise
        self._given -= 1

    def nudge(self, key: Hashable) -> None:
        """Take note of a key, unless it is noted already, too many are, or the mailbox is closed."""
        if self._reason is not None:
            return
        if self._nudges is None:
            self._nudges = {}
        if key not in self._nudges and len(self._nudges) >= NUDGES_MAX:
            self._nudges_dropped += 1
            return
        self._nudges[key] = None
        if self._listener is not None:
            self._listener.arrived()

    def drain(self, limit: int) -> list[Envelope[MessageT]]:
        """Return up to `limit` envelopes in their order, making room for others."""
        if not self._queue:
            return []
        batch = [self._queue.popleft() for _ in range(min(limit, len(self._queue)))]
        if not self._queue:
            self._queue = None
        self._offer_room()
        return batch

    def take_nudges(self) -> list[Hashable]:
        """Return the noted keys in the order of their first arrival, and forget them."""
        keys = list(self._nudges or ())
        self._nudges = None
        return keys

    def close(self, error: Exception | None = None) -> int:
        """Take nothing any more, answer all that is held, and return how many that were."""
        reason = error or ActorStopped(f"{self.name} has stopped")
        self._reason = self._reason or reason
        held = self._queue or ()
        self._queue = self._nudges = None
        for envelope in held:
            envelope.fail(reason)
        putters, self._putters = self._putters or (), None
        for room in putters:
            if not room.done():
                self._given += 1
                room.set_result(None)
        return len(held)

    def statistics(self) -> MailboxStatistics:
        """Return the state of the mailbox."""
        return MailboxStatistics(
            depth=len(self),
            capacity=self.capacity,
            highest=self._highest,
            accepted=self._accepted,
            refused=self._refused,
            nudges=len(self._nudges or ()),
            nudges_dropped=self._nudges_dropped,
        )

    def _check_open(self) -> None:
        if self._reason is not None:
            raise ActorStopped(f"{self.name} has stopped")

    def _offer_room(self) -> None:
        while self._putters and len(self) + self._given < self.capacity:
            room = self._putters.popleft()
            if not room.done():
                self._given += 1
                room.set_result(None)
        if not self._putters:
            self._putters = None
