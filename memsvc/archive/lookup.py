"""Finding messages by words: ranked by BM25 through FTS5, or read through for a literal text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from memsvc.archive.connections import Connections
from memsvc.archive.rows import Found

# Literals that stand in JSON as they are.
_PLAIN = re.compile(r"[ !#-\[\]-~]+")

# Above this many sessions the session filter moves from the index expression to the join.
_TOKENS_MAX = 200
# Weights of the columns session, text, tools: the session token is a filter, not a match.
_BM25 = "bm25(messages_fts, 0.0, 1.0, 1.0)"


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Where to look.

    Attributes:
        sids: the sessions, by number.
        tools: tool traffic and instructions too.
        role: only messages of this role.
        after_ns: not before this time, UTC unix nanoseconds.
        before_ns: earlier than this time.
        before_seq: only messages with smaller numbers (with a single session).
    """

    sids: Sequence[int]
    tools: bool = False
    role: str | None = None
    after_ns: int | None = None
    before_ns: int | None = None
    before_seq: int | None = None

    def where(self) -> tuple[str, list[Any]]:
        """Return the conditions on `messages m`, as SQL and its parameters."""
        sids = ",".join(str(int(sid)) for sid in self.sids)
        conditions = [f"m.sid IN ({sids})"]
        parameters: list[Any] = []
        for condition, value in (
            ("m.role = ?", self.role),
            ("m.sent_at >= ?", self.after_ns),
            ("m.sent_at < ?", self.before_ns),
            ("m.seq < ?", self.before_seq),
        ):
            if value is not None:
                conditions.append(condition)
                parameters.append(value)
        if not self.tools:
            conditions.append("m.chat")
        return " AND ".join(conditions), parameters


class ArchiveLookup:
    """Keyword queries over the archive."""

    def __init__(self, connections: Connections, rank_hits_max: int, scan_max: int) -> None:
        self._read = connections.read
        self._rank_hits_max = rank_hits_max
        self._scan_max = scan_max

    async def ranked(self, expression: str, scope: Scope, limit: int) -> list[Found]:
        """Return the messages that an FTS5 expression over the text finds, best first.

        The cost of BM25 grows with the hits. When there are more than `search.rank_hits_max`, only
        the newest that many are ranked.
        """
        match = _scoped(expression, scope)
        oldest = await self._oldest_ranked(match)
        where, parameters = scope.where()
        rows = await self._read(
            f"SELECT m.sid, m.seq, -{_BM25} FROM messages_fts"
            " JOIN messages m ON m.id = messages_fts.rowid"
            f" WHERE messages_fts MATCH ? AND messages_fts.rowid >= ? AND {where}"
            f" ORDER BY {_BM25}, m.id DESC LIMIT ?",
            (match, oldest, *parameters, limit),
        )
        return [Found(*row) for row in rows]

    async def _oldest_ranked(self, match: str) -> int:
        rows = await self._read(
            "SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?"
            " ORDER BY rowid DESC LIMIT 1 OFFSET ?",
            (match, self._rank_hits_max - 1),
        )
        return int(rows[0][0]) if rows else 0

    async def containing(
        self, literals: Sequence[str], scope: Scope, limit: int, from_seq: int = 0
    ) -> list[Found]:
        """Return messages whose folded text contains every literal, newest first.

        At most `search.scan_max` messages are read, the newest of the scope.

        Args:
            literals: folded texts, none empty.
            scope: where to look.
            limit: how many to return.
            from_seq: only messages with this number or above.
        """
        where, parameters = scope.where()
        contains = " AND ".join("instr(folded, ?)" for _ in literals)
        plain = [literal for literal in literals if _PLAIN.fullmatch(literal)]
        rows = await self._read(
            f"SELECT sid, seq FROM (SELECT sid, seq, memsvc_folded(body, ?) AS folded FROM ("
            f"SELECT m.sid, m.seq, m.body FROM messages m WHERE {where} AND m.seq >= ?"
            f" ORDER BY m.{self._order(scope)} DESC LIMIT ?) WHERE {_maybe(len(plain))})"
            f" WHERE {contains} LIMIT ?",
            (scope.tools, *parameters, from_seq, self._scan_max, *plain, *literals, limit),
        )
        return [Found(row[0], row[1], 0.0) for row in rows]

    async def confirmed(
        self, found: Sequence[Found], literals: Sequence[str], scope: Scope
    ) -> list[Found]:
        """Return those of the found messages whose folded text contains every literal."""
        if not literals or not found:
            return list(found)
        contains = " AND ".join("instr(folded, ?)" for _ in literals)
        places = ",".join(f"({hit.sid},{hit.seq})" for hit in found)
        rows = await self._read(
            "SELECT sid, seq FROM (SELECT sid, seq, memsvc_folded(body, ?) AS folded"
            f" FROM messages WHERE (sid, seq) IN (VALUES {places})) WHERE {contains}",
            (scope.tools, *literals),
        )
        kept = {(row[0], row[1]) for row in rows}
        return [hit for hit in found if (hit.sid, hit.seq) in kept]

    @staticmethod
    def _order(scope: Scope) -> str:
        # Within one session seq order is an index; over several, the order of writing.
        return "seq" if len(scope.sids) == 1 else "id"


def _maybe(count: int) -> str:
    """Return a condition that holds for every body that may contain some plain literals.

    Folding runs in Python and holds the interpreter's lock; most bodies are told off by this first. In a
    body that is all ASCII (as many characters as bytes) folding changes nothing but case.
    """
    has_all = " AND ".join("instr(lower(CAST(body AS TEXT)), ?)" for _ in range(count)) or "1"
    return f"(({has_all}) OR length(body) != length(CAST(body AS TEXT)))"


def _scoped(expression: str, scope: Scope) -> str:
    columns = "{text tools}" if scope.tools else "text"
    within = f"{columns} : ({expression})"
    if len(scope.sids) > _TOKENS_MAX:
        return within
    tokens = " OR ".join(f'"s{int(sid)}"' for sid in scope.sids)
    return f"session : ({tokens}) AND {within}"
