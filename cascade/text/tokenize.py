"""Which characters make a token: the class tables behind the kernels, and the tokens of one text. No hashing here.

The word rule: letters (L*), decimal digits (Nd), underscore and all code points of the Han ranges belong to tokens,
and marks (M*) extend the token before them, if any. Han, Hiragana, Thai, Lao, Khmer and Myanmar characters are tokens
by themselves; runs of Katakana, of Hangul and of everything else are tokens. Class ranges other than Han mean letters.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from cascade.text.buffer import PAD, encode

Rule = Literal["word", "whitespace", "cjk"]
"""`cjk` tells characters of Han, Kana and Hangul from other tokens, each of them with its marks a token by itself."""
Classes = npt.NDArray[np.uint8]

HAN = (
    (0x2E80, 0x2FDF), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF),
)  # fmt: skip
HIRAGANA = ((0x3041, 0x3096), (0x309D, 0x309F))
KATAKANA = ((0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F))
HANGUL = ((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7FB))
UNSPACED = ((0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1780, 0x17FF), (0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F))
"""Thai, Lao, Khmer, Myanmar: written without spaces, a token each."""


@cache
def ascii_classes(rule: Rule) -> Classes:
    """The class of each ASCII character: all that texts of ASCII need, and free of charge."""
    from cascade.kernels.tokenize import SEPARATOR, WORD

    def inside(character: str) -> bool:
        return not character.isspace() if rule == "whitespace" else character.isalnum() or character == "_"

    return _frozen(np.array([WORD if inside(chr(i)) else SEPARATOR for i in range(128)], np.uint8))


@cache
def classes(rule: Rule) -> Classes:
    """The class (see cascade.kernels.tokenize) of every code point: uint8[0x110000]."""
    from cascade.kernels.tokenize import CJK, MARK, SEPARATOR, SINGLE, WORD
    from cascade.kernels.tokenize import HANGUL as HANGUL_RUN
    from cascade.kernels.tokenize import KATAKANA as KATAKANA_RUN
    from cascade.text.codepoints import LIMIT, of_category, spaces

    if rule == "whitespace":
        return _frozen(np.where(spaces(), SEPARATOR, WORD).astype(np.uint8))
    letter = of_category("L")
    table = np.zeros(LIMIT, np.uint8)
    table[letter | of_category("Nd")] = WORD
    table[ord("_")] = WORD
    table[of_category("M")] = MARK
    cjk = rule == "cjk"
    for ranges, kind in (
        (HIRAGANA, CJK if cjk else SINGLE),
        (KATAKANA, CJK if cjk else KATAKANA_RUN),
        (HANGUL, CJK if cjk else HANGUL_RUN),
        (UNSPACED, SINGLE),
    ):
        for low, high in ranges:
            table[low : high + 1][letter[low : high + 1]] = kind
    for low, high in HAN:
        table[low : high + 1] = CJK if cjk else SINGLE
    return _frozen(table)


def _frozen(table: Classes) -> Classes:
    table.flags.writeable = False
    return table


@cache
def token_character() -> re.Pattern[str]:
    """Matches one character that belongs to a token (and is no mark)."""
    from cascade.kernels.tokenize import MARK

    inside = np.concatenate(([False], classes("word") > MARK, [False]))
    bounds = np.flatnonzero(inside[1:] != inside[:-1]).tolist()
    ranges = (f"\\U{low:08x}-\\U{high - 1:08x}" for low, high in zip(bounds[::2], bounds[1::2], strict=True))
    return re.compile(f"[{''.join(ranges)}]")


def word_tokens(text: str) -> list[str]:
    """The tokens of a text under the rule `word`, in order, each with its marks."""
    return [token for token, _ in spans(text, "word")]


def spans(text: str, rule: Rule) -> list[tuple[str, int]]:
    """The tokens of a text under a rule, and for each the number of its segment.

    Under `cjk` a run of Han, Kana and Hangul characters that touch is one segment and what lies between two such runs
    is another; under other rules a text is one segment. N-grams do not cross the border of a segment. Segments of CJK
    characters have odd numbers, others even ones.
    """
    from cascade.kernels.tokenize import CJK, token_spans

    raw = encode(text)
    data = np.frombuffer(raw + bytes(PAD), np.uint8)
    table = ascii_classes(rule) if raw.isascii() else classes(rule)
    starts, ends, kinds = (part.tolist() for part in token_spans(data, 0, len(raw), table, rule != "whitespace"))
    found = []
    segment, end = 0, 0
    for start, stop, kind in zip(starts, ends, kinds, strict=True):
        if (kind == CJK) != bool(segment % 2):
            segment += 1
        elif segment % 2 and start != end:
            segment += 2
        end = stop
        found.append((raw[start:stop].decode("utf-8"), segment))
    return found
