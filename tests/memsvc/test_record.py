"""One message as bytes, and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.record import Record, decode_body, encode_body, to_line, to_message

AT = datetime(2026, 3, 14, 9, 26, 53, 123_456, tzinfo=UTC)
NS = 1_773_480_413_123_456_000


def test_a_line_is_the_body_with_number_and_time_in_front() -> None:
    record = Record(7, NS, b'{"role":"user","content":"x"}')
    assert to_line(record) == b'{"seq":7,"sendAt":1773480413123456000,"role":"user","content":"x"}'


def test_a_message_has_the_fields_of_the_body_and_the_number_and_time_of_the_record() -> None:
    body = encode_body(
        {"role": "tool", "content": None, "sender": "f", "tool_call_id": "a", "x": 1}
    )
    message = to_message(Record(7, NS, body))
    assert (message.role, message.content, message.sender) == ("tool", None, "f")
    assert (message.seq, message.sent_at, message.tool_call_id) == (7, AT, "a")
    assert message.extra == {"x": 1}


@given(
    st.integers(min_value=-(10**4200), max_value=10**4200)
    | st.sampled_from([10**18, 10**19, 2**63, -(2**63) - 1, 2**64, -(10**4299), 10**4299])
)
def test_whole_numbers_of_any_size_are_kept(number: int) -> None:
    fields = {"role": "user", "content": [number, {"n": number}]}
    assert repr(decode_body(encode_body(fields))) == repr(fields)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_fractions_are_kept_to_the_last_bit(number: float) -> None:
    for beside in (0, 10**30):  # the second is read by the slower parser
        fields = {"content": [number, beside]}
        assert repr(decode_body(encode_body(fields))) == repr(fields)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_line_is_one_line_of_json_whatever_the_text(text: str) -> None:
    line = to_line(Record(1, NS, encode_body({"role": "user", "content": text})))
    assert b"\n" not in line
    assert b"\r" not in line
    assert json.loads(line)["content"] == msgspec.json.decode(line)["content"] == text


def test_a_lone_surrogate_is_an_error_of_encoding() -> None:
    with pytest.raises(UnicodeEncodeError):
        encode_body({"role": "user", "content": "\ud800"})
