"""What the benches share: a home in a temporary directory, percentiles, and one way to print a figure."""

from __future__ import annotations

import argparse
import asyncio
import platform
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from memsvc import MemoryService, Settings
from memsvc.settings import Semantic

WORDS = [
    "cache",
    "database",
    "server",
    "deploy",
    "user",
    "session",
    "token",
    "request",
    "index",
    "queue",
    "worker",
    "retry",
    "timeout",
    "error",
    "message",
    "order",
    "payment",
    "invoice",
    "customer",
    "report",
    "summary",
    "meeting",
    "deadline",
    "budget",
    "project",
    "design",
    "review",
    "release",
    "version",
    "branch",
    "commit",
    "merge",
    "test",
    "failure",
    "metric",
    "alert",
    "dashboard",
]


def text(number: int, chars: int = 240) -> str:
    """Return an ordinary text of about this length, another one for each number."""
    words, length, state = [], 0, number * 2_654_435_761 + 12345
    while length < chars:
        state = (state * 1_103_515_245 + 12345) % 2**31
        word = WORDS[state % len(WORDS)]
        words.append(word)
        length += len(word) + 1
    return " ".join(words)


@asynccontextmanager
async def service(embedder: str = "none", **settings: Any) -> AsyncIterator[MemoryService]:
    """Open a service in a temporary home (TMPDIR chooses the disk)."""
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as home:
        chosen = Settings(home=home, semantic=Semantic(embedder=embedder), **settings)
        async with MemoryService.open(chosen) as memory:
            yield memory


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def arguments(words: str) -> argparse.ArgumentParser:
    """Return the parser of a bench, with --short."""
    parser = argparse.ArgumentParser(description=words)
    parser.add_argument("--short", action="store_true", help="a form of a few seconds, for CI")
    return parser


def figure(name: str, value: float, unit: str, goal: str, reached: bool) -> bool:
    """Print a figure with its goal, and return whether it was reached."""
    print(f"  {'ok  ' if reached else 'MISS'} {name:58} {value:10.2f} {unit:6} goal: {goal}")
    return reached


def machine() -> None:
    """Print what is measured on."""
    print(
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()},"
        f" SQLite {sqlite3.sqlite_version}"
    )


def run(main: Coroutine[Any, Any, bool]) -> None:
    """Run a bench; exit code 1 when a goal was missed."""
    machine()
    sys.exit(0 if asyncio.run(main) else 1)
