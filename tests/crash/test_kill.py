"""kill -9 at random moments: what was acknowledged is there exactly once, in order, in every tier.

The short form runs with `make test-slow`; MEMSVC_TEST_ROUNDS sets the number of rounds (default 100).
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import make_settings

from memsvc import MemoryService

ROUNDS = int(os.environ.get("MEMSVC_TEST_ROUNDS", "100"))

# Appends for ever, three sessions at once; says on stdout what was acknowledged.
_WRITER = """
import asyncio, sys
from memsvc import MemoryService, Settings
from memsvc.settings import Semantic

async def write(memory, name, start):
    chat, n = memory.session(name), start
    while True:
        batch = [{"role": "user", "content": f"{name} {k} " + "x" * (k % 700), "id": f"{k}"} for k in range(n, n + n % 3 + 1)]
        receipt = await chat.append(batch)
        sys.stdout.write("".join(f"{name} {k} {seq}\\n" for k, seq in zip(range(n, n + len(batch)), receipt.seqs)))
        sys.stdout.flush()
        n += len(batch)

async def main():
    async with MemoryService.open(Settings(home=sys.argv[1], semantic=Semantic(embedder="hash"))) as memory:
        print("ready", flush=True)
        await asyncio.gather(*(write(memory, name, int(start)) for name, start in zip("abc", sys.argv[2:])))

asyncio.run(main())
"""


def run_and_kill(home: Path, starts: list[int], seconds: float) -> list[tuple[str, int, int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(home), *map(str, starts)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    acknowledged = []
    for line in process.communicate()[0].splitlines():
        parts = line.split()
        if len(parts) == 3:  # the last line may be cut
            acknowledged.append((parts[0], int(parts[1]), int(parts[2])))
    return acknowledged


def check_tiers(home: Path, name: str) -> int:
    """Check that archive, index and file agree; return how many messages there are."""
    entries = json.loads((home / "sessions" / name / "history.json").read_bytes())
    connection = sqlite3.connect(f"file:{home}/store/history.db?mode=ro", uri=True)
    rows = connection.execute(
        "SELECT m.seq, m.message_id FROM messages m JOIN message_meta t USING (sid) WHERE t.session = ? ORDER BY seq",
        (name,),
    ).fetchall()
    sid = connection.execute("SELECT sid FROM message_meta WHERE session = ?", (name,)).fetchone()[
        0
    ]
    indexed = connection.execute(
        "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH ?", (f'session : "s{sid}"',)
    ).fetchone()[0]
    connection.close()
    assert [seq for seq, _ in rows] == list(range(1, len(rows) + 1))
    assert [(entry["seq"], entry["id"]) for entry in entries] == rows
    assert [int(message_id) for _, message_id in rows] == list(range(len(rows)))
    assert indexed == len(rows)
    return len(rows)


@pytest.mark.slow
@pytest.mark.timeout(3600)
async def test_nothing_acknowledged_is_lost_doubled_or_out_of_order_after_a_kill(
    home: Path,
) -> None:
    chance = random.Random(7)
    expected: dict[tuple[str, int], int] = {}
    starts = [0, 0, 0]
    for _ in range(ROUNDS):
        for name, number, seq in run_and_kill(home, starts, chance.uniform(0.05, 0.4)):
            expected[name, number] = seq
        async with MemoryService.open(make_settings(home)) as memory:
            for place, name in enumerate("abc"):
                messages = await memory.session(name).messages(limit=None)
                there = {int(m.id or -1): m.seq for m in messages}
                lost = [
                    (k, seq)
                    for (n, k), seq in expected.items()
                    if n == name and there.get(k) != seq
                ]
                assert not lost
                await memory.session(name).context("wake up")
                starts[place] = len(messages)
            await memory.flush()
        for name in "abc":
            check_tiers(home, name)
    print(f"{ROUNDS} kills, {len(expected)} acknowledged, none lost")
    assert len(expected) > ROUNDS
