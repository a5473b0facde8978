"""Checking that a value is JSON, and replacing the characters that no text can hold. Pure.

Encoders turn some of what is no JSON silently into something else: NaN into null, bytes into
base64, tuples into lists, keys that are numbers into text. What is stored must come back as it was
given, so such values are found here and refused.
"""

from __future__ import annotations

import math

from memsvc.errors import InvalidMessage
from memsvc.model import Json

REPLACEMENT = "\ufffd"

_SCALARS = frozenset({str, int, bool, type(None)})
_KEY_CHARS_MAX = 40

# Where a value stands: the place of what holds it, and the key or index there.
_Place = tuple["_Place | None", str | int]


def check(value: Json, field: str, max_depth: int) -> None:
    """Refuse a value that is not JSON.

    Args:
        value: the value.
        field: its name in errors, which is extended down to the part at fault.
        max_depth: how many lists and objects may stand inside each other.

    Raises:
        InvalidMessage: a part of it cannot be stored word for word.
    """
    try:
        _walk(value, field, None, max_depth)
    except RecursionError:
        raise InvalidMessage(
            field, "is nested too deep to be read.", "Flatten it, or lower limits.max_depth."
        ) from None


def clean(value: Json) -> Json:
    """Return a value with each lone surrogate and NUL replaced, in texts and in keys.

    The two halves of a character, given as two surrogates, become the character that they are.
    """
    if isinstance(value, str):
        whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.replace("\0", REPLACEMENT)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        cleaned: dict[str, Json] = {}
        for name, item in value.items():
            key = clean(name)
            while key in cleaned:  # two keys that differ in such a character only: keep both values
                key += REPLACEMENT
            cleaned[key] = clean(item)
        return cleaned
    return value


def _walk(value: Json, field: str, place: _Place | None, depth: int) -> None:
    kind = type(value)
    if kind in _SCALARS or (kind is float and math.isfinite(value)):
        return
    if not isinstance(value, (list, dict)):
        what = f"is {value}." if kind is float else f"is of type {kind.__name__}."
        raise InvalidMessage(_name(field, place), what, _advice(kind))
    if depth <= 0:
        raise InvalidMessage(
            _name(field, place), "is nested too deep.", "Flatten it, or raise limits.max_depth."
        )
    if isinstance(value, list):
        for index, item in enumerate(value):
            _walk(item, field, (place, index), depth - 1)
        return
    for name, item in value.items():
        if type(name) is not str:
            raise InvalidMessage(
                _name(field, place), f"has a key of type {type(name).__name__}.", "Make it text."
            )
        _walk(item, field, (place, name), depth - 1)


def _advice(kind: type) -> str:
    if kind is float:
        return "JSON has no such number: use null or text."
    if kind is tuple:
        return "Make it a list."
    return "Give plain JSON: text, numbers, true, false, null, lists and objects with text keys."


def _name(field: str, place: _Place | None) -> str:
    steps: list[str] = []
    while place is not None:
        place, step = place
        if isinstance(step, str) and step.isidentifier() and step.isascii():
            steps.append(f".{step[:_KEY_CHARS_MAX]}")
        else:  # a key can be any text: an error must stay short, and printable anywhere
            steps.append(f"[{ascii(step)[:_KEY_CHARS_MAX]}]")
    return field + "".join(reversed(steps))
