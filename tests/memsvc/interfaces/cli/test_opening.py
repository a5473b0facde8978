"""What every start says: where the data is, and what leaves the machine."""

from __future__ import annotations

from pathlib import Path

from conftest import make_settings

from memsvc import Settings
from memsvc.interfaces.cli.opening import banner
from memsvc.settings import Semantic


def test_the_banner_says_that_nothing_leaves_unless_a_url_is_set(home: Path) -> None:
    assert str(home) in banner(make_settings(home))
    assert "nothing leaves this machine" in banner(make_settings(home))
    remote = Semantic(
        embedder="openai", base_url="http://models.example/v1", model="m", api_key="sk-x"
    )
    said = banner(Settings(home=str(home), semantic=remote))
    assert "http://models.example/v1" in said
    assert "nothing leaves" not in said
    assert "sk-x" not in said
