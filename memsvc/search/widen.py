"""Which neighbours are shown with each hit, so that nothing is shown twice. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memsvc.search.fusion import Place

BEFORE = 2
AFTER = 1


def widen(
    hits: Sequence[Place], shown_elsewhere: Callable[[Place], bool]
) -> list[tuple[tuple[Place, ...], tuple[Place, ...]]]:
    """Return for each hit the places before and after it to show, oldest first.

    Stretches that overlap are joined: a neighbour that is a hit itself, or stands with a better hit
    already, is not repeated.

    Args:
        hits: the hits, best first.
        shown_elsewhere: whether a place is in front of the model anyway (the window).
    """
    taken = set(hits)
    widened = []
    for sid, seq in hits:
        before = _free(((sid, seq - step) for step in range(BEFORE, 0, -1)), taken, shown_elsewhere)
        after = _free(((sid, seq + step) for step in range(1, AFTER + 1)), taken, shown_elsewhere)
        widened.append((before, after))
    return widened


def _free(
    places: Iterable[Place], taken: set[Place], shown_elsewhere: Callable[[Place], bool]
) -> tuple[Place, ...]:
    free = tuple(
        place
        for place in places
        if place[1] > 0 and place not in taken and not shown_elsewhere(place)
    )
    taken.update(free)
    return free
