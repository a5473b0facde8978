"""Every error a caller can meet.

    MemsvcError
    ├── InvalidArgument        a session id, limit, time or query that cannot be used
    │   ├── InvalidMessage     a message that is refused; `field` names the part
    │   └── SettingsError      a setting that is unknown or out of range
    ├── SessionNotFound        reading a session that has no message
    ├── Conflict               the same message id with other content
    ├── HomeLocked             another process owns the home; `pid` names it
    ├── Overloaded             a queue is full; try again after `retry_after_seconds`
    ├── StorageError           the disk, the archive or a file of the home failed
    ├── ModelError             an embedder or model could not be used or answered badly
    └── ServiceClosed          the service was closed

A message says what happened, to what, and what to do next. It carries sizes, types and names, never
the text of a conversation.
"""

from __future__ import annotations


class MemsvcError(Exception):
    """Base of all errors of memsvc.

    Attributes:
        code: a stable word for programs, the same over HTTP and on the command line.
        next_step: what the reader can do about it.
    """

    code = "error"

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(f"{what} {next_step}")
        self.what = what
        self.next_step = next_step

    def __reduce__(self) -> tuple[object, ...]:
        # Copying and pickling would otherwise call the class with the finished text alone.
        return _restore, (type(self), self.args, vars(self))


def _restore(
    kind: type[MemsvcError], args: tuple[object, ...], attributes: dict[str, object]
) -> MemsvcError:
    error = kind.__new__(kind, *args)
    vars(error).update(attributes)
    return error


class InvalidArgument(MemsvcError, ValueError):
    """An argument cannot be used; nothing was changed."""

    code = "invalid_argument"


class InvalidMessage(InvalidArgument):
    """A message was refused, and its whole batch with it; nothing was changed.

    Attributes:
        field: the part at fault, such as `messages[2].content[0].text`.
    """

    code = "invalid_message"

    def __init__(self, field: str, what: str, next_step: str) -> None:
        super().__init__(f"{field}: {what}", next_step)
        self.field = field


class SettingsError(InvalidArgument):
    """A setting is unknown, of the wrong type, or out of range."""

    code = "settings"


class SessionNotFound(MemsvcError, LookupError):
    """The session has no messages; appending creates it."""

    code = "session_not_found"


class Conflict(MemsvcError):
    """A message id was used again with other content; nothing was changed."""

    code = "conflict"


class HomeLocked(MemsvcError):
    """Another process owns the home.

    Attributes:
        pid: the owner's process id, or None when it could not be read.
    """

    code = "home_locked"

    def __init__(self, what: str, next_step: str, pid: int | None = None) -> None:
        super().__init__(what, next_step)
        self.pid = pid


class Overloaded(MemsvcError):
    """A bounded queue is full, or an answer did not come in time.

    Attributes:
        retry_after_seconds: a fair time to wait before trying again.
    """

    code = "overloaded"

    def __init__(self, what: str, next_step: str, retry_after_seconds: float = 1.0) -> None:
        super().__init__(what, next_step)
        self.retry_after_seconds = retry_after_seconds


class StorageError(MemsvcError):
    """The disk, the archive or a file of the home failed."""

    code = "storage"


class ModelError(MemsvcError):
    """An embedder or a model could not be used, or answered badly."""

    code = "model"


class ServiceClosed(MemsvcError):
    """The service was closed, or is closing."""

    code = "closed"
