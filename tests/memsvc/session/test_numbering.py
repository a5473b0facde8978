"""Numbers and times of appends, and repeats told from new ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.errors import Conflict
from memsvc.record import Record, encode_body
from memsvc.session.draft import Draft
from memsvc.session.numbering import Numbering


def draft(text: str, message_id: str | None = None, sent_at: int | None = None) -> Draft:
    body = encode_body(
        {"role": "user", "content": text} | ({"id": message_id} if message_id else {})
    )
    return Draft("user", message_id, sent_at, body, True, False)


def test_times_never_run_backwards_unless_the_caller_says_so() -> None:
    numbering = Numbering("a", 4, 1000, {}, now_ns=500)
    rows = numbering.number(
        [draft("a"), draft("b", sent_at=200), draft("c"), draft("d", sent_at=9000), draft("e")]
    ).rows
    assert [(row.seq, row.sent_at) for row in rows] == [
        (5, 1000),
        (6, 200),
        (7, 500),
        (8, 9000),
        (9, 9000),
    ]


def test_a_conflict_uses_up_nothing() -> None:
    known = {"x": Record(2, 5, draft("old", "x").body)}
    numbering = Numbering("a", 4, 1000, known, now_ns=2000)
    with pytest.raises(Conflict, match="message 2"):
        numbering.number([draft("new", "y"), draft("other", "x")])
    assert (numbering.last_seq, numbering.last_at) == (4, 1000)
    assert numbering.number([draft("again", "y")]).receipt.seqs == (5,)


def test_an_id_twice_in_one_batch_is_one_message() -> None:
    numbered = Numbering("a", 0, 0, {}, 1).number(
        [draft("x", "1"), draft("x", "1"), draft("y", "2")]
    )
    assert numbered.receipt.seqs == (1, 1, 2)
    assert len(numbered.rows) == 2


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.sampled_from([None, "1", "2"])),
            min_size=1,
            max_size=4,
        ),
        max_size=8,
    )
)
def test_numbers_have_no_gaps_and_ids_are_unique_whatever_is_sent(
    batches: list[list[tuple[str, str | None]]],
) -> None:
    numbering = Numbering("a", 0, 0, {}, 1)
    rows = []
    for batch in batches:
        try:
            rows += numbering.number([draft(text, message_id) for text, message_id in batch]).rows
        except Conflict:
            continue
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    ids = [row.message_id for row in rows if row.message_id]
    assert len(ids) == len(set(ids))
