"""A caller's messages are kept word for word, or refused with the name of the field."""

from __future__ import annotations

import enum
import json
import types
from collections import deque
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc import InvalidMessage, Message
from memsvc.record import Record, decode_body, to_line, to_message
from memsvc.session.draft import draft, drafts, same_content
from memsvc.settings import Limits

from .json_values import spelled, texts, values

LIMITS = Limits()
CALLS = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
NS = 1_764_583_200_000_000_000


def one(raw: Any, *, strip: bool = False, limits: Limits = LIMITS) -> Any:
    return draft(raw, "messages[2]", limits, strip=strip)


def refused(raw: Any, limits: Limits = LIMITS) -> InvalidMessage:
    with pytest.raises(InvalidMessage) as caught:
        draft(raw, "messages[2]", limits)
    assert caught.value.next_step
    return caught.value


def returned(raw: Any) -> Message:
    """Return a message as it comes back after it was stored, both ways."""
    taken = one(raw)
    record = Record(7, NS, taken.body)
    line = json.loads(to_line(record))
    assert (line.pop("seq"), line.pop("sendAt")) == (7, NS)
    assert spelled(line) == spelled(decode_body(taken.body))
    return to_message(record)


def test_an_ordinary_message_is_stored_with_its_role_first() -> None:
    taken = one({"content": "We will use Redis.", "role": "user"})
    assert taken.body == b'{"role":"user","content":"We will use Redis."}'
    assert (taken.role, taken.message_id, taken.sent_at) == ("user", None, None)
    assert taken.chat
    assert not taken.sanitized


def test_a_message_and_a_dict_are_the_same() -> None:
    fields: dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "sender": "Bob",
        "id": "m1",
        "name": "bob",
        "tool_calls": CALLS,
        "metadata": {"mood": ["good"]},
    }
    as_message = one(Message(**fields, extra={"x": 1}))
    assert as_message.body == one({**fields, "x": 1}).body
    assert as_message.message_id == "m1"


def test_unset_fields_are_left_out_and_unknown_ones_kept_also_when_null() -> None:
    body = one({"role": "user", "content": "x", "name": None, "mood": None, "id": None}).body
    assert body == b'{"role":"user","content":"x","mood":null}'


def test_any_mapping_is_taken() -> None:
    assert one(types.MappingProxyType({"role": "user", "content": "x"})).chat


def test_a_role_from_an_enumeration_is_taken() -> None:
    class Role(str, enum.Enum):  # noqa: UP042  # as libraries for Python 3.10 have them
        USER = "user"

    assert one({"role": Role.USER, "content": "x"}).body == b'{"role":"user","content":"x"}'


def test_an_assistant_may_say_nothing_when_it_calls_or_refuses() -> None:
    for beside in (
        {"tool_calls": CALLS},
        {"function_call": {"name": "f"}},
        {"refusal": "No."},
        {"audio": {"id": "a1"}},
    ):
        assert returned({"role": "assistant", "content": None, **beside}).content is None
    assert refused({"role": "assistant", "content": None}).field == "messages[2].content"
    assert refused({"role": "assistant", "tool_calls": []}).field == "messages[2].content"


def test_tool_calls_outside_content_come_back_as_they_were() -> None:
    assert returned({"role": "assistant", "content": None, "tool_calls": CALLS}).tool_calls == CALLS


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"content": "x"}, "role"),
        ({"role": "robot", "content": "x"}, "role"),
        ({"role": ["user"], "content": "x"}, "role"),
        ({"role": "user"}, "content"),
        ({"role": "user", "content": {"text": "x"}}, "content"),
        ({"role": "user", "content": 5}, "content"),
        ({"role": "user", "content": b"x"}, "content"),
        ({"role": "user", "content": ({"type": "text"},)}, "content"),
        ({"role": "user", "content": [{"type": "text", "text": b"x"}]}, "content[0].text"),
        ({"role": "user", "content": [float("nan")]}, "content[0]"),
        ({"role": "user", "content": "x", "sender": 5}, "sender"),
        ({"role": "user", "content": "x", "sender": True}, "sender"),
        ({"role": "user", "content": "x", "id": ""}, "id"),
        ({"role": "user", "content": "x", "id": 7}, "id"),
        ({"role": "user", "content": "x", "id": "i" * 201}, "id"),
        ({"role": "user", "content": "x", "name": []}, "name"),
        ({"role": "user", "content": "x", "tool_calls": {}}, "tool_calls"),
        ({"role": "tool", "content": "x", "tool_call_id": 1}, "tool_call_id"),
        ({"role": "user", "content": "x", "metadata": []}, "metadata"),
        ({"role": "user", "content": "x", "metadata": {"a": {1: 2}}}, "metadata.a"),
        ({"role": "user", "content": "x", "mood": {1, 2}}, "mood"),
        ({"role": "user", "content": "x", "sent_at": "yesterday"}, "sent_at"),
        ({"role": "user", "content": "x", "sent_at": "2026-03-14T09:26:53"}, "sent_at"),
        ({"role": "user", "content": "x", "sent_at": "9999-01-01T00:00:00Z"}, "sent_at"),
        ({"role": "user", "content": "x", "sent_at": 1_764_583_200}, "sent_at"),
        ({"role": "user", "content": "x", "sent_at": True}, "sent_at"),
        ({"role": "user", "content": "x", "sendAt": True}, "sendAt"),
        ({"role": "user", "content": "x", "sendAt": "2026-03-14"}, "sendAt"),
        ({"role": "user", "content": "x", "sendAt": 2**63}, "sendAt"),
        ({"role": "user", "content": "x", "sendAt": 1.5}, "sendAt"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_field(raw: dict[str, Any], field: str) -> None:
    error = refused(raw)
    assert error.field == f"messages[2].{field}"
    assert error.code == "invalid_message"


@pytest.mark.parametrize("raw", [None, "hello", 5, ["role", "user"], {1: 2}, object()])
def test_what_is_no_message_is_refused(raw: Any) -> None:
    assert refused(raw).field == "messages[2]"


def test_a_known_field_among_the_extra_ones_is_refused_not_guessed() -> None:
    doubled = Message(role="user", content="x", extra={"role": "system"})
    assert refused(doubled).field == "messages[2].extra"
    assert returned(Message(role="user", content="x", extra={"extra": 1})).extra == {"extra": 1}


def test_an_error_never_repeats_what_was_said() -> None:
    secret = "swordfish"
    for raw in (
        {"role": secret, "content": "x"},
        {"role": "user", "content": "x", "sent_at": secret},
        {"role": "user", "content": "x", "sender": [secret]},
        {"role": "user", "content": [secret, b""]},
    ):
        assert secret not in str(refused(raw))


def test_a_text_of_a_derived_class_is_refused_with_its_type() -> None:
    class Markup(str):
        __slots__ = ()

    error = refused({"role": "user", "content": Markup("x")})
    assert (error.field, "Markup" in error.what) == ("messages[2].content", True)


def test_a_message_over_the_limit_is_refused_and_one_at_the_limit_is_not() -> None:
    raw = {"role": "user", "content": "é" * 100}
    size = len(one(raw).body)
    assert one(raw, limits=Limits(max_message_bytes=size)).chat
    error = refused(raw, Limits(max_message_bytes=size - 1))
    assert error.field == "messages[2]"
    assert "limits.max_message_bytes" in str(error)


def test_too_deep_nesting_is_refused_whatever_the_depth() -> None:
    value: Any = "x"
    for _ in range(5000):
        value = [value]
    assert "nested too deep" in refused({"role": "user", "content": value}).what
    deep = Limits(max_depth=10**6)
    assert "nested too deep" in refused({"role": "user", "content": value}, deep).what


def test_a_number_too_long_for_python_to_write_is_refused() -> None:
    assert refused({"role": "user", "content": [10**5000]}).field == "messages[2]"


def test_the_time_is_taken_from_a_datetime_or_text_and_has_a_zone() -> None:
    moment = datetime(2025, 12, 1, 11, tzinfo=timezone(timedelta(hours=1)))
    for value in (moment, "2025-12-01T10:00:00Z", "2025-12-01T11:00:00+01:00"):
        assert one({"role": "user", "content": "x", "sent_at": value}).sent_at == NS


def test_the_names_of_the_file_format_are_understood() -> None:
    taken = one({"role": "user", "content": "x", "sendAt": NS + 1, "seq": 12})
    assert taken.sent_at == NS + 1
    assert taken.body == b'{"role":"user","content":"x"}'
    both = {"role": "user", "content": "x", "sendAt": 5, "sent_at": "2025-12-01T10:00:00Z"}
    assert one(both).sent_at == NS


@pytest.mark.parametrize(
    ("given_text", "stored"),
    [
        ("ok \ud83d end", "ok \ufffd end"),
        ("\udc8f", "\ufffd"),
        ("a\0b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_a_strange_character_never_costs_a_message(given_text: str, stored: str) -> None:
    for raw, path in (
        ({"role": "user", "content": given_text}, ("content",)),
        ({"role": "user", "content": "x", "sender": given_text}, ("sender",)),
        ({"role": "user", "content": [{"text": given_text}]}, ("content", 0, "text")),
        ({"role": "user", "content": "x", "metadata": {"k": given_text}}, ("metadata", "k")),
    ):
        taken = one(raw)
        value: Any = decode_body(taken.body)
        for step in path:
            value = value[step]
        assert value == stored
        assert taken.sanitized


def test_a_strange_character_in_a_key_or_an_id_is_replaced_too() -> None:
    taken = one({"role": "user", "content": "x", "id": "m\ud800", "a\0": {"b\udfff": 1}})
    assert taken.message_id == "m\ufffd"
    assert decode_body(taken.body)["a\ufffd"] == {"b\ufffd": 1}
    assert taken.sanitized


def test_text_that_speaks_of_such_characters_is_left_alone() -> None:
    taken = one({"role": "user", "content": r"write \u0000 or \ud800"})
    assert not taken.sanitized
    assert decode_body(taken.body)["content"] == r"write \u0000 or \ud800"


@given(
    st.one_of(texts, st.lists(values, max_size=4)),
    st.dictionaries(texts, values, max_size=4),
    st.dictionaries(texts.map("x-{}".format), values, max_size=4),
)
def test_any_json_comes_back_word_for_word_with_the_order_of_its_keys(
    content: Any, metadata: dict[str, Any], extra: dict[str, Any]
) -> None:
    raw = {"role": "user", **extra, "content": content, "metadata": metadata}
    message = returned(raw)
    assert spelled(message.content) == spelled(content)
    assert spelled(message.metadata) == spelled(metadata)
    assert spelled(message.extra) == spelled(extra)
    assert one(message).body == one(raw).body  # and can be handed in again
    assert one(message.to_dict()).body == one(raw).body


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_text_at_all_is_stored_as_valid_utf8(value: Any) -> None:
    body = one({"role": "user", "content": [value]}).body
    assert b"\\u0000" not in body or "\\u0000" in spelled(value)
    msgspec.json.decode(body.decode("utf-8"))


def test_prefix_lines_are_taken_off_only_when_asked() -> None:
    raw = {"role": "user", "content": "sendAt: 2025-12-01T10:00:00Z\nsender: Ann\nHello"}
    assert decode_body(one(raw).body) == raw
    taken = one(raw, strip=True)
    assert taken.body == b'{"role":"user","content":"Hello","sender":"Ann"}'
    assert taken.sent_at == NS


def test_a_message_keeps_its_own_time_and_sender_before_those_of_its_prefix() -> None:
    raw = {
        "role": "user",
        "content": "sendAt: 1999-01-01T10:00:00Z\nsender: Ann\nHello",
        "sender": "Bob",
        "sent_at": "2025-12-01T10:00:00Z",
    }
    taken = one(raw, strip=True)
    assert decode_body(taken.body) == {"role": "user", "content": "Hello", "sender": "Bob"}
    assert taken.sent_at == NS


def test_what_a_tool_returned_is_never_stripped() -> None:
    raw = {"role": "tool", "content": "sender: Ann\nsubject: lunch", "tool_call_id": "a"}
    assert decode_body(one(raw, strip=True).body) == raw


def test_one_message_or_several_are_taken() -> None:
    raw = {"role": "user", "content": "x"}
    assert len(drafts(raw, LIMITS)) == len(drafts(Message(role="user", content="x"), LIMITS)) == 1
    assert len(drafts([raw, raw], LIMITS)) == len(drafts((raw, raw), LIMITS)) == 2
    assert len(drafts(deque([raw]), LIMITS)) == 1


@pytest.mark.parametrize("raw", [[], "hello", b"x", None, 5, {1, 2}])
def test_nothing_and_no_list_are_refused(raw: Any) -> None:
    with pytest.raises(InvalidMessage, match=r"^messages: "):
        drafts(raw, LIMITS)


def test_the_message_at_fault_is_named_by_its_place() -> None:
    with pytest.raises(InvalidMessage, match=r"^messages\[1\]\.role: "):
        drafts([{"role": "user", "content": "x"}, {"role": "usr", "content": "x"}], LIMITS)


def test_a_batch_over_a_limit_is_refused_and_one_at_the_limit_is_not() -> None:
    raw = {"role": "user", "content": "x" * 100}
    size = len(one(raw).body)
    limits = Limits(max_batch=3, max_batch_bytes=2 * size, max_message_bytes=size)
    assert len(drafts([raw] * 2, limits)) == 2
    with pytest.raises(InvalidMessage, match=r"limits\.max_batch_bytes"):
        drafts([raw] * 3, limits)
    with pytest.raises(InvalidMessage, match=r"limits\.max_batch "):
        drafts([raw] * 4, limits)


def test_the_order_of_keys_makes_no_other_message_but_a_value_does() -> None:
    body = b'{"role":"user","content":"x","metadata":{"a":1,"b":[1]}}'
    assert same_content(body, body)
    assert same_content(body, b'{"role":"user","content":"x","metadata":{"b":[1],"a":1}}')
    for other in (b'{"a":1,"b":[2]}', b'{"a":true,"b":[1]}', b'{"a":1,"b":[1],"c":null}'):
        assert not same_content(body, b'{"role":"user","content":"x","metadata":' + other + b"}")


def test_tool_traffic_instructions_and_our_own_echo_are_no_chat() -> None:
    echo = "[memsvc:context]\nPrior summary"
    for raw in (
        {"role": "system", "content": "x"},
        {"role": "tool", "content": "x"},
        {"role": "user", "content": " \n"},
        {"role": "user", "content": echo},
        {"role": "assistant", "content": None, "tool_calls": CALLS},
    ):
        assert not one(raw).chat
