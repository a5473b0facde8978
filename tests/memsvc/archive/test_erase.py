"""After a scrub no byte of what was deleted is in the archive's files."""

from __future__ import annotations

from pathlib import Path

from memsvc.archive.client import ArchiveClient
from memsvc.archive.rows import Row, Vector
from memsvc.record import encode_body


def row(seq: int, content: str) -> Row:
    return Row(seq, seq, "user", True, None, encode_body({"role": "user", "content": content}))


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("history.db*"))


async def test_words_tokens_and_vectors_of_a_deleted_session_are_gone(
    archive: ArchiveClient, tmp_path: Path
) -> None:
    vector = bytes(range(1, 129))
    words = [f"canary{n}zebra" for n in range(300)]
    sid = await archive.store("gone", None, [row(n + 1, word) for n, word in enumerate(words)])
    kept = await archive.store("kept", None, [row(1, "albatross stays")])
    model, _ = await archive.use_model("m", 64)
    await archive.save_vectors(sid, 1, model, [Vector(1, vector)], 300)
    assert b"canary7zebra" in bytes_of(tmp_path)
    assert vector in bytes_of(tmp_path)
    await archive.forget("gone")
    await archive.scrub()
    left = bytes_of(tmp_path)
    assert b"canary" not in left
    assert b"zebra" not in left
    assert vector not in left
    assert b"albatross" in left
    assert [record.seq for record in await archive.read.newest(kept, 5)] == [1]
