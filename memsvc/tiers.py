"""The parts of a service that a session's handle speaks to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memsvc.archive.client import ArchiveClient
from memsvc.model import Json
from memsvc.search.query import Searcher
from memsvc.semantic.client import SemanticClient
from memsvc.session.client import SessionClient
from memsvc.session.tokens import estimate_tokens
from memsvc.settings import Settings

TokenCounter = Callable[[Mapping[str, Json]], int]


class Tiers:
    """What a handle speaks to.

    Attributes:
        sessions: the owners of the conversations.
        archive: every message ever appended.
        semantic: search by meaning.
        searcher: the search over all of them.
        settings: limits and sizes.
        count_tokens: tokens of one chat message, for `max_tokens`.
        check_open: raises `ServiceClosed` once the service is closed.
    """

    def __init__(
        self,
        sessions: SessionClient,
        archive: ArchiveClient,
        semantic: SemanticClient,
        searcher: Searcher,
        settings: Settings,
        check_open: Callable[[], None],
        count_tokens: TokenCounter = estimate_tokens,
    ) -> None:
        self.sessions = sessions
        self.archive = archive
        self.semantic = semantic
        self.searcher = searcher
        self.settings = settings
        self.check_open = check_open
        self.count_tokens = count_tokens
