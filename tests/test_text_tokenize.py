"""Tokens against the contract's words, one character at a time."""

from __future__ import annotations

from itertools import groupby

import oracle_text as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.text.tokenize import spans, token_character, word_tokens

ALPHABET = (
    "ab1Z_ .-'\u0301\u3099é中文々〇⺀〸ひァカーﾞｶ한글ᄀกำ\u0e31\u0e3f"
    "\u0e50ກខ\u17b6က\ua9e6٣९😀\u200d\ufe0fЖßſ\U00020000½²Ⅷ\x00\n"
)
TEXTS = st.one_of(
    st.text(st.sampled_from(ALPHABET), max_size=150),
    st.text(st.sampled_from("ab_ .9é"), max_size=400),
    st.text(max_size=60),
)


@settings(deadline=None, max_examples=500)
@given(TEXTS)
def test_tokens_are_those_of_the_contract(text):
    assert word_tokens(text) == oracle.word_tokens(text)


@settings(deadline=None)
@given(TEXTS)
def test_white_space_splits_as_python_does(text):
    assert [token for token, _ in spans(text, "whitespace")] == text.split()


@settings(deadline=None)
@given(TEXTS)
def test_segments_are_runs_of_cjk_characters_and_what_is_between(text):
    found = [list(tokens) for _, tokens in groupby(spans(text, "cjk"), key=lambda span: span[1])]
    segments = [(tokens[0][1] % 2, [token for token, _ in tokens]) for tokens in found]
    for odd, tokens in segments:
        assert {oracle.is_cjk(token[0]) for token in tokens} == {bool(odd)}
        assert not odd or "".join(tokens) in text
    assert [g for odd, tokens in segments for g in oracle.ngrams(tokens, 2 if odd else 3)] == oracle.cjk_shingles(
        text, 2, 3
    )


@settings(deadline=None)
@given(st.text(max_size=20))
def test_token_characters(text):
    found = bool(token_character().search(text))
    assert found == any(oracle.kind(c) not in (None, "mark") for c in text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("x", ["x"]),
        ("don't 3.14 C++ x_1", ["don", "t", "3", "14", "C", "x_1"]),
        ("한국어abc カタカナひらがな", ["한국어", "abc", "カタカナ", "ひ", "ら", "が", "な"]),
        ("中々〇⺀", ["中", "々", "〇", "⺀"]),
        ("ลำ 5฿", ["ล", "ำ", "5"]),
        ("กั้", ["กั้"]),
        ("\u0301a\u0301_\u0301 \u0301b", ["a\u0301_\u0301", "b"]),
        ("❤\ufe0f ☀\ufe0f", []),
        ("١٢٣ab", ["١٢٣ab"]),
        ("スーパーマン・ﾊﾟ", ["スーパーマン", "ﾊﾟ"]),
        ("ᄒ\u1161ᆫ", ["ᄒ\u1161ᆫ"]),
        ("a\ud800b", ["a", "b"]),
    ],
)
def test_known_tokens(text, tokens):
    assert word_tokens(text) == tokens


def test_a_token_may_be_longer_than_any_block():
    for size in (63, 64, 65, 127, 128, 5000):
        assert word_tokens("a" * size) == ["a" * size]
        assert word_tokens("é" * size + " " + "b" * size) == ["é" * size, "b" * size]
