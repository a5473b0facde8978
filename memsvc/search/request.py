"""What a search asks for, and the check of it."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

import msgspec

from memsvc import times
from memsvc.archive.query import Query, parse_query
from memsvc.errors import InvalidArgument
from memsvc.model import ROLES, Match

LIMIT_MAX = 32


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a search; see `Session.search`."""

    query: str
    match: str = "hybrid"
    time_range: str = "all"
    after: datetime | str | None = None
    before: datetime | str | None = None
    limit: int = 8
    include_tools: bool = False
    role: str | None = None


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A request that can be carried out.

    Attributes:
        text: the query as it was given.
        query: its terms.
        match: words, meaning or both.
        after_ns: not before this time, UTC unix nanoseconds.
        before_ns: earlier than this time.
        limit: how many hits.
        include_tools: tool traffic and instructions too.
        role: only messages of this role.
    """

    text: str
    query: Query
    match: Match
    after_ns: int | None
    before_ns: int | None
    limit: int
    include_tools: bool
    role: str | None


def check(request: Request, now_ns: int, query_chars_max: int) -> Checked:
    """Return a request in a form that can be carried out.

    Raises:
        InvalidArgument: an argument cannot be used.
    """
    if not isinstance(request.query, str):
        raise InvalidArgument("The query is no text.", "Give it as text.")
    if len(request.query) > query_chars_max:
        raise InvalidArgument(
            f"The query has {len(request.query)} characters.",
            f"Give at most {query_chars_max} (limits.max_query_chars).",
        )
    if request.match not in get_args(Match):
        raise InvalidArgument(
            f"match {request.match!r} is not known.", f"Use one of: {', '.join(get_args(Match))}."
        )
    if type(request.limit) is not int or not 1 <= request.limit <= LIMIT_MAX:
        raise InvalidArgument(f"limit is {request.limit!r}.", f"Give 1 to {LIMIT_MAX}.")
    if request.role is not None and request.role not in ROLES:
        raise InvalidArgument(
            f"role {request.role!r} is not known.", f"Use one of: {', '.join(ROLES)}."
        )
    after_ns, before_ns = times.window_ns(request.time_range, request.after, request.before, now_ns)
    text = request.query.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = text.replace("\0", " ")
    return Checked(
        text=text,
        query=parse_query(text),
        match=request.match,  # type: ignore[arg-type]  # checked above
        after_ns=after_ns,
        before_ns=before_ns,
        limit=request.limit,
        include_tools=request.include_tools,
        role=request.role,
    )
