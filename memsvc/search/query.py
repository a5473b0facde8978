"""Carrying out a search: ask the tiers, fuse, leave out what is not wanted, widen."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec

from memsvc import content, log, times
from memsvc.archive.client import ArchiveClient
from memsvc.archive.lookup import Scope
from memsvc.archive.query import all_words, any_word
from memsvc.archive.rows import Meta
from memsvc.errors import ModelError
from memsvc.model import Hit, Hits, Message, Tier
from memsvc.record import Record, decode_body, to_message
from memsvc.search import evidence
from memsvc.search.fusion import Place, fuse
from memsvc.search.request import Checked, Request, check
from memsvc.search.widen import widen
from memsvc.semantic.client import SemanticClient
from memsvc.semantic.nearness import Nearness
from memsvc.settings import Settings

# Ranked places that are fetched at a time until enough of them are wanted ones.
_FETCH = 64


class Found(msgspec.Struct, frozen=True):
    """What the tiers gave.

    Attributes:
        ranked: places with scores, best first.
        words: places found by words.
        cosine: the highest cosine, None without search by meaning.
        note: what limited the search, empty when nothing did.
    """

    ranked: list[tuple[Place, float]]
    words: Mapping[Place, float]
    cosine: float | None = None
    note: str = ""


class Searcher:
    """Searches one session, or the sessions of a prefix."""

    def __init__(
        self, archive: ArchiveClient, semantic: SemanticClient, settings: Settings
    ) -> None:
        self._archive = archive
        self._semantic = semantic
        self._settings = settings

    def check(self, request: Request) -> Checked:
        """Return the request in a form that can be carried out.

        Raises:
            InvalidArgument: an argument cannot be used.
        """
        return check(request, time.time_ns(), self._settings.limits.max_query_chars)

    async def in_session(self, request: Request, meta: Meta, before_seq: int | None) -> Hits:
        """Return what answers best in one session.

        Args:
            request: what is asked for.
            meta: the session.
            before_seq: the window begins here: only what is older is wanted; None for everything.
        """
        return await self._search(self.check(request), {meta.sid: meta}, before_seq)

    async def in_sessions(self, request: Request, prefix: str) -> Hits:
        """Return what answers best in all sessions whose id begins with a prefix."""
        metas = await self._archive.read.recent_metas(prefix, self._settings.search.sessions_max)
        return await self._search(self.check(request), {meta.sid: meta for meta in metas}, None)

    async def _search(
        self, asked: Checked, metas: Mapping[int, Meta], before_seq: int | None
    ) -> Hits:
        if not asked.text.strip() or not metas:
            return Hits(note="" if metas else "No session matches.")
        scope = Scope(
            sids=tuple(metas),
            tools=asked.include_tools,
            role=asked.role,
            after_ns=asked.after_ns,
            before_ns=asked.before_ns,
            before_seq=before_seq,
        )
        if asked.match == "keyword":
            found = await self._by_keyword(asked, scope, metas)
        elif asked.match == "semantic":
            found = await self._by_meaning(asked, scope, metas, None)
        else:
            found = await self._by_both(asked, scope, metas)
        return await self._answer(asked, scope, metas, found)

    async def _by_keyword(self, asked: Checked, scope: Scope, metas: Mapping[int, Meta]) -> Found:
        """Find messages with every term: by the index, and among recent ones letter by letter."""
        if not asked.query.terms:
            return Found([], {})
        literals = asked.query.literals
        lookup = self._archive.lookup
        candidates = self._settings.search.candidates
        expression = all_words(asked.query)
        words: dict[Place, float] = {}
        if expression is not None:
            ranked = await lookup.ranked(expression, scope, candidates)
            # The index knows words by their stems; the text must really contain them.
            for hit in await lookup.confirmed(ranked, literals, scope):
                words[hit.sid, hit.seq] = hit.score
        hot_from = min(meta.start_seq for meta in metas.values()) if len(metas) == 1 else 0
        from_seq = hot_from if expression is not None else 0
        for hit in await lookup.containing(literals, scope, candidates, from_seq):
            words.setdefault((hit.sid, hit.seq), 0.0)
        ranked_places = sorted(words.items(), key=lambda item: (-item[1], -item[0][1]))
        return Found(ranked_places, words)

    async def _by_meaning(
        self,
        asked: Checked,
        scope: Scope,
        metas: Mapping[int, Meta],
        words: Mapping[Place, float] | None,
    ) -> Found:
        query = await self._semantic.embed_query(asked.text)
        nearest: dict[int, Nearness] = {}
        budget = self._settings.search.prefix_vectors_max
        for sid, meta in metas.items():
            if budget <= 0 and len(metas) > 1:
                break
            near = await self._semantic.nearest(
                sid, query, self._settings.search.candidates, scope.before_seq
            )
            nearest[sid] = near
            budget -= meta.messages
        cosine = max(
            (max(near.cosines.values(), default=-1.0) for near in nearest.values()), default=-1.0
        )
        note = await self._waiting_note(metas)
        if words is not None:
            return Found(fuse(words, nearest), words, cosine, note)
        ranked: list[tuple[Place, float]] = [
            ((sid, seq), value)
            for sid, near in nearest.items()
            for seq, value in near.cosines.items()
        ]
        ranked.sort(key=lambda item: (-item[1], -item[0][1]))
        return Found(ranked, {}, cosine, note)

    async def _by_both(self, asked: Checked, scope: Scope, metas: Mapping[int, Meta]) -> Found:
        expression = any_word(asked.query)
        words: dict[Place, float] = {}
        if expression is not None:
            candidates = self._settings.search.candidates
            for hit in await self._archive.lookup.ranked(expression, scope, candidates):
                words[hit.sid, hit.seq] = max(hit.score, 1e-6)
        else:
            words = dict((await self._by_keyword(asked, scope, metas)).words)
            words = dict.fromkeys(words, 1e-6)
        if not self._semantic.available:
            return Found(fuse(words, {}), words)
        try:
            return await self._by_meaning(asked, scope, metas, words)
        except ModelError as error:
            log.warning("search without meaning", reason=error.what)
            return Found(fuse(words, {}), words, None, f"By words only: {error.what}")

    async def _waiting_note(self, metas: Mapping[int, Meta]) -> str:
        if len(metas) > 1:
            return ""
        waiting = sum([await self._semantic.waiting(sid) for sid in metas])
        return f"{waiting} messages are not embedded yet." if waiting else ""

    async def _answer(
        self, asked: Checked, scope: Scope, metas: Mapping[int, Meta], found: Found
    ) -> Hits:
        chosen = await self._choose(asked, scope, found.ranked)
        widened = widen(list(chosen), lambda place: _in_window(place, scope))
        neighbours = await self._fetch(
            [place for before, after in widened for place in (*before, *after)]
        )
        hits = []
        for (place, (record, score)), (before, after) in zip(chosen.items(), widened, strict=True):
            message = to_message(record)
            hits.append(
                Hit(
                    session=metas[place[0]].session,
                    seq=record.seq,
                    role=message.role,
                    sender=message.sender,
                    content=message.content,
                    sent_at=times.from_ns(record.sent_at),
                    score=round(score, 6),
                    tier=_tier(place, found.words, metas[place[0]]),
                    before=[neighbours[near] for near in before if near in neighbours],
                    after=[neighbours[near] for near in after if near in neighbours],
                )
            )
        shown = [content.chat_text(decode_body(record.body)) for record, _ in chosen.values()]
        strength = evidence.judge(
            asked.query,
            shown,
            found.cosine,
            self._semantic.usual_cosines,
            every_word=asked.match == "keyword",
        )
        return Hits(hits=hits, evidence=strength, note=found.note)

    async def _choose(
        self, asked: Checked, scope: Scope, ranked: Sequence[tuple[Place, float]]
    ) -> dict[Place, tuple[Record, float]]:
        """Return the best places that hold a wanted message, with the message and the score."""
        chosen: dict[Place, tuple[Record, float]] = {}
        for start in range(0, len(ranked), _FETCH):
            part = ranked[start : start + _FETCH]
            records = await self._records([place for place, _ in part])
            for place, score in part:
                record = records.get(place)
                if record is not None and _wanted(record, scope):
                    chosen[place] = (record, score)
                    if len(chosen) == asked.limit:
                        return chosen
        return chosen

    async def _records(self, places: Sequence[Place]) -> dict[Place, Record]:
        seqs: dict[int, list[int]] = {}
        for sid, seq in places:
            seqs.setdefault(sid, []).append(seq)
        return {
            (sid, seq): record
            for sid, wanted in seqs.items()
            for seq, record in (await self._archive.read.picked(sid, wanted)).items()
        }

    async def _fetch(self, places: Sequence[Place]) -> dict[Place, Message]:
        return {
            place: to_message(record) for place, record in (await self._records(places)).items()
        }


def _wanted(record: Record, scope: Scope) -> bool:
    """Say whether a message is within the scope; neighbours and vectors know only their number."""
    if scope.before_seq is not None and record.seq >= scope.before_seq:
        return False
    if scope.after_ns is not None and record.sent_at < scope.after_ns:
        return False
    if scope.before_ns is not None and record.sent_at >= scope.before_ns:
        return False
    fields = decode_body(record.body)
    if scope.role is not None and fields["role"] != scope.role:
        return False
    return scope.tools or content.is_chat(fields)


def _in_window(place: Place, scope: Scope) -> bool:
    return scope.before_seq is not None and place[1] >= scope.before_seq


def _tier(place: Place, words: Mapping[Place, float], meta: Meta) -> Tier:
    if place not in words:
        return "semantic"
    return "hot" if place[1] >= meta.start_seq else "archive"
