"""From a session id to the name of its directory. Pure.

An id that is a plain file name in lower case keeps it. Any other becomes a readable part, `~`, and
a digest of the id, so that two ids never share a directory: not on a file system that ignores case,
not where it normalises, and not by `..`. `~` cannot stand in a plain name, so the two kinds never
meet. Names are ASCII and at most 80 bytes long.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b32encode
from hashlib import sha256

from memsvc.errors import InvalidArgument

ID_CHARS_MAX = 200

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,78}[a-z0-9_-]|[a-z0-9]")
# Names that Windows gives to devices, with any extension.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_SLUG_CHARS = 40


def check_session_id(session_id: object) -> str:
    """Return a session id that can be used.

    Raises:
        InvalidArgument: it is not text, empty, longer than 200 characters, or has a control
            character or a lone surrogate.
    """
    if not isinstance(session_id, str):
        raise InvalidArgument(
            f"The session id is of type {type(session_id).__name__}.", "Give it as text."
        )
    if not session_id:
        raise InvalidArgument("The session id is empty.", "Give 1 to 200 characters.")
    if len(session_id) > ID_CHARS_MAX:
        raise InvalidArgument(
            f"The session id has {len(session_id)} characters.",
            f"Give at most {ID_CHARS_MAX}; a long one can be hashed.",
        )
    for place, character in enumerate(session_id):
        kind = unicodedata.category(character)
        if kind in ("Cc", "Cs"):
            name = "control character" if kind == "Cc" else "lone surrogate"
            raise InvalidArgument(
                f"The session id has a {name} (U+{ord(character):04X}) at position {place}.",
                "Leave it out.",
            )
    return session_id


def directory_name(session_id: str) -> str:
    """Return the name of a session's directory.

    Args:
        session_id: one that `check_session_id` has let through.
    """
    if _PLAIN.fullmatch(session_id) and not _DEVICE.fullmatch(session_id):
        return session_id
    digest = b32encode(sha256(session_id.encode()).digest()[:16]).decode().rstrip("=").lower()
    return f"{_slug(session_id)}~{digest}"


def _slug(session_id: str) -> str:
    plain = unicodedata.normalize("NFKD", session_id).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_SLUG_CHARS]
    return slug or "session"
