"""How much of the evidence does search find, on real conversations?

    python -m bench.locomo PATH            (or MEMSVC_LOCOMO=PATH)

PATH is a folder with LoCoMo conversations (Maharana et al., ACL 2024; CC BY-NC 4.0, so not part of this
project), reshaped: `N.messages.jsonl`, one message a line with `id`, `role`, `sender`, `content`,
`sent_at`; `N.queries.jsonl`, one question a line with `question`, `category` and the `evidence`: the ids
of the messages that hold the answer.

Every conversation is appended through the public API and every question of categories 1 to 4 asked. A
hit counts for itself only, not for its neighbours. recall_any: some evidence is among the first k;
recall_all: all of it; recall: the share of it. MRR: the mean of 1 / rank of the first evidence.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import harness
from memsvc import MemoryService
from memsvc.model import Match

MODES: tuple[Match, ...] = ("hybrid", "semantic", "keyword")
CUTS = (5, 10, 20)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single hop"}
GOAL = 70.0


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def conversations(
    folder: Path, short: bool
) -> list[tuple[str, list[dict[str, Any]], list[dict[str, Any]]]]:
    found = []
    for messages in sorted(folder.glob("*.messages.jsonl")):
        queries = messages.with_name(messages.name.replace("messages", "queries"))
        found.append((messages.name.split(".")[0], read(messages), read(queries)))
    return sorted(found, key=lambda each: len(each[1]))[:1] if short else found


class Scores:
    """Sums of the figures of one mode and category."""

    def __init__(self) -> None:
        self.count = 0
        self.any = dict.fromkeys(CUTS, 0.0)
        self.all = dict.fromkeys(CUTS, 0.0)
        self.share = dict.fromkeys(CUTS, 0.0)
        self.reciprocal = 0.0

    def add(self, ranked: Sequence[str], evidence: set[str]) -> None:
        self.count += 1
        for cut in CUTS:
            found = len(evidence.intersection(ranked[:cut]))
            self.any[cut] += found > 0
            self.all[cut] += found == len(evidence)
            self.share[cut] += found / len(evidence)
        self.reciprocal += next(
            (1 / n for n, each in enumerate(ranked, 1) if each in evidence), 0.0
        )

    def row(self, mode: str, category: str) -> str:
        cells = "".join(
            f"{values[cut] / self.count * 100:7.1f}"
            for values in (self.any, self.all, self.share)
            for cut in CUTS
        )
        return f"  {mode:9} {category:12} {self.count:5}{cells} {self.reciprocal / self.count:7.3f}"


async def ask(
    memory: MemoryService,
    name: str,
    messages: list[Any],
    queries: list[Any],
    scores: dict[tuple[str, int], Scores],
) -> list[float]:
    ids = {n: message["id"] for n, message in enumerate(messages, 1)}
    chat, times = memory.session(name), []
    for query in queries:
        evidence = set(query["evidence"]) & set(ids.values())
        if query["category"] not in CATEGORIES or not evidence:
            continue
        for mode in MODES:
            start = time.perf_counter()
            hits = await chat.search(query["question"], match=mode, limit=20, include_window=True)
            if mode == "hybrid":
                times.append(time.perf_counter() - start)
            ranked = [ids[hit.seq] for hit in hits]
            scores[mode, query["category"]].add(ranked, evidence)
            scores[mode, 0].add(ranked, evidence)
    return times


async def main(folder: Path, short: bool) -> bool:
    loaded = conversations(folder, short)
    scores: dict[tuple[str, int], Scores] = defaultdict(Scores)
    count = sum(len(messages) for _, messages, _ in loaded)
    async with harness.service("builtin") as memory:
        start = time.perf_counter()
        for name, messages, _ in loaded:
            await memory.session(name).append(messages)
        appended = time.perf_counter()
        await memory.flush()
        flushed = time.perf_counter()
        times = [t for each in loaded for t in await ask(memory, *each, scores)]
    print(
        f"  {len(loaded)} conversations, {count} messages: {count / (appended - start):,.0f} messages/s appended,"
    )
    print(
        f"  {count / (flushed - appended):.1f} messages/s embedded; hybrid query p50 {harness.percentile(times, 0.5) * 1e3:.1f} ms"
    )
    print(
        "  mode      category         n  any@5 any@10 any@20  all@5 all@10 all@20   r@5   r@10   r@20     MRR"
    )
    for mode in MODES:
        for category in (*CATEGORIES, 0):
            print(scores[mode, category].row(mode, CATEGORIES.get(category, "all")))
    recall = scores["hybrid", 0].share[10] / scores["hybrid", 0].count * 100
    return harness.figure(
        "fractional recall@10, hybrid", recall, "%", f">= {GOAL:g}", recall >= GOAL
    )


if __name__ == "__main__":
    parser = harness.arguments((__doc__ or "").split("\n", 1)[0])
    parser.add_argument("path", nargs="?", default=os.environ.get("MEMSVC_LOCOMO"))
    given = parser.parse_args()
    if not given.path or not Path(given.path).is_dir():
        sys.exit(
            f"bench.locomo: no conversations at {given.path}: give their folder, or set MEMSVC_LOCOMO"
        )
    harness.machine()
    sys.exit(0 if asyncio.run(main(Path(given.path), given.short)) else 1)
