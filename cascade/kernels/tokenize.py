"""Finding the tokens of UTF-8 text by a class for each code point. The class table, the rule, is not made here."""

from __future__ import annotations

import numpy as np
from numba import int64, uint8, uint64

from cascade.kernels.compile import kernel, part
from cascade.kernels.words import (
    count_bits,
    high_bits,
    load64,
    low_bits,
    store64,
    trailing_zeros,
    visible_bits,
    word_bits,
)

SEPARATOR, MARK, WORD, KATAKANA, HANGUL, SINGLE, CJK = range(7)
"""Classes: nothing; extends what is before it; three kinds of runs; a token by itself; one inside a run of its like."""

CHUNK = 4096
"""Tokens that are found before they are hashed: few enough to stay in cache."""


@part
def token_room(count):
    """Arrays for `count` tokens at a time: the edges of tokens, start and end in turn, and the classes of tokens."""
    return np.empty(2 * count + 72, np.int64), np.empty(count + 72, np.uint8)


@part
def code_point(word):
    """The code point at the start of a word of valid UTF-8 whose first byte is 0x80 or above, and its length."""
    lead = word & uint64(0xFF)
    second = (word >> uint64(8)) & uint64(0x3F)
    if lead < uint64(0xE0):
        return int64(((lead & uint64(0x1F)) << uint64(6)) | second), 2
    third = (word >> uint64(16)) & uint64(0x3F)
    if lead < uint64(0xF0):
        return int64(((lead & uint64(0x0F)) << uint64(12)) | (second << uint64(6)) | third), 3
    fourth = (word >> uint64(24)) & uint64(0x3F)
    high = (lead & uint64(0x07)) << uint64(18)
    return int64(high | (second << uint64(12)) | (third << uint64(6)) | fourth), 4


@part
def put_words(bits, i, edges, used, kinds):
    """Appends i + k to `edges` for every bit k that is set, and WORD to `kinds` for every token that begins there.

    Eight places at a time, for a branch each would cost far more than those that are too many.
    """
    for k in range(0, 40, 8):
        store64(kinds, ((used + 1) >> 1) + k, uint64(0x0101010101010101) * uint64(WORD))
    end = used + count_bits(bits)
    while True:
        for k in range(8):
            edges[used + k] = i + trailing_zeros(bits)
            bits &= bits - uint64(1)
        used += 8
        if used >= end:
            return end


@part
def find_in_ascii(data, i, stop, inside_bits, edges, used, kinds):
    """Finds the tokens of blocks of 64 ASCII bytes; returns the place of the first byte that is in none, and `used`.

    `inside_bits` tells which bytes belong to tokens, which are of class WORD; one is open at place `i` if `used` is
    odd.
    """
    while i + 64 <= stop and used <= edges.shape[0] - 72 and high_bits(data, i) == uint64(0):
        inside = inside_bits(data, i)
        shifted = (inside << uint64(1)) | uint64(used & 1)
        used = put_words(inside ^ shifted, i, edges, used, kinds)
        i += 64
    return i, used


@part
def find_tokens(data, i, stop, classes, by_word, edges, kinds, kind):
    """Finds tokens from place `i` on, until `stop` or until the arrays are full.

    Token t is data[edges[2t]:edges[2t + 1]] of class kinds[t]. `kind` is the class of a token that is open at place `i`
    and whose start is edges[0]; SEPARATOR: none is. Returns the number of finished tokens, the place reached, and the
    class of the token that is open there (never at `stop`), whose start stands behind the edges of the finished ones.
    The number is -1 if a table of ASCII alone is not enough.
    """
    used = 0 if kind == SEPARATOR else 1
    full = edges.shape[0] - 72
    while i < stop and used <= full:
        if kind in (SEPARATOR, WORD):
            # The rule is chosen outside of the loop, or every block would be put to both.
            if by_word:
                i, used = find_in_ascii(data, i, stop, word_bits, edges, used, kinds)
            else:
                i, used = find_in_ascii(data, i, stop, visible_bits, edges, used, kinds)
            kind = uint8(WORD) if used & 1 else uint8(SEPARATOR)
            if i >= stop or used > full:
                break
        if data[i] < 128:
            size = min(64, stop - i)
            if i + 64 <= data.shape[0]:
                size = min(size, trailing_zeros(high_bits(data, i)))
                inside = word_bits(data, i) if by_word else visible_bits(data, i)
            else:
                # Close to the end of the buffer there are no 64 bytes to look at.
                inside = uint64(0)
                for k in range(size):
                    byte = data[i + k]
                    if byte >= 128:
                        size = k
                        break
                    inside |= uint64(classes[byte] == WORD) << uint64(k)
            if kind not in (SEPARATOR, WORD):
                edges[used] = i
                used += 1
            shifted = (inside << uint64(1)) | uint64(used & 1)
            used = put_words((inside ^ shifted) & low_bits(size), i, edges, used, kinds)
            kind = uint8(WORD) if used & 1 else uint8(SEPARATOR)
            i += size
        elif classes.shape[0] <= 128:
            return -1, i, kind
        else:
            point, size = code_point(load64(data, i))
            found = classes[point]
            if found != MARK and (found != kind or kind >= SINGLE):
                if kind != SEPARATOR:
                    edges[used] = i
                    used += 1
                if found != SEPARATOR:
                    kinds[used >> 1] = found
                    edges[used] = i
                    used += 1
                kind = found
            i += size
    if i >= stop and used & 1:
        edges[used] = stop
        used += 1
        kind = uint8(SEPARATOR)
    return used >> 1, i, kind


@part
def pass_characters(data, i, stop, count, classes):
    """The place `count` code points behind place `i` (not behind `stop`), and whether one of them belongs to a token.

    A mark alone does not count; `classes` covers all code points.
    """
    found = False
    for _ in range(count):
        if i >= stop:
            return i + 1, found  # there are too few
        point, size = int64(data[i]), 1
        if point >= 128:
            point, size = code_point(load64(data, i))
        found |= classes[point] > MARK
        i += size
    return i, found


@kernel
def token_spans(data, start, stop, classes, by_word):
    """Where the tokens of data[start:stop] start and end (int64), and their classes (uint8)."""
    edges, kinds = token_room(stop - start)
    done, _, _ = find_tokens(data, start, stop, classes, by_word, edges, kinds, uint8(SEPARATOR))
    return edges[: 2 * done : 2], edges[1 : 2 * done : 2], kinds[:done]
