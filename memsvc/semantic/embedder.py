"""What an embedder is, and the check that every vector passes before it is kept or compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from memsvc.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: the embedder and its model; vectors of different names are never compared.
        network: whether texts leave this process for a URL.
    """

    name: str
    network: bool

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        """Return one vector for each text to be found, as rows of numbers.

        Raises:
            ModelError: it failed.
        """

    async def embed_query(self, text: str) -> Any:
        """Return the vector of a query.

        Raises:
            ModelError: it failed.
        """

    async def close(self) -> None:
        """Let go of connections and models."""


def checked(raw: Any, count: int, dimensions: int | None) -> tuple[Vectors, Mapping[int, str]]:
    """Return vectors of length one, and which of them cannot be used.

    Args:
        raw: rows of numbers, as an embedder gave them.
        count: how many there must be.
        dimensions: how long each must be, None when that is not known yet.

    Returns:
        An array of shape (count, dimensions), float32, every good row of length one; and for each bad
        row its place and why (not finite, all zero). Such vectors would spoil an index for the others.

    Raises:
        ModelError: their number or length is not what it must be.
    """
    import numpy as np  # only here: importing memsvc must stay cheap

    try:
        vectors = np.asarray(raw, dtype=np.float32)
    except (TypeError, ValueError):
        raise ModelError(
            "The embedder's answer is no table of numbers.", "Check the model and its endpoint."
        ) from None
    if vectors.ndim != 2 or vectors.shape[0] != count or vectors.shape[1] == 0:
        raise ModelError(
            f"The embedder answered {count} texts with an array of shape {vectors.shape}.",
            "Check the model and its endpoint.",
        )
    if dimensions is not None and vectors.shape[1] != dimensions:
        raise ModelError(
            f"The embedder's vectors have {vectors.shape[1]} dimensions; this model's had"
            f" {dimensions}.",
            "A changed model needs a name of its own: set semantic.model, and messages are embedded"
            " again.",
        )
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.sum(vectors.astype(np.float64) ** 2, axis=1))
    bad: dict[int, str] = {}
    for row in np.flatnonzero(~np.isfinite(lengths) | (lengths < 1e-12)):
        bad[int(row)] = "all zero" if lengths[row] < 1e-12 else "not finite"
        vectors[row] = 0.0
        lengths[row] = 1.0
    return (vectors / lengths[:, np.newaxis]).astype(np.float32), bad
