"""From settings to an embedder."""

from __future__ import annotations

import pytest

from memsvc import Settings, SettingsError
from memsvc.semantic.choose import make_embedder
from memsvc.settings import Semantic


def test_each_setting_names_an_embedder_and_only_one_of_them_uses_the_network() -> None:
    remote = Semantic(embedder="openai", base_url="http://127.0.0.1:9/v1", model="m", dimensions=64)
    made = [make_embedder(Semantic(embedder=name)) for name in ("builtin", "hash")] + [
        make_embedder(remote)
    ]
    names = [embedder.name for embedder in made if embedder is not None]
    assert len(set(names)) == 3
    assert names[2] == "openai/m@64"
    assert [embedder.network for embedder in made if embedder is not None] == [False, False, True]
    assert make_embedder(Semantic(embedder="none")) is None


def test_an_endpoint_without_a_url_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(SettingsError, match=r"semantic\.base_url"):
        Settings(semantic=Semantic(embedder="openai", model="m"))
