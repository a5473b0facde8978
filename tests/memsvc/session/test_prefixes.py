"""Lines that agents glue to messages, and lines that only look like them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc import times
from memsvc.session.prefixes import Stripped, strip_content, strip_prefixes

TAIPEI = timezone(timedelta(hours=8))
NS = times.to_ns(datetime(2026, 3, 14, 9, 26, 53, tzinfo=TAIPEI))


def test_time_and_sender_are_taken_and_the_lines_are_gone() -> None:
    text = "sendAt: 2026-03-14 09:26:53\nsender: Ann\nchannelId: c-1\nHello\nsender: not me"
    assert strip_prefixes(text, TAIPEI) == Stripped("Hello\nsender: not me", NS, "Ann")


def test_the_lines_may_stand_in_any_order_and_each_may_be_missing() -> None:
    assert strip_prefixes("channelId: c\nsender: Ann\nHi", TAIPEI) == Stripped("Hi", None, "Ann")
    assert strip_prefixes("sender:\nHi", TAIPEI) == Stripped("Hi")


def test_the_older_block_is_taken_with_either_colon() -> None:
    for colon in (":", "：", ": ", "： "):
        text = (
            f"當前時間{colon}2026-03-14 09:26:53\n工作目錄{colon}~/work\n傳送者{colon}小美\n\n你好"
        )
        assert strip_prefixes(text, TAIPEI) == Stripped("你好", NS, "小美")


def test_line_ends_of_windows_are_taken() -> None:
    text = "sendAt: 2026-03-14 09:26:53\r\nsender: Ann\r\n\r\nHello\r\n"
    assert strip_prefixes(text, TAIPEI) == Stripped("Hello\r\n", NS, "Ann")


@pytest.mark.parametrize(
    "written",
    [
        "2026-03-14 09:26:53",
        "2026-03-14T09:26:53+08:00",
        "2026-03-14T01:26:53Z",
        str(NS),
        str(NS // 10**3),
        str(NS // 10**6),
        str(NS // 10**9),
    ],
)
def test_a_time_is_read_in_each_form(written: str) -> None:
    assert strip_prefixes(f"sendAt: {written}\nHi", TAIPEI).sent_at == NS


def test_a_time_without_zone_is_one_of_the_local_zone() -> None:
    local = times.to_ns(datetime(2026, 3, 14, 9, 26, 53).astimezone())
    assert strip_prefixes("sendAt: 2026-03-14 09:26:53\nHi").sent_at == local
    summer = strip_prefixes("sendAt: 2026-07-01 12:00:00\nHi", ZoneInfo("Europe/Berlin")).sent_at
    assert summer == times.to_ns(datetime(2026, 7, 1, 10, tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    [
        "sendAt: tomorrow at noon, please\nHi",
        "sendAt: 20260314\nHi",
        "sendAt: 9223372036854775808\nHi",
        "當前時間: 0001-01-01 00:00:00\nHi",
        "Sender: Ann\nHi",
        " sender: Ann\nHi",
        "Hi\nsender: Ann\n",
        "sender Ann\nHi",
        "the sender: Ann\nHi",
        "",
    ],
)
def test_what_merely_looks_similar_is_left_alone(text: str) -> None:
    assert strip_prefixes(text, TAIPEI) == Stripped(text)


def test_a_name_that_comes_twice_is_taken_once() -> None:
    assert strip_prefixes("sender: Ann\nsender: Bob\nHi", TAIPEI) == Stripped(
        "sender: Bob\nHi", None, "Ann"
    )


@pytest.mark.parametrize(
    "text", ["sender: Ann", "sender: Ann\n\n", "sendAt: 2026-03-14\nsender: A"]
)
def test_a_message_of_nothing_else_is_left_as_it_is(text: str) -> None:
    assert strip_prefixes(text, TAIPEI) == Stripped(text)


def test_of_a_list_only_the_first_text_is_stripped_and_the_callers_list_is_left_alone() -> None:
    image = {"type": "image_url", "image_url": {"url": "x"}}
    first = {"type": "text", "text": "sender: Ann\nHi", "cache_control": {"type": "ephemeral"}}
    second = {"type": "text", "text": "sender: Bob\nHo"}
    found = strip_content([image, first, second], TAIPEI)
    assert found == Stripped([image, {**first, "text": "Hi"}, second], None, "Ann")
    assert first["text"] == "sender: Ann\nHi"


@pytest.mark.parametrize("content", [None, [], [{"type": "text", "text": None}], ["x"], [{"a": 1}]])
def test_content_without_text_is_left_alone(content: object) -> None:
    assert strip_content(content, TAIPEI) == Stripped(content)


@given(st.text(), st.permutations(["sendAt: 2026-03-14 09:26:53", "sender: Ann", "channelId: c"]))
def test_whatever_the_text_it_comes_through_whole(text: str, lines: list[str]) -> None:
    text = f"Hello {text}"
    glued = "\n".join([*lines, text])
    assert strip_prefixes(glued, TAIPEI) == Stripped(text, NS, "Ann")


@given(st.text(alphabet="sender: At\n：當前時間12-", max_size=40))
def test_nothing_is_ever_added_and_never_all_is_taken(text: str) -> None:
    found = strip_prefixes(text, TAIPEI)
    assert text.endswith(found.content)
    assert bool(found.content.strip()) == bool(text.strip())
