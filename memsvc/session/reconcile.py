"""What to do about a session's file, given what the archive has. The archive wins. Pure."""

from __future__ import annotations

import msgspec

from memsvc.session.history_file import Reading


class Keep(msgspec.Struct, frozen=True):
    """File and archive agree."""


class Complete(msgspec.Struct, frozen=True):
    """The file ends early: write what follows `after_seq`, cutting off a torn tail first if `cut`."""

    after_seq: int
    cut: bool


class Rebuild(msgspec.Struct, frozen=True):
    """Write the file anew from the archive, keeping the old one under another name if `set_aside`."""

    set_aside: bool
    reason: str


class Backfill(msgspec.Struct, frozen=True):
    """The archive has never met the session: take it over from the file."""


class Fresh(msgspec.Struct, frozen=True):
    """There is nothing anywhere."""


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
        return Rebuild(False, "the file is missing")
    if reading.state == "unreadable":
        return Rebuild(True, reading.detail)
    if reading.state == "foreign":
        return Rebuild(True, "another program has written the file")
    if reading.last_seq is None:
        return Complete(0, cut=True) if reading.state == "torn" else Complete(0, cut=False)
    if reading.last_seq > archive_last_seq:
        return Rebuild(True, f"message {reading.last_seq} is not in the archive")
    if archive_count_in_file != reading.count:
        return Rebuild(True, "it does not hold the messages that the archive has")
    if reading.last_seq < archive_last_seq or reading.state == "torn":
        return Complete(reading.last_seq, cut=reading.state == "torn")
    return Keep()


def _unknown_to_archive(reading: Reading) -> Plan:
    if reading.state == "unreadable":
        return Rebuild(True, reading.detail)
    if reading.state == "foreign" or reading.count:
        return Backfill()
    return Rebuild(False, "it holds no whole record") if reading.state == "torn" else Fresh()
