"""An estimate of a chat message's tokens, without a vocabulary. Pure.

About four characters of Latin text make a token, two of most other scripts, and a little more than
one of Han, kana, Hangul and Thai. It is meant to be near, and above rather than below; a caller who
needs the exact number hands over a counter of his own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from memsvc import text
from memsvc.model import Json

_PER_MESSAGE = 4
# Parts that are not text, by their type. What they cost depends on size and model: a fair guess.
_PER_PART = {
    "image_url": 1000,
    "input_image": 1000,
    "image": 1000,
    "input_audio": 500,
    "audio": 500,
    "file": 2000,
    "input_file": 2000,
    "document": 2000,
}
_LATIN = re.compile("[\0-\u024f\u1e00-\u1eff\u2000-\u206f]")


def estimate_tokens(message: Mapping[str, Json]) -> int:
    """Return about how many tokens a chat message costs."""
    total = _PER_MESSAGE
    # A stack, for input that nobody has checked may be nested deeper than Python can follow.
    waiting: list[Json] = [value for name, value in message.items() if name != "role"]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            total += text_tokens(value)
        elif isinstance(value, Mapping):
            kind = value.get("type")
            if isinstance(kind, str) and kind in _PER_PART:
                total += _PER_PART[kind]
            else:
                waiting.extend(value)
                waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        elif value is not None:
            total += 1
    return total


def text_tokens(value: str) -> int:
    """Return about how many tokens a text costs."""
    if value.isascii():
        return (len(value) + 3) // 4
    latin = len(_LATIN.findall(value))
    unspaced = len(text.UNSPACED.findall(value))
    other = max(len(value) - latin - unspaced, 0)
    return (latin + 3) // 4 + (9 * unspaced + 9) // 10 + (other + 1) // 2
