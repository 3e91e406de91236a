"""Normalising UTF-8 text: bytes of ASCII many at a time, other code points by a table. The table is not made here.

A table entry (uint64) says what becomes of one code point: bytes 0-3 hold the UTF-8 that replaces it, or its place in
`pool` if that is longer; byte 4 its length; bytes 5 and 6 the canonical combining classes of the first and last
character of its decomposition; byte 7 the flags below. cascade.text.mapping proves when entries may simply be joined.
"""

from __future__ import annotations

from numba import int64, njit, uint8, uint64

from cascade.kernels.tokenize import code_point
from cascade.kernels.words import HIGH, between, load64, store64, whole_bytes

LEADS, JOINS, BARE, LIBRARY, SPACE_FIRST, SPACE_LAST, SPECIAL = 1, 2, 4, 8, 16, 32, 128
"""It may compose with what follows; with what precedes; holds no starter; needs the library; replaced by text that
begins, ends with a space that collapses; is not just copied."""

DONE, ROOM, CALL = 0, 1, 2
"""Why the kernel returned: all texts are done; `out` is too small for the text; the text needs the library."""

SLACK = 16
"""Bytes that may be written behind what counts."""


@njit(inline="always")
def map_ascii(word, lower, collapse, drop, zero):  # type: ignore[no-untyped-def]
    """Eight ASCII bytes normalised but for runs of spaces."""
    if lower:
        word |= between(word, 0x41, 0x5A) >> uint64(2)
    if drop:
        marks = between(word, 0x21, 0x2F) | between(word, 0x3A, 0x40) | between(word, 0x5B, 0x60)
        whole = whole_bytes(marks | between(word, 0x7B, 0x7E))
        word = (word & ~whole) | (whole & uint64(0x2020202020202020))
    if zero:
        word &= ~(whole_bytes(between(word, 0x30, 0x39)) & uint64(0x0F0F0F0F0F0F0F0F))
    if collapse:
        whole = whole_bytes(between(word, 9, 13) | between(word, 28, 31))
        word = (word & ~whole) | (whole & uint64(0x2020202020202020))
    return word


@njit(inline="always")
def put_ascii(out, w, word, after_space):  # type: ignore[no-untyped-def]
    """Writes eight bytes without the spaces that follow a space; returns the next place and whether a space is last."""
    found = between(word, 32, 32)
    if found & ((found << uint64(8)) | (uint64(0x80) if after_space else uint64(0))) == uint64(0):
        store64(out, w, word)
        w += 8
    else:
        for _ in range(8):
            byte = uint8(word & uint64(0xFF))
            out[w] = byte
            w += 0 if byte == 32 and after_space else 1
            after_space = byte == 32
            word >>= uint64(8)
    return w, (found >> uint64(63)) != uint64(0)


@njit(nogil=True, cache=True)
def normalize_texts(  # type: ignore[no-untyped-def]
    data, offsets, row, lower, collapse, drop, zero, entries, pool, out, ends, used
):
    """Normalises the texts from `row` on, to out[used:]; text d ends at ends[d + 1]. Returns row, used and a reason.

    The texts before the returned row are done. On ROOM call again with a larger `out`; on CALL append that text by
    other means and call again with the row behind it. Without `entries` (length 0) each text beyond ASCII is a CALL.
    """
    room = out.shape[0] - SLACK
    for d in range(row, offsets.shape[0] - 1):
        i = offsets[d]
        stop = offsets[d + 1]
        w = used
        if w + (stop - i) > room:
            return d, used, ROOM
        seen = uint8(0)
        for k in range(i, stop):
            seen |= data[k]
        after_space = collapse
        if seen < 128:
            while i + 8 <= stop:
                word = map_ascii(load64(data, i), lower, collapse, drop, zero)
                i += 8
                if collapse:
                    w, after_space = put_ascii(out, w, word, after_space)
                else:
                    store64(out, w, word)
                    w += 8
            word = map_ascii(load64(data, i) & uint64(0x7F7F7F7F7F7F7F7F), lower, collapse, drop, zero)
            for _ in range(stop - i):
                byte = uint8(word & uint64(0xFF))
                word >>= uint64(8)
                out[w] = byte
                w += 0 if collapse and byte == 32 and after_space else 1
                after_space = collapse and byte == 32
        elif entries.shape[0] == 0:
            return d, used, CALL
        else:
            previous = uint64(0)
            while i < stop:
                if w > room:
                    return d, used, ROOM
                word = load64(data, i)
                if word & uint64(HIGH) == uint64(0) and i + 8 <= stop:
                    word = map_ascii(word, lower, collapse, drop, zero)
                    i += 8
                    if collapse:
                        w, after_space = put_ascii(out, w, word, after_space)
                    else:
                        store64(out, w, word)
                        w += 8
                    previous = uint64(LEADS) << uint64(56)
                    continue
                point = int64(word & uint64(0x7F))
                size = 1
                if word & uint64(0x80) != uint64(0):
                    point, size = code_point(word)
                i += size
                entry = entries[point]
                if entry < uint64(SPECIAL) << uint64(56):
                    store64(out, w, entry)
                    w += int64((entry >> uint64(32)) & uint64(0xFF))
                    previous = entry
                    after_space = False
                    continue
                flags = int64(entry >> uint64(56))
                first = (entry >> uint64(40)) & uint64(0xFF)
                length = int64((entry >> uint64(32)) & uint64(0xFF))
                leads = int64(previous >> uint64(56)) & LEADS
                if (
                    flags & LIBRARY
                    or (first != uint64(0) and first < (previous >> uint64(48)) & uint64(0xFF))
                    or (flags & JOINS and leads)
                ):
                    return d, used, CALL
                if length == 0:
                    continue
                previous = entry
                if flags & BARE and leads:
                    previous |= uint64(LEADS) << uint64(56)
                skip = 1 if flags & SPACE_FIRST and after_space else 0
                if length <= 4:
                    store64(out, w, entry >> uint64(skip * 8))
                else:
                    if w + length > room:
                        return d, used, ROOM
                    place = int64(entry & uint64(0xFFFFFFFF))
                    for k in range(skip, length):
                        out[w + k - skip] = pool[place + k]
                w += length - skip
                after_space = flags & SPACE_LAST != 0
        if collapse and after_space and w > used:
            w -= 1
        used = w
        ends[d + 1] = used
    return offsets.shape[0] - 1, used, DONE
