"""Which result answers which call."""

from __future__ import annotations

from hypothesis import given

from memsvc import Message
from memsvc.session.exchange import crossed, link

from .conversations import (
    any_conversation,
    block_calls,
    block_results,
    chat_calls,
    chat_result,
    said,
    user,
)


def others(messages: list[Message]) -> list[tuple[list[int | None], list[int | None]]]:
    return [
        ([half.other for half in each.calls], [half.other for half in each.results])
        for each in link(messages)
    ]


def test_parallel_calls_are_answered_by_several_results_in_any_order() -> None:
    found = others([chat_calls("a", "b"), chat_result("b"), chat_result("a")])
    assert found == [([2, 1], []), ([], [0]), ([], [0])]


def test_anthropic_blocks_and_responses_items_are_joined_by_their_own_keys() -> None:
    for kind in ("tool_use", "function_call"):
        found = others([block_calls("a", "b", kind=kind), block_results("a", "b", kind=kind)])
        assert found == [([1, 1], []), ([], [0, 0])]


def test_an_id_that_is_used_again_joins_the_latest_call() -> None:
    messages = [chat_calls("call_0"), chat_result("call_0"), chat_calls("call_0"), said()]
    assert others([*messages, chat_result("call_0")]) == [
        ([1], []),
        ([], [0]),
        ([4], []),
        ([], []),
        ([], [2]),
    ]


def test_a_call_that_was_given_up_does_not_take_the_result_of_the_next_one_of_its_id() -> None:
    found = others([chat_calls("call_0"), user(), chat_calls("call_0"), chat_result("call_0")])
    assert found[0] == ([None], [])
    assert found[3] == ([], [2])


def test_calls_and_results_without_ids_are_joined_in_their_order() -> None:
    nameless = {"function": {"name": "f", "arguments": {}}}
    calls = Message(role="assistant", content="", tool_calls=[nameless, nameless])
    results = [Message(role="tool", content="1"), Message(role="tool", content="2")]
    assert others([calls, *results, Message(role="tool", content="3")]) == [
        ([1, 2], []),
        ([], [0]),
        ([], [0]),
        ([], [None]),
    ]


def test_a_call_that_its_own_message_answers_needs_no_other() -> None:
    parts = [
        {"type": "function_call", "call_id": "a", "name": "f"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call", "call_id": "b", "name": "f"},
    ]
    (linked,) = link([Message(role="assistant", content=parts)])
    assert [half.call_id for half in linked.calls] == ["b"]
    assert linked.results == ()


def test_a_result_with_words_beside_it_is_not_only_a_result() -> None:
    plain, spoken = link([block_results("a"), block_results("a", text="and this")])
    assert plain.only_results
    assert not spoken.only_results


def test_parts_that_are_no_objects_or_have_odd_types_are_passed_over() -> None:
    odd = Message(role="assistant", content=["x", 1, {"type": ["tool_use"]}], tool_calls=["y"])
    assert link([odd])[0].calls == ()


@given(any_conversation())
def test_both_halves_name_each_other_and_the_call_comes_first(messages: list[Message]) -> None:
    links = link(messages)
    forth = [
        (c, h.other) for c, each in enumerate(links) for h in each.calls if h.other is not None
    ]
    back = [
        (h.other, r) for r, each in enumerate(links) for h in each.results if h.other is not None
    ]
    assert sorted(forth) == sorted(back)
    assert all(call < result for call, result in forth)


@given(any_conversation())
def test_a_cut_is_crossed_exactly_when_it_parts_a_pair(messages: list[Message]) -> None:
    links = link(messages)
    pairs = [
        (c, h.other) for c, each in enumerate(links) for h in each.calls if h.other is not None
    ]
    expected = [any(c < cut <= r for c, r in pairs) for cut in range(len(links) + 1)]
    assert crossed(links) == expected
