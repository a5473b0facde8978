"""The window: the newest messages, in whole exchanges, as a model's API accepts them. Pure.

A tool call and its results belong together: an API refuses a conversation in which one stands without
the other. The window is widened or narrowed so that it begins and ends between exchanges. What a
conversation itself left broken (a call that was interrupted, a result that came late or whose call is
not known) is mended in the model's view only; what is stored stays as it was said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from memsvc.model import Json, Message
from memsvc.session.exchange import calls, is_result, results

NO_RESULT = "[no result was recorded: the call was interrupted]"

# Keys of a message beyond the common ones that a chat completion understands.
_CHAT_EXTRAS = ("refusal", "audio", "function_call")


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

    Args:
        newest: the newest messages there are, oldest of them first; up to twice as many as wanted,
            so that an exchange can be completed.
        max_messages: how many are wanted.
    """
    end = _end(newest)
    start = _start(newest, max(end - max_messages, 0), end)
    chosen = list(newest[start:end])
    return Window(chosen, (chosen[0].seq or 0) if chosen else 0)


def _end(messages: Sequence[Message]) -> int:
    """Return where the window ends: before an exchange that still waits for a result."""
    end = len(messages)
    answered: set[str] = set()
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        made = calls(message)
        if made and not answered.issuperset(made):
            end = place
        if not is_result(message) and not made:
            break
        answered.update(results(message))
    return end


def _start(messages: Sequence[Message], wanted: int, end: int) -> int:
    """Return the place nearest to `wanted` where no result stands without its call."""
    made_at = {made: place for place in range(end) for made in calls(messages[place])}
    narrowed = wanted
    while narrowed < end and _is_parted(messages[narrowed], made_at, narrowed):
        narrowed += 1
    widened = wanted
    while widened > 0 and _is_parted(messages[widened], made_at, widened):
        widened -= 1
    if widened < end and _is_parted(messages[widened], made_at, widened):
        return narrowed  # the call is further back than what is known
    if narrowed == end or wanted - widened <= narrowed - wanted:
        return widened
    return narrowed


def _is_parted(message: Message, made_at: Mapping[str, int], start: int) -> bool:
    if not is_result(message):
        return False
    return not any(made_at.get(answered, -1) >= start for answered in results(message))


def chat_messages(window: Sequence[Message]) -> list[dict[str, Json]]:
    """Return messages as a chat completion takes them, every call followed by its results."""
    answers: dict[str, int] = {}
    for place, message in enumerate(window):
        for answered in results(message):
            answers.setdefault(answered, place)
    emitted: set[int] = set()
    shown: list[dict[str, Json]] = []
    for place, message in enumerate(window):
        if place in emitted or is_result(message):
            continue  # a result is shown behind its call, or nowhere
        shown.append(_chat(message))
        for made in calls(message):
            answer = answers.get(made, -1)
            if answer <= place:
                shown.append(_interrupted(message, made))
            elif answer not in emitted:
                emitted.add(answer)
                shown.append(_chat(window[answer]))
    return shown


def _chat(message: Message) -> dict[str, Json]:
    result: dict[str, Json] = {"role": message.role, "content": message.content}
    for name in ("name", "tool_calls", "tool_call_id"):
        value = getattr(message, name)
        if value is not None:
            result[name] = value
    for name in _CHAT_EXTRAS:
        if name in message.extra:
            result[name] = message.extra[name]
    return result


def _interrupted(message: Message, call_id: str) -> dict[str, Json]:
    if message.tool_calls is not None:
        return {"role": "tool", "tool_call_id": call_id, "content": NO_RESULT}
    part: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": NO_RESULT}
    return {"role": "user", "content": [part]}


def drop_oldest_turns(
    window: Sequence[Message], room_tokens: int, count: Callable[[Mapping[str, Json]], int]
) -> tuple[list[Message], int]:
    """Leave out the oldest whole turns until the rest fits.

    Args:
        window: messages, oldest first.
        room_tokens: what may be used; with none left, all turns go.
        count: the tokens of one chat message.

    Returns:
        The messages that stay, and how many were left out.
    """
    kept: list[Message] = []
    for turn in reversed(_turns(window)):
        room_tokens -= sum(map(count, chat_messages(turn)))
        if room_tokens < 0:
            break
        kept = [*turn, *kept]
    return kept, len(window) - len(kept)


def _turns(window: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in window:
        if not turns or (message.role == "user" and not is_result(message)):
            turns.append([])
        turns[-1].append(message)
    return turns
