"""Events reach one observer, and a failing observer breaks nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from virtual_time import virtual

from memsvc_actors.events import Started, notify


@virtual
async def test_an_observer_that_fails_is_reported_to_the_loop_and_goes_no_further() -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))

    def broken(event: object) -> None:
        raise ValueError("observer")

    notify(broken, Started("a"))
    assert isinstance(reported[0]["exception"], ValueError)
    seen: list[object] = []
    notify(seen.append, Started("b"))
    assert seen == [Started("b")]
