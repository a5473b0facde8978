"""Checking a caller's messages, and encoding each once. Pure.

What cannot be kept word for word is refused with the name of the field. Only a lone surrogate or a
NUL, which no UTF-8 file or C string can hold, is replaced, and the receipt says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from memsvc import content, times
from memsvc.errors import InvalidMessage
from memsvc.model import ROLES, Json, Message
from memsvc.record import decode_body, encode_body
from memsvc.session import plain_json, prefixes
from memsvc.settings import Limits

MESSAGE_ID_CHARS_MAX = 200

_STRUCT_FIELDS = tuple(name for name in Message.__struct_fields__ if name != "extra")
# An assistant's message may have no content when it says what it says in one of these.
_INSTEAD_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio")


class Draft(msgspec.Struct, frozen=True, gc=False):
    """A message that was checked and encoded, without its number.

    Attributes:
        role: who speaks.
        message_id: the caller's id, or None.
        sent_at: UTC unix nanoseconds, None for now.
        body: see `memsvc.record`.
        chat: whether it takes part in search by default and is embedded.
        sanitized: whether a character was replaced.
    """

    role: str
    message_id: str | None
    sent_at: int | None
    body: bytes
    chat: bool
    sanitized: bool


def drafts(
    raw: Message | Mapping[str, Json] | Sequence[Message | Mapping[str, Json]],
    limits: Limits,
    *,
    strip: bool = False,
) -> list[Draft]:
    """Return the drafts of one message or several.

    Args:
        raw: what the caller gave.
        limits: sizes that are taken.
        strip: take prefix lines off the start of content.

    Raises:
        InvalidMessage: one of them cannot be used, there is none, or there are too many.
    """
    if isinstance(raw, Message | Mapping):
        raw = [raw]
    if isinstance(raw, str | bytes) or not isinstance(raw, Sequence):
        raise InvalidMessage(
            "messages", f"is of type {type(raw).__name__}.", "Give a message or a list of them."
        )
    if not raw:
        raise InvalidMessage("messages", "is empty.", "Give at least one message.")
    _check_total("entries", len(raw), "max_batch", limits.max_batch)
    result: list[Draft] = []
    total_bytes = 0
    for place, item in enumerate(raw):
        result.append(draft(item, f"messages[{place}]", limits, strip=strip))
        total_bytes += len(result[-1].body)
        _check_total("bytes", total_bytes, "max_batch_bytes", limits.max_batch_bytes)
    return result


def draft(
    raw: Message | Mapping[str, Json], field: str, limits: Limits, *, strip: bool = False
) -> Draft:
    """Return one message's draft.

    Args:
        raw: what the caller gave.
        field: names it in errors, such as `messages[2]`.
        limits: sizes that are taken.
        strip: take prefix lines off the start of what a user or an assistant said.

    Raises:
        InvalidMessage: it cannot be used.
    """
    given = _given(raw, field)
    role = _role(given.pop("role", None), field)
    sent_at = _time(given, field)
    given.pop("seq", None)  # numbers are ours to give
    fields: dict[str, Json] = {"role": role, "content": given.pop("content", None)}
    _check_content(fields["content"], given, field)
    if strip and role in content.CHAT_ROLES:
        found = prefixes.strip_content(fields["content"])
        fields["content"] = found.content
        sent_at = found.sent_at if sent_at is None else sent_at
        if found.sender is not None and given.get("sender") is None:
            given["sender"] = found.sender
    if given:  # most messages are a role and a text, and nothing more
        _take_known(given, fields, field)
        fields.update(given)
    for name, value in fields.items():
        if type(value) is not str:  # what is wrong with a text shows when it is encoded
            plain_json.check(value, f"{field}.{name}", limits.max_depth)
    fields, body, sanitized = _encode(fields, field)
    _check_size(len(body), field, limits)
    return Draft(role, fields.get("id"), sent_at, body, content.is_chat(fields), sanitized)


def same_content(one: bytes, other: bytes) -> bool:
    """Say whether two bodies are the same message, whatever the order of their keys."""
    return one == other or _canonical(one) == _canonical(other)


def _canonical(body: bytes) -> str:
    # As text, for Python takes 1, 1.0 and true for equal, and JSON does not.
    return json.dumps(decode_body(body), sort_keys=True)


def _given(raw: Message | Mapping[str, Json], field: str) -> dict[str, Any]:
    if type(raw) is Message:
        given = {name: getattr(raw, name) for name in _STRUCT_FIELDS}
        _object(raw.extra, f"{field}.extra")
        for name in given.keys() & raw.extra.keys():
            raise InvalidMessage(
                f"{field}.extra", f"holds {name}, a field of its own.", f"Set {name} instead."
            )
        raw = given | raw.extra
    if type(raw) is not dict and not isinstance(raw, Mapping):
        raise InvalidMessage(
            field,
            f"is of type {type(raw).__name__}.",
            "Give a Message, or a dict with role and content (an SDK's object has model_dump()).",
        )
    given = dict(raw)
    for name in given:
        if type(name) is not str:
            raise InvalidMessage(
                field, f"has a key of type {type(name).__name__}.", "Make it text."
            )
    return given


def _role(value: Json, field: str) -> str:
    if isinstance(value, str) and value in ROLES:
        return ROLES[ROLES.index(value)]  # not a class derived from str
    said = "is missing." if value is None else "is none that is known."
    raise InvalidMessage(f"{field}.role", said, f"Use one of: {', '.join(ROLES)}.")


def _time(given: dict[str, Any], field: str) -> int | None:
    value, in_file = given.pop("sent_at", None), given.pop("sendAt", None)
    if value is None and in_file is None:
        return None
    try:
        if value is not None:
            return times.parse(value)
        if type(in_file) is int and abs(in_file) < 2**63:
            return in_file
    except ValueError as error:
        raise InvalidMessage(
            f"{field}.sent_at",
            f"{error}.",
            "Give an aware datetime, RFC 3339 text with its zone, or leave it out for now.",
        ) from None
    raise InvalidMessage(
        f"{field}.sendAt", "is no time.", "Give UTC unix nanoseconds as a whole number, or sent_at."
    )


def _check_content(value: Json, given: Mapping[str, Json], field: str) -> None:
    if isinstance(value, (str, list)):
        return
    if value is None and any(given.get(name) for name in _INSTEAD_OF_CONTENT):
        return
    what = "is missing" if value is None else f"is of type {type(value).__name__}"
    raise InvalidMessage(
        f"{field}.content", f"{what}.", "Give text or a list of parts; null only with tool calls."
    )


def _text(value: Json, field: str) -> None:
    if not isinstance(value, str):
        raise InvalidMessage(field, f"is of type {type(value).__name__}.", "Give text.")


def _id(value: Json, field: str) -> None:
    _text(value, field)
    if not 1 <= len(value) <= MESSAGE_ID_CHARS_MAX:
        raise InvalidMessage(
            field,
            f"has {len(value)} characters.",
            f"Give 1 to {MESSAGE_ID_CHARS_MAX}, or leave the id out.",
        )


def _list(value: Json, field: str) -> None:
    if not isinstance(value, list):
        raise InvalidMessage(field, f"is of type {type(value).__name__}.", "Give a list.")


def _object(value: Json, field: str) -> None:
    if not isinstance(value, dict):
        raise InvalidMessage(field, f"is of type {type(value).__name__}.", "Give an object.")


_CHECKS: dict[str, Callable[[Json, str], None]] = {
    "sender": _text,
    "id": _id,
    "name": _text,
    "tool_calls": _list,
    "tool_call_id": _text,
    "metadata": _object,
}


def _take_known(given: dict[str, Json], fields: dict[str, Json], field: str) -> None:
    """Move the known fields over, in the order they are stored, and leave out unset ones."""
    for name, check in _CHECKS.items():
        if name in given:
            value = given.pop(name)
            if value is not None:
                check(value, f"{field}.{name}")
                fields[name] = value


def _encode(fields: dict[str, Json], field: str) -> tuple[dict[str, Json], bytes, bool]:
    """Return the fields, their body, and whether characters had to be replaced in both."""
    try:
        body = encode_body(fields)
        if b"\\u0000" not in body:
            return fields, body, False
    except UnicodeEncodeError:
        body = b""
    except (TypeError, ValueError, RecursionError):
        # A class derived from str, or a number of thousands of digits.
        raise InvalidMessage(field, "is not JSON.", "Give plain JSON values.") from None
    cleaned = plain_json.clean(fields)
    if cleaned == fields:  # the text spoke of \u0000 without holding one
        return fields, body, False
    return cleaned, encode_body(cleaned), True


def _check_size(size_bytes: int, field: str, limits: Limits) -> None:
    if size_bytes > limits.max_message_bytes:
        raise InvalidMessage(
            field,
            f"has {size_bytes} bytes; limits.max_message_bytes is {limits.max_message_bytes}.",
            "Shorten it, or keep the bulk elsewhere and point at it.",
        )


def _check_total(what: str, size: int, setting: str, most: int) -> None:
    if size > most:
        raise InvalidMessage(
            "messages",
            f"has {size} {what} or more; limits.{setting} is {most}.",
            "Append in several calls.",
        )
