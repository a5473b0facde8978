"""How fast are durable appends, against raw SQLite and against a peer?

Compared, in one run and on one disk, are: messages a second that 50 sessions append at once, one message
a call, each acknowledged when it is durable; raw SQLite doing the same in groups of the same size with
the same tables and full-text rows, and nothing else; the SQLiteSession of openai-agents (when it is
installed). And one append alone against one raw commit.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from pathlib import Path

from bench import harness
from memsvc import MemoryService
from memsvc.archive import schema
from memsvc.archive.group import INSERT_MESSAGE, UPSERT_META, Group
from memsvc.archive.messages import Store
from memsvc.archive.rows import Row
from memsvc.record import encode_body

SESSIONS = 50


def raw_database(folder: str) -> sqlite3.Connection:
    connection = sqlite3.connect(Path(folder) / "raw.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = {-32 * 1024}")
    connection.create_function("memsvc_text", 2, schema.said, deterministic=True)
    connection.create_function("memsvc_tools", 2, schema.tools, deterministic=True)
    for statement in schema.MIGRATIONS[0]:
        connection.execute(statement)
    return connection


def raw_rate(group_size: int, seconds: float) -> float:
    """Return messages a second of raw group commits with explicit full-text rows."""
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as folder:
        connection = raw_database(folder)
        done, next_id = 0, 1
        bodies = [encode_body({"role": "user", "content": harness.text(n)}) for n in range(1000)]
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            stores = [
                Store(
                    f"s{n}",
                    n + 1,
                    (Row(done + 1, done, "user", True, None, bodies[(done + n) % 1000]),),
                )
                for n in range(group_size)
            ]
            group = Group(stores, next_id, 10_000)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(INSERT_MESSAGE, group.messages)
            connection.execute(schema.INDEX_RANGE, (group.first_id, group.next_id - 1))
            connection.executemany(UPSERT_META, group.metas)
            connection.execute("COMMIT")
            next_id = group.next_id
            done += group_size
        rate = done / (time.perf_counter() - start)
        connection.close()
        return rate


def raw_commit_p50(count: int) -> float:
    """Return the median time of one raw commit of one message with its full-text row, in seconds."""
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as folder:
        connection = raw_database(folder)
        times = []
        for n in range(count):
            body = encode_body({"role": "user", "content": harness.text(n)})
            group = Group([Store("s", 1, (Row(n + 1, n, "user", True, None, body),))], n + 1, 2)
            start = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(INSERT_MESSAGE, group.messages)
            connection.execute(schema.INDEX_RANGE, (group.first_id, group.next_id - 1))
            connection.executemany(UPSERT_META, group.metas)
            connection.execute("COMMIT")
            times.append(time.perf_counter() - start)
        connection.close()
        return harness.percentile(times, 0.5)


async def our_rate(memory: MemoryService, seconds: float) -> float:
    """Return messages a second of 50 sessions, one message a call."""
    done = 0
    start = time.perf_counter()

    async def writer(number: int) -> None:
        nonlocal done
        session = memory.session(f"s{number}")
        n = 0
        while time.perf_counter() - start < seconds:
            await session.append({"role": "user", "content": texts[(n + number) % 1000]})
            n += 1
            done += 1

    texts = [harness.text(n) for n in range(1000)]
    await asyncio.gather(*(writer(number) for number in range(SESSIONS)))
    return done / (time.perf_counter() - start)


async def our_append_p50(memory: MemoryService, count: int) -> float:
    """Return the median time of one append with nothing else going on, in seconds."""
    session, times = memory.session("alone"), []
    for n in range(count):
        message = {"role": "user", "content": harness.text(n)}
        start = time.perf_counter()
        await session.append(message)
        times.append(time.perf_counter() - start)
    return harness.percentile(times, 0.5)


async def peer_rate(seconds: float) -> float | None:
    """Return messages a second of openai-agents' SQLiteSession, 50 sessions in one file."""
    try:
        from agents import SQLiteSession
    except ImportError:
        return None
    done = 0
    with tempfile.TemporaryDirectory(prefix="memsvc-bench-") as folder:
        sessions = [SQLiteSession(f"s{n}", Path(folder) / "peer.db") for n in range(SESSIONS)]
        start = time.perf_counter()

        async def writer(number: int) -> None:
            nonlocal done
            n = 0
            while time.perf_counter() - start < seconds:
                await sessions[number].add_items([{"role": "user", "content": harness.text(n)}])
                n += 1
                done += 1

        await asyncio.gather(*(writer(number) for number in range(SESSIONS)))
        rate = done / (time.perf_counter() - start)
        for session in sessions:
            session.close()
    return rate


async def main(short: bool) -> bool:
    seconds = 1.0 if short else 5.0
    rounds = 1 if short else 3
    ours, raw = [], []
    for _ in range(rounds):
        raw.append(raw_rate(SESSIONS, seconds))
        async with harness.service() as memory:
            await our_rate(memory, 0.2)
            ours.append(await our_rate(memory, seconds))
    mine, limit = harness.percentile(ours, 0.5), harness.percentile(raw, 0.5)
    print(f"  50 sessions: {mine:,.0f} messages/s; raw SQLite in groups of 50: {limit:,.0f}")
    good = harness.figure(
        "append, share of raw group commit", mine / limit * 100, "%", ">= 50", mine >= limit / 2
    )
    peer = await peer_rate(seconds)
    if peer is None:
        print("  openai-agents is not installed: no comparison with its SQLiteSession")
    else:
        print(f"  SQLiteSession of openai-agents: {peer:,.0f} messages/s")
        good &= harness.figure(
            "append, times SQLiteSession", mine / peer, "x", ">= 10", mine >= 10 * peer
        )
    count = 200 if short else 1000
    single = raw_commit_p50(count)
    async with harness.service() as memory:
        alone = await our_append_p50(memory, count)
    print(f"  one append alone, p50: {alone * 1e3:.2f} ms; one raw commit: {single * 1e3:.2f} ms")
    return (
        harness.figure(
            "append alone, times one raw commit", alone / single, "x", "<= 3", alone <= 3 * single
        )
        and good
    )


if __name__ == "__main__":
    harness.run(main(harness.arguments(__doc__ or "").parse_args().short))
