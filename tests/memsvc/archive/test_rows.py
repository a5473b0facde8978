"""The checksum that each row carries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memsvc.archive.rows import checksum


@given(st.binary(min_size=1, max_size=200), st.integers(0, 10**6), st.integers(0, 7))
def test_any_flipped_bit_changes_the_checksum(body: bytes, place: int, bit: int) -> None:
    damaged = bytearray(body)
    damaged[place % len(body)] ^= 1 << bit
    assert checksum(1, 1, bytes(damaged)) != checksum(1, 1, body)


def test_the_same_words_in_another_place_have_another_checksum() -> None:
    assert len({checksum(1, 1, b"x"), checksum(1, 2, b"x"), checksum(2, 1, b"x")}) == 3
