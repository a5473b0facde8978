"""Messages on standard input."""

from __future__ import annotations

import io

import pytest

from memsvc.errors import InvalidArgument
from memsvc.interfaces.cli.stdin import read_messages


def test_text_is_one_message_and_json_objects_are_one_a_line() -> None:
    assert read_messages(io.StringIO("a\nb\n"), "user") == [{"role": "user", "content": "a\nb"}]
    assert read_messages(io.StringIO('{"not": "a message"}'), "user") == [
        {"role": "user", "content": '{"not": "a message"}'}
    ]
    lines = '{"role": "user", "content": "x\u2028y"}\n\n{"role": "assistant", "content": "z"}'
    assert [m["content"] for m in read_messages(io.StringIO(lines), "user")] == ["x\u2028y", "z"]


@pytest.mark.parametrize(
    "text", ["", "  \n", '{"role": "user", "content": "x"}\n{"content": "no role"}']
)
def test_nothing_and_lines_without_a_role_are_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        read_messages(io.StringIO(text), "user")
