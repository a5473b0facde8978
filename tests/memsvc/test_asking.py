"""The runtime's failures, told as errors of memsvc that say what to do."""

from __future__ import annotations

import pytest

import memsvc_actors
from memsvc.asking import explain
from memsvc.errors import MemsvcError, Overloaded, ServiceClosed, StorageError


@pytest.mark.parametrize(
    ("error", "kind", "advice"),
    [
        (memsvc_actors.MailboxFull("a: 3"), Overloaded, "Slow down"),
        (memsvc_actors.AskTimeout("a"), Overloaded, "same message ids"),
        (memsvc_actors.ActorStopped("a"), ServiceClosed, "Open it again"),
        (memsvc_actors.Quarantined("a"), StorageError, "See the log"),
        (memsvc_actors.ActorCrashed("a"), StorageError, "same message ids"),
    ],
)
def test_every_failure_of_the_runtime_has_its_word(
    error: memsvc_actors.ActorError, kind: type[MemsvcError], advice: str
) -> None:
    explained = explain(error, 3.0)
    assert type(explained) is kind
    assert advice in explained.next_step


def test_no_failure_of_the_runtime_is_forgotten() -> None:
    for kind in memsvc_actors.ActorError.__subclasses__():
        assert isinstance(explain(kind("x"), 1.0), MemsvcError)
