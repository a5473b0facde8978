"""What does a session cost in memory, and does memory level off over very many?

100,000 sessions are known to a service, 10,000 of them are used within a minute, twice. An idle actor is
weighed with all that belongs to it, but for its cached window.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import time
import tracemalloc

from bench import harness
from memsvc import MemoryService
from memsvc.settings import Sessions

WAVE = 500


def rss_mib() -> float:
    with open("/proc/self/statm") as statm:  # noqa: PTH123  it is no file
        return int(statm.read().split()[1]) * resource.getpagesize() / 2**20


async def use(memory: MemoryService, first: int, count: int) -> None:
    for start in range(first, first + count, WAVE):
        await asyncio.gather(
            *(
                memory.session(f"user-{n}").append({"role": "user", "content": harness.text(n)})
                for n in range(start, start + WAVE)
            )
        )


async def idle_actor_bytes(count: int) -> float:
    """Return the bytes of one idle session actor: with its cell, mailbox and place in the registry."""
    async with harness.service() as memory:
        await use(memory, 0, 500)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        await use(memory, 1000, count)
        await asyncio.sleep(0.1)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        windows = 0
        for key in memory._tree._registry.active_keys()[-count:]:
            actor = memory._tree._registry._cells[key]._actor
            assert actor is not None
            windows += sum(
                record.body.__sizeof__() + record.__sizeof__() for record in actor._newest
            )
        return (after - before - windows) / count


async def main(short: bool) -> bool:
    each = await idle_actor_bytes(1000 if short else 5000)
    good = harness.figure(
        "idle session actor beyond its window", each, "bytes", "< 1024", each < 1024
    )
    known, used = (5_000, 1_000) if short else (100_000, 10_000)
    async with harness.service(sessions=Sessions(max_active=used)) as memory:
        start = time.perf_counter()
        await use(memory, 0, known)
        print(
            f"  {known:,} sessions made in {time.perf_counter() - start:.0f} s; {rss_mib():.0f} MiB"
        )
        sizes = []
        for _ in range(4):
            start = time.perf_counter()
            await use(memory, 0, used)
            seconds = time.perf_counter() - start
            gc.collect()
            sizes.append(rss_mib())
            print(
                f"  {used:,} of them used in {seconds:.1f} s; {sizes[-1]:.0f} MiB, {(await memory.status()).active_sessions:,} awake"
            )
            good &= seconds < 60
    growth = sizes[-1] / sizes[-2]
    return (
        harness.figure(
            "memory after the last round / the one before", growth, "x", "<= 1.05", growth <= 1.05
        )
        and good
    )


if __name__ == "__main__":
    harness.run(main(harness.arguments(__doc__ or "").parse_args().short))
