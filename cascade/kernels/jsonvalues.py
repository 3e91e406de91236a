"""Single values of JSON text: strings, numbers, words. Each is read only if it is valid (RFC 8259), else -1 says so.

Places are indices in `data`, uint8, which has 64 readable bytes behind its end. Objects and arrays are not known here.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from cascade.kernels.compile import part
from cascade.kernels.words import copy_plain, load64, store64, trailing_zeros

QUOTE, BACKSLASH = 0x22, 0x5C

HEX = np.full(256, 255, np.uint8)
for _digit in range(16):
    HEX[ord(f"{_digit:x}")] = HEX[ord(f"{_digit:X}")] = _digit
ESCAPES = np.zeros(256, np.uint8)
for _letter, _meaning in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    ESCAPES[_letter] = _meaning


@part
def character_size(word):
    """Bytes of the UTF-8 character at the start of a word, whose first byte is 0x80 or above; 0 if it is not valid."""
    lead = word & uint64(0xFF)
    second = (word >> uint64(8)) & uint64(0xFF)
    if lead < uint64(0xE0):
        return 2 if lead >= uint64(0xC2) and second & uint64(0xC0) == uint64(0x80) else 0
    if lead < uint64(0xF0):
        low = uint64(0xA0) if lead == uint64(0xE0) else uint64(0x80)
        high = uint64(0x9F) if lead == uint64(0xED) else uint64(0xBF)
        right = second >= low and second <= high and word & uint64(0xC00000) == uint64(0x800000)
        return 3 if right else 0
    low = uint64(0x90) if lead == uint64(0xF0) else uint64(0x80)
    high = uint64(0x8F) if lead == uint64(0xF4) else uint64(0xBF)
    right = second >= low and second <= high and word & uint64(0xC0C00000) == uint64(0x80800000)
    return 4 if right and lead <= uint64(0xF4) else 0


@part
def hex_digits(data, i):
    """The number that four hexadecimal digits from place `i` mean, or -1."""
    a, b, c, d = HEX[data[i]], HEX[data[i + 1]], HEX[data[i + 2]], HEX[data[i + 3]]
    if (a | b | c | d) > 15:
        return -1
    return int64(a) << 12 | int64(b) << 8 | int64(c) << 4 | int64(d)


@part
def read_escape(data, i, out, w):
    """Writes the character that the escape at place `i` means; returns the places behind both, -1 if there is none."""
    letter = data[i + 1]
    if letter != 0x75:
        out[w] = ESCAPES[letter]
        return (i + 2, w + 1) if ESCAPES[letter] else (-1, w)
    point = hex_digits(data, i + 2)
    i += 6
    if point >= 0xD800 and point < 0xE000:
        low = hex_digits(data, i + 2) if data[i] == BACKSLASH and data[i + 1] == 0x75 else -1
        if point >= 0xDC00 or low < 0xDC00 or low >= 0xE000:
            return -1, w
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
        i += 6
    if point < 0:
        return -1, w
    if point < 0x80:
        out[w] = point
        return i, w + 1
    size = 2 if point < 0x800 else 3 if point < 0x10000 else 4
    for k in range(size - 1, 0, -1):
        out[w + k] = 0x80 | (point & 0x3F)
        point >>= 6
    out[w] = point | (0xC0, 0xE0, 0xF0)[size - 2]
    return i, w + size


@part
def read_string(data, i, out, w):
    """Copies the string whose opening quote is at data[i - 1] to out[w:], escapes resolved.

    Returns the place behind its closing quote (-1 if it is not valid), the end of the copy, its code points and
    whether it had an escape. Up to 64 bytes beyond the copy are overwritten.
    """
    points = 0
    escaped = False
    while True:
        found = trailing_zeros(copy_plain(data, i, out, w))
        i += found
        w += found
        points += found
        if found == 64:
            continue
        byte = data[i]
        if byte == QUOTE:
            return i + 1, w, points, escaped
        if byte == BACKSLASH:
            i, w = read_escape(data, i, out, w)
            escaped = True
            points += 1
            if i < 0:
                break
        elif byte < 0x80:
            break
        while data[i] >= 0x80:
            word = load64(data, i)
            size = character_size(word)
            if size == 0:
                return -1, w, points, escaped
            store64(out, w, word)
            i += size
            w += size
            points += 1
    return -1, w, points, escaped


@part
def read_number(data, i):
    """The place behind the number that starts at place `i`, or -1."""
    if data[i] == 0x2D:
        i += 1
    if data[i] == 0x30:
        i += 1
    else:
        i = skip_digits(data, i)
    if i >= 0 and data[i] == 0x2E:
        i = skip_digits(data, i + 1)
    if i >= 0 and data[i] | 0x20 == 0x65:
        i += 2 if data[i + 1] == 0x2B or data[i + 1] == 0x2D else 1
        i = skip_digits(data, i)
    return i


@part
def skip_digits(data, i):
    """The place behind one digit or more, or -1."""
    start = i
    while data[i] >= 0x30 and data[i] <= 0x39:
        i += 1
    return i if i > start else -1


@part
def read_word(data, i):
    """The place behind `true`, `false` or `null` at place `i`, or -1."""
    word = load64(data, i)
    four = word & uint64(0xFFFFFFFF)
    if four == uint64(0x65757274) or four == uint64(0x6C6C756E):
        return i + 4
    return i + 5 if word & uint64(0xFFFFFFFFFF) == uint64(0x65736C6166) else -1
