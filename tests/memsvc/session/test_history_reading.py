"""A line of history.json is whole or nothing; damage is told apart from an end that came early."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.record import Record
from memsvc.session.history_file import Reading, read, read_foreign

from .history_samples import BODIES, SAMPLES, ends, laid_out, lay, long_file, numbered

RECORDS = numbered(SAMPLES["many bytes a character"] + SAMPLES["nested"])
GOOD = laid_out(RECORDS)
LINES = GOOD.split(b"\n")
QUICK = "快".encode()
PAGE, SECTOR = 4096, 512

AGENVOY: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": "當前時間: 2026-02-03 10:00:00\n你好",
        "sendAt": 1_770_000_000 * 10**9,
    },
    {"role": "assistant", "content": "你好！", "sendAt": 1_770_000_001 * 10**9, "sender": "Bot"},
    {"role": "user", "content": "no time on this one"},
]


def test_a_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    assert read(tmp_path / "history.json", 5) == Reading(state="missing")


@pytest.mark.parametrize("keep", [0, 1, 3, 8, 100])
def test_the_newest_records_come_back_byte_for_byte(tmp_path: Path, keep: int) -> None:
    reading = read(lay(tmp_path / "history.json", GOOD), keep)
    assert reading == Reading(
        state="whole",
        size=len(GOOD),
        good_bytes=len(GOOD) - 2,
        count=8,
        first_seq=1,
        last_seq=8,
        tail=tuple(RECORDS[8 - min(keep, 8) :]),
    )


@given(bodies=st.lists(BODIES, min_size=1, max_size=6), first=st.integers(1, 2**62))
def test_whatever_a_message_holds_its_line_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[dict[str, Any]], first: int
) -> None:
    records = numbered(bodies, first, step=3)
    reading = read(lay(tmp_path_factory.getbasetemp() / "any.json", laid_out(records)), 10)
    assert reading.state == "whole"
    assert reading.tail == tuple(records)


@pytest.mark.parametrize("data", [b"[\n]", b"[]"])
def test_an_empty_array_is_an_empty_session(tmp_path: Path, data: bytes) -> None:
    path = lay(tmp_path / "history.json", data)
    assert read(path, 5) == Reading(state="whole", size=len(data))


@pytest.mark.parametrize("name", SAMPLES)
def test_cut_at_any_byte_a_file_gives_exactly_the_records_before(tmp_path: Path, name: str) -> None:
    records = numbered(SAMPLES[name])
    data, places = laid_out(records), ends(records)
    path = tmp_path / "history.json"
    for size in range(len(data)):
        reading = read(lay(path, data[:size]), 100)
        count = sum(place <= size for place in places)
        assert reading.state == "torn", size
        assert reading.tail == tuple(records[:count]), size
        assert (reading.count, reading.size) == (count, size)
        assert reading.good_bytes == (places[count - 1] if count else 0)


@pytest.mark.parametrize(
    "tail",
    [
        b"",
        b",",
        b",\n",
        b"\n",
        bytes(700),
        b",\n" + bytes(700) + b"\n]",
        b"\n]" + bytes(64),
        b',\n{"seq":9,"sendAt":1,"role":"user","content":"ha\n]',
        b',\n{"seq":9,"sendAt":1,"role":"user"} \xff\xfe',
        b",\n\xe4\xb8",
        b",\n]",
        b"]",
        b"\n]\n",
        b"\r\n]\r\n",
        b" \n ]",
        b'\n],"more":1}',
    ],
)
def test_what_follows_the_last_whole_record_is_cut_and_nothing_more(
    tmp_path: Path, tail: bytes
) -> None:
    reading = read(lay(tmp_path / "history.json", GOOD[:-2] + tail), 100)
    assert (reading.state, reading.tail) == ("torn", tuple(RECORDS))
    assert reading.good_bytes == len(GOOD) - 2
    assert reading.detail


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a broken line": (lambda data: data.replace(b'{"seq":3,', b'"seq":3,'), "line 4"),
    "a line without number": (lambda data: data.replace(b'"seq":3,"sendAt"', b'"sendAt"'), ""),
    "a block of NULs": (lambda data: data[:150] + bytes(100) + data[250:], "line 3"),
    "a line lost its break": (lambda data: data.replace(b',\n{"seq":4', b', {"seq":4'), ""),
    "a line lost its comma": (lambda data: data.replace(b',\n{"seq":4', b'\n{"seq":4'), "line 5"),
    "numbers go back": (lambda data: data.replace(b'"seq":5', b'"seq":2'), "line 6"),
    "a number twice": (lambda data: data.replace(b'"seq":5', b'"seq":4'), "line 6"),
    "two lines swapped": (lambda _: swapped(), "line 4"),
    "a line twice": (lambda data: data.replace(LINES[3], LINES[3] + b"\n" + LINES[3]), "line 5"),
    "not UTF-8": (lambda data: data.replace(QUICK, QUICK[:2]), f"byte {GOOD.index(QUICK)} "),
    "not UTF-8 in the last record": (lambda data: data.replace(b"data:,", b"d\xffta:,"), "byte "),
    "not UTF-8 in the last role": (lambda data: b"\xff".join(data.rsplit(b"assis", 1)), "byte "),
    "UTF-16": (lambda data: data.decode().encode("utf-16"), "byte 0"),
    "nothing but NULs": (lambda data: bytes(len(data)), "not a JSON array"),
    "words": (lambda _: b"These are words.", "not a JSON array"),
    "an object": (lambda _: b'{"role":"user","content":"hi"}', "expected an array of objects"),
    "an array of texts": (lambda _: b'["hi"]', "expected an array of objects"),
    "deep nesting": (lambda _: b"[" * 100_000, "not a JSON array"),
    "half of another's file": (lambda _: json.dumps(AGENVOY)[:-9].encode(), "not a JSON array"),
}


def swapped() -> bytes:
    return b"\n".join([*LINES[:2], LINES[3], LINES[2], *LINES[4:]])


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_in_the_middle_is_never_skipped(tmp_path: Path, name: str) -> None:
    damage, where = DAMAGE[name]
    data = damage(GOOD)
    assert data != GOOD
    path = lay(tmp_path / "history.json", data)
    reading = read(path, 100)
    # What is JSON all the same is taken as another program's work, with every entry.
    expected = "foreign" if where == "" else "unreadable"
    assert (reading.state, reading.tail) == (expected, ())
    assert where in reading.detail
    assert path.read_bytes() == data


@pytest.mark.parametrize("seq", [b"0", b"-1", b"9223372036854775808", b"1.0", b'"1"', b"01"])
def test_a_number_that_no_archive_could_hold_makes_no_record(tmp_path: Path, seq: bytes) -> None:
    line = b'{"seq":' + seq + b',"sendAt":1,"role":"user","content":"x"}'
    path = tmp_path / "history.json"
    assert read(lay(path, b"[\n" + line + b"\n]"), 1).count == (seq not in (b"01",))
    assert read(path, 1).state in ("foreign", "torn")
    assert read(path, 1).tail == ()


def test_the_flip_of_any_bit_is_found_or_changes_that_one_place(tmp_path: Path) -> None:
    records = numbered(SAMPLES["plain"][:3] + SAMPLES["nested"][:1])
    data, path = laid_out(records), tmp_path / "history.json"
    states: Counter[str] = Counter()
    for place in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            reading = read(lay(path, bytes(flipped)), 100)
            states[reading.state] += 1
            if reading.state == "whole":  # a letter of a text or a digit became another one
                assert laid_out(reading.tail) == flipped
            elif reading.state == "torn":
                assert reading.tail == tuple(records[: reading.count])
                assert reading.good_bytes <= place
                assert reading.count >= len(records) - 2
            else:
                assert reading.tail == ()
    assert set(states) == {"whole", "torn", "foreign", "unreadable"}
    assert states["unreadable"] > states["torn"]


def test_torn_sectors_of_the_last_page_cost_at_most_what_stood_there(tmp_path: Path) -> None:
    rng = random.Random(20)
    path = tmp_path / "history.json"
    states: Counter[str] = Counter()
    for round_ in range(300):
        records = long_file(60, seed=round_)
        durable = rng.randint(30, 59)
        old, new = laid_out(records[:durable]), laid_out(records)
        torn, first_torn = torn_page(rng, old, new)
        reading = read(lay(path, torn), 100)
        states[reading.state] += 1
        if reading.state in ("whole", "torn"):
            assert reading.tail == tuple(records[: reading.count])
            assert torn[: reading.good_bytes] == new[: reading.good_bytes]
            assert reading.count >= sum(place <= first_torn for place in ends(records))
        else:
            assert reading.state == "unreadable"
    assert states["torn"] > 150
    assert set(states) <= {"whole", "torn", "unreadable"}


def torn_page(rng: random.Random, old: bytes, new: bytes) -> tuple[bytes, int]:
    """Return a file of which some sectors of the last page never reached the disk, and the first."""
    start = len(new) // PAGE * PAGE
    torn, first = (
        bytearray(new[: rng.choice([len(new), len(old), rng.randint(start, len(new))])]),
        0,
    )
    for sector in range(start, len(torn), SECTOR):
        if rng.random() < 0.5:
            before = old[sector : sector + SECTOR] if rng.random() < 0.5 else b""
            end = min(sector + SECTOR, len(torn))
            torn[sector:end] = before.ljust(SECTOR, b"\0")[: end - sector]
            first = first or sector
    return bytes(torn), min(first or len(torn), len(torn))


FOREIGN: dict[str, bytes] = {
    "one line": json.dumps(AGENVOY, ensure_ascii=False).encode(),
    "one line, escaped": json.dumps(AGENVOY).encode(),
    "no spaces": json.dumps(AGENVOY, separators=(",", ":")).encode(),
    "indented": json.dumps(AGENVOY, ensure_ascii=False, indent=2).encode(),
    "indented by tabs, with a last line break": json.dumps(AGENVOY, indent="\t").encode() + b"\n",
    "a message a line": b"[\n" + b",\n".join(json.dumps(m).encode() for m in AGENVOY) + b"\n]",
    "byte order mark": b"\xef\xbb\xbf" + json.dumps(AGENVOY).encode(),
    "line breaks of Windows": json.dumps(AGENVOY, indent=2).replace("\n", "\r\n").encode(),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_agenvoy_is_read_as_it_is(tmp_path: Path, name: str) -> None:
    path = lay(tmp_path / "history.json", FOREIGN[name])
    reading = read(path, 5)
    assert (reading.state, reading.count, reading.tail) == ("foreign", 3, ())
    assert read_foreign(path) == AGENVOY
    assert path.read_bytes() == FOREIGN[name]


def test_half_of_a_surrogate_pair_does_not_make_a_file_unreadable(tmp_path: Path) -> None:
    path = lay(tmp_path / "history.json", rb'[{"role":"user","content":"a\ud83dz"}]')
    assert read(path, 5).state == "foreign"
    assert read_foreign(path) == [{"role": "user", "content": "a\ud83dz"}]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: json.dumps(json.loads(data), indent=1).encode(),
        lambda data: data.replace(b"\n]", b',\n{"role":"user","content":"by another"}\n]'),
        lambda data: data.replace(b'"seq":1,', b""),
    ],
    ids=["byte order mark", "CRLF", "indented", "appended to by another", "first number"],
)
def test_a_file_of_ours_that_another_program_saved_is_foreign_with_all_its_messages(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    data = change(GOOD)
    path = lay(tmp_path / "history.json", data)
    reading = read(path, 5)
    assert reading.state == "foreign"
    entries = read_foreign(path)
    assert reading.count == len(entries) >= 8
    contents = [entry["content"] for entry in json.loads(GOOD)]
    assert [entry["content"] for entry in entries][:8] == contents


@pytest.mark.parametrize("data", [b"[ ]", b"[]\n", b"\xef\xbb\xbf[]", b"[\r\n]", b" [\n\n]"])
def test_an_empty_array_of_another_layout_is_to_be_cut_before_use(
    tmp_path: Path, data: bytes
) -> None:
    reading = read(lay(tmp_path / "history.json", data), 5)
    assert (reading.state, reading.count, reading.good_bytes) == ("torn", 0, 0)


def test_the_text_of_a_message_never_stands_in_the_detail(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    secret = numbered([{"role": "user", "content": "s3cret"}] * 3)
    good = laid_out(secret)
    for place in range(0, len(good), 3):
        assert "s3cret" not in read(lay(path, good[:place] + b"\x00" + good[place:]), 1).detail
        assert "s3cret" not in read(lay(path, good[:place]), 1).detail


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(lay(tmp_path / "target", GOOD))
    with pytest.raises(OSError):
        read(tmp_path / "link", 1)


def test_a_record_is_cut_from_its_line_whatever_its_keys_are(tmp_path: Path) -> None:
    line = b'{"seq":4,"sendAt":-5,"x":{"seq":1},"role":"user","content":"hi"}'
    reading = read(lay(tmp_path / "history.json", b"[\n" + line + b"\n]"), 1)
    assert reading.tail == (Record(4, -5, b'{"x":{"seq":1},"role":"user","content":"hi"}'),)
