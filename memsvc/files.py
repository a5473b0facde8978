"""The home on disk: its folders, its lock, and writing a file so that it is never half there."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
import weakref
from pathlib import Path
from typing import Self

from memsvc.errors import HomeLocked, StorageError

PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600

_FULL = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})


class DiskFull(StorageError, OSError):
    """The disk, or a quota on it, has no room left; nothing was changed.

    An OSError too: who can go on without a file handles all that a disk refuses in one place.
    """

    def __init__(self, path: Path, cause: OSError) -> None:
        super().__init__(f"There is no room left to write {path}.", "Free space, then try again.")
        self.errno, self.strerror, self.filename = cause.errno, cause.strerror, str(path)

    def __str__(self) -> str:
        return f"{self.what} {self.next_step}"


def open_home(home: Path, *, create: bool) -> None:
    """Make the folders of a home, or check that they are there.

    Args:
        home: an absolute path.
        create: make the home when it is missing. A home that is there is completed either way.

    Raises:
        StorageError: the home is missing and `create` is False, a file is in its way, or it cannot
            be written. Nothing was changed.
    """
    folders = (home, home / "sessions", home / "store")
    try:
        found = [_is_directory(folder) for folder in folders]
        if not create and not any(found[1:]):
            raise StorageError(
                f"There is nothing at {home}.", "Check the path; an append creates it."
            )
        if found[0]:
            _probe(home)
        _make_folders(folders)
    except (FileExistsError, NotADirectoryError):
        raise StorageError(
            f"{home} cannot be a home: a file is in the way.", "Choose another path."
        ) from None
    except OSError as error:
        raise StorageError(
            f"The home {home} cannot be written: {error.strerror}.",
            "memsvc needs a folder that it can write: check permissions, or choose another path.",
        ) from error


def _is_directory(path: Path) -> bool:
    """Say whether a directory is there.

    Raises:
        OSError: something else is, or its parent cannot be searched.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(mode):
        raise NotADirectoryError(path)
    return True


def _probe(directory: Path) -> None:
    # Permission bits say nothing to root, and nothing about a read-only disk: try it.
    try:
        descriptor, name = tempfile.mkstemp(prefix=".probe-", dir=directory)
    except OSError as error:
        if error.errno not in _FULL:  # what a full disk holds can still be read, and deleted
            raise
        return
    os.close(descriptor)
    Path(name).unlink()


def _make_folders(folders: tuple[Path, ...]) -> None:
    made: list[Path] = []
    try:
        for folder in folders:
            if not folder.exists():
                made.append(folder)
            make_private_directory(folder)
    except OSError:
        for folder in reversed(made):
            with contextlib.suppress(OSError):  # the last one could not be made
                folder.rmdir()
        raise


def make_private_directory(path: Path) -> None:
    """Make a directory that only its owner can enter, or tighten one that is there.

    A directory of another user's, or one that is shared by design such as /tmp, is left as it is.

    Raises:
        OSError: it cannot be made, or is no directory.
    """
    path.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    found = path.stat()
    if _is_ours(found) and stat.S_IMODE(found.st_mode) != PRIVATE_DIRECTORY:
        path.chmod(PRIVATE_DIRECTORY)


def fsync_directory(path: Path) -> None:
    """Make the names in a directory durable; without it a rename may come back as the old file.

    Raises:
        OSError: the disk refused.
    """
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


def temporary_prefix(path: Path) -> str:
    """Return how the temporary files of a file are named; a killed process may leave one."""
    return f".{path.name}-"


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file as a whole: a reader, and a crash, sees the old content or the new.

    The new file is for its owner only, and on the disk when this returns.

    Raises:
        DiskFull: there is no room; the old file is untouched.
        OSError: it could not be written; the old file is untouched. When only the last step failed,
            making the new name durable, the new one is there and a power cut may undo it.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=temporary_prefix(path), dir=path.parent)
        temporary = Path(name)
        try:
            try:
                write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull(path, error) from error
        raise
    fsync_directory(path.parent)


class HomeLock:
    """The ownership of a home by one process. It dies with the process, however that ends.

    It is a flock: a lockf would be dropped by closing any other descriptor of the same file. A
    forked child does not share it, so a child that lives on does not keep it.
    """

    def __init__(self, descriptor: int, home: Path) -> None:
        self._descriptor = descriptor
        self.home = home
        _held.add(self)

    @classmethod
    def acquire(cls, home: Path) -> Self:
        """Take a home, at once or not at all.

        Raises:
            HomeLocked: another process, or another service in this one, owns it.
            StorageError: the lock file cannot be opened or locked.
        """
        path = home / ".lock"
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        descriptor = -1
        try:
            descriptor = os.open(path, flags, PRIVATE_FILE)
            if _try_lock(descriptor):
                _write_pid(descriptor)
                return cls(descriptor, home)
            pid = _read_pid(descriptor)
        except OSError as error:
            if descriptor >= 0:
                os.close(descriptor)
            raise StorageError(
                f"{path} cannot be opened and locked: {error.strerror}.",
                "Check its permissions; a home must be on a disk that knows locks.",
            ) from error
        os.close(descriptor)
        owner = "another process" if pid is None else f"process {pid}"
        raise HomeLocked(
            f"{home} is in use by {owner}.",
            "Stop it, talk to it instead of opening its home, or use another home.",
            pid,
        )

    def release(self) -> None:
        """Give the home up. Safe to call twice."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):  # the number only helps readers
                os.ftruncate(self._descriptor, 0)
            self.leave_to_parent()

    def leave_to_parent(self) -> None:
        """In a forked child: let go of the parent's lock, which leaves it locked."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


_held: weakref.WeakSet[HomeLock] = weakref.WeakSet()


def _write_pid(descriptor: int) -> None:
    # Who loses the race right now should read a number: write over the old one, then cut.
    pid = b"%d\n" % os.getpid()
    with contextlib.suppress(OSError):  # the number only helps readers; a full disk may refuse it
        os.lseek(descriptor, 0, os.SEEK_SET)
        write_all(descriptor, pid)
        os.ftruncate(descriptor, len(pid))


def _read_pid(descriptor: int) -> int | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    digits = os.read(descriptor, 32).partition(b"\n")[0].strip()
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

    def _is_ours(found: os.stat_result) -> bool:
        return False  # modes mean nothing there

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

    def _is_ours(found: os.stat_result) -> bool:
        return found.st_uid == os.geteuid() and not found.st_mode & stat.S_ISVTX

    def _leave_all_to_parent() -> None:
        for lock in list(_held):
            lock.leave_to_parent()

    os.register_at_fork(after_in_child=_leave_all_to_parent)
