"""A session's directory as its actor sees it: history.json kept in step with the archive.

The archive is the truth and the file its projection. A file that is behind is completed, one that is
ahead or cannot be read is set aside and built anew, and only a session that the archive has never met
is read from its file. Whole-file work runs in threads; one append is a single small write and does not.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread

from memsvc import log
from memsvc.archive.client import ArchiveClient
from memsvc.archive.reader import ArchiveReader
from memsvc.archive.rows import Meta
from memsvc.errors import StorageError
from memsvc.record import Record, to_line
from memsvc.session import backfill, history_file, reconcile, summary_file
from memsvc.session.summary_file import SummaryState

# Above this many bytes a write is worth the hop to a thread that hides it.
_INLINE_BYTES = 64 * 1024
# A disk that refused is not asked again by every message.
_RETRY_SECONDS = 5.0
_COMPLETE_ROWS = 2000
_NO_SUMMARY = (SummaryState(), 0)


class Projection:
    """The files of one session.

    Attributes:
        size: bytes of history.json, 0 when it is missing or out of step.
        first_seq: the oldest message in it, None when it is empty or out of step.
        problem: what is wrong, empty when nothing is.
    """

    __slots__ = (
        "_empty",
        "_fingerprint",
        "_name",
        "_retry_at",
        "_root",
        "_summary",
        "first_seq",
        "problem",
        "size",
    )

    def __init__(self, root: str, name: str) -> None:
        # A path object for each of many idle sessions would weigh more than all else here.
        self._root = root
        self._name = name
        self._forget()

    def _forget(self) -> None:
        self.size = 0
        self.first_seq: int | None = None
        self.problem = ""
        self._empty = True
        self._retry_at = 0.0
        self._fingerprint: tuple[int, ...] = ()
        self._summary: tuple[SummaryState, int] = _NO_SUMMARY

    @property
    def directory(self) -> Path:
        """Where the files are."""
        return Path(self._root, self._name)

    @property
    def _history(self) -> Path:
        return Path(self._root, self._name, "history.json")

    async def mend(
        self, session: str, meta: Meta | None, archive: ArchiveClient, keep: int
    ) -> list[Record]:
        """Bring history.json in step with the archive, and return the newest messages.

        A disk that refuses is no reason to refuse a session whose messages are in the archive: the
        problem is noted, and mending is tried again later.

        Raises:
            StorageError: the archive could not be read, or a file of a session that the archive has
                never met could not be.
        """
        if time.monotonic() >= self._retry_at:
            try:
                await self._mend(session, meta, archive, keep)
                self.problem = ""
            except (OSError, history_file.HistoryFileChanged) as error:
                self._note(session, error)
                if meta is None:
                    reason = getattr(error, "strerror", None) or error
                    raise StorageError(
                        f"{self._history} could not be read: {reason}.",
                        "Check the disk and the permissions of the folder; nothing was changed.",
                    ) from error
        if meta is None:
            meta = await archive.read.meta(session)
        return await archive.read.newest(meta.sid, keep) if meta else []

    async def _mend(
        self, session: str, meta: Meta | None, archive: ArchiveClient, keep: int
    ) -> None:
        reading = await anyio.to_thread.run_sync(history_file.read, self._history, keep)
        in_file = None
        if meta and reading.first_seq is not None and reading.last_seq is not None:
            in_file = await archive.read.count(meta.sid, reading.first_seq, reading.last_seq)
        plan = reconcile.plan(reading, meta.last_seq if meta else 0, in_file)
        self.size, self.first_seq = reading.size, reading.first_seq
        self._empty = reading.count == 0
        match plan:
            case reconcile.Complete() if meta:
                await self._complete(plan, reading, meta, archive.read)
            case reconcile.Rebuild():
                await self._rebuild(session, plan, meta, archive.read)
            case reconcile.Backfill():
                await self._backfill(session, reading, archive)

    async def _complete(
        self,
        plan: reconcile.Complete,
        reading: history_file.Reading,
        meta: Meta,
        archive: ArchiveReader,
    ) -> None:
        if plan.cut:
            self.size = await anyio.to_thread.run_sync(
                history_file.cut, self._history, reading.good_bytes, reading.count
            )
        after = max(plan.after_seq, meta.start_seq - 1)
        while after < meta.last_seq:
            records = await archive.stretch(meta.sid, after + 1, meta.last_seq, _COMPLETE_ROWS)
            if not records:
                return
            await self._write(records)
            after = records[-1].seq

    async def _rebuild(
        self, session: str, plan: reconcile.Rebuild, meta: Meta | None, archive: ArchiveReader
    ) -> None:
        if plan.set_aside:
            kept = await anyio.to_thread.run_sync(history_file.set_aside, self._history)
            log.warning(
                "history.json set aside and built anew from the archive",
                session=session,
                reason=plan.reason,
                kept=str(kept),
            )
        records = []
        if meta is not None:
            records = await archive.stretch(meta.sid, meta.start_seq, meta.last_seq)
        self.size = await anyio.to_thread.run_sync(
            history_file.rewrite, self._history, [to_line(record) for record in records]
        )
        self.first_seq = records[0].seq if records else None
        self._empty = not records

    async def _backfill(
        self, session: str, reading: history_file.Reading, archive: ArchiveClient
    ) -> None:
        """Write a session that the archive has never met into it, whole, in one transaction."""
        found = await anyio.to_thread.run_sync(backfill.read_rows, self._history, reading)
        if found.rows:
            await archive.store(session, None, found.rows)
        log.info("session taken over from its file", session=session, messages=len(found.rows))
        if not found.rewrite:
            return
        if found.unusable:
            kept = await anyio.to_thread.run_sync(history_file.set_aside, self._history)
            log.warning(
                "entries of history.json could not be used",
                session=session,
                entries=len(found.unusable),
                first=found.unusable[0],
                kept=str(kept),
            )
        lines = [to_line(Record(row.seq, row.sent_at, row.body)) for row in found.rows]
        self.size = await anyio.to_thread.run_sync(history_file.rewrite, self._history, lines)
        self.first_seq = found.rows[0].seq if found.rows else None
        self._empty = not found.rows

    async def append(self, session: str, records: Sequence[Record]) -> bool:
        """Write archived messages to the end of history.json; False when it must be mended first."""
        if self.problem:
            return False
        try:
            await self._write(records)
        except (OSError, history_file.HistoryFileChanged) as error:
            self._note(session, error)
            if isinstance(error, history_file.HistoryFileChanged | FileNotFoundError):
                self._retry_at = 0.0  # nothing is wrong with the disk
            return False
        return True

    async def _write(self, records: Sequence[Record]) -> None:
        lines = [to_line(record) for record in records]
        if self.size == 0:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if sum(map(len, lines)) <= _INLINE_BYTES:
            self.size = history_file.append(self._history, self.size, lines, empty=self._empty)
        else:
            self.size = await anyio.to_thread.run_sync(
                lambda: history_file.append(self._history, self.size, lines, empty=self._empty)
            )
        self._empty = False
        if self.first_seq is None:
            self.first_seq = records[0].seq

    def _note(self, session: str, error: Exception) -> None:
        self.size, self.first_seq = 0, None
        self._retry_at = time.monotonic() + _RETRY_SECONDS
        reason = getattr(error, "strerror", None) or str(error)
        self.problem = (
            f"{self._history} could not be kept in step: {reason}. The messages are safe in the"
            " archive; the file is mended when the disk allows."
        )
        log.warning("history.json is out of step", session=session, reason=reason)

    async def summary(self, archive: ArchiveReader, sid: int | None) -> tuple[SummaryState, int]:
        """Return the summary on disk and the seq up to which it reaches; read again when it changed."""
        fingerprint = summary_file.fingerprint(self.directory)
        if fingerprint != self._fingerprint:
            state = await anyio.to_thread.run_sync(summary_file.read, self.directory)
            cursor_seq = 0
            if state.cursor is not None and state.cursor.seq is not None:
                cursor_seq = state.cursor.seq
            elif state.cursor is not None and state.cursor.sent_at is not None and sid is not None:
                cursor_seq = await archive.last_seq_before(sid, state.cursor.sent_at)
            self._summary, self._fingerprint = (state, cursor_seq), fingerprint
        return self._summary

    async def delete(self) -> None:
        """Delete the session's directory with all that is in it."""
        try:
            await anyio.to_thread.run_sync(shutil.rmtree, self.directory)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StorageError(
                f"{self.directory} could not be deleted: {error.strerror}.",
                "Check its permissions and remove the session again.",
            ) from error
        self._forget()
