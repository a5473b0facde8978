"""What is done about a file follows from it and the archive; the archive wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.record import Record, to_line
from memsvc.session.history_file import Reading, append, cut, read, rewrite, set_aside
from memsvc.session.reconcile import Backfill, Complete, Fresh, Keep, Plan, Rebuild, plan

from .history_samples import SAMPLES, laid_out, lay, numbered


def found(state: Any, first: int = 0, last: int = 0, count: int | None = None) -> Reading:
    count = last - first + 1 if count is None and first else count or 0
    return Reading(
        state=state,
        size=100 * count + 50,
        good_bytes=100 * count,
        count=count,
        first_seq=first or None,
        last_seq=last or None,
        detail="line 3 is no record" if state == "unreadable" else "",
    )


MISSING = Reading(state="missing")
EMPTY = Reading(state="whole", size=3)
HALF = Reading(state="torn", size=40)
NOTHING = Reading(state="torn", size=2)
FOREIGN = found("foreign", count=3)
BROKEN = found("unreadable")

TABLE: list[tuple[str, Reading, int, int | None, Plan]] = [
    # The archive has never met the session.
    ("nothing anywhere", MISSING, 0, None, Fresh()),
    ("an empty file", EMPTY, 0, None, Fresh()),
    ("a file of ours", found("whole", 501, 510), 0, None, Backfill()),
    ("a torn file of ours", found("torn", 1, 10), 0, None, Backfill()),
    ("another's file", FOREIGN, 0, None, Backfill()),
    ("a broken file", BROKEN, 0, None, Rebuild(True, "line 3 is no record")),
    ("half a record", HALF, 0, None, Rebuild(True, "it holds no whole record")),
    ("an opened array", NOTHING, 0, None, Rebuild(False, "it holds no whole record")),
    # The archive has messages.
    ("in step", found("whole", 1, 10), 10, 10, Keep()),
    ("in step, compacted", found("whole", 501, 510), 510, 10, Keep()),
    ("in step, one retracted", found("whole", 1, 10, count=9), 10, 9, Keep()),
    ("behind", found("whole", 1, 7), 10, 7, Complete(7, cut=False)),
    ("torn", found("torn", 1, 10), 10, 10, Complete(10, cut=True)),
    ("torn and behind", found("torn", 1, 7), 10, 7, Complete(7, cut=True)),
    ("missing", MISSING, 10, None, Rebuild(False, "it is missing")),
    ("empty", EMPTY, 10, None, Rebuild(False, "it holds no whole record")),
    ("half a record known", HALF, 10, None, Rebuild(False, "it holds no whole record")),
    ("ahead", found("whole", 1, 11), 10, 10, Rebuild(True, "message 11 is not in the archive")),
    (
        "ahead and torn",
        found("torn", 9, 12),
        10,
        2,
        Rebuild(True, "message 12 is not in the archive"),
    ),
    ("foreign", FOREIGN, 10, None, Rebuild(True, "another program has written it")),
    ("broken", BROKEN, 10, None, Rebuild(True, "line 3 is no record")),
]
OTHERS = "it does not hold the messages that the archive has"
TABLE += [
    ("a gap", found("whole", 1, 10, count=9), 10, 10, Rebuild(True, OTHERS)),
    ("one too many", found("whole", 1, 10), 10, 9, Rebuild(True, OTHERS)),
    ("a gap in a torn file", found("torn", 1, 10, count=9), 12, 10, Rebuild(True, OTHERS)),
    ("not counted", found("whole", 1, 10), 10, None, Rebuild(True, OTHERS)),
]


@pytest.mark.parametrize("case", TABLE, ids=[case[0] for case in TABLE])
def test_each_state_has_its_remedy(case: tuple[str, Reading, int, int | None, Plan]) -> None:
    _, reading, archive_last_seq, in_file, expected = case
    assert plan(reading, archive_last_seq, in_file) == expected


ARCHIVE = numbered(SAMPLES["plain"] + SAMPLES["many bytes a character"] + SAMPLES["nested"])


def mend(path: Path, archive: list[Record]) -> Plan:
    """Carry a plan out on a file, with a list for the archive."""
    reading = read(path, 0)
    first, last = reading.first_seq, reading.last_seq
    in_file = None
    if first is not None and last is not None:
        in_file = sum(first <= record.seq <= last for record in archive)
    chosen = plan(reading, archive[-1].seq if archive else 0, in_file)
    if isinstance(chosen, Complete):
        size = cut(path, reading.good_bytes, reading.count) if chosen.cut else reading.size
        append(path, size, [to_line(r) for r in archive if r.seq > chosen.after_seq], empty=False)
    elif isinstance(chosen, Rebuild):
        if chosen.set_aside:
            set_aside(path)
        rewrite(path, map(to_line, archive))
    return chosen


files = st.one_of(
    st.builds(
        lambda last, size: laid_out(ARCHIVE[:last])[:size], st.integers(1, 14), st.integers(0)
    ),
    st.builds(lambda *place: laid_out(ARCHIVE[slice(*sorted(place))]), *[st.integers(1, 14)] * 2),
    st.builds(lambda place: laid_out(ARCHIVE[:place] + ARCHIVE[place + 1 :]), st.integers(0, 13)),
    st.builds(
        lambda place, junk: (
            laid_out(ARCHIVE)[:place] + junk + laid_out(ARCHIVE)[place + len(junk) :]
        ),
        st.integers(0, 1200),
        st.binary(min_size=1, max_size=80),
    ),
    st.binary(max_size=60),
)


@given(data=files, last=st.integers(1, 14))
def test_whatever_the_file_was_it_ends_in_step_and_nothing_unknown_is_thrown_away(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, last: int
) -> None:
    path = lay(tmp_path_factory.mktemp("mend") / "history.json", data)
    before, archive = read(path, 100), ARCHIVE[:last]
    chosen = mend(path, archive)
    after = read(path, 100)
    assert after.state == "whole"
    assert (after.last_seq, plan(after, last, after.count)) == (last, Keep())
    kept = [aside.read_bytes() for aside in path.parent.glob("*.corrupt-*")]
    if isinstance(chosen, Rebuild):
        assert after.tail == tuple(archive)
    if isinstance(chosen, Rebuild) and chosen.set_aside:
        assert kept == [data]
    else:  # then every whole record in it was the archive's
        assert kept == []
        assert before.state in ("whole", "torn")
        assert {r.seq for r in before.tail} <= {r.seq for r in archive}
