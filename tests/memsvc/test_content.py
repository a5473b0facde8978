"""What of a message is text, in each shape that messages come in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.content import as_echo, chat_text, is_chat, spoken_text, tool_text


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


CHAT_PARTS = [
    {"type": "text", "text": "I love hiking"},
    {"type": "image_url", "image_url": {"url": "https://example.org/secret.png"}},
    {"type": "text", "text": "and rain"},
    {"type": "file", "file": {"filename": "notes.pdf"}},
]


def test_text_is_what_was_said() -> None:
    assert chat_text(user("Hello")) == "Hello"
    assert chat_text(user(None)) == ""
    assert chat_text({"role": "user"}) == ""


def test_the_texts_among_chat_parts_are_joined_in_order() -> None:
    assert chat_text(user(CHAT_PARTS)) == "I love hiking\nand rain"
    assert is_chat(user(CHAT_PARTS))


def test_texts_of_responses_items_are_read() -> None:
    parts = [
        {"type": "input_text", "text": "a"},
        {"type": "output_text", "text": "b", "annotations": []},
        {"type": "refusal", "refusal": "c"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "d"}]},
        {"type": "input_audio", "transcript": "e"},
        {"type": "reasoning", "text": "no", "summary": []},
    ]
    assert chat_text(user(parts)) == "a\nb\nc\nd\ne"


def test_texts_of_anthropic_blocks_are_read_and_tool_blocks_are_not() -> None:
    parts = [
        {"type": "thinking", "thinking": "no"},
        {"type": "text", "text": "yes"},
        {"type": "tool_use", "id": "a", "name": "search", "input": {"q": "redis"}},
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "found"}]},
    ]
    assert chat_text(user(parts)) == "yes"
    assert tool_text(user(parts)) == "search\nredis\nfound"


def test_parts_may_be_plain_texts_or_leave_out_their_type() -> None:
    assert chat_text(user(["a", {"text": "b"}])) == "a\nb"


def test_what_stands_beside_the_content_is_read_too() -> None:
    assert chat_text({"role": "assistant", "content": None, "refusal": "I can't."}) == "I can't."
    spoken = {"role": "assistant", "content": None, "audio": {"transcript": "Hello"}}
    assert chat_text(spoken) == "Hello"
    assert chat_text(user("x", audio="odd", refusal=3)) == "x"


def test_the_sender_stands_in_front_where_it_helps() -> None:
    assert spoken_text(user("Hello", sender="Ann")) == "Ann: Hello"
    assert spoken_text(user("Hello")) == "Hello"
    assert spoken_text(user("", sender="Ann")) == ""


def test_calls_are_read_in_each_style() -> None:
    chat = {"function": {"name": "fetch", "arguments": '{"url": "example.org"}'}}
    custom = {"type": "custom", "custom": {"name": "run", "input": "ls -l"}}
    flat = {"name": "bare", "arguments": {"deep": {"list": ["one", {"x": "two"}]}, "n": 3}}
    message = {"role": "assistant", "content": None, "tool_calls": [chat, custom, flat, "odd"]}
    assert tool_text(message) == 'fetch\n{"url": "example.org"}\nrun\nls -l\nbare\none\ntwo'
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    assert tool_text(old) == "f\n{}"


def test_escaped_arguments_are_read_as_the_characters_they_are() -> None:
    call = {"function": {"name": "f", "arguments": r'{"q": "\u5feb\u53d6"}'}}
    assert tool_text({"role": "assistant", "tool_calls": [call]}) == "f\n快取"
    broken = {"function": {"name": "f", "arguments": r'{"q": "\u5feb'}}
    assert tool_text({"role": "assistant", "tool_calls": [broken]}) == 'f\n{"q": "\\u5feb'


def test_results_and_instructions_are_tool_text() -> None:
    assert tool_text({"role": "tool", "content": "42"}) == "42"
    assert tool_text({"role": "system", "content": "Be kind."}) == "Be kind."
    output = {"type": "function_call_output", "call_id": "a", "output": "43"}
    assert tool_text(user([output])) == "43"
    assert tool_text(user("Hello")) == ""


@pytest.mark.parametrize("role", ["system", "developer", "tool", None, "robot"])
def test_only_people_and_assistants_take_part_in_search(role: Any) -> None:
    assert not is_chat({"role": role, "content": "x"})


@pytest.mark.parametrize("content", ["", " \n\t", None, [], CHAT_PARTS[1:2], [{"text": " "}], {}])
def test_a_message_without_text_takes_no_part(content: Any) -> None:
    assert not is_chat(user(content))


def test_our_own_echo_is_recognised_as_text_and_among_parts() -> None:
    echo = as_echo("Prior summary: we chose Redis.")
    for content in (echo, f"\n{echo}\n", [{"type": "text", "text": echo}], echo[:30]):
        assert not is_chat(user(content))
        assert chat_text(user(content)) == ""


def test_what_the_user_said_beside_our_echo_is_kept() -> None:
    echo = as_echo("Prior summary")
    assert chat_text(user(f"{echo}\n\nWhich cache?")) == "Which cache?"
    assert chat_text(user(f"Before. {echo}")) == "Before."
    assert chat_text(user([{"text": echo}, {"text": "Which cache?"}])) == "Which cache?"


def test_a_mark_in_the_midst_of_words_is_just_words() -> None:
    said = "Why does it say [memsvc:context] here?"
    assert chat_text(user(said)) == said


@given(st.lists(st.sampled_from(["[memsvc:context]", "[/memsvc:context]", "x", "\n"])).map("".join))
def test_no_text_leaks_out_of_our_echo(text: str) -> None:
    assert chat_text(user(as_echo(text))) == ""


_odd = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "text", "content", "output", "input", "name", "function"]),
            inner | st.sampled_from(["text", "message", "tool_use", "tool_result", "refusal"]),
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(_odd, _odd, _odd)
def test_no_shape_of_message_raises_an_error(content: Any, calls: Any, beside: Any) -> None:
    message = user(content, tool_calls=calls, function_call=beside, audio=beside, refusal=beside)
    assert isinstance(chat_text(message) + tool_text(message) + spoken_text(message), str)
    assert is_chat(message) == bool(chat_text(message).strip())


def test_arguments_nested_deeper_than_python_can_follow_are_read() -> None:
    value: Any = "end"
    for _ in range(5000):
        value = [value]
    call = {"function": {"name": "f", "arguments": value}}
    assert tool_text({"role": "assistant", "tool_calls": [call]}) == "f\nend"
