"""A group's rows and numbers, worked out before SQLite is touched."""

from __future__ import annotations

from memsvc.archive.group import Group
from memsvc.archive.messages import Store
from memsvc.archive.rows import Row, checksum


def test_a_group_counts_ids_without_gaps_and_sums_up_each_session() -> None:
    rows = tuple(Row(seq, seq * 10, "user", True, None, b"{}") for seq in (4, 5))
    group = Group([Store("new", None, rows), Store("old", 3, rows[:1])], 100, 7)
    assert [message[0] for message in group.messages] == [100, 101, 102]
    assert (group.first_id, group.next_id, group.next_sid) == (100, 103, 8)
    assert group.sids == [7, 3]
    assert group.metas == [(7, "new", 5, 50, 2), (3, "old", 4, 40, 1)]
    assert group.messages[0][-1] == checksum(7, 4, b"{}")
