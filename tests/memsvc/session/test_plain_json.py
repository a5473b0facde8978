"""What is JSON and what only looks like it."""

from __future__ import annotations

import json
import re
from collections import OrderedDict, defaultdict
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc import InvalidMessage
from memsvc.session import plain_json

from .json_values import values

_HIGH, _LOW = "[\ud800-\udbff]", "[\udc00-\udfff]"
_LONE = re.compile(f"{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW}|\0")


@given(values)
def test_every_json_value_is_taken(value: Any) -> None:
    plain_json.check(value, "content", 50)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        b"x",
        (1,),
        {1},
        datetime(2026, 3, 14, tzinfo=UTC),
        Decimal("1.5"),
        object(),
        {1: "x"},
        {None: "x"},
    ],
)
def test_what_is_not_json_is_refused_with_its_place(value: Any) -> None:
    with pytest.raises(InvalidMessage) as caught:
        plain_json.check([{"text": ["fine", value]}], "messages[2].content", 50)
    assert caught.value.field == "messages[2].content[0].text[1]"
    assert caught.value.next_step


def test_lists_and_objects_of_derived_classes_are_taken() -> None:
    plain_json.check([OrderedDict(a=1), defaultdict(list)], "content", 50)
    with pytest.raises(InvalidMessage, match=r"^content\[0\]\.a: "):
        plain_json.check([OrderedDict(a=b"")], "content", 50)


def test_a_place_under_an_odd_key_is_named_in_printable_ascii() -> None:
    with pytest.raises(InvalidMessage) as caught:
        plain_json.check({"\ud800 中" * 100: b""}, "metadata", 50)
    assert caught.value.field.isascii()
    assert caught.value.field.isprintable()
    assert len(caught.value.field) < 80


def test_nesting_is_taken_up_to_the_limit_and_not_beyond() -> None:
    def nested(levels: int) -> list[Any]:
        return json.loads("[" * levels + "]" * levels)  # type: ignore[no-any-return]

    plain_json.check(nested(7), "content", 7)
    with pytest.raises(InvalidMessage, match="nested too deep"):
        plain_json.check(nested(8), "content", 7)


def test_nesting_beyond_what_python_can_follow_is_refused_like_any_other() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(InvalidMessage, match="nested too deep"):
        plain_json.check(value, "content", 10**9)


def test_two_halves_of_a_character_become_the_character() -> None:
    assert plain_json.clean({"\ud83d\ude00": ["ok \ud83d\ude00"]}) == {"😀": ["ok 😀"]}


def test_keys_that_become_equal_keep_both_values() -> None:
    keys = [chr(0xD800), chr(0xD801), "\0"]
    assert list(plain_json.clean(dict.fromkeys(keys, 1) | {keys[1]: 2}).values()) == [1, 2, 1]


@given(st.text(st.one_of(st.characters(), st.sampled_from("\ud83d\ude00\0"))))
def test_each_lone_surrogate_and_nul_becomes_one_replacement_character(text: str) -> None:
    expected = _LONE.sub("\ufffd", text).encode("utf-16", "surrogatepass").decode("utf-16")
    assert plain_json.clean(text) == expected


@given(values)
def test_what_holds_no_such_character_is_left_as_it_is(value: Any) -> None:
    assert plain_json.clean(value) == value
