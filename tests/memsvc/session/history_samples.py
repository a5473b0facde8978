"""Files of records for the tests of history.json."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from memsvc.record import Record, encode_body, to_line

from .json_values import texts, values

T0 = 1_764_583_200_000_000_000

_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":[1,{}]}'}}

# What each sample puts to the test stands in its key.
SAMPLES: dict[str, list[dict[str, Any]]] = {
    "plain": [{"role": "user", "content": f"message {n}"} for n in range(6)],
    "many bytes a character": [
        {"role": "user", "content": "我們用 Redis 做快取。", "sender": "美玲"},
        {"role": "assistant", "content": "了解 👍🏽, d’accord: naïve café"},
        {"role": "user", "content": "🦊" * 9},
        {"role": "assistant", "content": "ประโยคภาษาไทย"},
    ],
    "nested": [
        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "content": [{"type": "text", "text": "[1,2]"}], "tool_call_id": "c1"},
        {"role": "user", "content": "", "metadata": {"a": {"b": [{"c": {}}, [], None, 1.5e10]}}},
        {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]},
    ],
    "text that looks like the file": [
        {"role": "user", "content": 'a\n]\n[\n{"seq":9,"sendAt":9,"role":"user","content":"x"},'},
        {"role": "user", "content": '"},\n{"seq":2,"sendAt":3,"role":"user"}\n]'},
        {"role": "user", "content": '\\\\"\\u005d\t\r\x01 \u2028 ]'},
        {"role": "assistant", "content": '{"seq":1,"sendAt":1,"role":"user"}'},
    ],
    "one": [{"role": "system", "content": "Be brief."}],
}


def numbered(bodies: Iterable[dict[str, Any]], first: int = 1, step: int = 1) -> list[Record]:
    return [
        Record(first + place * step, T0 + place, encode_body(body))
        for place, body in enumerate(bodies)
    ]


def laid_out(records: Sequence[Record]) -> bytes:
    """Return a file as the format's description has it, by other means than the code under test."""
    return b"[\n" + b",\n".join(to_line(record) for record in records) + b"\n]"


def ends(records: Sequence[Record]) -> list[int]:
    """Return for each record where it ends in the file."""
    return [len(laid_out(records[: place + 1])) - 2 for place in range(len(records))]


def lay(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def long_file(count: int, seed: int) -> list[Record]:
    """Return records of random length."""
    rng = random.Random(seed)
    words = ["世界", "Redis", "naïve", "[]", '"quoted"', "a\nb", "👍", "}", "x" * 30]
    return numbered(
        {"role": "user", "content": " ".join(rng.choices(words, k=rng.randint(0, 40)))}
        for _ in range(count)
    )


BODIES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": texts | values},
    optional={"sender": texts, "metadata": st.dictionaries(texts, values, max_size=3)},
)
