"""Sessions as others see them: appends, views and removals, each answered by the session's actor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from memsvc.asking import Askable, ask
from memsvc.model import Receipt
from memsvc.session.draft import Draft
from memsvc.session.messages import Append, Remove, View, Viewed


class SessionClient:
    """Asks session actors, waking them where they sleep."""

    def __init__(self, ref: Callable[[str], Askable], timeout_seconds: float) -> None:
        self._ref = ref
        self._timeout_seconds = timeout_seconds

    async def append(self, session: str, drafts: Sequence[Draft]) -> Receipt:
        """Store messages, all or none.

        Cancelling the caller does not cancel the append: once taken it is carried out.

        Raises:
            Conflict: a message id comes again with other content; nothing was changed.
            Overloaded: the session's mailbox is full, or the answer did not come in time.
            StorageError: the archive failed.
        """
        answer = await ask(
            self._ref(session),
            Append(tuple(drafts)),
            timeout_seconds=self._timeout_seconds,
            wait_for_room=False,
            must_run=True,
        )
        return cast("Receipt", answer)

    async def view(self, session: str) -> Viewed:
        """Return what a context is made of."""
        answer = await ask(
            self._ref(session), View(), timeout_seconds=self._timeout_seconds, wait_for_room=False
        )
        return cast("Viewed", answer)

    async def remove(self, session: str) -> bool:
        """Delete a session and its directory; return whether it was there."""
        answer = await ask(
            self._ref(session), Remove(), timeout_seconds=self._timeout_seconds, must_run=True
        )
        return bool(answer)
