"""How long is the event loop ever stopped, while appends, embedding and searches go on at once?

A task sleeps for a millisecond over and over, and takes the time; what it sleeps longer is a gap. The
same task on an otherwise idle loop shows what the machine itself adds.
"""

from __future__ import annotations

import asyncio
import time

from bench import harness
from memsvc import MemoryService


async def gaps(until: float, found: list[float]) -> None:
    while (start := time.perf_counter()) < until:
        await asyncio.sleep(0.001)
        found.append(time.perf_counter() - start - 0.001)


async def write(memory: MemoryService, name: str, until: float) -> None:
    n = 0
    while time.perf_counter() < until:
        await memory.session(name).append({"role": "user", "content": harness.text(n)})
        n += 1
        await asyncio.sleep(0.005)


async def search(memory: MemoryService, name: str, until: float) -> None:
    while time.perf_counter() < until:
        await memory.session(name).search("which cache and which queue?", include_window=True)
        await memory.session(name).search("cache queue", match="keyword", include_window=True)
        await asyncio.sleep(0.01)


async def main(short: bool) -> bool:
    seconds = 4.0 if short else 20.0
    idle: list[float] = []
    await gaps(time.perf_counter() + 1.0, idle)
    busy: list[float] = []
    async with harness.service("builtin") as memory:
        for n in range(4):
            await memory.session(f"s{n}").append(
                [{"role": "user", "content": harness.text(k)} for k in range(500)]
            )
        await memory.session("s0").search("warm up", include_window=True)
        until = time.perf_counter() + seconds
        await asyncio.gather(
            gaps(until, busy),
            *(write(memory, f"s{n}", until) for n in range(8)),
            *(search(memory, f"s{n}", until) for n in range(4)),
        )
        status = await memory.status()
    print(f"  {status.messages} messages, {status.embedder.embedded} embedded meanwhile")
    print(
        f"  idle loop: longest {max(idle) * 1e3:.1f} ms; busy: p50 {harness.percentile(busy, 0.5) * 1e3:.2f}, p99 {harness.percentile(busy, 0.99) * 1e3:.1f} ms"
    )
    return harness.figure(
        "longest stop of the event loop", max(busy) * 1e3, "ms", "< 20", max(busy) < 0.02
    )


if __name__ == "__main__":
    harness.run(main(harness.arguments(__doc__ or "").parse_args().short))
