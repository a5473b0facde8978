"""The home on disk: its folders, its lock, and writing a file so that it is never half there."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from pathlib import Path
from typing import Self

from memsvc.errors import HomeLocked, StorageError

PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600


def open_home(home: Path, *, create: bool) -> None:
    """Make the folders of a home, or check that they are there.

    Args:
        home: an absolute path.
        create: make what is missing.

    Raises:
        StorageError: the home is missing and `create` is False, is a file, or cannot be written.
            Nothing was changed.
    """
    if not home.exists() and not create:
        raise StorageError(
            f"There is nothing at {home}.", "Check the path; the first append makes a new home."
        )
    try:
        for directory in (home, home / "sessions", home / "store"):
            make_private_directory(directory)
        # The permission bits say nothing to root and nothing about a read-only disk: try it.
        descriptor, probe = tempfile.mkstemp(prefix=".probe-", dir=home)
        os.close(descriptor)
        Path(probe).unlink()
    except (FileExistsError, NotADirectoryError):
        raise StorageError(
            f"{home} cannot be a home: a file is in the way.", "Choose another path."
        ) from None
    except OSError as error:
        raise StorageError(
            f"The home {home} cannot be written: {error.strerror}.",
            "memsvc needs a folder that it can write: check permissions, or choose another path.",
        ) from error


def make_private_directory(path: Path) -> None:
    """Make a directory that only its owner can enter, or tighten one that is there.

    Raises:
        OSError: it cannot be made, or is no directory.
    """
    path.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    if path.stat().st_mode & 0o777 != PRIVATE_DIRECTORY:
        path.chmod(PRIVATE_DIRECTORY)


def fsync_directory(path: Path) -> None:
    """Make the names in a directory durable; without it a rename may come back as the old file."""
    if sys.platform == "win32":
        return  # a directory cannot be opened there, and its entries are journalled
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data; a full disk first shows as a short write.

    Raises:
        OSError: not all of it could be written.
    """
    view = memoryview(data)
    while view:
        written = os.write(descriptor, view)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file as a whole: a reader, and a crash, sees the old content or the new.

    Raises:
        OSError: it could not be written; the old file is untouched.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    temporary = Path(name)
    try:
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    fsync_directory(path.parent)


class HomeLock:
    """The ownership of a home by one process. It dies with the process, however that ends.

    It is a flock: a lock of the other kind (lockf) would be dropped by closing any other descriptor of
    the same file.
    """

    def __init__(self, descriptor: int, home: Path) -> None:
        self._descriptor = descriptor
        self.home = home

    @classmethod
    def acquire(cls, home: Path) -> Self:
        """Take a home, at once or not at all.

        Raises:
            HomeLocked: another process, or another service in this one, owns it.
            StorageError: the lock file cannot be opened.
        """
        path = home / ".lock"
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            descriptor = os.open(path, flags, PRIVATE_FILE)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be opened: {error.strerror}.", "Check its permissions."
            ) from error
        if not _try_lock(descriptor):
            pid = _read_pid(descriptor)
            os.close(descriptor)
            owner = "another process" if pid is None else f"process {pid}"
            raise HomeLocked(
                f"{home} is in use by {owner}.",
                "Stop it, talk to it instead of opening its home, or use another home.",
                pid,
            )
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        write_all(descriptor, b"%d\n" % os.getpid())
        return cls(descriptor, home)

    def release(self) -> None:
        """Give the home up. Safe to call twice."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):  # the number only helps readers
                os.ftruncate(descriptor, 0)
            os.close(descriptor)


def _read_pid(descriptor: int) -> int | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    digits = os.read(descriptor, 32).strip()
    return int(digits) if digits.isdigit() else None


if sys.platform == "win32":
    import msvcrt

    # Locked far behind the pid: a locked byte cannot be read by others there.
    _LOCKED_AT = 1 << 20

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_AT, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN):
                return False
            raise
        return True
