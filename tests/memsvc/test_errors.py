"""Every error says what happened, and what to do about it."""

from __future__ import annotations

import pickle
import re

import pytest

from memsvc import errors
from memsvc.errors import HomeLocked, InvalidMessage, MemsvcError, Overloaded

CLASSES = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, MemsvcError)
]


def example(kind: type[MemsvcError]) -> MemsvcError:
    if issubclass(kind, InvalidMessage):
        return kind("messages[2].role", "is missing.", "Use one of: user.")
    return kind("The disk is full.", "Make room.")


def drawn_tree() -> dict[str, str]:
    """Return the parent of each class in the drawing at the head of the module."""
    parents: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"    ([│├└─ ]*)([A-Z]\w+)(?: |$)", line):
            path = [*path[: len(found[1]) // 3], found[2]]
            parents[found[2]] = path[-2] if len(path) > 1 else "Exception"
    return parents


def test_the_drawing_at_the_head_matches_the_classes() -> None:
    assert drawn_tree() == {kind.__name__: kind.__bases__[0].__name__ for kind in CLASSES}


@pytest.mark.parametrize("kind", CLASSES)
def test_each_error_carries_a_code_and_the_next_step(kind: type[MemsvcError]) -> None:
    error = example(kind)
    assert re.fullmatch("[a-z_]+", error.code)
    assert error.what
    assert error.next_step
    assert str(error) == f"{error.what} {error.next_step}"
    assert kind.__doc__


def test_no_two_classes_share_a_code() -> None:
    assert len({kind.code for kind in CLASSES}) == len(CLASSES)


def test_an_invalid_message_names_its_field() -> None:
    error = example(InvalidMessage)
    assert isinstance(error, InvalidMessage)
    assert error.field == "messages[2].role"
    assert str(error).startswith("messages[2].role: is missing.")


def test_errors_are_also_what_python_calls_them() -> None:
    assert issubclass(errors.InvalidArgument, ValueError)
    assert issubclass(errors.SessionNotFound, LookupError)


def test_what_a_program_needs_stands_in_attributes() -> None:
    assert HomeLocked("Locked.", "Close it.", pid=42).pid == 42
    assert HomeLocked("Locked.", "Close it.").pid is None
    assert Overloaded("Full.", "Wait.", retry_after_seconds=2.5).retry_after_seconds == 2.5
    assert Overloaded("Full.", "Wait.").retry_after_seconds > 0


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_can_be_sent_to_another_process(kind: type[MemsvcError]) -> None:
    error = example(kind)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert (str(copy), vars(copy)) == (str(error), vars(error))
