"""The text kernels where no public function reaches: blocks of bytes, full arrays, too little room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from cascade.kernels import normalize, shingle, words
from cascade.text.buffer import PAD, TextBuffer
from cascade.text.clusters import Clusters
from cascade.text.mapping import mapping
from cascade.text.normalize import Normalize
from cascade.text.tokenize import ascii_classes, classes


@njit
def byte_tests(data, i):
    return words.word_bits(data, i), words.visible_bits(data, i), words.high_bits(data, i)


@njit
def mapped(data, i, out, w, lower, drop, zero, space):
    return words.map_ascii(data, i, out, w, lower, drop, zero, space)


@settings(deadline=None)
@given(st.binary(min_size=64, max_size=64), st.integers(0, 9))
def test_byte_tests_agree_with_python(raw, offset):
    data = np.frombuffer(bytes(offset) + raw, np.uint8)
    word, visible, high = (int(bits) for bits in byte_tests(data, offset))
    for k, byte in enumerate(raw):
        c = chr(byte)
        assert word >> k & 1 == (c.isascii() and (c.isalnum() or c == "_"))
        assert visible >> k & 1 == (not (c.isascii() and c.isspace()))
        assert high >> k & 1 == (byte > 127)


@pytest.mark.parametrize("flags", [[bool(f >> k & 1) for k in range(4)] for f in range(16)])
def test_mapping_of_every_ascii_character(flags):
    lower, drop, zero, space = flags
    raw = bytes(range(128))
    data, out = np.frombuffer(raw, np.uint8), np.zeros(130, np.uint8)
    spaces = [int(mapped(data, i, out, i + 1, *flags)) for i in (0, 64)]
    want = []
    for c in map(chr, raw):
        blank = (drop and c.isprintable() and not c.isalnum()) or (space and c.isspace())
        cased = c.lower() if lower else c
        want.append(" " if blank else "0" if zero and c.isdigit() else cased)
    assert bytes(out).decode("ascii") == "\0" + "".join(want) + "\0"
    assert spaces == [sum(1 << k for k in range(64) if want[i + k] == " ") for i in (0, 64)]


def test_counting_of_low_bits():
    @njit
    def low(n):
        return words.low_bits(n)

    assert [int(low(n)) for n in range(65)] == [2**n - 1 for n in range(65)]


@pytest.mark.parametrize("call", ["token", "cjk", "char", "span"])
def test_a_kernel_without_room_says_so_and_stays_inside(call):
    texts = TextBuffer.from_strings(["a b c d", "中 b c 文"])
    indptr = np.zeros(3, np.int64)
    table = classes("cjk" if call == "cjk" else "word")
    seed = np.uint64(0)
    for room in range(20):
        whole = np.zeros(room + 100, np.uint64)
        out = whole[:room]
        if call == "token":
            used = shingle.token_shingles(texts.data, texts.offsets, table, True, 1, seed, out, indptr)
        elif call == "cjk":
            used = shingle.cjk_shingles(texts.data, texts.offsets, table, 1, 1, seed, out, indptr)
        elif call == "char":
            used = shingle.char_shingles(texts.data, texts.offsets, 1, seed, out, indptr)
        else:
            used = shingle.span_shingles(texts.data, texts.offsets, np.array([0, 1, 2]), 1, seed, out, indptr)
        need = {"token": 8, "cjk": 8, "char": 14, "span": 2}[call]
        assert used == (need if room >= need else -1)
        assert not whole[room:].any()


@pytest.mark.parametrize("pieces", [[1, 3, 1, 2], [1, 1, 1, 3], [9, 0, 2, 2], [4, 0, 2, 1], [4, 0, 0, 2**62]])
def test_pieces_that_are_not_as_long_as_their_text_are_refused(pieces):
    texts, rows = TextBuffer.from_strings(["a中 ", "文bc"]), np.array([0, 2, 4])
    out, indptr = np.zeros(4, np.uint64), np.zeros(3, np.int64)
    arguments = (rows, classes("word"), 1, np.uint64(0), out, indptr)
    assert shingle.piece_shingles(texts.data, texts.offsets, np.array([2, 1, 1, 2]), *arguments) == 3
    assert shingle.piece_shingles(texts.data, texts.offsets, np.array(pieces), *arguments) == -1
    assert (
        shingle.piece_shingles(texts.data, texts.offsets, np.array([2, 1, 1, 2]), *arguments[:-2], out[:2], indptr)
        == -1
    )


def test_a_table_of_ascii_alone_is_refused_for_other_texts():
    texts = TextBuffer.from_strings(["plain", "naïve"])
    out, indptr = np.zeros(50, np.uint64), np.zeros(3, np.int64)
    table = ascii_classes("word")
    assert shingle.token_shingles(texts.data, texts.offsets, table, True, 1, np.uint64(0), out, indptr) == -1
    assert shingle.token_shingles(texts.data, texts.offsets[:2], table, True, 1, np.uint64(0), out, indptr[:2]) == 1


def test_normalising_stops_for_room_at_any_size_and_stays_inside():
    texts = TextBuffer.from_strings(["Some ASCII  text", "ﷺ and ﷺ", "中文", ""])
    table, clusters = mapping(Normalize()), Clusters.empty(Normalize())
    want = "some ascii textصلى الله عليه وسلم and صلى الله عليه وسلم中文".encode()
    for size in range(len(want) + 200):
        whole = np.full(size + 400, 0xAA, np.uint8)
        out = whole[:size]
        ends = np.zeros(5, np.int64)
        row, at, _, used, reason = normalize.normalize_texts(
            texts.data, texts.offsets, 0, 0, 0, True, True, False, False, table.entries, table.pool, out, ends,
            *clusters.arrays,
        )  # fmt: skip
        assert (whole[size:] == 0xAA).all()
        assert bytes(out[:used]) == want[:used]
        assert (at, used) == (texts.offsets[row], ends[row])
        assert (reason, row) == (normalize.DONE, 4) if used == len(want) else reason == normalize.ROOM
    assert reason == normalize.DONE


@pytest.mark.parametrize("dtype", [np.uint32, np.int64])
def test_distinct_counts_stop_at_their_greatest_value(dtype):
    hashes = np.zeros(3, np.uint64)
    out, counts, indptr = np.zeros(3, np.uint64), np.zeros(3, np.uint32), np.zeros(2, np.int64)
    rows = np.array([0, 3])
    used = shingle.distinct_shingles(hashes, rows, np.zeros(16, dtype), np.uint64(1), out, counts, indptr)
    assert (used, counts[0], list(indptr)) == (1, 3, [0, 1])


def test_padding_is_what_kernels_read():
    assert PAD >= 16
