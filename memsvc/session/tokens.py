"""An estimate of a chat message's tokens, without a vocabulary. Pure.

About four characters of Latin text make a token, two of most other scripts, and one or a little more of
Han, kana and Hangul. It is meant to be near, and above rather than below; a caller who needs the exact
number hands over a counter of his own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from memsvc import text

_PER_MESSAGE = 4
_PER_IMAGE = 1000
_PER_AUDIO = 500
_LATIN = re.compile("[\0-\u024f\u1e00-\u1eff\u2000-\u206f]")


def estimate_tokens(message: Mapping[str, Any]) -> int:
    """Return about how many tokens a chat message costs."""
    total = _PER_MESSAGE
    for name, value in message.items():
        if name != "role":
            total += _tokens(value)
    return total


def _tokens(value: Any) -> int:
    if isinstance(value, str):
        return text_tokens(value)
    if isinstance(value, list):
        return sum(map(_tokens, value))
    if isinstance(value, dict):
        kind = value.get("type")
        if kind in ("image_url", "input_image", "image"):
            return _PER_IMAGE
        if kind in ("input_audio", "audio"):
            return _PER_AUDIO
        return text_tokens(msgspec.json.encode(value).decode())
    return 0 if value is None else 1


def text_tokens(value: str) -> int:
    """Return about how many tokens a text costs."""
    if value.isascii():
        return (len(value) + 3) // 4
    latin = len(_LATIN.findall(value))
    unspaced = len(text.UNSPACED.findall(value))
    other = max(len(value) - latin - unspaced, 0)
    return (latin + 3) // 4 + unspaced + (other + 1) // 2
