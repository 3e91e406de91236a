"""Finding the tokens of UTF-8 text by a class for each code point. The class table, the rule, is not made here."""

from __future__ import annotations

import numpy as np
from numba import int64, njit, uint8, uint64

from cascade.kernels.compile import kernel
from cascade.kernels.words import high_bits, load64, low_bits, trailing_zeros, visible_bits, word_bits

SEPARATOR, MARK, WORD, KATAKANA, HANGUL, SINGLE, CJK = range(7)
"""Classes: nothing; extends what is before it; three kinds of runs; a token by itself; one inside a run of its like."""

CHUNK = 4096
"""Tokens that are found before they are hashed: few enough to stay in cache."""


@njit(inline="always")
def token_room(count):
    """Arrays for `count` tokens at a time: where they start and end, and their classes."""
    return np.empty(count + 65, np.int64), np.empty(count + 65, np.int64), np.empty(count + 65, np.uint8)


@njit(inline="always")
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


@njit(inline="always")
def find_tokens(data, i, stop, classes, by_word, starts, ends, kinds, kind):
    """Finds tokens from place `i` on, until `stop` or until the arrays are full.

    `kind` is the class of a token that is open at place `i` and whose start is starts[0]; SEPARATOR: none is. Returns
    the number of finished tokens, the place reached, and the class of the token that is open there (never at `stop`),
    whose start stands behind those of the finished ones. The number is -1 if a table of ASCII alone is not enough.
    """
    begun = 0 if kind == SEPARATOR else 1
    done = 0
    full = starts.shape[0] - 65
    while i < stop and begun <= full:
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
            inside &= low_bits(size)
            if kind != SEPARATOR and (kind != WORD or inside & uint64(1) == uint64(0)):
                ends[done] = i
                done += 1
                kind = uint8(SEPARATOR)
            shifted = (inside << uint64(1)) | uint64(kind == WORD)
            bits = inside & ~shifted
            while bits != uint64(0):
                starts[begun] = i + trailing_zeros(bits)
                kinds[begun] = WORD
                begun += 1
                bits &= bits - uint64(1)
            bits = ~inside & shifted & low_bits(size)
            while bits != uint64(0):
                ends[done] = i + trailing_zeros(bits)
                done += 1
                bits &= bits - uint64(1)
            kind = uint8(WORD) if begun > done else uint8(SEPARATOR)
            i += size
        elif classes.shape[0] <= 128:
            return -1, i, kind
        else:
            point, size = code_point(load64(data, i))
            found = classes[point]
            if found != MARK and (found != kind or kind >= SINGLE):
                if kind != SEPARATOR:
                    ends[done] = i
                    done += 1
                if found != SEPARATOR:
                    starts[begun] = i
                    kinds[begun] = found
                    begun += 1
                kind = found
            i += size
    if i >= stop and begun > done:
        ends[done] = stop
        done += 1
        kind = uint8(SEPARATOR)
    return done, i, kind


@njit(inline="always")
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
    starts, ends, kinds = token_room(stop - start)
    done, _, _ = find_tokens(data, start, stop, classes, by_word, starts, ends, kinds, uint8(SEPARATOR))
    return starts[:done], ends[:done], kinds[:done]
