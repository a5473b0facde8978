"""What is printed of a message: one line, nothing that a terminal would obey."""

from __future__ import annotations

from memsvc.interfaces.cli.output import shown
from memsvc.model import Message


def test_control_characters_and_line_breaks_are_made_harmless() -> None:
    message = Message(role="user", content="a\x1b[31mred\nb\tc [bold]not markup[/bold]")
    assert shown(message) == "user: a [31mred b c [bold]not markup[/bold]"


def test_long_text_is_cut_and_other_content_named() -> None:
    assert shown(Message(role="user", content="x" * 500), 10) == "user: " + "x" * 9 + "…"
    assert shown(Message(role="assistant", content=None, tool_calls=[{}])) == "assistant: (no text)"
