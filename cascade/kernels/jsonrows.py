"""JSON lines to the values that are wanted of each row, without the interpreter. What they are wanted for is not known.

The grammar is that of RFC 8259, whole: a row is read here only if all of it is valid and nothing about it is special;
every other row is left to the caller, so that there is one place that says what is wrong with a row. Special are: a
wanted value of another kind than expected, one that or whose parent is found twice, an escape in a key or an id, the id
-0, half of a surrogate pair, nesting beyond 60.

`data` is uint8 and has 64 readable bytes behind its end; the last row ends in a line feed. What one row holds cannot
be looked for beyond that row, for no JSON text holds a line feed inside a string, and elsewhere it ends the row.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from cascade.kernels.compile import kernel, part
from cascade.kernels.jsonvalues import QUOTE, read_number, read_string, read_word
from cascade.kernels.words import same_bytes

COMMA, COLON, LF = 0x2C, 0x3A, 0x0A
OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY = 0x7B, 0x7D, 0x5B, 0x5D
KEY, FIRST_KEY, VALUE, FIRST_VALUE, END = range(5)
"""What comes next: FIRST_ where a closing bracket may stand instead, END: a comma or a closing bracket."""
DEEPEST = 60

TEXT, ID = np.uint64(1), np.uint64(2)
"""Bits of wanted values, by their numbers: the text (0), the id (1), and then further fields."""
START, STOP, LINE, READ, TEXT_END, ID_END, CHARACTERS, SPANS = range(8)
"""Columns of the table that is written: see `scan_rows`."""


@part
def skip_blanks(data, i):
    """The place of the first byte that is no space, tab or carriage return."""
    while data[i] == 0x20 or data[i] == 0x09 or data[i] == 0x0D:
        i += 1
    return i


@part
def row_end(data, i):
    """The place of the first line feed from place `i` on."""
    while data[i] != LF:
        i += 1
    return i


@part
def read_row(data, i, keys, parts, paths, met, entered, texts, w, ids, v, record):
    """Reads the row that starts at place `i`, which is no blank; returns the place of its line feed, or -1.

    `keys`, `parts`, `paths` say what is wanted, see `scan_rows`; `met` and `entered` (int64[paths]) are
    room: how far each path has been followed, and at which depths. Fills record[TEXT_END:], texts[w:] and ids[v:].
    """
    if data[i] != OPEN_OBJECT:
        return -1
    i += 1
    depth, objects, deepest = 1, uint64(2), parts.shape[0]
    seen, opened, aims = uint64(0), uint64(0), uint64(0)  # numbers of wanted values, of paths, of wanted values: bits
    text_end, id_end = w, v
    for p in range(met.shape[0]):
        met[p] = 0
        entered[p] = 0
    for k in range(SPANS, record.shape[0]):
        record[k] = -1
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
        if byte in (CLOSE_OBJECT, CLOSE_ARRAY):
            # Behind a value, or in place of the first one.
            if expected not in (END, FIRST_KEY if byte == CLOSE_OBJECT else FIRST_VALUE):
                return -1
            depth -= 1
            for p in range(paths.shape[0]):
                met[p] = min(met[p], max(depth - 1, 0))
            i += 1
            expected = END
            continue
        end, points, escaped = text_end, 0, False
        if byte == QUOTE:
            i, end, points, escaped = read_string(data, i + 1, texts, text_end)
            if i < 0:
                return -1
        if expected <= FIRST_KEY:
            if byte != QUOTE or (escaped and depth <= deepest):
                return -1
            aims, opened = uint64(0), uint64(0)
            size = i - begin - 2
            for p in range(paths.shape[0]):
                if met[p] != depth - 1:
                    continue
                name = paths[p, 1] + depth - 1
                if parts[name, 1] - parts[name, 0] == size and same_bytes(data, begin + 1, keys, parts[name, 0], size):
                    if paths[p, 2] > depth:
                        if entered[p] >> depth & 1:
                            return -1
                        entered[p] |= 1 << depth
                        opened |= uint64(1) << uint64(p)
                    else:
                        aims |= uint64(1) << uint64(paths[p, 0])
            if seen & aims:
                return -1
            seen |= aims
            i = skip_blanks(data, i)
            if data[i] != COLON:
                return -1
            i += 1
            expected = VALUE
            continue
        if byte == QUOTE:
            if aims & TEXT:
                text_end = end
                record[CHARACTERS] = points
            if aims & ID and escaped:
                return -1
        elif aims & TEXT:
            return -1
        elif byte in (OPEN_OBJECT, OPEN_ARRAY):
            if aims & ID or depth == DEEPEST:
                return -1
            depth += 1
            bit = uint64(1) << uint64(depth)
            objects = objects | bit if byte == OPEN_OBJECT else objects & ~bit
            for p in range(paths.shape[0]):
                if byte == OPEN_OBJECT and opened >> uint64(p) & uint64(1):
                    met[p] = depth - 1
            i += 1
            aims, opened = uint64(0), uint64(0)
            expected = FIRST_KEY if byte == OPEN_OBJECT else FIRST_VALUE
            continue
        elif byte == 0x2D or (byte >= 0x30 and byte <= 0x39):
            i = read_number(data, i)
        else:
            i = read_word(data, i)
        if i < 0:
            return -1
        if aims & ID and byte == 0x2D and data[begin + 1] == 0x30 and i == begin + 2:
            return -1  # -0
        if aims & ID and byte != 0x6E:  # not null
            for k in range(begin, i):
                ids[id_end] = data[k]
                id_end += 1
        fields, at = aims >> uint64(2), SPANS
        while fields:
            if fields & uint64(1):
                record[at], record[at + 1] = begin, i
            fields >>= uint64(1)
            at += 2
        aims, opened = uint64(0), uint64(0)
        expected = END
    i = skip_blanks(data, i)
    record[TEXT_END], record[ID_END] = text_end, id_end
    return i if data[i] == LF and seen & TEXT else -1


@kernel
def scan_rows(data, size, keys, parts, paths, texts, ids, table):
    """The wanted values of all rows in data[:size]; blank rows are left out. Returns the number of rows in `table`.

    `keys` holds the names of keys in UTF-8, name k is keys[parts[k, 0]:parts[k, 1]]. paths[p] = (wanted, first,
    count): the value wanted under this number (0 the text, 1 the id, then further fields; below 64) stands behind the
    names first … first + count - 1, each inside the object that the one before names. Several paths may lead to one.

    `texts`, `ids` (uint8, 64 bytes longer than `data`) take the texts of the rows and the ids as they are written.
    table[r] (int64) tells of a row: START, STOP its place, its line feed included; LINE its number; READ 1 if it was
    read, else 0: without text and id; TEXT_END, ID_END where its text and id end, which begin where those of the
    row before end (an empty id: none or null); CHARACTERS the code points of the text; from SPANS on, two columns for
    each further field, where its value stands, -1 if it has none or an object or array.
    """
    # int64, for numba would compile all of it once more for the number 0.
    w, v, i = int64(0), int64(0), int64(0)
    rows, line = 0, 0
    met, entered = np.zeros(paths.shape[0], np.int64), np.zeros(paths.shape[0], np.int64)
    while i < size:
        first = skip_blanks(data, i)
        if data[first] == LF:
            i = first + 1
            line += 1
            continue
        record = table[rows]
        end = read_row(data, first, keys, parts, paths, met, entered, texts, w, ids, v, record)
        record[READ] = end >= 0
        if end < 0:
            end = row_end(data, i)
            record[TEXT_END], record[ID_END], record[CHARACTERS] = w, v, 0
            for k in range(SPANS, record.shape[0]):
                record[k] = -1
        w, v = record[TEXT_END], record[ID_END]
        record[START], record[STOP], record[LINE] = i, end + 1, line
        rows += 1
        line += 1
        i = end + 1
    return rows


def leave_rows(data, size, keys, parts, paths, texts, ids, table):
    """The same for a handful of rows: leaves them all to the caller, without anything compiled."""
    table[:] = 0
    table[:, SPANS:] = -1
    ends = np.flatnonzero(data[:size] == LF) + 1
    table[:, START], table[:, STOP], table[:, LINE] = np.append(0, ends)[:-1], ends, np.arange(len(ends))
    return len(ends)
