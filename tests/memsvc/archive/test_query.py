"""From a person's query to FTS5, against a real table."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc import text
from memsvc.archive.query import TERMS_MAX, all_words, any_word, parse_query


def found(documents: list[str], expression: str | None) -> set[int]:
    if expression is None:
        return set()
    table = sqlite3.connect(":memory:")
    table.execute(
        f"CREATE VIRTUAL TABLE f USING fts5(session, text, content='', tokenize=\"{text.FTS_TOKENIZE}\")"
    )
    table.executemany(
        "INSERT INTO f (rowid, session, text) VALUES (?, 's1', ?)",
        [(n, text.index_text(document)) for n, document in enumerate(documents)],
    )
    query = f'session : ("s1") AND text : ({expression})'
    rows = table.execute("SELECT rowid FROM f WHERE f MATCH ?", (query,)).fetchall()
    table.close()
    return {row[0] for row in rows}


DOCUMENTS = [
    "重跑gen-itgc后50条",
    "ok, the deployment",
    "今天玩成语接龙游戏",
    "अनीता ने कहा",
    "Café",
    "끝말잇기 하자",
    "hi🎉there",
    "C盘 满了",
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("gen", 0), ("itgc", 0), ("重跑", 0), ("后", 0), ("deployment ok", 1), ("成语接龙", 2), ("接", 2), ("अनीता", 3),
     ("CAFE", 4), ("끝말", 5), ("잇기 하자", 5), ("🎉", 6), ("盘", 7), ("c盘", 7)],
)  # fmt: skip
def test_every_word_of_any_script_is_looked_up(query: str, expected: int) -> None:
    assert found(DOCUMENTS, all_words(parse_query(query))) == {expected}


def test_every_word_must_occur() -> None:
    assert found(
        ["ok then", "the deployment", "ok deployment"], all_words(parse_query("ok deployment"))
    ) == {2}


def test_any_word_leaves_out_words_that_say_nothing_but_not_all_of_them() -> None:
    assert any_word(parse_query("Which cache did we choose?")) == '"cache" OR "choose"'
    assert any_word(parse_query("what is it")) == '"what" OR "is" OR "it"'
    assert any_word(parse_query('"the who"')) == '"the who"'
    assert any_word(parse_query("部署流程")) == '"部 署" OR "署 流" OR "流 程"'


def test_the_punctuation_that_ends_a_sentence_is_not_part_of_its_last_word() -> None:
    assert parse_query("cache?").literals == ("cache",)
    assert parse_query("快取。").literals == ("快取",)
    assert parse_query("c++").literals == ("c++",)
    assert parse_query("...").literals == ("...",)


def test_quotes_make_phrases_and_a_lone_quote_is_a_character() -> None:
    assert parse_query('say "hello world" now').literals == ("say", "hello world", "now")
    assert parse_query('5" disk').literals == ('5"', "disk")


def test_a_query_without_end_is_cut_to_its_first_terms() -> None:
    assert len(parse_query(" ".join(f"w{n}" for n in range(1000))).terms) == TERMS_MAX


@given(st.text(max_size=60))
def test_no_query_is_a_syntax_error(query: str) -> None:
    parsed = parse_query(query)
    found(["something"], all_words(parsed))
    found(["something"], any_word(parsed))


_MIXED = st.text(st.sampled_from("重跑成語接龍あいカキ한국ไทยgenok 5-"), min_size=1, max_size=12)


@given(
    st.lists(_MIXED, min_size=1, max_size=5),
    st.text(st.sampled_from("重跑成語接龍あいカキ한국"), min_size=1, max_size=2),
)
def test_one_or_two_characters_find_every_text_that_contains_them(
    documents: list[str], query: str
) -> None:
    expected = {
        n for n, document in enumerate(documents) if text.fold(query) in text.fold(document)
    }
    assert found(documents, all_words(parse_query(query))) == expected
