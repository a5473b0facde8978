"""Checking a caller's messages, and encoding each once. Pure.

What cannot be kept word for word is refused with the name of the field; only a lone surrogate or a NUL,
which no UTF-8 file or C string can hold, is replaced, and the receipt says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from memsvc import content, times
from memsvc.errors import InvalidMessage
from memsvc.model import ROLES, Json, Message
from memsvc.record import decode_body, encode_body
from memsvc.session import prefixes
from memsvc.settings import Limits

MESSAGE_ID_CHARS_MAX = 200
_REPLACEMENT = "\ufffd"


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
    if len(raw) > limits.max_batch:
        raise InvalidMessage(
            "messages",
            f"has {len(raw)} entries; limits.max_batch is {limits.max_batch}.",
            "Append in several calls.",
        )
    result = [draft(item, f"messages[{place}]", limits, strip=strip) for place, item in enumerate(raw)]
    total = sum(len(item.body) for item in result)
    if total > limits.max_batch_bytes:
        raise InvalidMessage(
            "messages",
            f"has {total} bytes; limits.max_batch_bytes is {limits.max_batch_bytes}.",
            "Append in several calls.",
        )
    return result


def draft(
    raw: Message | Mapping[str, Json], field: str, limits: Limits, *, strip: bool = False
) -> Draft:
    """Return one message's draft; `field` names it in errors.

    Raises:
        InvalidMessage: it cannot be used.
    """
    if type(raw) is dict and not strip and raw.keys() == _PLAIN_KEYS:
        plain = _plain(raw, limits)
        if plain is not None:
            return plain
    fields, sent_at, sanitized = _fields(raw, field, limits.max_depth)
    if strip:
        sent_at = _strip(fields, sent_at)
    body, replaced = _encode(fields, field, limits)
    sanitized = sanitized or replaced
    return Draft(
        fields["role"],
        fields.get("id"),
        sent_at,
        body,
        content.is_chat(decode_body(body) if replaced else fields),
        sanitized,
    )


_PLAIN_KEYS = {"role", "content"}


def _plain(raw: Mapping[str, Any], limits: Limits) -> Draft | None:
    """Return the draft of a role and a text, the usual message; None when it needs a closer look."""
    role, said = raw["role"], raw["content"]
    if type(said) is not str or role not in content.CHAT_ROLES or not said.isprintable():
        return None
    body = encode_body({"role": role, "content": said})
    if len(body) > limits.max_message_bytes or said.lstrip().startswith(content.ECHO_MARK):
        return None
    return Draft(role, None, None, body, not said.isspace() and said != "", False)


def same_content(one: bytes, other: bytes) -> bool:
    """Say whether two bodies are the same message, whatever the order of their keys."""
    return one == other or decode_body(one) == decode_body(other)


def _fields(
    raw: Message | Mapping[str, Json], field: str, depth: int
) -> tuple[dict[str, Any], int | None, bool]:
    """Return the message's checked fields in the order they are stored, and its time."""
    given = _given(raw, field)
    fields: dict[str, Any] = {"role": _role(given.pop("role", None), field)}
    fields["content"] = given.pop("content", None)
    sent_at = _time(given, field)
    given.pop("seq", None)  # numbers are ours to give
    for name, check in _CHECKS.items():
        value = given.pop(name, None)
        if value is not None:
            check(value, f"{field}.{name}")
            fields[name] = value
    fields.update(given)
    _check_content(fields, field)
    # Content that is text, and the usual keys, need no walk: encoding finds what is wrong with them.
    if len(fields) > 2 or not isinstance(fields["content"], str):
        for name, value in fields.items():
            if not isinstance(value, str):
                _check_json(value, f"{field}.{name}", depth)
    return fields, sent_at, False


def _given(raw: Message | Mapping[str, Json], field: str) -> dict[str, Any]:
    if isinstance(raw, Message):
        given = {name: getattr(raw, name) for name in raw.__struct_fields__ if name != "extra"}
        return given | dict(raw.extra)
    if isinstance(raw, Mapping):
        for name in raw:
            if not isinstance(name, str):
                raise InvalidMessage(
                    field, f"has a key of type {type(name).__name__}.", "Keys are text."
                )
        return dict(raw)
    raise InvalidMessage(
        field, f"is of type {type(raw).__name__}.", "Give a Message or a dict with role and content."
    )


def _role(value: Any, field: str) -> str:
    if not isinstance(value, str) or value not in ROLES:
        said = "is missing" if value is None else f"is {value!r}"[:60]
        raise InvalidMessage(f"{field}.role", f"{said}.", f"Use one of: {', '.join(ROLES)}.")
    return value


def _time(given: dict[str, Any], field: str) -> int | None:
    value, in_file = given.pop("sent_at", None), given.pop("sendAt", None)
    if value is None and in_file is None:
        return None
    try:
        if value is not None:
            return times.parse(value)
        if type(in_file) is int and abs(in_file) < 2**63:
            return in_file
        raise ValueError("it is no whole number of nanoseconds")
    except (ValueError, AttributeError, TypeError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is no time"
        raise InvalidMessage(
            f"{field}.sent_at" if value is not None else f"{field}.sendAt",
            f"{reason}.",
            "Give an aware datetime, RFC 3339 text with its zone, or leave it out for now.",
        ) from None


def _text(least: int, most: int) -> Callable[[Any, str], None]:
    def check(value: Any, field: str) -> None:
        if not isinstance(value, str) or not least <= len(value) <= most:
            raise InvalidMessage(field, f"is not text of {least} to {most} characters.", "Correct it.")

    return check


def _list(value: Any, field: str) -> None:
    if not isinstance(value, list):
        raise InvalidMessage(field, f"is of type {type(value).__name__}.", "Give a list.")


def _object(value: Any, field: str) -> None:
    if not isinstance(value, dict):
        raise InvalidMessage(field, f"is of type {type(value).__name__}.", "Give an object.")


_CHECKS: dict[str, Callable[[Any, str], None]] = {
    "sender": _text(0, 1000),
    "id": _text(1, MESSAGE_ID_CHARS_MAX),
    "name": _text(0, 1000),
    "tool_calls": _list,
    "tool_call_id": _text(0, 1000),
    "metadata": _object,
}


def _check_content(fields: Mapping[str, Any], field: str) -> None:
    value = fields["content"]
    if isinstance(value, str | list):
        return
    if value is None and (fields.get("tool_calls") or fields.get("function_call")):
        return
    what = "is missing" if value is None else f"is of type {type(value).__name__}"
    raise InvalidMessage(
        f"{field}.content", f"{what}.", "Give text or a list of parts; null only with tool calls."
    )


def _check_json(value: Any, field: str, depth: int) -> None:
    """Refuse what JSON cannot hold: encoders turn some of it silently into something else."""
    if depth <= 0:
        raise InvalidMessage(field, "is nested too deep.", "Flatten it, or raise limits.max_depth.")
    kind = type(value)
    if kind in (str, int, bool, type(None)):
        return
    if kind is float:
        if not math.isfinite(value):
            raise InvalidMessage(field, f"is {value}.", "JSON has no such number: use null or text.")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check_json(item, f"{field}[{place}]", depth - 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str):
                raise InvalidMessage(field, f"has a key of type {type(name).__name__}.", "Use text.")
            _check_json(item, f"{field}.{name}"[:200], depth - 1)
    else:
        raise InvalidMessage(field, f"is of type {kind.__name__}.", "Give plain JSON values.")


def _encode(fields: Mapping[str, Any], field: str, limits: Limits) -> tuple[bytes, bool]:
    try:
        body, replaced = encode_body(fields), False
        unclean = b"\\u0000" in body
    except UnicodeEncodeError:
        unclean = True
    except (TypeError, ValueError, RecursionError):
        raise InvalidMessage(field, "is not JSON.", "Give plain JSON values.") from None
    if unclean:
        clean = _clean(dict(fields))
        replaced = clean != fields
        body = encode_body(clean)
    if len(body) > limits.max_message_bytes:
        raise InvalidMessage(
            field,
            f"has {len(body)} bytes; limits.max_message_bytes is {limits.max_message_bytes}.",
            "Shorten it, or keep the bulk elsewhere and point at it.",
        )
    return body, replaced


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        # Two halves that belong together become the character they are; one alone cannot be kept.
        whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.replace("\0", _REPLACEMENT)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(name): _clean(item) for name, item in value.items()}
    return value


def _strip(fields: dict[str, Any], sent_at: int | None) -> int | None:
    value = fields["content"]
    part = None
    if isinstance(value, list):
        part = next((p for p in value if isinstance(p, dict) and isinstance(p.get("text"), str)), None)
        value = part["text"] if part is not None else None
    if not isinstance(value, str):
        return sent_at
    found = prefixes.strip_prefixes(value)
    if part is not None:
        parts = fields["content"]
        fields["content"] = [{**p, "text": found.content} if p is part else p for p in parts]
    else:
        fields["content"] = found.content
    if found.sender and "sender" not in fields:
        fields["sender"] = found.sender
    return sent_at if sent_at is not None else found.sent_at
