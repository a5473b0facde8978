"""Opening a home for a command, and saying where it is and what leaves the machine: nothing, unless
a URL was set."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from memsvc.errors import ModelError
from memsvc.interfaces.cli.output import Output
from memsvc.service import MemoryService
from memsvc.settings import Settings
from memsvc.version import __version__


@Parameter(name="*")
@dataclass(frozen=True)
class Common:
    """Options of every command."""

    home: Annotated[str | None, Parameter(help="Directory of all data (MEMSVC_HOME).")] = None
    json: Annotated[bool, Parameter(help="Print the result as JSON.", negative="")] = False

    @property
    def output(self) -> Output:
        """How to print."""
        return Output(self.json)


@asynccontextmanager
async def opened(common: Common, *, create: bool = False) -> AsyncIterator[MemoryService]:
    """Open the home of a command.

    Args:
        common: the command's options.
        create: make the home when it is missing; commands that only read do not.
    """
    settings = Settings.load(common.home)
    async with MemoryService.open(settings, create=create) as memory:
        common.output.note(banner(settings))
        yield memory


def banner(settings: Settings) -> str:
    """Return the line that every start prints."""
    semantic = settings.semantic
    name = f"{semantic.embedder} {semantic.model}".strip()
    leaves = "nothing leaves this machine (no network, no telemetry)"
    if semantic.embedder == "openai":
        leaves = f"text is sent to {semantic.base_url} to be embedded, and nowhere else"
    return f"memsvc {__version__} · home {settings.home_path} · embedder {name} · {leaves}"


async def wait_for_embedding(memory: MemoryService, seconds: float, output: Output) -> None:
    """Wait a while for what was appended lately to be embedded, and say so if it takes longer."""
    try:
        async with asyncio.timeout(seconds):
            await memory.flush()
    except TimeoutError:
        output.note(f"Not everything is embedded after {seconds:g} s; the rest is found by words.")
    except ModelError as error:
        output.note(str(error))
