"""One message as bytes: the line of history.json and the body in the archive.

A *body* is the message as a JSON object without its number and time:

    {"role":"user","content":"We will use Redis.","sender":"Ann","id":"m1", …}

The archive keeps the body and, beside it, seq and time. A *line* of history.json is the body with
both put in front, so that a message is encoded once and the two can be compared byte by byte:

    {"seq":7,"sendAt":1764583200000000000,"role":"user","content":"We will use Redis.", …}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from memsvc import times
from memsvc.model import Message

_KNOWN = ("sender", "id", "name", "tool_calls", "tool_call_id", "metadata")
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


class Record(msgspec.Struct, frozen=True, gc=False):
    """A stored message: its number, its time in UTC unix nanoseconds, and its body."""

    seq: int
    sent_at: int
    body: bytes


def encode_body(fields: Mapping[str, Any]) -> bytes:
    """Return the body of a message given as its fields, unset ones left out.

    Raises:
        UnicodeEncodeError: a lone surrogate is in a text.
        TypeError: something in it is not JSON.
    """
    return _encoder.encode(fields)


def decode_body(body: bytes) -> dict[str, Any]:
    """Return the fields of a body."""
    try:
        fields: dict[str, Any] = _decoder.decode(body)
    except msgspec.DecodeError:
        fields = json.loads(body)  # a number of thousands of digits is beyond the fast parser
    return fields


def to_line(record: Record) -> bytes:
    """Return a record as its line of history.json, without line break."""
    return b'{"seq":%d,"sendAt":%d,%b' % (record.seq, record.sent_at, record.body[1:])


def to_message(record: Record) -> Message:
    """Return a record as the public message."""
    fields = decode_body(record.body)
    known = {name: fields.pop(name) for name in _KNOWN if name in fields}
    return Message(
        role=fields.pop("role"),
        content=fields.pop("content", None),
        seq=record.seq,
        sent_at=times.from_ns(record.sent_at),
        extra=fields,
        **known,
    )
