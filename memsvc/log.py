"""Log lines of the library: one event with its fields, never the text of a message.

The library configures nothing: where an application has set up structlog, lines go there, otherwise to
the standard library's logger `memsvc`.
"""

from __future__ import annotations

import logging
import sys
from typing import Any


def warning(event: str, **fields: object) -> None:
    """Log something that a person should look at."""
    _write(logging.WARNING, event, fields)


def info(event: str, **fields: object) -> None:
    """Log something that a person may want to know."""
    _write(logging.INFO, event, fields)


def _write(level: int, event: str, fields: dict[str, object]) -> None:
    # Not imported here: it takes longer than importing memsvc may, and an application that wants it
    # has imported it.
    structlog: Any = sys.modules.get("structlog")
    if structlog is not None and structlog.is_configured():
        structlog.get_logger("memsvc").log(level, event, **fields)
        return
    pairs = "".join(f" {name}={value!r}" for name, value in fields.items())
    logging.getLogger("memsvc").log(level, "%s%s", event, pairs)
