"""The public data: frozen, and readable as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from memsvc import Hit, Hits, Message, SessionInfo, SessionPage

AT = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)


def test_a_message_becomes_json_without_what_is_unset() -> None:
    assert Message(role="user", content="x").to_dict() == {"role": "user", "content": "x"}
    assert Message(role="assistant").to_dict() == {"role": "assistant", "content": None}


def test_a_message_becomes_json_with_all_that_is_set() -> None:
    message = Message(
        role="tool",
        content="42",
        sender="f",
        id="m1",
        sent_at=AT,
        seq=3,
        name="f",
        tool_call_id="a",
        metadata={"k": 1},
        extra={"mood": None},
    )
    shown = message.to_dict()
    assert shown == json.loads(json.dumps(shown))
    assert shown["sent_at"] == "2026-03-14T09:26:53+00:00"
    assert (shown["seq"], shown["mood"], shown["tool_call_id"]) == (3, None, "a")


def test_the_time_of_a_message_is_given_in_utc() -> None:
    local = AT.astimezone(timezone(timedelta(hours=8)))
    assert Message(role="user", content="x", sent_at=local).to_dict()["sent_at"] == (
        "2026-03-14T09:26:53+00:00"
    )


def test_a_message_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Message(role="user", content="x").content = "y"  # type: ignore[misc]


def test_two_messages_never_share_their_extra_keys() -> None:
    Message(role="user").extra["a"] = 1
    assert Message(role="user").extra == {}


def test_hits_and_pages_are_sequences_of_what_they_hold() -> None:
    hit = Hit(
        session="s", seq=1, role="user", sender=None, content="x", sent_at=AT, score=1.0, tier="hot"
    )
    hits = Hits(hits=[hit], evidence="strong")
    assert (len(hits), list(hits), hits[0], hits[:1]) == (1, [hit], hit, [hit])
    assert not Hits()
    info = SessionInfo(session="s", messages=1, last_seq=1, last_at=AT)
    page = SessionPage(sessions=[info], cursor="s")
    assert (len(page), list(page), page[0]) == (1, [info], info)
