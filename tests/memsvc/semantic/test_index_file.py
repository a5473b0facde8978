"""Index files: nothing damaged, and nothing of another model, ever reaches usearch."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from memsvc.semantic import index_file
from memsvc.semantic.index import SessionVectors

COUNT = 200


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((COUNT, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    session = SessionVectors(10)
    session.extend([(n + 1, vector.astype("<f2").tobytes()) for n, vector in enumerate(vectors)])
    session.index()
    path = tmp_path / "vectors" / "1-1.usearch"
    index_file.save(path, session.graph, "m", session.last_seq)
    return path


def load(
    path: Path, model: str = "m", dimensions: int = 16, count: int = COUNT
) -> tuple[object, str]:
    return index_file.load(path, model, dimensions, list(range(1, count + 1)))


def test_what_was_saved_is_loaded_and_private(saved: Path) -> None:
    graph, reason = load(saved)
    assert (len(graph), reason) == (COUNT, "")  # type: ignore[arg-type]
    assert {path.stat().st_mode & 0o777 for path in saved.parent.iterdir()} == {0o600}
    assert load(saved, count=COUNT + 50)[1] == ""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "other"}, "model"),
        ({"dimensions": 8}, "model"),
        ({"count": COUNT - 1}, "messages"),
    ],
)
def test_an_index_of_something_else_is_not_read(
    saved: Path, change: dict[str, object], reason: str
) -> None:
    graph, said = load(saved, **change)  # type: ignore[arg-type]
    assert graph is None
    assert reason in said


def test_no_damage_is_ever_read(saved: Path) -> None:
    chance, good = random.Random(1), saved.read_bytes()
    for _ in range(200):
        bad = bytearray(good)
        kind = chance.randrange(3)
        if kind == 0:
            bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del bad[chance.randrange(len(bad)) :]
        else:
            start = chance.randrange(len(bad))
            bad[start : start + 512] = bytes(len(bad[start : start + 512]))
        saved.write_bytes(bad)
        graph, reason = load(saved)
        assert bytes(bad) == good or (graph is None and "digest" in reason)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "x"}', "null"])
def test_a_manifest_that_is_none_is_no_reason_to_read(saved: Path, text: str) -> None:
    saved.with_suffix(".json").write_text(text)
    assert load(saved)[0] is None
    saved.with_suffix(".json").unlink()
    assert load(saved) == (None, "there is no file")
