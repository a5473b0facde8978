"""The window: the newest messages, in whole exchanges (SPEC 4). Pure.

A tool call and its results belong together: a model's API refuses a conversation in which one
stands without the other. So the window is widened or narrowed until it begins and ends between
exchanges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from memsvc.model import Json, Message
from memsvc.session.exchange import Half, Linked, crossed, link
from memsvc.session.view import chat_messages

__all__ = ["Window", "chat_messages", "choose_window", "drop_oldest_turns"]


class Window(msgspec.Struct, frozen=True):
    """The newest messages, in whole exchanges.

    Attributes:
        messages: the messages, oldest first.
        first_seq: number of the first one, 0 when there is none.
    """

    messages: list[Message]
    first_seq: int = 0


def choose_window(newest: Sequence[Message], max_messages: int) -> Window:
    """Return about `max_messages` of the newest messages, in whole exchanges.

    It begins at the nearest place between exchanges, and has twice `max_messages` at most, unless no
    exchange begins so near. Calls at the very end whose results are still to come are left out: the
    next turn sees them whole.

    Args:
        newest: the newest messages there are, oldest first; twice as many as wanted are enough.
        max_messages: how many are wanted.
    """
    links = link(newest)
    end = _end(links)
    start = _start(links[:end], max_messages)
    chosen = list(newest[start:end])
    return Window(chosen, (chosen[0].seq or 0) if chosen else 0)


def _end(links: Sequence[Linked]) -> int:
    """Return where the window ends: before calls that wait and have nothing but results behind."""
    end = len(links)
    while (cut := _waiting(links, end)) is not None:
        end = cut
    return end


def _waiting(links: Sequence[Linked], end: int) -> int | None:
    cut = end - 1
    while cut >= 0 and links[cut].only_results:
        cut -= 1
    if cut < 0 or all(half.other is not None and half.other < end for half in links[cut].calls):
        return None
    # Results behind the cut may answer earlier calls. Those go too, but nothing that was said.
    for place in range(cut - 1, -1, -1):
        if any(_answered_within(half, cut, end) for half in links[place].calls):
            if not all(linked.calls or linked.only_results for linked in links[place:cut]):
                return None
            cut = place
    return cut


def _answered_within(call: Half, low: int, high: int) -> bool:
    return call.other is not None and low <= call.other < high


def _start(links: Sequence[Linked], max_messages: int) -> int:
    """Return the place nearest to the wanted one where no exchange is parted."""
    end = len(links)
    wanted = max(end - max_messages, 0)
    parted = crossed(links)
    whole = [place for place in range(end) if not parted[place]]
    # A result whose call nobody knows is no beginning either, unless something is said beside it.
    clean = [
        place for place in whole if all(half.other is not None for half in links[place].results)
    ]
    spoken = [place for place in whole if not links[place].only_results]
    places = clean or spoken or [end]
    return min(places, key=lambda place: (abs(place - wanted), place))


def drop_oldest_turns(
    window: Sequence[Message],
    room_tokens: int,
    count: Callable[[Mapping[str, Json]], int],
    *,
    keep_newest: bool = False,
) -> tuple[list[Message], int]:
    """Leave out the oldest whole turns until the rest fits.

    Args:
        window: messages, oldest first.
        room_tokens: what may be used; with none left, all turns go.
        count: the tokens of one chat message.
        keep_newest: the newest turn stays even when it is too large, as it asks for the answer.

    Returns:
        The messages that stay, and how many were left out.
    """
    turns = _turns(window)
    first = len(turns)
    while first > 0:
        room_tokens -= sum(map(count, chat_messages(turns[first - 1])))
        if room_tokens < 0 and not (keep_newest and first == len(turns)):
            break
        first -= 1
    kept = [message for turn in turns[first:] for message in turn]
    return kept, len(window) - len(kept)


def _turns(window: Sequence[Message]) -> list[list[Message]]:
    links = link(window)
    parted = crossed(links)
    turns: list[list[Message]] = []
    for place, message in enumerate(window):
        asks = message.role == "user" and not links[place].only_results
        if not turns or (asks and not parted[place]):
            turns.append([])
        turns[-1].append(message)
    return turns
