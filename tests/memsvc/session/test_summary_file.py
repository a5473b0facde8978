"""Reading summary.json and .summary_cursor, whatever state they are in."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsvc import times
from memsvc.session.summary_file import Cursor, SummaryState, fingerprint, read

ZONE = timezone(timedelta(hours=8))
AT = times.to_ns(datetime(2026, 3, 14, 9, 26, 53, tzinfo=ZONE))
DATA = {"key_decisions": ["Do: x"], "past_discussions": [], "current_discussion": {"topic": "y"}}


def lay(directory: Path, name: str, data: str | bytes) -> Path:
    path = directory / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_a_session_without_the_files_has_nothing_and_no_problem(tmp_path: Path) -> None:
    assert read(tmp_path) == SummaryState()
    assert read(tmp_path / "missing") == SummaryState()


def test_a_summary_is_read_with_the_keys_that_nobody_knows(tmp_path: Path) -> None:
    lay(tmp_path, "summary.json", json.dumps({**DATA, "generator": "extractive"}))
    summary = read(tmp_path).summary
    assert summary is not None
    assert summary.key_decisions == ["Do: x"]
    assert summary.past_discussions == []
    assert summary.current_discussion == {"topic": "y"}
    assert summary.data["generator"] == "extractive"


def test_parts_that_are_missing_or_null_are_empty(tmp_path: Path) -> None:
    lay(tmp_path, "summary.json", '{"key_decisions": null}')
    summary = read(tmp_path).summary
    assert summary is not None
    assert (summary.key_decisions, summary.current_discussion) == ([], None)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b'{"key_decisions": "x"}',
        b'{"past_discussions": {"a": 1}}',
        b'{"key_decisions": ["\xff"]}',
        b'{"v": NaN}',
        b"[" * 100_000,
    ],
)
def test_a_summary_that_cannot_be_used_is_a_problem_with_its_path(
    tmp_path: Path, data: bytes
) -> None:
    path = lay(tmp_path, "summary.json", data)
    state = read(tmp_path)
    assert state.summary is None
    assert str(path) in state.problem
    assert path.read_bytes() == data


def test_a_directory_in_place_of_a_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "summary.json").mkdir()
    (tmp_path / ".summary_cursor").mkdir()
    state = read(tmp_path)
    assert (state.summary, state.cursor) == (None, None)
    assert state.problem.count(str(tmp_path)) == 2


@pytest.mark.parametrize(
    ("text", "cursor"),
    [
        ("2026-03-14 09:26:53\n118\n", Cursor(118, AT)),
        ("2026-03-14 09:26:53\r\n118\r\n", Cursor(118, AT)),
        ("2026-03-14 09:26:53", Cursor(None, AT)),
        ("2026-03-14 09:26:53\n", Cursor(None, AT)),
        ("2026-03-14 09:26:53\nsoon", Cursor(None, AT)),
        ("2026-03-14 09:26:53\n²", Cursor(None, AT)),
        ("2026-03-14 09:26:53\n" + "9" * 500, Cursor(None, AT)),
        ("\ufeff2026-03-14 09:26:53\n118", Cursor(118, AT)),
        ("2026-03-14T01:26:53Z\n0", Cursor(0, AT)),
        ("\n118", Cursor(118, None)),
    ],
)
def test_a_cursor_is_read_by_its_number_and_by_its_time(
    tmp_path: Path, text: str, cursor: Cursor
) -> None:
    lay(tmp_path, ".summary_cursor", text)
    assert read(tmp_path, ZONE) == SummaryState(cursor=cursor)


def test_a_cursor_without_zone_is_one_of_the_local_zone(tmp_path: Path) -> None:
    lay(tmp_path, ".summary_cursor", "2026-03-14 09:26:53")
    local = times.to_ns(datetime(2026, 3, 14, 9, 26, 53).astimezone())
    assert read(tmp_path).cursor == Cursor(None, local)


@pytest.mark.parametrize("data", ["", "soon", "soon\nlater", "9999-99-99 00:00:00", b"\xff\xfe\n7"])
def test_a_cursor_that_cannot_be_used_is_a_problem_with_its_path(
    tmp_path: Path, data: str | bytes
) -> None:
    path = lay(tmp_path, ".summary_cursor", data)
    state = read(tmp_path)
    assert state.cursor is None
    assert str(path) in state.problem


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60), st.binary(max_size=60))
def test_no_bytes_at_all_raise_an_error(tmp_path: Path, summary: bytes, cursor: bytes) -> None:
    lay(tmp_path, "summary.json", summary)
    lay(tmp_path, ".summary_cursor", cursor)
    state = read(tmp_path)
    assert bool(state.problem) == (state.summary is None or state.cursor is None)


def test_the_fingerprint_changes_with_either_file(tmp_path: Path) -> None:
    seen = [fingerprint(tmp_path)]
    lay(tmp_path, "summary.json", json.dumps(DATA))
    seen.append(fingerprint(tmp_path))
    lay(tmp_path, ".summary_cursor", datetime.now(UTC).isoformat())
    seen.append(fingerprint(tmp_path))
    lay(tmp_path, "summary.json", json.dumps({**DATA, "v": 1}))
    seen.append(fingerprint(tmp_path))
    (tmp_path / ".summary_cursor").unlink()
    seen.append(fingerprint(tmp_path))
    assert len(set(seen)) == len(seen)
    assert fingerprint(tmp_path) == seen[-1]
