"""What a model's API is given: valid whatever the conversation went through."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime

from hypothesis import given

from memsvc import Message
from memsvc.session.view import NO_RESULT, chat_messages

from .conversations import (
    any_conversation,
    block_calls,
    block_results,
    chat_calls,
    chat_result,
    complaint,
    numbered,
    orderly,
    result_and_call,
    said,
    user,
)


def test_only_keys_that_a_chat_completion_knows_are_given() -> None:
    message = Message(
        role="assistant",
        content="Here.",
        sender="Bob",
        id="m1",
        sent_at=datetime(2026, 3, 14, tzinfo=UTC),
        seq=4,
        name="bob",
        metadata={"mood": "good"},
        extra={"refusal": "no", "usage": {"tokens": 3}, "audio": None},
    )
    shown = {"role": "assistant", "content": "Here.", "name": "bob", "refusal": "no"}
    assert chat_messages([message]) == [shown]


def test_an_empty_list_of_calls_is_left_out() -> None:
    assert chat_messages([Message(role="assistant", content="x", tool_calls=[])]) == [
        {"role": "assistant", "content": "x"}
    ]


def test_an_interrupted_call_gets_a_result_that_says_so() -> None:
    shown = chat_messages([user(), chat_calls("a", "b"), chat_result("b"), user("forget it")])
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "tool", "user"]
    assert {m["tool_call_id"]: m["content"] for m in shown[2:4]} == {"a": NO_RESULT, "b": "42"}
    assert complaint(shown) == ""


def test_an_interrupted_call_among_blocks_gets_a_block() -> None:
    shown = chat_messages([block_calls("a", "b"), block_results("b", text="wait"), said()])
    assert shown[1] == {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": NO_RESULT}],
    }
    assert complaint(shown) == ""
    items = chat_messages([block_calls("a", kind="function_call"), user()])
    assert items[1]["content"] == [
        {"type": "function_call_output", "call_id": "a", "output": NO_RESULT}
    ]


def test_a_late_result_stands_behind_its_call() -> None:
    shown = chat_messages([chat_calls("a"), user("hurry"), chat_result("a")])
    assert [message["role"] for message in shown] == ["assistant", "tool", "user"]


def test_a_result_whose_call_is_not_there_is_left_out_but_not_the_words_beside_it() -> None:
    shown = chat_messages([chat_result("x"), block_results("x"), block_results("x", text="so?")])
    assert shown == [{"role": "user", "content": [{"type": "text", "text": "so?"}]}]


def test_one_message_that_answers_two_others_is_divided() -> None:
    both = block_results("a", "b", text="thanks")
    shown = chat_messages([block_calls("a"), block_calls("b"), both])
    assert [len(message["content"]) for message in shown] == [1, 1, 1, 2]
    assert complaint(shown) == ""


def test_a_message_that_answers_and_calls_stays_between_both() -> None:
    talk = [block_calls("a", kind="function_call"), result_and_call("a", "b"), user()]
    shown = chat_messages(talk)
    kinds = [part["type"] for message in shown[:-1] for part in message["content"]]
    assert kinds == ["function_call", "function_call_output"] * 2
    assert complaint(shown) == ""


def test_a_call_without_an_id_is_given_a_result_without_one() -> None:
    nameless = Message(role="assistant", content="", tool_calls=[{"function": {"name": "f"}}])
    assert chat_messages([nameless, user()])[1] == {"role": "tool", "content": NO_RESULT}


@given(any_conversation())
def test_whatever_happened_an_api_takes_the_view(messages: list[Message]) -> None:
    before = deepcopy(messages)
    shown = chat_messages(messages)
    assert complaint(shown) == ""
    assert messages == before  # what is stored stays as it was said


@given(any_conversation())
def test_everything_that_was_said_is_in_the_view_once(messages: list[Message]) -> None:
    def texts(of: list[Message] | list[dict[str, object]]) -> list[str]:
        found: list[str] = []
        for each in of:
            content = each.content if isinstance(each, Message) else each["content"]
            role = each.role if isinstance(each, Message) else each["role"]
            if isinstance(content, str) and role != "tool":
                found.append(content)
            elif isinstance(content, list):
                found.extend(part["text"] for part in content if part.get("type") == "text")
        return sorted(found)

    assert texts(chat_messages(messages)) == texts(messages)


@given(orderly())
def test_a_conversation_without_faults_is_shown_as_it_is(messages: list[Message]) -> None:
    shown = chat_messages(messages)
    assert numbered([Message(**message) for message in shown]) == messages
