"""Errors of the runtime: what may become of a message that gets no answer."""

from __future__ import annotations


class ActorError(Exception):
    """Base of the runtime's errors."""


class MailboxFull(ActorError):
    """The mailbox holds as much as it may; the message was not taken."""


class AskTimeout(ActorError):
    """No answer came in time. Unless the message had to run, it is not carried out any more."""


class ActorStopped(ActorError):
    """The mailbox is closed: the message was not taken, or was still waiting when it closed."""


class ActorCrashed(ActorError):
    """The actor failed on this message in an unforeseen way; `__cause__` is the error."""


class Quarantined(ActorError):
    """The key's actor failed too often within a time and is not started for now."""


class RestartBudgetExceeded(ActorError):
    """A child failed more often than its supervisor may restart it."""
