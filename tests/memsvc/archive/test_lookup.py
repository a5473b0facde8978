"""Keyword queries over the archive, within a scope."""

from __future__ import annotations

from memsvc.archive.client import ArchiveClient
from memsvc.archive.lookup import ArchiveLookup, Scope
from memsvc.archive.query import all_words, any_word, parse_query
from memsvc.archive.rows import Row
from memsvc.content import is_chat
from memsvc.record import encode_body


def row(seq: int, content: str, role: str = "user") -> Row:
    fields = {"role": role, "content": content}
    return Row(seq, seq * 10, role, is_chat(fields), None, encode_body(fields))


async def found(archive: ArchiveClient, query: str, **scope: object) -> list[tuple[int, int]]:
    expression = any_word(parse_query(query))
    assert expression is not None
    hits = await archive.lookup.ranked(expression, Scope(**scope), 100)  # type: ignore[arg-type]
    return [(hit.sid, hit.seq) for hit in hits]


async def test_a_session_s_words_stay_with_it(archive: ArchiveClient) -> None:
    one = await archive.store("one", None, [row(1, "the red fox"), row(2, "a blue whale")])
    two = await archive.store("two", None, [row(1, "the red barn")])
    assert await found(archive, "red", sids=(one,)) == [(one, 1)]
    assert set(await found(archive, "red", sids=(one, two))) == {(one, 1), (two, 1)}


async def test_the_scope_bounds_time_number_role_and_tools(archive: ArchiveClient) -> None:
    sid = await archive.store(
        "a",
        None,
        [
            row(1, "red one"),
            row(2, "red two", "assistant"),
            row(3, "red three"),
            row(4, "red tool", "tool"),
        ],
    )
    assert {s for _, s in await found(archive, "red", sids=(sid,))} == {1, 2, 3}
    assert {s for _, s in await found(archive, "red", sids=(sid,), tools=True)} == {1, 2, 3, 4}
    assert {s for _, s in await found(archive, "red", sids=(sid,), role="assistant")} == {2}
    assert {s for _, s in await found(archive, "red", sids=(sid,), after_ns=20, before_ns=30)} == {
        2
    }
    assert {s for _, s in await found(archive, "red", sids=(sid,), before_seq=2)} == {1}


async def test_more_sessions_than_the_expression_holds_are_filtered_in_the_join(
    archive: ArchiveClient,
) -> None:
    sids = [await archive.store(f"s{n}", None, [row(1, "red fox")]) for n in range(3)]
    many = (*sids[:2], *range(10_000, 10_400))
    assert {sid for sid, _ in await found(archive, "red", sids=many)} == set(sids[:2])


async def test_of_very_many_hits_the_newest_are_ranked(archive: ArchiveClient) -> None:
    sid = await archive.store("a", None, [row(n, f"red number {n}") for n in range(1, 41)])
    few = ArchiveLookup(archive._connections, rank_hits_max=10, scan_max=100)
    expression = all_words(parse_query("red"))
    assert expression is not None
    hits = await few.ranked(expression, Scope(sids=(sid,)), 100)
    assert {hit.seq for hit in hits} == set(range(31, 41))


async def test_reading_through_finds_parts_of_words_and_is_bounded(archive: ArchiveClient) -> None:
    sid = await archive.store(
        "a", None, [row(1, "reconfigured"), row(2, "nothing"), row(3, "CONFIG :-)")]
    )
    scope = Scope(sids=(sid,))
    assert [hit.seq for hit in await archive.lookup.containing(["config"], scope, 10)] == [3, 1]
    assert [hit.seq for hit in await archive.lookup.containing([":-)", "con"], scope, 10)] == [3]
    assert [
        hit.seq for hit in await archive.lookup.containing(["config"], scope, 10, from_seq=2)
    ] == [3]
    short = ArchiveLookup(archive._connections, rank_hits_max=10, scan_max=2)
    assert [hit.seq for hit in await short.containing(["config"], scope, 10)] == [3]


async def test_hits_by_stem_are_confirmed_letter_by_letter(archive: ArchiveClient) -> None:
    sid = await archive.store("a", None, [row(1, "it was connected"), row(2, "a connection")])
    expression = all_words(parse_query("connected"))
    assert expression is not None
    scope = Scope(sids=(sid,))
    hits = await archive.lookup.ranked(expression, scope, 10)
    assert {hit.seq for hit in hits} == {1, 2}
    assert [hit.seq for hit in await archive.lookup.confirmed(hits, ["connected"], scope)] == [1]
