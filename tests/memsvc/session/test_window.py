"""The window: whole exchanges, near the size that was asked for, the newest of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc import Message
from memsvc.session.exchange import crossed, link
from memsvc.session.window import Window, chat_messages, choose_window, drop_oldest_turns

from .conversations import (
    answered,
    any_conversation,
    block_calls,
    block_results,
    chat_calls,
    chat_result,
    complaint,
    made,
    numbered,
    orderly,
    said,
    user,
)


def seqs(window: Window) -> list[int | None]:
    return [message.seq for message in window.messages]


def test_a_short_conversation_is_shown_whole() -> None:
    assert seqs(choose_window(numbered([user(), said()]), 16)) == [1, 2]


def test_a_session_without_messages_has_an_empty_window() -> None:
    assert choose_window([], 16) == Window([], 0)


def test_only_the_newest_messages_are_shown() -> None:
    window = choose_window(numbered([user(), said()] * 20), 5)
    assert seqs(window) == [36, 37, 38, 39, 40]
    assert window.first_seq == 36


def test_a_window_that_would_begin_with_a_result_is_widened_when_that_is_nearer() -> None:
    talk = [
        user(),
        said(),
        user(),
        chat_calls("a", "b"),
        chat_result("a"),
        chat_result("b"),
        said(),
    ]
    assert seqs(choose_window(numbered(talk), 3)) == [4, 5, 6, 7]


def test_a_window_that_would_begin_with_a_result_is_narrowed_when_that_is_nearer() -> None:
    ids = [f"c{number}" for number in range(6)]
    talk = numbered([user(), chat_calls(*ids), *map(chat_result, ids), said(), user()])
    assert seqs(choose_window(talk, 3)) == [9, 10]


def test_when_both_are_as_near_the_window_is_widened() -> None:
    talk = numbered([user(), chat_calls("a"), chat_result("a"), said()])
    assert seqs(choose_window(talk, 2)) == [2, 3, 4]


def test_words_beside_a_result_whose_call_nobody_knows_are_shown_when_there_is_no_more() -> None:
    talk = numbered([block_results("x"), block_results("x", text="so?")])
    assert seqs(choose_window(talk, 1)) == [2]
    assert choose_window(talk[:1], 1) == Window([], 0)
    assert seqs(choose_window(numbered([user(), *talk]), 1)) == [1, 2, 3]


def test_narrowing_never_leaves_nothing() -> None:
    ids = [f"c{number}" for number in range(6)]
    talk = numbered([user(), chat_calls(*ids), *map(chat_result, ids)])
    assert seqs(choose_window(talk, 4)) == [2, 3, 4, 5, 6, 7, 8]
    assert seqs(choose_window(talk, 2)) == [2, 3, 4, 5, 6, 7, 8]  # more than twice, but not nothing


def test_a_call_that_still_waits_for_results_is_left_out() -> None:
    talk = [user(), said(), user(), chat_calls("a", "b"), chat_result("a")]
    assert seqs(choose_window(numbered(talk), 16)) == [1, 2, 3]
    assert seqs(choose_window(numbered([*talk, chat_result("b")]), 16)) == [1, 2, 3, 4, 5, 6]


def test_calls_that_wait_one_message_each_are_left_out_together() -> None:
    talk = [user(), block_calls("a"), block_calls("b"), block_results("a")]
    assert seqs(choose_window(numbered(talk), 16)) == [1]


def test_a_call_that_was_interrupted_by_the_user_is_shown() -> None:
    window = choose_window(numbered([user(), chat_calls("a"), user("stop")]), 16)
    assert seqs(window) == [1, 2, 3]
    assert complaint(chat_messages(window.messages)) == ""


def test_what_was_said_meanwhile_is_not_left_out_with_a_waiting_call() -> None:
    talk = [chat_calls("a"), user("meanwhile"), chat_calls("b"), chat_result("a")]
    window = choose_window(numbered(talk), 16)
    assert "meanwhile" in [message.content for message in window.messages]
    assert complaint(chat_messages(window.messages)) == ""


@pytest.mark.parametrize("cut", range(1, 7))
def test_parallel_calls_with_a_large_result_are_valid_at_every_cut(cut: int) -> None:
    talk = [user(), chat_calls("1", "2"), chat_result("1", "x" * 5000), chat_result("2"), said()]
    window = choose_window(numbered(talk), cut)
    assert window.messages
    assert complaint(chat_messages(window.messages)) == ""


@given(any_conversation(), st.integers(1, 20))
def test_every_window_is_valid_and_of_bounded_size(messages: list[Message], size: int) -> None:
    window = choose_window(messages, size)
    assert complaint(chat_messages(window.messages)) == ""
    assert [m for m in messages if m in window.messages] == window.messages
    assert window.first_seq == (window.messages[0].seq if window.messages else 0)
    if len(window.messages) > 2 * size:  # only where nothing nearer could begin a window
        near = numbered(window.messages)[-2 * size :]
        parted = crossed(link(window.messages))[-2 * size - 1 : -1]
        assert all(cut or answered(m.to_dict()) for m, cut in zip(near, parted, strict=True))


@given(any_conversation(), st.integers(1, 20))
def test_only_tool_traffic_that_waits_is_missing_at_the_end(
    messages: list[Message], size: int
) -> None:
    window = choose_window(messages, size)
    last = window.messages[-1].seq or 0 if window.messages else 0
    left_out = messages[last:]
    assert all(made(m.to_dict()) or answered(m.to_dict()) for m in left_out)


@given(orderly(), st.integers(1, 20))
def test_among_whole_exchanges_the_window_is_near_the_size_and_ends_with_the_newest(
    messages: list[Message], size: int
) -> None:
    window = choose_window(messages, size)
    assert window.messages[-1:] == messages[-1:]
    # The longest exchange is a call and three results: the nearest cut is at most two away.
    assert min(size, len(messages)) - 2 <= len(window.messages) <= max(size + 2, 4)
    if window.messages:
        assert not answered(window.messages[0].to_dict())


@given(any_conversation(), st.integers(1, 8))
def test_twice_the_size_is_enough_to_choose_from(messages: list[Message], size: int) -> None:
    assert complaint(chat_messages(choose_window(messages[-2 * size :], size).messages)) == ""


def length(message: Mapping[str, Any]) -> int:
    return len(str(message["content"]))


def test_the_oldest_whole_turns_are_dropped_until_the_rest_fits() -> None:
    talk = numbered([user("12345"), said("12345"), user("123"), said("123"), user("1"), said("1")])
    assert drop_oldest_turns(talk, 100, length) == (talk, 0)
    assert drop_oldest_turns(talk, 17, length) == (talk[2:], 2)
    assert drop_oldest_turns(talk, 8, length) == (talk[2:], 2)
    assert drop_oldest_turns(talk, 7, length) == (talk[4:], 4)
    assert drop_oldest_turns(talk, 1, length) == ([], 6)
    assert drop_oldest_turns(talk, -50, length) == ([], 6)


def test_the_newest_turn_can_be_kept_whatever_its_size() -> None:
    talk = numbered([user("1"), said("1"), user("x" * 100)])
    assert drop_oldest_turns(talk, 5, length, keep_newest=True) == (talk[2:], 2)
    assert drop_oldest_turns([], 5, length, keep_newest=True) == ([], 0)


def test_results_from_the_user_do_not_begin_a_turn() -> None:
    talk = numbered([user("go"), block_calls("a"), block_results("a"), said("ok"), user("1")])
    assert drop_oldest_turns(talk, 3, length) == (talk[4:], 4)


def test_a_late_result_holds_two_turns_together() -> None:
    talk = numbered([user("go"), chat_calls("a"), user("and?"), chat_result("a"), said("1")])
    kept, omitted = drop_oldest_turns(talk, 8, length)
    assert (kept, omitted) == ([], 5)


@given(any_conversation(), st.integers(-5, 400))
def test_what_fits_is_valid_and_within_the_room(messages: list[Message], room: int) -> None:
    kept, omitted = drop_oldest_turns(messages, room, length)
    shown = chat_messages(kept)
    assert complaint(shown) == ""
    assert len(kept) + omitted == len(messages)
    assert kept == messages[omitted:]
    assert not kept or sum(map(length, shown)) <= room
