"""JSON lines to the values that are wanted of each row, without the interpreter. What they are wanted for is not known.

The grammar is that of RFC 8259, whole: a row is read here only if all of it is valid and nothing about it is special;
every other row is left to the caller, so that there is one place that says what is wrong with a row. Special are: a
wanted value of another kind than expected or found twice, an escape in a key or an id, half of a surrogate pair,
nesting beyond 60.

`data` is uint8 and has 64 readable bytes behind its end; the last row ends in a line feed. What one row holds cannot
be looked for beyond that row, for no JSON text holds a line feed inside a string, and elsewhere it ends the row.
"""

from __future__ import annotations

import numpy as np
from numba import int64, njit, uint64

from cascade.kernels.compile import kernel
from cascade.kernels.words import copy_plain, load64, store64, trailing_zeros

QUOTE, BACKSLASH, COMMA, COLON, LF = 0x22, 0x5C, 0x2C, 0x3A, 0x0A
OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY = 0x7B, 0x7D, 0x5B, 0x5D
KEY, FIRST_KEY, VALUE, FIRST_VALUE, END = range(5)
"""What comes next: FIRST_ where a closing bracket may stand instead, END: a comma or a closing bracket."""
DEEPEST = 60

TEXT, ID = 0, 1
"""Wanted values: the text, the id, and from 2 on further fields."""
START, STOP, LINE, READ, TEXT_END, ID_END, CHARACTERS, SPANS = range(8)
"""Columns of the table that is written: see `scan_rows`."""

HEX = np.full(256, 255, np.uint8)
for _digit in range(16):
    HEX[ord(f"{_digit:x}")] = HEX[ord(f"{_digit:X}")] = _digit
ESCAPES = np.zeros(256, np.uint8)
for _letter, _meaning in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    ESCAPES[_letter] = _meaning


@njit(inline="always")
def skip_blanks(data, i):
    """The place of the first byte that is no space, tab or carriage return."""
    while data[i] == 0x20 or data[i] == 0x09 or data[i] == 0x0D:
        i += 1
    return i


@njit(inline="always")
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


@njit
def hex_digits(data, i):
    """The number that four hexadecimal digits from place `i` mean, or -1."""
    a, b, c, d = HEX[data[i]], HEX[data[i + 1]], HEX[data[i + 2]], HEX[data[i + 3]]
    if (a | b | c | d) > 15:
        return -1
    return int64(a) << 12 | int64(b) << 8 | int64(c) << 4 | int64(d)


@njit
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


@njit
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


@njit
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


@njit(inline="always")
def skip_digits(data, i):
    """The place behind one digit or more, or -1."""
    start = i
    while data[i] >= 0x30 and data[i] <= 0x39:
        i += 1
    return i if i > start else -1


@njit
def read_word(data, i):
    """The place behind `true`, `false` or `null` at place `i`, or -1."""
    word = load64(data, i)
    four = word & uint64(0xFFFFFFFF)
    if four == uint64(0x65757274) or four == uint64(0x6C6C756E):
        return i + 4
    return i + 5 if word & uint64(0xFFFFFFFFFF) == uint64(0x65736C6166) else -1


@njit(inline="always")
def equals(data, start, stop, keys, key):
    """Whether data[start:stop] is keys[key[0]:key[1]]."""
    if stop - start != key[1] - key[0]:
        return False
    for k in range(stop - start):
        if data[start + k] != keys[key[0] + k]:
            return False
    return True


@njit
def row_end(data, i):
    """The place of the first line feed from place `i` on."""
    while data[i] != LF:
        i += 1
    return i


@njit
def read_row(data, i, keys, parts, paths, met, texts, w, ids, v, record):
    """Reads the row that starts at place `i`, which is no blank; returns the place of its line feed, or -1.

    `keys`, `parts`, `paths` say what is wanted, see `scan_rows`; `met` (int64[paths]) is zero before and after a row
    that was read. Fills record[TEXT_END:], the text from texts[w], the id from ids[v].
    """
    if data[i] != OPEN_OBJECT:
        return -1
    i += 1
    depth, objects, deepest = 1, uint64(2), parts.shape[0]
    seen, opened, target = uint64(0), uint64(0), -1
    text_end, id_end = w, v
    met[:] = 0
    record[SPANS:] = -1
    expected = FIRST_KEY
    while depth > 0:
        i = skip_blanks(data, i)
        byte = data[i]
        begin = i
        if expected == END:
            inside = objects >> uint64(depth) & uint64(1)
            if byte == COMMA:
                expected = KEY if inside else VALUE
                i += 1
                continue
            if byte != (CLOSE_OBJECT if inside else CLOSE_ARRAY):
                return -1
        if byte == CLOSE_OBJECT or byte == CLOSE_ARRAY:
            # Behind a value, or in place of the first one.
            if expected != END and expected != (FIRST_KEY if byte == CLOSE_OBJECT else FIRST_VALUE):
                return -1
            depth -= 1
            for p in range(paths.shape[0]):
                met[p] = min(met[p], max(depth - 1, 0))
            i += 1
            expected = END
            continue
        if expected <= FIRST_KEY:
            if byte != QUOTE:
                return -1
            i, _, _, escaped = read_string(data, i + 1, texts, text_end)
            if i < 0 or (escaped and depth <= deepest):
                return -1
            target, opened = -1, uint64(0)
            for p in range(paths.shape[0]):
                if met[p] == depth - 1 and equals(data, begin + 1, i - 1, keys, parts[paths[p, 1] + depth - 1]):
                    if paths[p, 2] > depth:
                        opened |= uint64(1) << uint64(p)
                    else:
                        target = paths[p, 0]
                        if seen >> uint64(target) & uint64(1):
                            return -1
                        seen |= uint64(1) << uint64(target)
            i = skip_blanks(data, i)
            if data[i] != COLON:
                return -1
            i += 1
            expected = VALUE
            continue
        if byte == QUOTE:
            i, end, points, escaped = read_string(data, i + 1, texts, text_end)
            if target == TEXT:
                text_end = end
                record[CHARACTERS] = points
            elif target == ID and escaped:
                return -1
        elif target == TEXT:
            return -1
        elif byte == OPEN_OBJECT or byte == OPEN_ARRAY:
            if target == ID or depth == DEEPEST:
                return -1
            depth += 1
            bit = uint64(1) << uint64(depth)
            objects = objects | bit if byte == OPEN_OBJECT else objects & ~bit
            for p in range(paths.shape[0]):
                if byte == OPEN_OBJECT and opened >> uint64(p) & uint64(1):
                    met[p] = depth - 1
            i += 1
            target, opened = -1, uint64(0)
            expected = FIRST_KEY if byte == OPEN_OBJECT else FIRST_VALUE
            continue
        elif byte == 0x2D or (byte >= 0x30 and byte <= 0x39):
            i = read_number(data, i)
        else:
            i = read_word(data, i)
        if i < 0:
            return -1
        if target == ID and byte != 0x6E:
            for k in range(begin, i):
                ids[id_end] = data[k]
                id_end += 1
        elif target > ID:
            record[SPANS + 2 * (target - 2)] = begin
            record[SPANS + 2 * (target - 2) + 1] = i
        target, opened = -1, uint64(0)
        expected = END
    i = skip_blanks(data, i)
    record[TEXT_END], record[ID_END] = text_end, id_end
    return i if data[i] == LF and seen & uint64(1) else -1


@kernel
def scan_rows(data, size, keys, parts, paths, texts, ids, table):
    """The wanted values of all rows in data[:size]; blank rows are left out. Returns the number of rows in `table`.

    `keys` holds the names of keys in UTF-8, name k is keys[parts[k, 0]:parts[k, 1]]. paths[p] = (wanted, first,
    count): the value wanted under this number (0 the text, 1 the id, then further fields; below 64) stands behind the
    names first … first + count - 1, each inside the object that the one before names. Several paths may lead to one.

    `texts`, `ids` (uint8, 64 bytes longer than `data`) take the texts of the rows and the ids as they are written.
    table[r] (int64) tells of a row: START, STOP its place, its line feed included; LINE its number; READ 1 if it was
    read, else 0 and no other column counts; TEXT_END, ID_END where its text and id end, which begin where those of the
    row before end (an empty id: none or null); CHARACTERS the code points of the text; from SPANS on, two columns for
    each further field, where its value stands, -1 if it has none or an object or array.
    """
    rows, line = 0, 0
    w, v = 0, 0
    i = 0
    met = np.zeros(paths.shape[0], np.int64)
    while i < size:
        first = skip_blanks(data, i)
        if data[first] == LF:
            i = first + 1
            line += 1
            continue
        record = table[rows]
        end = read_row(data, first, keys, parts, paths, met, texts, w, ids, v, record)
        record[READ] = end >= 0
        if end < 0:
            end = row_end(data, i)
            record[TEXT_END], record[ID_END], record[CHARACTERS] = w, v, 0
        w, v = record[TEXT_END], record[ID_END]
        record[START], record[STOP], record[LINE] = i, end + 1, line
        rows += 1
        line += 1
        i = end + 1
    return rows
