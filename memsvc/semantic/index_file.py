"""usearch files: a cache below store/vectors, checked before the library sees them.

A damaged file can crash the process inside the library, or load without complaint and answer wrongly.
So each `<sid>-<model>.usearch` has beside it a `.json` with the SHA-256 of its bytes, the number of its
vectors, and a digest of what they were made from. Whatever does not fit is not read, and the index is
built again from the archive.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from memsvc.files import make_private_directory, write_atomically
from memsvc.semantic.index import new_graph

_FORMAT = 1


class Manifest(msgspec.Struct, frozen=True):
    """What stands beside an index file.

    Attributes:
        format: of this file and of the index's layout.
        model: name of the embedding model.
        dimensions: length of the vectors.
        count: how many there are: the session's first ones.
        last_seq: number of the last one's message.
        digest: SHA-256 of the index file, in hex.
    """

    format: int
    model: str
    dimensions: int
    count: int
    last_seq: int
    digest: str


def save(path: Path, graph: Any, model: str, last_seq: int) -> None:
    """Write an index and its manifest. Blocking; call it in a thread.

    Raises:
        OSError: the disk refused; an older file stays, and its manifest with it.
    """
    make_private_directory(path.parent)
    data = bytes(graph.save(None) or b"")
    manifest = Manifest(
        _FORMAT, model, int(graph.ndim), len(graph), last_seq, sha256(data).hexdigest()
    )
    # The manifest goes last: a crash in between leaves one that does not fit, and nothing is read.
    write_atomically(path, data)
    write_atomically(path.with_suffix(".json"), msgspec.json.encode(manifest))


def load(path: Path, model: str, dimensions: int, seq_of_place: Sequence[int]) -> tuple[Any, str]:
    """Return an index from its file, or None and why not. Blocking; call it in a thread.

    Args:
        path: the index file.
        model: name of the embedding model in use.
        dimensions: length of its vectors.
        seq_of_place: the seqs of the session's vectors in order; the file must be of the first ones.
    """
    try:
        manifest = msgspec.json.decode(path.with_suffix(".json").read_bytes(), type=Manifest)
        data = path.read_bytes()
    except OSError:
        return None, "there is no file"
    except msgspec.MsgspecError:
        return None, "its manifest cannot be read"
    if sha256(data).hexdigest() != manifest.digest:
        return None, "its digest does not fit"
    if (manifest.format, manifest.model, manifest.dimensions) != (_FORMAT, model, dimensions):
        return None, "it is of another model or format"
    count = manifest.count
    if count == 0 or count > len(seq_of_place) or int(seq_of_place[count - 1]) != manifest.last_seq:
        return None, "it is of other messages"
    graph = new_graph(dimensions)
    graph.load(data)
    return (graph, "") if len(graph) == count else (None, "it holds another number of vectors")
