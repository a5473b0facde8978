"""Tool calls and their results, and which result answers which call. Pure.

Chat completions: `tool_calls` of an assistant, answered by messages of role `tool` with
`tool_call_id`.
Anthropic: `tool_use` blocks, answered by `tool_result` blocks with `tool_use_id`.
Responses: `function_call` items, answered by `function_call_output` items with `call_id`.

Ids are not unique in a conversation: some servers count from `call_0` again at each turn, and some
give none at all. A result answers the latest message before it that made a call of its id which has
no result yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memsvc.model import Json, Message

_CALL_KEYS = {"tool_use": "id", "function_call": "call_id", "custom_tool_call": "call_id"}
_RESULT_KEYS = {
    "tool_result": "tool_use_id",
    "function_call_output": "call_id",
    "custom_tool_call_output": "call_id",
}


class Half(msgspec.Struct, frozen=True):
    """A call or a result, as one message holds it.

    Attributes:
        call_id: the id that joins both halves, empty when the API gave none.
        kind: the type of its part; `tool_calls` or `tool` in chat style.
        part: its place among the parts of the content; None in chat style.
        other: the place, in the conversation, of the message with the other half; None for none.
    """

    call_id: str
    kind: str
    part: int | None
    other: int | None = None


class Linked(msgspec.Struct, frozen=True):
    """The halves in one message, but for results that stand behind their call in that very message.

    Attributes:
        calls: the calls it makes.
        results: the results it brings.
        only_results: it brings results and says nothing else.
    """

    calls: tuple[Half, ...] = ()
    results: tuple[Half, ...] = ()
    only_results: bool = False


def link(messages: Sequence[Message]) -> list[Linked]:
    """Return, for each message, its calls and results with the places of their other halves."""
    found = [_halves(message) for message in messages]
    answered: dict[tuple[int, int], int] = {}
    sources: list[list[int | None]] = []
    waiting: dict[str, list[tuple[int, int]]] = {}
    for place, (calls, results) in enumerate(found):
        sources.append([])
        for result in results:
            call = waiting[result.call_id].pop(0) if waiting.get(result.call_id) else None
            sources[-1].append(None if call is None else call[0])
            if call is not None:
                answered[call] = place
        # A call of the same id closes an older one that never got its result.
        waiting.update((call.call_id, []) for call in calls)
        for number, call_made in enumerate(calls):
            waiting[call_made.call_id].append((place, number))
    return [
        Linked(
            tuple(_to(call, answered.get((place, n))) for n, call in enumerate(calls)),
            tuple(map(_to, results, sources[place])),
            bool(results) and _says_nothing_else(messages[place], results),
        )
        for place, (calls, results) in enumerate(found)
    ]


def crossed(links: Sequence[Linked]) -> list[bool]:
    """Return for each place whether a cut before it would part a call from its result."""
    marks = [False] * (len(links) + 1)
    for place, linked in enumerate(links):
        for result in linked.results:
            if result.other is not None:
                marks[result.other + 1 : place + 1] = [True] * (place - result.other)
    return marks


def _to(half: Half, other: int | None) -> Half:
    return Half(half.call_id, half.kind, half.part, other)


def _halves(message: Message) -> tuple[list[Half], list[Half]]:
    if message.role == "tool" and message.tool_call_id is not None:
        return [], [Half(message.tool_call_id, "tool", None)]
    calls: list[Half] = []
    results: list[Half] = []
    for place, part in enumerate(_list(message.content)):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(kind, str):
            continue
        if kind in _CALL_KEYS:
            calls.append(Half(_id(part, _CALL_KEYS[kind]), kind, place))
        elif kind in _RESULT_KEYS:
            _add_result(Half(_id(part, _RESULT_KEYS[kind]), kind, place), calls, results)
    if message.role == "tool" and not results:
        results.append(Half("", "tool", None))
    if message.role == "assistant":
        made = (call for call in _list(message.tool_calls) if isinstance(call, dict))
        calls.extend(Half(_id(call, "id"), "tool_calls", None) for call in made)
    return calls, results


def _add_result(result: Half, calls: list[Half], results: list[Half]) -> None:
    own = next((call for call in calls if call.call_id == result.call_id), None)
    if own is None:
        results.append(result)
    else:  # called and answered in one message: nothing to keep together
        calls.remove(own)


def _says_nothing_else(message: Message, results: Sequence[Half]) -> bool:
    if message.tool_calls:
        return False
    return results[0].part is None or len(results) == len(_list(message.content))


def _id(part: Mapping[str, Json], key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else "" if value is None else str(value)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
