"""What does it cost to use a session: a warm context, waking a sleeping one, appending to a long one?"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench import harness
from memsvc import MemoryService, Settings
from memsvc.record import Record, encode_body, to_line
from memsvc.session import history_file
from memsvc.settings import Semantic

FILE_BYTES = 4 * 1024 * 1024


async def warm_context(memory: MemoryService, count: int) -> float:
    chat, times = memory.session("warm"), []
    await chat.append([{"role": "user", "content": harness.text(n)} for n in range(100)])
    for _ in range(count):
        start = time.perf_counter()
        await chat.context("What did we decide?", system="You help.")
        times.append(time.perf_counter() - start)
    return harness.percentile(times, 0.5)


async def waking(rounds: int) -> float:
    """Return the median time of the first context of a session whose history.json has 4 MiB."""
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as home:
        settings = Settings(home=home, semantic=Semantic(embedder="none"))
        path = Path(home) / "sessions" / "long" / "history.json"
        async with MemoryService.open(settings) as memory:
            chat, n = memory.session("long"), 0
            while not path.exists() or path.stat().st_size < FILE_BYTES:
                await chat.append(
                    [{"role": "user", "content": harness.text(n + k)} for k in range(500)]
                )
                n += 500
        times = []
        for _ in range(rounds):
            async with MemoryService.open(settings) as memory:
                start = time.perf_counter()
                await memory.session("long").context("What did we decide?")
                times.append(time.perf_counter() - start)
        return harness.percentile(times, 0.5)


def file_append(size: int, count: int) -> float:
    """Return the least of several median times of appending one record to a file of about a size."""
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as folder:
        path = Path(folder) / "history.json"
        body = encode_body({"role": "user", "content": harness.text(1)})
        records = (to_line(Record(n, n, body)) for n in range(1, max(size // 300, 3) + 1))
        now = history_file.rewrite(path, records)
        line, medians = to_line(Record(10**6, 1, body)), []
        for _ in range(5):
            times = []
            for _ in range(count):
                start = time.perf_counter()
                now = history_file.append(path, now, [line], empty=False)
                times.append(time.perf_counter() - start)
            medians.append(harness.percentile(times, 0.5))
        return min(medians)


async def main(short: bool) -> bool:
    async with harness.service() as memory:
        warm = await warm_context(memory, 300 if short else 3000)
    good = harness.figure("warm context(), p50", warm * 1e3, "ms", "< 0.2", warm < 0.0002)
    wake = await waking(3 if short else 11)
    good &= harness.figure(
        "first context() of a sleeping 4 MiB session", wake * 1e3, "ms", "< 60", wake < 0.06
    )
    small, large = file_append(1024, 200), file_append(FILE_BYTES, 200)
    print(
        f"  one append to history.json: {small * 1e6:.1f} us at 1 KB, {large * 1e6:.1f} us at 4 MiB"
    )
    return (
        harness.figure(
            "append at 4 MiB / at 1 KB", large / small, "x", "<= 1.2", large <= 1.2 * small
        )
        and good
    )


if __name__ == "__main__":
    harness.run(main(harness.arguments(__doc__ or "").parse_args().short))
