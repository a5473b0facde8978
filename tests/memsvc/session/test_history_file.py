"""history.json grows in place, one write an append, and is whole again whatever went wrong."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsvc.record import decode_body, to_line
from memsvc.session.history_file import (
    HistoryFileChanged,
    append,
    cut,
    read,
    rewrite,
    set_aside,
)

from .history_samples import BODIES, SAMPLES, laid_out, lay, long_file, numbered

RECORDS = numbered(SAMPLES["many bytes a character"] + SAMPLES["nested"])
LINES = [to_line(record) for record in RECORDS]
GOOD = laid_out(RECORDS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.json"


@pytest.fixture
def no_umask() -> Iterator[None]:
    old = os.umask(0)
    yield
    os.umask(old)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Appending


def test_the_file_is_valid_json_after_every_append(path: Path) -> None:
    size = 0
    for count, line in enumerate(LINES, 1):
        size = append(path, size, [line], empty=count == 1)
        assert path.read_bytes() == laid_out(RECORDS[:count])
        assert len(json.loads(path.read_bytes())) == count
        assert size == path.stat().st_size


@settings(max_examples=50)
@given(st.lists(st.lists(BODIES, min_size=1, max_size=4), min_size=1, max_size=4))
def test_batches_of_any_messages_are_read_back_as_one_history(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[dict[str, Any]]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "batches.json"
    path.unlink(missing_ok=True)
    records = numbered([body for batch in batches for body in batch])
    size, done = 0, 0
    for batch in batches:
        lines = [to_line(record) for record in records[done : done + len(batch)]]
        size = append(path, size, lines, empty=done == 0)
        done += len(batch)
    assert read(path, 100).tail == tuple(records)
    entries = json.loads(path.read_bytes())
    assert [entry["seq"] for entry in entries] == list(range(1, done + 1))
    assert [decode_body(record.body)["role"] for record in records] == [e["role"] for e in entries]


@pytest.mark.parametrize("existing", [None, b"", b"[]", b"[\n]"])
def test_the_first_append_starts_the_array(path: Path, existing: bytes | None) -> None:
    if existing is not None:
        lay(path, existing)
    size = append(path, len(existing or b""), LINES, empty=True)
    assert path.read_bytes() == GOOD
    assert size == len(GOOD)


@pytest.mark.usefixtures("no_umask")
def test_files_are_private_however_they_are_made(path: Path) -> None:
    append(path, 0, LINES, empty=True)
    assert mode(path) == 0o600
    rewrite(path, LINES)
    assert mode(path) == 0o600
    rewrite(path.parent / "folder" / path.name, LINES)
    assert mode(path.parent / "folder") == 0o700
    assert mode(set_aside(path)) == 0o600


def test_appending_nothing_changes_nothing(path: Path) -> None:
    assert append(path, 0, [], empty=True) == 0
    assert not path.exists()
    lay(path, GOOD)
    assert append(path, len(GOOD), [], empty=False) == len(GOOD)
    assert path.read_bytes() == GOOD


def test_an_append_does_not_look_at_what_is_there_already(path: Path) -> None:
    size = 8 * 2**30  # with a hole, so that it takes no room; reading it would take many seconds
    with path.open("wb") as file:
        file.truncate(size - 2)
        file.seek(size - 2)
        file.write(b"\n]")
    inode = path.stat().st_ino
    for line in LINES:
        size = append(path, size, [line], empty=False)
    assert path.stat().st_ino == inode
    assert path.stat().st_blocks < 1000
    with path.open("rb") as file:
        file.seek(8 * 2**30 - 2)
        assert file.read() == b",\n" + b",\n".join(LINES) + b"\n]"


@pytest.mark.parametrize(
    "found",
    [
        GOOD + b"\n",
        GOOD[:-1],
        b"",
        GOOD[:-2] + b"]\n",
        GOOD[:-2] + b"  ",
        GOOD[:-2] + bytes(2),
    ],
    ids=["longer", "shorter", "emptied", "other end", "blanks", "zeroes"],
)
def test_a_file_that_another_program_changed_is_not_written_to(path: Path, found: bytes) -> None:
    lay(path, found)
    with pytest.raises(HistoryFileChanged):
        append(path, len(GOOD), LINES, empty=False)
    assert path.read_bytes() == found


@pytest.mark.parametrize("found", [b"words, and no history", b"{}", b"[ ]", GOOD])
def test_what_could_not_be_read_is_never_overwritten_as_if_it_were_empty(
    path: Path, found: bytes
) -> None:
    lay(path, found)
    with pytest.raises(HistoryFileChanged):
        append(path, len(found), LINES, empty=True)
    assert path.read_bytes() == found


def test_a_file_that_vanished_or_appeared_is_noticed(path: Path) -> None:
    with pytest.raises(HistoryFileChanged):
        append(path, len(GOOD), LINES, empty=False)
    assert not path.exists()
    for found, size in ((GOOD, 0), (b"[]", 0), (b"[]", 3), (b"[\n]", 2)):
        lay(path, found)
        with pytest.raises(HistoryFileChanged):
            append(path, size, LINES, empty=True)
        assert path.read_bytes() == found


def test_a_link_is_not_followed(path: Path) -> None:
    target = lay(path.parent / "target", GOOD)
    path.symlink_to(target)
    with pytest.raises(OSError):
        append(path, len(GOOD), LINES, empty=False)
    with pytest.raises(OSError):
        cut(path, 50, 1)
    assert target.read_bytes() == GOOD


# With every limit on the size of files from none at all to just too little, an append writes more
# or less of its data before it is refused.
REFUSE = """
import resource, sys
from pathlib import Path
from memsvc.session.history_file import append, read
path, before, line = Path(sys.argv[1]), bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3])
after = len(before) + len(line) + (2 if len(before) > 3 else 4 - len(before))
refused = 0
for limit in range(len(before), after + 1):
    if before:
        path.write_bytes(before)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        append(path, len(before), [line], empty=len(before) <= 3)
    except OSError:
        refused += 1
        assert (path.read_bytes() if path.exists() else b"") == before, limit
    else:
        assert limit == after, limit
        assert path.stat().st_size == after
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(refused == after - len(before))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
@pytest.mark.parametrize(
    "before", [GOOD, b"[\n]", b"[]", b""], ids=["records", "[ ]", "[]", "none"]
)
def test_an_append_that_the_disk_takes_in_part_leaves_the_file_as_it_was(
    path: Path, before: bytes
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSE, str(path), before.hex(), LINES[1].hex()],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


# Mending


@pytest.mark.parametrize("name", SAMPLES)
def test_cut_short_at_any_byte_a_file_is_mended_and_goes_on(path: Path, name: str) -> None:
    records = numbered(SAMPLES[name])
    data = laid_out(records)
    for size in range(len(data)):
        count = read(lay(path, data[:size]), 0).count
        mended = cut(path, read(path, 0).good_bytes, count)
        assert path.read_bytes() == (laid_out(records[:count]) if count else b"[\n]")
        assert mended == path.stat().st_size
        assert read(path, 0).state == "whole"
        append(path, mended, [to_line(r) for r in records[count:]], empty=count == 0)
        assert path.read_bytes() == data


@pytest.mark.parametrize("tail", [b"", b",", b"]", b"\n]\n", b",\n" + bytes(900), b",\n{}" * 90])
def test_a_crash_while_a_tail_is_cut_leaves_a_file_that_is_cut_at_the_same_place(
    path: Path, tail: bytes
) -> None:
    end = len(GOOD) - 2
    # The bracket is written and the file not yet shortened.
    reading = read(lay(path, GOOD[:-2] + b"\n]" + tail[2:]), 100)
    assert (reading.good_bytes, reading.tail) == (end, tuple(RECORDS))
    assert cut(path, reading.good_bytes, reading.count) == len(GOOD)
    assert path.read_bytes() == GOOD


def test_a_file_is_written_anew_as_a_whole(path: Path) -> None:
    lay(path, b"anything")
    assert rewrite(path, LINES) == len(GOOD)
    assert path.read_bytes() == GOOD
    assert rewrite(path, iter(LINES[:3])) == len(laid_out(RECORDS[:3]))
    assert path.read_bytes() == laid_out(RECORDS[:3])
    assert rewrite(path, []) == 3
    assert path.read_bytes() == b"[\n]"
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_a_large_file_written_anew_is_read_back(path: Path) -> None:
    records = long_file(3000, seed=1)
    size = rewrite(path, map(to_line, records))
    reading = read(path, 3000)
    assert (reading.state, reading.size) == ("whole", size)
    assert reading.tail == tuple(records)


def test_writing_anew_deletes_what_a_killed_writing_left_behind(path: Path) -> None:
    lay(path.parent / ".history.json-x7k2", b"words that were to be erased")
    lay(path.parent / "summary.json", b"{}")
    rewrite(path, LINES)
    assert sorted(found.name for found in path.parent.iterdir()) == [path.name, "summary.json"]


def test_a_file_is_set_aside_under_a_name_of_its_own_each_time(path: Path) -> None:
    kept: dict[Path, bytes] = {}
    for content in (b"one", b"two", b"three"):
        lay(path, content)
        aside = set_aside(path)
        assert aside not in kept
        kept[aside] = content
        assert not path.exists()
    assert {found: found.read_bytes() for found in path.parent.iterdir()} == kept
    for found in kept:
        assert re.fullmatch(r"history\.json\.corrupt-\d{8}T\d{6}Z(-\d+)?", found.name)


def test_setting_aside_nothing_is_an_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        set_aside(path)
