"""How long does `import memsvc` take, beyond the interpreter's own start?"""

from __future__ import annotations

import subprocess
import sys
import time

from bench import harness


def seconds(code: str, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return harness.percentile(times, 0.5)


async def main(short: bool) -> bool:
    rounds = 5 if short else 21
    bare = seconds("pass", rounds)
    asyncio_only = seconds("import asyncio", rounds)
    ours = seconds("import memsvc", rounds)
    print(
        f"  interpreter {bare * 1e3:.0f} ms; with asyncio {asyncio_only * 1e3:.0f} ms; with memsvc {ours * 1e3:.0f} ms"
    )
    return harness.figure("import memsvc", (ours - bare) * 1e3, "ms", "<= 100", ours - bare <= 0.1)


if __name__ == "__main__":
    harness.run(main(harness.arguments(__doc__ or "").parse_args().short))
