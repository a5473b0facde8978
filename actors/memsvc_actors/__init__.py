"""A small actor runtime on asyncio: bounded mailboxes, supervision as data, actors by key."""

from memsvc_actors.actor import Actor, Cell
from memsvc_actors.errors import (
    ActorCrashed,
    ActorError,
    ActorStopped,
    AskTimeout,
    MailboxFull,
    Quarantined,
    RestartBudgetExceeded,
)
from memsvc_actors.events import Event, Observer
from memsvc_actors.mailbox import Envelope, Mailbox, MailboxStatistics
from memsvc_actors.pool import Pool
from memsvc_actors.ref import ActorRef, RegistryRef, current_request_id, request_scope
from memsvc_actors.registry import Registry
from memsvc_actors.supervisor import Backoff, Child, ChildSpec, SingleActor, Supervisor

__all__ = [
    "Actor",
    "ActorCrashed",
    "ActorError",
    "ActorRef",
    "ActorStopped",
    "AskTimeout",
    "Backoff",
    "Cell",
    "Child",
    "ChildSpec",
    "Envelope",
    "Event",
    "Mailbox",
    "MailboxFull",
    "MailboxStatistics",
    "Observer",
    "Pool",
    "Quarantined",
    "Registry",
    "RegistryRef",
    "RestartBudgetExceeded",
    "SingleActor",
    "Supervisor",
    "current_request_id",
    "request_scope",
]
