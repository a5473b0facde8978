"""The commands as a person or a script runs them: real processes, exit codes, stdout and stderr apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def memsvc(
    home: Path, *arguments: str, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith("MEMSVC_")}
    environ |= {"MEMSVC_HOME": str(home), "MEMSVC_SEMANTIC__EMBEDDER": "hash"}
    return subprocess.run(
        [sys.executable, "-m", "memsvc", *arguments],
        capture_output=True, text=True, env=environ, timeout=60, check=False,
        input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
    )  # fmt: skip


def test_append_search_context_in_turn_as_the_readme_shows(home: Path) -> None:
    assert memsvc(home, "append", "alice", "We will use Redis for the cache.").returncode == 0
    found = memsvc(home, "search", "alice", "which cache")
    assert "We will use Redis" in found.stdout
    assert str(home) in found.stderr
    assert "nothing leaves this machine" in found.stderr
    context = json.loads(memsvc(home, "context", "alice", "Which one?", "--json").stdout)
    assert [m["role"] for m in context["messages"]] == ["user", "user"]
    status = json.loads(memsvc(home, "status", "--json").stdout)
    assert (status["sessions"], status["messages"]) == (1, 1)
    assert "alice\t1\t" in memsvc(home, "sessions").stdout


def test_messages_come_from_stdin_as_text_or_jsonl(home: Path) -> None:
    lines = (
        '{"role": "user", "content": "one", "id": "1"}\n{"role": "assistant", "content": "two"}\n'
    )
    receipt = json.loads(memsvc(home, "append", "a", "--json", stdin=lines).stdout)
    assert receipt["seqs"] == [1, 2]
    assert memsvc(home, "append", "a", "--role", "assistant", stdin="plain\ntext\n").returncode == 0
    exported = [json.loads(line) for line in memsvc(home, "export", "a").stdout.splitlines()]
    assert [(m["role"], m["content"]) for m in exported] == [
        ("user", "one"), ("assistant", "two"), ("assistant", "plain\ntext"),
    ]  # fmt: skip


def test_a_line_that_is_no_message_appends_nothing(home: Path) -> None:
    done = memsvc(home, "append", "a", stdin='{"role": "user", "content": "one"}\nnonsense\n')
    assert done.returncode == 2
    assert "Line 2" in done.stderr
    assert not home.exists()


def test_export_and_import_give_back_the_same_messages(home: Path, tmp_path: Path) -> None:
    memsvc(
        home,
        "append",
        "a",
        stdin='{"role": "user", "content": "sendAt: not a time", "metadata": {"b": 1, "a": [2]}}\n',
    )
    memsvc(home, "append", "a", "世界", "--sender", "Mei", "--id", "x")
    out = memsvc(home, "export", "a").stdout
    (tmp_path / "a.jsonl").write_text(out, "utf-8")
    other = tmp_path / "other"
    assert (
        "2 appended, 0 there already" in memsvc(other, "import", str(tmp_path / "a.jsonl")).stdout
    )
    assert (
        "0 appended, 2 there already" in memsvc(other, "import", str(tmp_path / "a.jsonl")).stdout
    )
    assert memsvc(other, "export", "a").stdout == out


def test_an_import_reports_line_by_line_what_it_could_not_use(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(
        '{"role": "user", "content": "good"}\n{"role": "wizard", "content": "x"}\nbroken\n', "utf-8"
    )
    done = memsvc(home, "import", str(path), "--session", "named")
    assert done.returncode == 1
    assert "named: 1 appended" in done.stdout
    assert "line 2.role" in done.stderr
    assert "line 3" in done.stderr


def test_reading_commands_make_no_home(home: Path) -> None:
    for command in (
        ["status"],
        ["sessions"],
        ["search", "a", "x"],
        ["context", "a", "x"],
        ["export", "a"],
    ):
        done = memsvc(home, *command)
        assert done.returncode == 1
        assert "There is nothing at" in done.stderr
        assert done.stdout == ""
    assert not home.exists()


def test_a_removed_session_is_gone_and_said_to_be(home: Path) -> None:
    memsvc(home, "append", "a", "one")
    assert memsvc(home, "remove", "a", "--erase").returncode == 0
    assert memsvc(home, "remove", "a").returncode == 1
    assert "has no messages" in memsvc(home, "search", "a", "one").stderr


@pytest.mark.parametrize(
    "wrong",
    [
        ["append"],
        ["search", "a", "x", "--match", "magic"],
        ["nonsense"],
        ["search", "a", "x", "--limit", "many"],
        ["append", "", "x"],
        ["import", "/nowhere/at/all"],
    ],
)
def test_wrong_usage_is_exit_code_2_without_a_traceback(home: Path, wrong: list[str]) -> None:
    done = memsvc(home, *wrong)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert not home.exists()


def test_an_unknown_variable_is_an_error_that_names_the_nearest(home: Path) -> None:
    environ = os.environ | {"MEMSVC_HOME": str(home), "MEMSVC_SEMANTIC__EMBEDER": "hash"}
    done = subprocess.run(
        [sys.executable, "-m", "memsvc", "append", "a", "x"],
        capture_output=True,
        text=True,
        env=environ,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "Did you mean semantic.embedder?" in done.stderr
    assert not home.exists()
