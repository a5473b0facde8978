"""What a session actor answers."""

from __future__ import annotations

import msgspec

from memsvc.model import Json
from memsvc.session.draft import Draft
from memsvc.session.summary_file import SummaryState
from memsvc.session.window import Window


class Append(msgspec.Struct, frozen=True, gc=False):
    """Store messages, all or none; answered with a `Receipt`."""

    drafts: tuple[Draft, ...]


class View(msgspec.Struct, frozen=True, gc=False):
    """Show what a context is made of; answered with a `Viewed`."""


class Remove(msgspec.Struct, frozen=True, gc=False):
    """Delete the session with its directory; answered with whether it was there."""


class Viewed(msgspec.Struct, frozen=True):
    """What a context is made of.

    Attributes:
        sid: the session's number in the archive, None when nothing was ever appended.
        last_seq: number of the newest message, 0 for none.
        window: the newest messages, in whole exchanges.
        chat: the window as chat messages, when they hold nothing but text; None otherwise.
        summary: the summary and its cursor.
        cursor_seq: how far the summary reaches.
        history_bytes: size of history.json; 0 while it is out of step and waits to be mended.
        history_from_seq: the oldest message in history.json, None when it is empty.
        problem: what is wrong with the session's files, empty when nothing is.
    """

    sid: int | None
    last_seq: int
    window: Window
    chat: tuple[dict[str, Json], ...] | None
    summary: SummaryState
    cursor_seq: int
    history_bytes: int
    history_from_seq: int | None
    problem: str


Command = Append | View | Remove
