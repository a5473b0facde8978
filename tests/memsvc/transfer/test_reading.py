"""OpenAI-style files in their several shapes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memsvc.errors import InvalidArgument
from memsvc.transfer.reading import read_file

A, B = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}


def shape(tmp_path: Path, text: str, session: str | None = None) -> dict[str, list[str]]:
    path = tmp_path / "file.json"
    path.write_text(text, "utf-8")
    contents = read_file(path, session)
    return {c.session: [m["content"] for _, m in c.messages] for c in contents.conversations}


def test_one_conversation_is_named_by_the_file(tmp_path: Path) -> None:
    for text in (
        json.dumps([A, B]), json.dumps({"messages": [A, B]}), f"{json.dumps(A)}\n{json.dumps(B)}\n", "\ufeff" + json.dumps([A, B], indent=2),
    ):  # fmt: skip
        assert shape(tmp_path, text) == {"file": ["a", "b"]}
    assert shape(tmp_path, json.dumps([A]), "mine") == {"mine": ["a"]}


def test_several_conversations_keep_their_names_or_get_numbers(tmp_path: Path) -> None:
    several = [{"id": "one", "messages": [A]}, {"messages": [B]}]
    expected = {"one": ["a"], "file-2": ["b"]}
    assert shape(tmp_path, json.dumps(several)) == expected
    assert shape(tmp_path, "\n".join(map(json.dumps, several))) == expected


def test_what_cannot_be_read_is_said_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(f'{json.dumps(A)}\n{{"no": "role"}}\n{{broken\n', "utf-8")
    contents = read_file(path)
    assert len(contents.conversations[0].messages) == 1
    assert [problem.split(":")[0] for problem in contents.problems] == ["line 3", "line 2"]


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[]"])
def test_a_file_without_messages_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(data)
    with pytest.raises(InvalidArgument):
        read_file(path)
    with pytest.raises(InvalidArgument):
        read_file(tmp_path / "missing.json")
