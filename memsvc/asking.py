"""Asking an actor, with the runtime's failures told as errors of memsvc."""

from __future__ import annotations

from typing import Any, Protocol

from memsvc.errors import MemsvcError, Overloaded, ServiceClosed, StorageError
from memsvc_actors import (
    ActorCrashed,
    ActorError,
    ActorStopped,
    AskTimeout,
    MailboxFull,
    Quarantined,
)


class Askable(Protocol):
    """A ref to an actor, or to one that is activated on demand."""

    async def ask(
        self,
        message: Any,
        *,
        timeout_seconds: float,
        wait_for_room: bool = True,
        must_run: bool = False,
    ) -> Any:
        """See `memsvc_actors.ActorRef.ask`."""


async def ask(
    ref: Askable,
    message: Any,
    *,
    timeout_seconds: float,
    wait_for_room: bool = True,
    must_run: bool = False,
) -> Any:
    """Return the answer of an actor.

    Cancelling the caller does not cancel work that the actor has taken.

    Raises:
        Overloaded: its mailbox is full, or the answer did not come in time.
        ServiceClosed: it was stopped.
        StorageError: it failed in an unforeseen way, or failed too often and is set aside.
        MemsvcError: what it answers.
    """
    try:
        return await ref.ask(
            message,
            timeout_seconds=timeout_seconds,
            wait_for_room=wait_for_room,
            must_run=must_run,
        )
    except ActorError as error:
        raise explain(error, timeout_seconds) from error


def explain(error: ActorError, timeout_seconds: float) -> MemsvcError:
    """Return an error of the runtime as one that tells a caller what to do."""
    match error:
        case MailboxFull():
            return Overloaded(
                f"Too much is waiting ({error}).",
                "Slow down, send larger batches, or raise limits.mailbox; then try again.",
            )
        case AskTimeout():
            return Overloaded(
                f"No answer within {timeout_seconds:g} s.",
                "It may still be carried out: try again with the same message ids, which are not"
                " stored twice.",
            )
        case ActorStopped():
            return ServiceClosed(
                "The service has stopped, or is stopping.",
                "Open it again; what was not acknowledged can be sent again with the same ids.",
            )
        case Quarantined():
            return StorageError(
                f"It failed again and again and is set aside for now ({error}).",
                "See the log for the cause; other sessions are not affected.",
            )
        case ActorCrashed():
            return StorageError(
                f"An unforeseen error: {error.__cause__!r}.",
                "Try again with the same message ids; what was stored is not stored twice. If it"
                " happens again, please report it with the log.",
            )
    return StorageError(f"An unforeseen error: {error!r}.", "Try again, and report it.")
