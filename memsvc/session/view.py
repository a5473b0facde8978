"""Messages as a model's API takes them: every call followed at once by all of its results. Pure.

What is stored stays as it was said. In the view alone, a result that came late stands behind its
call, a call that was interrupted gets a result that says so, and a result whose call is not there
is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memsvc.model import Json, Message
from memsvc.session.exchange import Half, Linked, link

NO_RESULT = "[no result was recorded: the call was interrupted]"

# Keys of a message beyond the common ones that a chat completion understands.
_CHAT_EXTRAS = ("refusal", "audio", "function_call")

# For a call among the parts of a message: who answers it, and the type and keys of the answer.
_ANSWERS = {
    "tool_use": ("user", "tool_result", "tool_use_id", "content"),
    "function_call": ("tool", "function_call_output", "call_id", "output"),
    "custom_tool_call": ("tool", "custom_tool_call_output", "call_id", "output"),
}


def chat_messages(window: Sequence[Message]) -> list[dict[str, Json]]:
    """Return messages ready for a chat completion, without our own fields (`seq`, `sender` …)."""
    links = link(window)
    shown: list[dict[str, Json]] = []
    for place, (message, linked) in enumerate(zip(window, links, strict=True)):
        shown.extend(_in_place(message, linked))
        shown.extend(_stand_in(half) for half in linked.calls if half.other is None)
        answers = sorted({half.other for half in linked.calls if half.other is not None})
        shown.extend(_answer(window[answer], links[answer], place) for answer in answers)
    return shown


def _in_place(message: Message, linked: Linked) -> Iterator[dict[str, Json]]:
    """Yield what a message says where it stands: all but its results."""
    if not linked.results:
        yield _chat(message)
    elif not linked.only_results and (
        linked.calls or all(half.other is None for half in linked.results)
    ):
        yield _less(message, {half.part for half in linked.results})


def _answer(message: Message, linked: Linked, call_place: int) -> dict[str, Json]:
    """Return what a message says in answer to one other; one that answers several is divided."""
    here = {half.part for half in linked.results if half.other == call_place}
    last_call = max(half.other for half in linked.results if half.other is not None)
    if None in here:
        return _chat(message)
    # What it says beside its results goes with the last of them, or stays in place behind a call.
    with_rest = not linked.calls and last_call == call_place
    foreign = {half.part for half in linked.results} if with_rest else _places(message)
    return _less(message, foreign - here)


def _less(message: Message, left_out: set[int | None]) -> dict[str, Json]:
    shown = _chat(message)
    if left_out:
        parts = enumerate(_parts(message))
        shown["content"] = [part for place, part in parts if place not in left_out]
    return shown


def _places(message: Message) -> set[int | None]:
    return set(range(len(_parts(message))))


def _parts(message: Message) -> list[Json]:
    return message.content if isinstance(message.content, list) else []


def _chat(message: Message) -> dict[str, Json]:
    shown: dict[str, Json] = {"role": message.role, "content": message.content}
    if message.name is not None:
        shown["name"] = message.name
    if message.tool_calls and message.role == "assistant":
        shown["tool_calls"] = message.tool_calls
    if message.tool_call_id is not None and message.role == "tool":
        shown["tool_call_id"] = message.tool_call_id
    for name in _CHAT_EXTRAS:
        if message.extra.get(name) is not None:
            shown[name] = message.extra[name]
    return shown


def _stand_in(call: Half) -> dict[str, Json]:
    if call.kind not in _ANSWERS:
        shown: dict[str, Json] = {"role": "tool", "content": NO_RESULT}
        return shown | ({"tool_call_id": call.call_id} if call.call_id else {})
    role, kind, id_key, text_key = _ANSWERS[call.kind]
    return {"role": role, "content": [{"type": kind, id_key: call.call_id, text_key: NO_RESULT}]}
