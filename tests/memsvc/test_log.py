"""Log lines: an event and its fields, to whichever logger the application has."""

from __future__ import annotations

import logging
import sys
from types import SimpleNamespace

import pytest

from memsvc import log


def test_without_structlog_lines_go_to_the_standard_logger(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "memsvc"):
        log.warning("it broke", session="a", count=3)
    assert caplog.records[0].getMessage() == "it broke session='a' count=3"
    assert caplog.records[0].levelno == logging.WARNING


def test_where_structlog_is_configured_lines_go_there(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, str, dict[str, object]]] = []
    logger = SimpleNamespace(log=lambda level, event, **fields: seen.append((level, event, fields)))
    fake = SimpleNamespace(is_configured=lambda: True, get_logger=lambda name: logger)
    monkeypatch.setitem(sys.modules, "structlog", fake)
    log.info("hello", n=1)
    assert seen == [(logging.INFO, "hello", {"n": 1})]
