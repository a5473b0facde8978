"""The answer of a comparison by meaning. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Nearness(msgspec.Struct, frozen=True):
    """Cosines of a session's nearest messages, with mean and spread over all of its messages.

    Attributes:
        cosines: by seq.
        mean: of all cosines; what lies above it is nearer than usual.
        spread: their standard deviation.
    """

    cosines: Mapping[int, float]
    mean: float = 0.0
    spread: float = 0.0
