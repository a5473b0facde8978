"""An archive with its writer and client, on real files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memsvc import Settings
from memsvc.archive.client import ArchiveClient
from memsvc.archive.writer import ArchiveWriter
from memsvc_actors import SingleActor


@pytest.fixture
async def archive(tmp_path: Path) -> AsyncIterator[ArchiveClient]:
    settings = Settings(home=str(tmp_path))
    path = tmp_path / "history.db"
    writer = SingleActor("archive", lambda: ArchiveWriter(path, settings))
    await writer.start()
    client = ArchiveClient(path, writer.ref, settings)
    yield client
    await client.close()
    await writer.stop(5.0)
