"""What to do about a session's file, given what the archive has. The archive wins. Pure.

the archive has    the file
nothing            missing or empty               Fresh
                   records, whole or torn         Backfill
                   foreign                        Backfill
                   unreadable, or half a record   Rebuild, after setting it aside
messages           missing, or without a record   Rebuild
                   behind                         Complete
                   torn                           Complete, after cutting it
                   ahead, foreign, unreadable,
                   or not the same messages       Rebuild, after setting it aside
                   the same                       Keep
"""

from __future__ import annotations

import msgspec

from memsvc.session.history_file import Reading


class Keep(msgspec.Struct, frozen=True):
    """File and archive agree."""


class Complete(msgspec.Struct, frozen=True):
    """The file ends early: write what follows it.

    Attributes:
        after_seq: its last whole record.
        cut: cut a torn tail off first.
    """

    after_seq: int
    cut: bool


class Rebuild(msgspec.Struct, frozen=True):
    """Write the file anew from the archive (empty, when the archive has never met the session).

    Attributes:
        set_aside: keep the old one under another name first.
        reason: for the log.
    """

    set_aside: bool
    reason: str


class Backfill(msgspec.Struct, frozen=True):
    """The archive has never met the session: take it over from the file."""


class Fresh(msgspec.Struct, frozen=True):
    """There is nothing anywhere."""


_OPENING_BYTES = 2

Plan = Keep | Complete | Rebuild | Backfill | Fresh


def plan(reading: Reading, archive_last_seq: int, archive_count_in_file: int | None) -> Plan:
    """Return what to do.

    Args:
        reading: the file.
        archive_last_seq: the newest message in the archive; 0 when it has never met the session.
        archive_count_in_file: how many messages the archive has in the file's range of numbers, or
            None for a file without any.
    """
    if archive_last_seq == 0:
        return _unknown_to_archive(reading)
    if reading.state == "missing":
        return Rebuild(set_aside=False, reason="it is missing")
    if reading.state == "unreadable":
        return Rebuild(set_aside=True, reason=reading.detail)
    if reading.state == "foreign":
        return Rebuild(set_aside=True, reason="another program has written it")
    if reading.last_seq is None:
        # Not Complete: what the archive has may begin long before what the file should hold.
        return Rebuild(set_aside=False, reason="it holds no whole record")
    if reading.last_seq > archive_last_seq:
        return Rebuild(set_aside=True, reason=f"message {reading.last_seq} is not in the archive")
    if archive_count_in_file != reading.count:
        return Rebuild(set_aside=True, reason="it does not hold the messages that the archive has")
    if reading.last_seq < archive_last_seq or reading.state == "torn":
        return Complete(reading.last_seq, cut=reading.state == "torn")
    return Keep()


def _unknown_to_archive(reading: Reading) -> Plan:
    if reading.state == "unreadable":
        return Rebuild(set_aside=True, reason=reading.detail)
    if reading.state == "foreign" or reading.count:
        return Backfill()
    if reading.state == "torn":
        # Half a record that nobody else has; less than an opening bracket is nothing.
        half = reading.size > _OPENING_BYTES
        return Rebuild(set_aside=half, reason="it holds no whole record")
    return Fresh()
