"""Shinglers against n-grams of plain tokens, hashes against Python integers, distinct shingles against dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import oracle_text as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from cascade.registry import shingler_class
from cascade.text.buffer import Shingles, TextBuffer
from cascade.text.shingle import Char, Cjk, Jieba, TokenShingler, Whitespace, Word, distinct, sorted_sets

ALPHABET = "aabb1_  .\u0301é中文中文ひカカー한글กำЖ😀\n"
TEXTS = st.one_of(st.text(st.sampled_from(ALPHABET), max_size=60), st.text(max_size=20), st.text("ab ", max_size=300))
LISTS = st.lists(TEXTS, max_size=6)
SEEDS = st.integers(0, 2**70)


class Letters(TokenShingler):
    """As third parties write it: here a token for each word, by its first letters."""

    def tokens(self, text):
        return [word[:2] for word in text.split()]


def plain_shingles(shingler, text):
    if isinstance(shingler, Cjk):
        return oracle.cjk_shingles(text, shingler.n, shingler.word_n)
    if isinstance(shingler, Char):
        return oracle.ngrams(text, shingler.n)
    if isinstance(shingler, Word):
        return oracle.ngrams(oracle.word_tokens(text), shingler.n)
    return oracle.ngrams(shingler.tokens(text) if isinstance(shingler, Letters) else text.split(), shingler.n)


def plain_hash(shingler, tokens, seed):
    if isinstance(shingler, Char):
        return oracle.mix64(oracle.hash_bytes("".join(tokens).encode(), seed))
    return oracle.shingle_hash(tokens, seed)


SHINGLERS = st.one_of(
    st.builds(Word, n=st.integers(1, 7)),
    st.builds(Whitespace, n=st.integers(1, 7)),
    st.builds(Char, n=st.integers(1, 30)),
    st.builds(Cjk, n=st.integers(1, 4), word_n=st.integers(1, 4)),
    st.builds(Letters, n=st.integers(1, 4)),
)


@settings(deadline=None, max_examples=300)
@given(SHINGLERS, LISTS, SEEDS)
def test_shingles_and_their_hashes(shingler, texts, seed):
    found = shingler.shingle(TextBuffer.from_strings(texts), seed)
    assert found.counts is None
    assert len(found) == len(texts)
    assert (found.hashes.dtype, found.indptr.dtype) == (np.uint64, np.int64)
    for i, text in enumerate(texts):
        want = plain_shingles(shingler, text)
        assert shingler.shingle_texts(text) == want
        assert found.row(i).tolist() == [plain_hash(shingler, tokens, seed % 2**64) for tokens in want]


@pytest.mark.parametrize(
    "shingler", [Word(n=2), Whitespace(n=1), Char(n=3), Cjk(), Letters(n=2)], ids=lambda s: type(s).__name__
)
def test_part_of_a_buffer_and_long_texts(shingler):
    texts = ["q r s", "ab cd " * 4000 + "中文" * 5000 + "é a 中。" * 2000, "", "é " * 3000, "x" * 10000, "end"]
    buffer = TextBuffer.from_strings(texts)
    whole = shingler.shingle(buffer, 3)
    part = shingler.shingle(buffer.part(1, 5), 3)
    assert part.lengths.tolist() == whole.lengths[1:5].tolist()
    for i in range(4):
        assert part.row(i).tolist() == whole.row(i + 1).tolist()
        tokens = shingler.shingle_texts(texts[i + 1])
        want = {shingle: plain_hash(shingler, shingle, 3) for shingle in set(tokens)}
        assert part.row(i).tolist() == [want[shingle] for shingle in tokens]


@pytest.mark.parametrize(
    "shingler", [Word(), Whitespace(), Char(), Cjk(), Jieba(), Letters()], ids=lambda s: type(s).__name__
)
def test_no_text_and_texts_without_tokens(shingler):
    assert len(shingler.shingle(TextBuffer.from_strings([]), 0).hashes) == 0
    found = shingler.shingle(TextBuffer.from_strings(["", ""]), 0)
    assert found.lengths.tolist() == [0, 0]
    assert shingler.shingle_texts("") == []
    if not isinstance(shingler, (Char, Whitespace, Letters)):
        assert shingler.shingle(TextBuffer.from_strings([" ¿?… ❤\ufe0f \u0301"]), 0).lengths.tolist() == [0]


def test_tokens_may_hold_lone_surrogates():
    class Odd(TokenShingler):
        def tokens(self, text):
            return ["中", "\ud83d", "\ude00", "a"]

    found = Odd(n=1).shingle(TextBuffer.from_strings(["x"]), 0).hashes.tolist()
    assert found == [oracle.shingle_hash([token], 0) for token in "中\ufffd\ufffda"]


def test_borders_order_and_number_of_tokens_count():
    rows = ["ab c", "a bc", "c ab", "abc", "ab", "ab ab", "ab ab ab", "ab\0", "a b c ab"]
    found = Whitespace(n=5).shingle(TextBuffer.from_strings(rows), 0)
    assert found.lengths.tolist() == [1] * len(rows)
    assert len(set(found.hashes.tolist())) == len(rows)


def test_seeds_give_other_hashes_and_count_modulo_2_to_the_64():
    texts = TextBuffer.from_strings(["a b c", "a 中 文"])
    for shingler in (Word(n=1), Whitespace(n=2), Char(n=2), Cjk(), Jieba(), Letters()):
        first, second, same = (set(shingler.shingle(texts, seed).hashes.tolist()) for seed in (0, 1, 2**64))
        assert not first & second
        assert first == same


def test_hashes_are_even_in_low_and_high_bits():
    found = Word(n=2).shingle(TextBuffer.from_strings([" ".join(map(str, range(20000)))]), 0).hashes
    assert len(set(found.tolist())) == 19999
    for shift in (0, 20, 56):
        filled = np.bincount((found >> np.uint64(shift) & np.uint64(0xFF)).astype(int), minlength=256)
        assert 30 < filled.min() <= filled.max() < 140


def test_crafted_repetition_does_not_make_hashes_collide():
    # Thue-Morse sequences of two tokens make all polynomials modulo 2^64 collide.
    bits = [bin(i).count("1") % 2 for i in range(256)]
    pair = [" ".join("ab"[b ^ turn] for b in bits) for turn in (0, 1)]
    found = [Whitespace(n=256).shingle(TextBuffer.from_strings(pair), seed).hashes for seed in range(200)]
    assert all(a != b for a, b in found)


def test_golden_hashes():
    texts = TextBuffer.from_strings(["the quick brown fox jumps over", "中文 word"])
    assert [Word().shingle(texts, 0).hashes.tolist(), Cjk().shingle(texts, 7).hashes.tolist()[-2:]] == GOLDEN
    assert Char(n=24).shingle(texts, 0).hashes.tolist()[:1] == GOLDEN_CHAR


GOLDEN = [[0x66572BC4DE25E086, 0x3749731EECB88CA1, 0xE0A1CF3E9B68B82C], [0xA98B91FDFD9A0E06, 0xAA011790BF2034CC]]
GOLDEN_CHAR = [0x0A358C295120A3D0]


ROWS = st.lists(st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**64 - 1)), max_size=40), max_size=8)


def shingles_of(rows):
    hashes = np.array([h for row in rows for h in row], np.uint64)
    return Shingles(hashes, np.cumsum([0, *map(len, rows)]).astype(np.int64))


@settings(deadline=None)
@given(ROWS)
def test_distinct_keeps_first_occurrences_and_counts(rows):
    found = distinct(shingles_of(rows))
    assert (found.hashes.dtype, found.counts.dtype) == (np.uint64, np.uint32)
    for i, row in enumerate(rows):
        want = Counter(row)
        assert found.row(i).tolist() == list(want)
        assert found.counts[found.indptr[i] : found.indptr[i + 1]].tolist() == list(want.values())


@settings(deadline=None)
@given(ROWS)
def test_sorted_sets(rows):
    for given_shingles in (shingles_of(rows), distinct(shingles_of(rows))):
        before = given_shingles.hashes.copy()
        found = sorted_sets(given_shingles)
        assert [found.row(i).tolist() for i in range(len(rows))] == [sorted(set(row)) for row in rows]
        assert found.counts is None
        assert (given_shingles.hashes == before).all()


@pytest.mark.parametrize(
    "hashes",
    [
        np.arange(300_000, dtype=np.uint64),
        np.arange(300_000, dtype=np.uint64) << np.uint64(44),
        np.arange(300_000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15),
        np.repeat(np.arange(3, dtype=np.uint64), 100_000),
    ],
    ids=["small", "high", "golden", "repeated"],
)
def test_distinct_is_linear_for_regular_hashes(hashes):
    # A quadratic table would take minutes here.
    found = distinct(Shingles(hashes, np.array([0, len(hashes)])))
    assert len(found.hashes) == len(np.unique(hashes))
    assert found.counts.sum() == len(hashes)


def test_distinct_after_a_row_of_any_length():
    rows = [list(range(n)) * 2 for n in (1, 5000, 0, 3, 200, 5000, 2)]
    found = distinct(shingles_of(rows))
    assert found.lengths.tolist() == [1, 5000, 0, 3, 200, 5000, 2]
    assert (found.counts == 2).all()


@pytest.mark.parametrize(
    ("name", "kind"), [("whitespace", Whitespace), ("word", Word), ("char", Char), ("cjk", Cjk), ("jieba", Jieba)]
)
def test_shinglers_are_found_by_their_names(name, kind):
    assert shingler_class(name) is kind
    assert kind().by == name
    assert kind().ngram == kind().n
    assert kind.model_validate({"by": name, "n": 4}).ngram == 4
    with pytest.raises(ValidationError):
        kind.model_validate({"by": "other"})
    for n in (0, -1, 257, "many"):
        with pytest.raises(ValidationError):
            kind.model_validate({"n": n})
