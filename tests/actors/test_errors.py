"""The runtime's errors."""

from __future__ import annotations

from memsvc_actors import errors


def test_all_errors_have_one_base_and_say_when_they_come() -> None:
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    assert len(kinds) > 5
    assert all(issubclass(kind, errors.ActorError) and kind.__doc__ for kind in kinds)
