"""What the command line prints: results on stdout, words for people on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from memsvc.content import chat_text
from memsvc.model import Hit, Hits, Message


class Output:
    """Prints as a person or a program wants it.

    Attributes:
        as_json: results are JSON; otherwise text, coloured on a terminal.
    """

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._out = Console(highlight=False, soft_wrap=True)
        self._err = Console(stderr=True, highlight=False, soft_wrap=True)

    @property
    def interactive(self) -> bool:
        """Whether a person is looking at stderr."""
        return self._err.is_terminal and not os.environ.get("NO_COLOR")

    def note(self, text: str) -> None:
        """Say something to a person."""
        self._err.print(text, style="dim", markup=False)

    def problem(self, text: str) -> None:
        """Say that something is wrong."""
        self._err.print(f"memsvc: {text}", style="bold red", markup=False)

    def json(self, value: Any) -> None:
        """Print a value as JSON, on one line."""
        sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
        sys.stdout.buffer.flush()

    def raw(self, data: bytes) -> None:
        """Print bytes as they are."""
        sys.stdout.buffer.write(data)

    def line(self, text: str, style: str = "") -> None:
        """Print a line of a result, coloured on a terminal and as it is elsewhere."""
        if not self._out.is_terminal:
            print(text)
            return
        self._out.print(text, style=style, markup=False)

    def table(self, columns: list[str], rows: list[list[str]]) -> None:
        """Print a table: aligned on a terminal, separated by tabs elsewhere."""
        if not self._out.is_terminal:
            for row in rows:
                self.line("\t".join(row))
            return
        table = Table(*columns, box=None, header_style="bold")
        for row in rows:
            table.add_row(*row)
        self._out.print(table)

    def hits(self, hits: Hits) -> None:
        """Print what a search found."""
        if self.as_json:
            self.json(hits)
            return
        self.note(f"evidence: {hits.evidence}" + (f" · {hits.note}" if hits.note else ""))
        for hit in hits:
            for message in hit.before:
                self.line(f"        {shown(message)}", "dim")
            self.line(f"  {_head(hit)}  {shown(hit)}", "bold")
            for message in hit.after:
                self.line(f"        {shown(message)}", "dim")

    @contextmanager
    def progress(self, total: int, words: str) -> Iterator[Any]:
        """Show a progress bar to a person; yields a function that takes the number done."""
        if not self.interactive or self.as_json:
            yield lambda done: None
            return
        columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._err, transient=True) as bar:
            task = bar.add_task(words, total=total)
            yield lambda done: bar.update(task, completed=done)


def _head(hit: Hit) -> str:
    return f"#{hit.seq} {hit.sent_at:%Y-%m-%d %H:%M} {hit.score:.2f} {hit.tier}"


def shown(message: Message | Hit, width: int = 160) -> str:
    """Return a message on one line, cut to a width, with control characters made harmless."""
    text = chat_text({"content": message.content}) or "(no text)"
    text = "".join(character if character.isprintable() else " " for character in text)
    text = " ".join(text.split())
    who = message.sender or message.role
    return f"{who}: {text if len(text) <= width else text[: width - 1] + '…'}"
