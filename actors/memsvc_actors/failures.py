"""What is remembered of keys whose actors failed: how long to wait, and when to stop trying."""

from __future__ import annotations

import asyncio
from collections import deque

from memsvc_actors.supervisor import Backoff


class Failures:
    """The failures of a registry's keys, each forgotten some time after its key's last one."""

    __slots__ = ("_after", "_backoff", "_seconds", "_times")

    def __init__(self, backoff: Backoff, quarantine_after: int, quarantine_seconds: float) -> None:
        self._backoff = backoff
        self._after = quarantine_after
        self._seconds = quarantine_seconds
        self._times: dict[str, deque[float]] = {}

    def count(self, key: str) -> None:
        """Take note of a failure."""
        times = self._times.setdefault(key, deque(maxlen=self._after))
        times.append(_now())

    def quarantined(self, key: str) -> bool:
        """Whether the key failed too often within the time, and is not started for now."""
        times = self._times.get(key)
        if times is None:
            return False
        if _now() - times[-1] > self._seconds:
            del self._times[key]
            return False
        return len(times) >= self._after and times[-1] - times[0] <= self._seconds

    def delay_seconds(self, key: str) -> float:
        """Return how long to wait before the key's next start."""
        times = self._times.get(key)
        if not times:
            return 0.0
        return max(times[-1] + self._backoff.delay_seconds(len(times)) - _now(), 0.0)

    def forget(self, key: str) -> None:
        """Forget the failures of a key, so that it is started again."""
        self._times.pop(key, None)

    def forget_old(self) -> None:
        """Forget what is too old to matter."""
        for key in list(self._times):
            self.quarantined(key)


def _now() -> float:
    return asyncio.get_running_loop().time()
