"""Session ids become directory names that never meet and never leave their folder."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memsvc.errors import InvalidArgument
from memsvc.session.directory import check_session_id, directory_name

PLAIN = [
    "a",
    "7",
    "alice",
    "vt-firmware",
    "chat.2026-01-01",
    "123e4567-e89b-12d3-a456-426614174000",
]
PLAIN += ["x" * 80, "a_b", "con1", "console", "nul-l", "com", "a-", "a_", "temp-1"]
AWKWARD = [
    "../../etc/x",
    "..",
    ".",
    "CON",
    "con",
    "con.txt",
    "com1",
    "com1.a.b",
    "nul",
    "lpt9",
    "prn",
]
AWKWARD += [
    "a/b",
    "a\\b",
    "a:b",
    "Ä",
    "A\u0308",
    "ä",
    "Bob",
    "bob ",
    " bob",
    "bob.",
    ".bob",
    "-bob",
]
AWKWARD += [
    "🦊",
    "🦊🦊",
    "会话",
    "two words",
    "ſ",
    "s~1",
    "ﬁ",
    "\u202ex",
    "\ufdd0",
    "x" * 81,
    "X" * 200,
]
AWKWARD += ["é" * 200, "~", "a~b", "_a", "a\u200b", "İ", "ı", "K"]

IDS = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=200)
TRANSFORMS: list[Callable[[str], str]] = [
    str.casefold,
    str.upper,
    str.lower,
    str.swapcase,
    lambda text: unicodedata.normalize("NFC", text),
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: unicodedata.normalize("NFKC", text),
    lambda text: text + ".",
    lambda text: text + " ",
    lambda text: text.replace("/", "_"),
    directory_name,
]


def same_place(name: str) -> set[str]:
    """Return what file systems that fold case or normalise may take a name for."""
    forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    return {form.casefold().rstrip(". ") for form in forms}


@pytest.mark.parametrize("session_id", PLAIN)
def test_a_plain_id_is_its_own_name(session_id: str) -> None:
    assert directory_name(session_id) == session_id


@pytest.mark.parametrize("session_id", AWKWARD)
def test_any_other_id_is_a_readable_part_and_a_digest(session_id: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]{1,40}~[a-z2-7]{26}", directory_name(session_id))


def test_the_readable_part_tells_the_id() -> None:
    assert directory_name("User 7: Köln").startswith("user-7-koln~")
    assert directory_name("会话").startswith("session~")


def test_a_name_never_changes_from_one_version_to_the_next() -> None:
    assert directory_name("Bob") == "bob~zwp3dykiztmeils2u5eqjtdtx4"


@given(IDS)
@example("../../etc/x")
@example("..")
def test_a_name_is_one_that_every_file_system_takes(session_id: str) -> None:
    name = directory_name(check_session_id(session_id))
    assert re.fullmatch(r"[a-z0-9][a-z0-9._~-]*", name)
    assert len(name.encode()) <= 80
    assert not name.endswith(".")
    assert name.split(".")[0] not in {"con", "prn", "aux", "nul", "com1", "com0", "lpt1", "lpt9"}


@given(IDS, st.sampled_from(TRANSFORMS))
@example("Ä", TRANSFORMS[5])
@example("Bob", TRANSFORMS[2])
@example("a/b", TRANSFORMS[9])
@example("CON", TRANSFORMS[10])
def test_two_ids_that_look_alike_never_share_a_name(
    session_id: str, transform: Callable[[str], str]
) -> None:
    other = transform(session_id)
    one_place, other_place = directory_name(session_id), directory_name(other)
    assert (session_id == other) == bool(same_place(one_place) & same_place(other_place))


def test_sessions_with_awkward_ids_lie_side_by_side_in_their_folder(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    root.mkdir()
    for session_id in (*PLAIN, *AWKWARD):
        folder = root / directory_name(session_id)
        folder.mkdir()
        assert folder.resolve().parent == root.resolve()
    assert len(list(root.iterdir())) == len({*PLAIN, *AWKWARD}) == len(PLAIN) + len(AWKWARD)
    assert list(tmp_path.iterdir()) == [root]


@pytest.mark.parametrize(
    ("session_id", "named"),
    [
        (7, "int"),
        (None, "NoneType"),
        (b"bytes", "bytes"),
        ("", "empty"),
        ("x" * 201, "201 characters"),
        ("a\nb", "control character (U+000A) at position 1"),
        ("\x00", "U+0000"),
        ("ab\x7f", "U+007F"),
        ("\x9b", "U+009B"),
        ("a\ud800", "lone surrogate (U+D800) at position 1"),
    ],
)
def test_an_id_that_cannot_be_used_is_refused_by_its_fault(session_id: object, named: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        check_session_id(session_id)
    assert named in refused.value.what
    assert refused.value.next_step


@pytest.mark.parametrize("session_id", [*PLAIN, *AWKWARD, "x" * 200, "\u200d", "\U0010ffff"])
def test_any_other_text_of_up_to_200_characters_is_an_id(session_id: str) -> None:
    assert check_session_id(session_id) == session_id
