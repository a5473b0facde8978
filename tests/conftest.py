"""Fixtures that all tests share: homes in temporary directories, services opened on them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memsvc import MemoryService, Settings
from memsvc.settings import Semantic


def make_settings(home: Path, embedder: str = "hash", **changes: Any) -> Settings:
    """Return settings for a home, with the cheap embedder unless another one is named."""
    return Settings(home=str(home), semantic=Semantic(embedder=embedder), **changes)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A path where no home is yet."""
    return tmp_path / "home"


@pytest.fixture
def settings(home: Path) -> Settings:
    """Settings of that home, with the cheap deterministic embedder."""
    return make_settings(home)


@pytest.fixture
async def memory(settings: Settings) -> AsyncIterator[MemoryService]:
    """A service on that home."""
    async with MemoryService.open(settings) as service:
        yield service
