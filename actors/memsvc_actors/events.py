"""What happens in the runtime, as records handed to one observer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the actor of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Started(Event):
    """An actor's `on_start` has ended well."""


@dataclass(frozen=True, slots=True)
class Stopped(Event):
    """An actor has ended as it was told to."""


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """An actor failed in an unforeseen way."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Restarted(Event):
    """A failed actor is replaced by a new one after `delay_seconds`."""

    delay_seconds: float


@dataclass(frozen=True, slots=True)
class BudgetExceeded(Event):
    """A supervisor gave up: its children failed more often than it may restart them."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Passivated(Event):
    """A keyed actor left memory: it was idle, or the least recently used of too many."""


@dataclass(frozen=True, slots=True)
class DeadLetters(Event):
    """A closing mailbox answered `count` messages that no actor will see."""

    count: int


Observer = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Observe nothing."""


def notify(observer: Observer, event: Event) -> None:
    """Hand an event to the observer; its errors go to the loop's exception handler."""
    try:
        observer(event)
    except Exception as error:  # noqa: BLE001  an observer must not be able to stop an actor
        asyncio.get_running_loop().call_exception_handler(
            {"message": f"observer failed on {event!r}", "exception": error}
        )
