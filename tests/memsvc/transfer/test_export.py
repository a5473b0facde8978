"""What is written out."""

from __future__ import annotations

import json

from memsvc import MemoryService
from memsvc.transfer.export import export


async def test_both_forms_hold_every_message_of_a_long_session(memory: MemoryService) -> None:
    chat = memory.session("a")
    for start in range(0, 2500, 500):
        await chat.append(
            [{"role": "user", "content": f"{n}", "id": f"i{n}"} for n in range(start, start + 500)]
        )
    lines = b"".join([piece async for piece in export(chat, "jsonl")]).splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, 2501))
    whole = json.loads(b"".join([piece async for piece in export(chat, "openai")]))
    assert whole[7] == {"role": "user", "content": "7"}
    assert len(whole) == 2500
