"""Folding and segmenting text, so that words of any script are found as they were meant. Pure.

*Folding* makes equal what readers take for equal: NFKC (full-width forms, ligatures), case, typographic
quotes and dashes, and the accents of Latin, Greek and Cyrillic letters. Marks of other scripts carry
meaning and stay.

*Segmenting* puts spaces round every character of scripts written without spaces, and round symbols and
emoji, so that the full-text index holds one token for each. A query of any length is then a phrase of
single characters, and finds exactly what contains it.
"""

from __future__ import annotations

import re
import unicodedata

TOKENIZER_VERSION = 1
"""Grows with every change of the rules below; an index built under another one is built anew."""

FTS_TOKENIZE = "porter unicode61 remove_diacritics 0 categories 'L* N* Co M* So Sk'"
"""The tokenizer of the full-text index. Marks are parts of words: Indic scripts need them. Words are
looked up by their English stems, which ranks better (BM25 on LoCoMo: 53 % of the evidence against 49)
and changes nothing for other scripts; where a word must really occur, the text is read."""

# Work on long text goes in slices, so that no single call holds the interpreter for milliseconds.
_SLICE_CHARS = 16_384

# Han with extensions and compatibility forms, kana, bopomofo, Hangul, Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u19e0-\u19ff\u2e80-\u2fdf\u3005-\u3007"
    "\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3040-\u312f\u3130-\u318f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
# Blocks of symbols that are written against words: arrows, technical, dingbats, emoji.
_SYMBOLS = "\u2100-\u214f\u2190-\u2bff\U0001f000-\U0001faff"

UNSPACED = re.compile(f"[{_UNSPACED}]")
_SINGLE = re.compile(f"([{_UNSPACED}{_SYMBOLS}])")
_ACCENTED = re.compile("[\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\u1e00-\u1fff]")
_TYPOGRAPHIC = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
_COMBINING = re.compile("[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Return the text with differences removed that a search should not see."""
    if text.isascii():
        return text.lower()
    return "".join(_fold_slice(part) for part in _slices(text))


def segment(folded: str) -> str:
    """Return folded text with every unspaced character and symbol set apart by spaces."""
    if folded.isascii():
        return folded
    return "".join(_SINGLE.sub(r" \1 ", part) for part in _slices(folded))


def index_text(text: str) -> str:
    """Return what the full-text index is given for a text."""
    return segment(fold(text))


def _fold_slice(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_TYPOGRAPHIC)
    if _ACCENTED.search(folded) or _COMBINING.search(folded):
        folded = _strip_accents(folded)
    # Case folding can leave what NFKC would compose again (for example in Greek).
    return unicodedata.normalize("NFKC", folded)


def _strip_accents(text: str) -> str:
    # Only letters of Latin, Greek and Cyrillic are taken apart; kana and Hangul stay composed.
    taken_apart = _ACCENTED.sub(lambda found: unicodedata.normalize("NFD", found.group()), text)
    return _COMBINING.sub("", taken_apart)


def _slices(text: str) -> list[str]:
    if len(text) <= _SLICE_CHARS:
        return [text]
    parts = []
    start = 0
    while start < len(text):
        end = min(start + _SLICE_CHARS, len(text))
        # Never part a character from its marks, nor the jamo of one syllable.
        while end < len(text) and end - start < 2 * _SLICE_CHARS and _joins(text[end]):
            end += 1
        parts.append(text[start:end])
        start = end
    return parts


def _joins(character: str) -> bool:
    return bool(unicodedata.combining(character)) or "\u1160" <= character <= "\u11ff"
