"""The estimate is near for text of any script, and never fails."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.session.tokens import estimate_tokens, text_tokens


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        # Beside each: what a vocabulary of 100,000 to 200,000 tokens makes of it, roughly.
        ("The quick brown fox jumps over the lazy dog.", 9, 13),  # 10
        ("我們決定用 Redis 當快取，資料庫用 Postgres。", 14, 26),  # 17 to 24
        ("キャッシュには Redis を使います。", 10, 20),  # 12 to 16
        ("캐시에는 레디스를 사용합니다.", 8, 18),  # 10 to 17
        ("Мы решили использовать Redis для кеша.", 8, 22),  # 10 to 14
        ("", 0, 0),
    ],
)
def test_text_of_each_script_is_near(text: str, least: int, most: int) -> None:
    assert least <= text_tokens(text) <= most


def test_each_message_costs_a_little_beyond_its_text() -> None:
    assert estimate_tokens({"role": "user", "content": ""}) == 4
    assert estimate_tokens({"role": "user", "content": "x" * 400}) == 104
    assert estimate_tokens({"role": "user", "content": None}) == 4


def test_the_data_of_images_and_files_is_not_counted_as_text() -> None:
    data = "data:image/png;base64," + "A" * 1_000_000
    for part in (
        {"type": "image_url", "image_url": {"url": data}},
        {"type": "image", "source": {"type": "base64", "data": data}},
        {"type": "input_audio", "input_audio": {"data": data}},
        {"type": "document", "source": {"data": data}},
        {"type": "file", "file": {"file_data": data}},
    ):
        assert 400 < estimate_tokens({"role": "user", "content": [part]}) < 4000


def test_arguments_of_calls_are_counted() -> None:
    call = {"id": "a", "function": {"name": "f", "arguments": "x" * 4000}}
    assert estimate_tokens({"role": "assistant", "content": None, "tool_calls": [call]}) > 1000


def test_input_that_nobody_checked_is_counted_all_the_same() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    content = [deep, "\ud800", 10**400, float("nan"), ("x",), {"type": ["x"]}, {1: b""}]
    assert estimate_tokens({"role": "user", "content": content}) > 4


@given(st.text(), st.text())
def test_more_text_never_costs_less(one: str, other: str) -> None:
    assert text_tokens(one + other) >= max(text_tokens(one), text_tokens(other))
    assert text_tokens(one + other) <= text_tokens(one) + text_tokens(other)
