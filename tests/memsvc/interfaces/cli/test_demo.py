"""The demo tells its story with the real embedder: a newcomer's first half minute."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from memsvc.interfaces.cli.sample import sample_messages

pytestmark = pytest.mark.integration


def demo(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith("MEMSVC_")} | {
        "TMPDIR": str(tmp_path)
    }
    return subprocess.run(
        [sys.executable, "-m", "memsvc", "demo", *arguments],
        capture_output=True,
        text=True,
        env=environ,
        timeout=60,
        check=True,
    )


def test_the_demo_finds_by_meaning_across_languages_and_by_two_characters(tmp_path: Path) -> None:
    told = json.loads(demo(tmp_path, "--json").stdout)
    assert told["meaning"]["hits"][0]["content"] == "好，資料庫定為 PostgreSQL。"
    assert {hit["seq"] for hit in told["word"]["hits"]} == {9, 10}
    assert told["receipt"]["last_seq"] == len(sample_messages())


def test_the_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    done = demo(tmp_path)
    assert "快取" in done.stdout
    assert "nothing leaves this machine" in done.stderr
    assert list(Path(tempfile.gettempdir() if not tmp_path.exists() else tmp_path).iterdir()) == []
