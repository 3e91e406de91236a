"""Finding the tokens of UTF-8 text by a class for each code point. The rules are data: the class table is not made here."""

from __future__ import annotations

from numba import int64, njit, uint8, uint64

from cascade.kernels.words import HIGH, LOW7, between, first_byte, load64

SEPARATOR, MARK, WORD, KATAKANA, HANGUL, SINGLE, CJK = range(7)
"""Classes: nothing; extends what is before it; three kinds of runs; a token by itself; one inside a run of its like."""

BY_SPACE, BY_WORD = False, True
"""What ends a run of ASCII token characters: a white-space character, or whatever is no letter, digit or underscore."""


@njit(inline="always")
def code_point(word):  # type: ignore[no-untyped-def]
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
def run_ends(word, by_word):  # type: ignore[no-untyped-def]
    """High bit of each byte that does not continue a run of ASCII token characters."""
    low = word & uint64(LOW7)
    if by_word:
        letters = between(low | uint64(0x2020202020202020), 0x61, 0x7A)
        inside = letters | between(low, 0x30, 0x39) | between(low, 0x5F, 0x5F)
        return (~inside | word) & uint64(HIGH)
    return (between(low, 9, 13) | between(low, 28, 32) | word) & uint64(HIGH)


@njit(inline="always")
def token_start(data, i, stop, classes):  # type: ignore[no-untyped-def]
    """Place and class of the first token from place `i`; (stop, SEPARATOR) if there is none."""
    kind = uint8(SEPARATOR)
    while i < stop:
        lead = data[i]
        if lead < 128:
            kind = classes[lead]
            if kind > MARK:
                break
            i += 1
        else:
            point, size = code_point(load64(data, i))
            kind = classes[point]
            if kind > MARK:
                break
            i += size
    if i >= stop:
        kind = uint8(SEPARATOR)
    return i, kind


@njit(inline="always")
def token_end(data, i, stop, classes, kind, by_word):  # type: ignore[no-untyped-def]
    """Where the token of class `kind` ends that starts at place `i`."""
    if kind >= SINGLE:
        _, size = code_point(load64(data, i))
        i += size
    while i < stop:
        word = load64(data, i)
        if word & uint64(0x80) == uint64(0):
            if kind != WORD:
                break
            ends = run_ends(word, by_word)
            if ends == uint64(0):
                i += 8
                continue
            inside = int64(first_byte(ends))
            i += inside
            if inside == 0 or (word >> uint64(inside * 8)) & uint64(0x80) == uint64(0):
                break
        else:
            point, size = code_point(word)
            other = classes[point]
            if other != MARK and (other != kind or kind >= SINGLE):
                break
            i += size
    # The bytes behind `stop` are another text's: a run may seem to go on there.
    return min(i, stop)


@njit(inline="always")
def known(data, start, stop, classes):  # type: ignore[no-untyped-def]
    """False if data[start:stop] holds a character that a table of ASCII alone says nothing about."""
    if classes.shape[0] > 128:
        return True
    seen = uint8(0)
    for i in range(start, stop):
        seen |= data[i]
    return seen < 128


@njit(nogil=True, cache=True)
def token_spans(data, start, stop, classes, by_word, starts, ends, kinds):  # type: ignore[no-untyped-def]
    """Where the tokens of data[start:stop] start and end, and their classes; returns how many there are."""
    count = 0
    i = start
    while True:
        i, kind = token_start(data, i, stop, classes)
        if kind == SEPARATOR:
            return count
        starts[count] = i
        i = token_end(data, i, stop, classes, kind, by_word)
        ends[count] = i
        kinds[count] = kind
        count += 1
