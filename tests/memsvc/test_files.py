"""The home's folders, its lock, and files that are replaced as a whole."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsvc.errors import HomeLocked, StorageError
from memsvc.files import (
    DiskFull,
    HomeLock,
    make_private_directory,
    open_home,
    write_all,
    write_atomically,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def tree(path: Path) -> dict[str, int]:
    """Return all that is below a path, with modes."""
    return {str(found.relative_to(path)): mode(found) for found in sorted(path.rglob("*"))}


@pytest.fixture
def no_umask() -> Iterator[None]:
    old = os.umask(0)
    yield
    os.umask(old)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB and 40 files, where the one who runs the tests may make one."""
    path = tmp_path / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=40", "none", str(path)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("making a small disk needs the right to mount")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


@pytest.fixture
def closing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder that `close` makes read-only for the one who runs the tests."""
    if os.geteuid() != 0:
        yield tmp_path
        tmp_path.chmod(0o700)
    else:  # modes say nothing to root
        yield request.getfixturevalue("small_disk")


def close(path: Path) -> None:
    if os.geteuid() != 0:
        path.chmod(0o500)
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(path)], check=True)


# Folders


@pytest.mark.usefixtures("no_umask")
def test_a_new_home_is_for_its_owner_only(tmp_path: Path) -> None:
    home = tmp_path / "home"
    open_home(home, create=True)
    assert mode(home) == 0o700
    assert tree(home) == {"sessions": 0o700, "store": 0o700}


@pytest.mark.usefixtures("no_umask")
def test_a_home_that_others_could_enter_is_tightened(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder in (home, home / "sessions", home / "store"):
        folder.mkdir(mode=0o777)
    open_home(home, create=False)
    assert mode(home) == 0o700
    assert tree(home) == {"sessions": 0o700, "store": 0o700}


def test_a_folder_that_is_shared_by_design_is_not_closed_to_others(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    open_home(shared, create=True)
    assert mode(shared) == 0o1777
    assert tree(shared) == {"sessions": 0o700, "store": 0o700}


def test_a_strict_umask_does_not_lock_the_owner_out(tmp_path: Path) -> None:
    old = os.umask(0o777)
    try:
        make_private_directory(tmp_path / "folder")
    finally:
        os.umask(old)
    assert mode(tmp_path / "folder") == 0o700


@pytest.mark.parametrize("existing", [[], ["home"], ["home", "home/notes"]])
def test_a_home_that_is_not_there_is_not_made_for_a_reader(
    tmp_path: Path, existing: list[str]
) -> None:
    for name in existing:
        (tmp_path / name).mkdir()
    before = tree(tmp_path)
    with pytest.raises(StorageError, match=r"There is nothing at .*home.* append creates it"):
        open_home(tmp_path / "home", create=False)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("blocked", ["home", "home/sessions", "home/store"])
def test_a_file_in_the_way_is_named_and_nothing_is_changed(tmp_path: Path, blocked: str) -> None:
    if blocked != "home":
        (tmp_path / "home").mkdir(mode=0o755)
    (tmp_path / blocked).write_text("words")
    before = tree(tmp_path)
    with pytest.raises(StorageError, match=r"home cannot be a home: a file is in the way"):
        open_home(tmp_path / "home", create=True)
    assert tree(tmp_path) == before
    assert (tmp_path / blocked).read_text() == "words"


def test_a_parent_that_is_a_file_is_no_place_for_a_home(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    for create in (True, False):
        with pytest.raises(StorageError, match="a file is in the way"):
            open_home(tmp_path / "file" / "home", create=create)


def test_a_link_that_leads_nowhere_is_no_place_for_a_home(tmp_path: Path) -> None:
    (tmp_path / "home").symlink_to(tmp_path / "gone")
    with pytest.raises(StorageError, match="in the way"):
        open_home(tmp_path / "home", create=True)
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("folders", [(), ("store",), ("sessions", "store")])
def test_a_home_that_cannot_be_written_is_refused_and_left_as_it_is(
    closing: Path, folders: tuple[str, ...]
) -> None:
    closing.chmod(0o700)
    for name in folders:
        (closing / name).mkdir(mode=0o700)
    close(closing)
    before = mode(closing), tree(closing)
    for home in (closing, closing / "new"):
        with pytest.raises(StorageError, match="cannot be written"):
            open_home(home, create=True)
    assert (mode(closing), tree(closing)) == before


def test_a_home_on_a_full_disk_can_still_be_opened(small_disk: Path) -> None:
    open_home(small_disk, create=True)
    HomeLock.acquire(small_disk).release()
    fill(small_disk)
    open_home(small_disk, create=False)
    HomeLock.acquire(small_disk).release()


def test_a_home_that_cannot_be_made_whole_is_not_made_at_all(small_disk: Path) -> None:
    fill(small_disk)[0].unlink()  # room for one of the three folders
    with pytest.raises(StorageError, match=r"cannot be written: No space left"):
        open_home(small_disk / "home", create=True)
    assert not (small_disk / "home").exists()


def fill(disk: Path) -> list[Path]:
    """Write a disk full, and return files that can be deleted to make room for as many."""
    made = []
    filler = disk / "filler"
    filler.touch()
    try:
        for number in range(100):
            made.append(disk / f"file-{number}")
            made[-1].touch()
    except OSError:
        made.pop()
    try:
        with filler.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
    except OSError:
        return made
    raise AssertionError("the disk is endless")


# Whole files


@pytest.mark.usefixtures("no_umask")
@pytest.mark.parametrize("data", [b"", b"new", bytes(range(256)) * 5000])
def test_a_file_is_replaced_as_a_whole_and_is_private(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_atomically(path, data)
    assert path.read_bytes() == data
    assert tree(tmp_path) == {"file": 0o600}


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    versions = [bytes([65 + n % 26]) * 20_000 for n in range(40)]
    write_atomically(path, versions[0])
    seen: list[bytes] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.append(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for version in versions:
        write_atomically(path, version)
    done.set()
    reader.join()
    assert seen
    assert set(seen) <= set(versions)


def test_when_the_rename_fails_the_old_stays_and_no_rest_is_left(tmp_path: Path) -> None:
    path = tmp_path / "taken"
    path.mkdir()
    (path / "inside").write_text("old")
    with pytest.raises(OSError):
        write_atomically(path, b"new")
    assert set(tree(tmp_path)) == {"taken", "taken/inside"}
    assert (path / "inside").read_text() == "old"


def test_when_the_disk_is_full_the_old_file_stays_and_the_error_says_so(small_disk: Path) -> None:
    path = small_disk / "file"
    write_atomically(path, b"old")
    with pytest.raises(DiskFull) as refused:
        write_atomically(path, bytes(200_000))
    assert isinstance(refused.value, StorageError)
    assert isinstance(refused.value, OSError)
    assert (refused.value.errno, refused.value.strerror) == (28, "No space left on device")
    assert str(refused.value) == f"{refused.value.what} {refused.value.next_step}"
    assert str(path) in refused.value.what
    assert set(tree(small_disk)) == {"file"}
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_a_write_that_is_not_taken_whole_is_an_error() -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(OSError, match="No space left"):
            write_all(descriptor, b"data")
    finally:
        os.close(descriptor)


def test_a_pipe_that_takes_a_little_at_a_time_gets_all() -> None:
    out, into = os.pipe()
    data = bytes(range(256)) * 2000

    def write() -> None:
        write_all(into, data)
        os.close(into)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(out, "rb") as file:
        assert file.read() == data
    writer.join()


# The lock

HOLD = """
import sys
from pathlib import Path
from memsvc.errors import HomeLocked
from memsvc.files import HomeLock
sys.stdin.readline()
try:
    lock = HomeLock.acquire(Path(sys.argv[1]))
except HomeLocked as error:
    print("refused", error.pid, flush=True)
else:
    print("held", flush=True)
sys.stdin.read()
"""

HOLD_AND_FORK = """
import os, sys
from pathlib import Path
from memsvc.files import HomeLock
lock = HomeLock.acquire(Path(sys.argv[1]))
told, tell = os.pipe()
child = os.fork()
if child:
    os.read(told, 1)  # the child has let go by the time it runs any code of its own
    print(child, flush=True)
else:
    os.write(tell, b"x")
    lock.release()
sys.stdin.read()
"""


def start(script: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def say(process: subprocess.Popen[str], line: str = "go\n") -> None:
    assert process.stdin is not None
    process.stdin.write(line)
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that owns `tmp_path`."""
    with start(HOLD, tmp_path) as process:
        say(process)
        assert hear(process) == "held"
        yield process
        process.kill()


def test_a_second_process_is_refused_at_once_with_the_owners_pid(
    tmp_path: Path, owner: subprocess.Popen[str]
) -> None:
    for _ in range(3):
        with pytest.raises(HomeLocked, match=f"in use by process {owner.pid}") as refused:
            HomeLock.acquire(tmp_path)
        assert refused.value.pid == owner.pid
    assert (tmp_path / ".lock").read_text() == f"{owner.pid}\n"


def test_killing_the_owner_frees_the_home(tmp_path: Path, owner: subprocess.Popen[str]) -> None:
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    lock = HomeLock.acquire(tmp_path)
    assert (tmp_path / ".lock").read_text() == f"{os.getpid()}\n"
    lock.release()


def test_of_many_that_start_at_once_one_owns_the_home(tmp_path: Path) -> None:
    racers = [start(HOLD, tmp_path) for _ in range(5)]
    for racer in racers:
        say(racer)
    answers = [hear(racer) for racer in racers]
    for racer in racers:
        racer.communicate()
    winner = racers[answers.index("held")]
    # Who comes in the instant between lock and number is refused without a number.
    assert sorted(answers)[0] == "held"
    assert set(answers) - {"held"} <= {f"refused {winner.pid}", "refused None"}
    assert answers.count("held") == 1


def test_a_forked_child_that_lives_on_does_not_keep_the_home(tmp_path: Path) -> None:
    with start(HOLD_AND_FORK, tmp_path) as process:
        child = int(hear(process))
        with pytest.raises(HomeLocked) as refused:  # nor does it take it from its parent
            HomeLock.acquire(tmp_path)
        assert refused.value.pid == process.pid
        process.kill()
        process.wait()
        os.kill(child, 0)
        HomeLock.acquire(tmp_path).release()


def test_the_same_process_cannot_own_a_home_twice(tmp_path: Path) -> None:
    lock = HomeLock.acquire(tmp_path)
    with pytest.raises(HomeLocked) as refused:
        HomeLock.acquire(tmp_path)
    assert refused.value.pid == os.getpid()
    lock.release()
    lock.release()
    HomeLock.acquire(tmp_path).release()


def test_looking_into_the_lock_file_does_not_drop_the_lock(tmp_path: Path) -> None:
    lock = HomeLock.acquire(tmp_path)
    assert (tmp_path / ".lock").read_text() == f"{os.getpid()}\n"
    with start(HOLD, tmp_path) as process:
        say(process)
        assert hear(process) == f"refused {os.getpid()}"
        process.kill()
    lock.release()


@pytest.mark.parametrize("text", ["999999999\n", "no number", "", "1" * 4000])
def test_what_a_dead_owner_left_in_the_file_does_not_matter(tmp_path: Path, text: str) -> None:
    (tmp_path / ".lock").write_text(text)
    lock = HomeLock.acquire(tmp_path)
    assert (tmp_path / ".lock").read_text() == f"{os.getpid()}\n"
    lock.release()


@pytest.mark.parametrize("text", ["no number", "", "-5"])
def test_an_owner_whose_number_cannot_be_read_is_another_process(tmp_path: Path, text: str) -> None:
    lock = HomeLock.acquire(tmp_path)
    (tmp_path / ".lock").write_text(text)
    with pytest.raises(HomeLocked, match="in use by another process") as refused:
        HomeLock.acquire(tmp_path)
    assert refused.value.pid is None
    lock.release()


@pytest.mark.usefixtures("no_umask")
def test_the_lock_file_is_private(tmp_path: Path) -> None:
    lock = HomeLock.acquire(tmp_path)
    assert tree(tmp_path) == {".lock": 0o600}
    lock.release()


def test_a_lock_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("words")
    (tmp_path / ".lock").symlink_to(target)
    with pytest.raises(StorageError, match="cannot be opened"):
        HomeLock.acquire(tmp_path)
    assert target.read_text() == "words"
