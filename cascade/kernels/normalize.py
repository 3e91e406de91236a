"""Normalising UTF-8 text: bytes of ASCII many at a time, other code points by a table. The table is not made here.

A table entry (uint64) says what becomes of one code point: bytes 0-3 hold the UTF-8 that replaces it, or its place in
`pool` if that is longer; byte 4 its length; bytes 5 and 6 the canonical combining classes of the first and last
character of its decomposition; byte 7 the flags below. cascade.text.mapping proves when entries may simply be joined.
"""

from __future__ import annotations

from numba import int64, njit, uint64

from cascade.kernels.compile import kernel
from cascade.kernels.tokenize import code_point
from cascade.kernels.words import high_bits, load64, low_bits, map_ascii, store64, trailing_zeros

LEADS, JOINS, BARE, LIBRARY, SPACE_FIRST, SPACE_LAST, SPECIAL = 1, 2, 4, 8, 16, 32, 128
"""It may compose with what follows; with what precedes; holds no starter; needs the library; replaced by text that
begins, ends with a space that collapses; is not just copied."""

DONE, ROOM, CALL = 0, 1, 2
"""Why the kernel returned: all texts are done; `out` is too small for the text; the text needs the library."""

SLACK = 64
"""Bytes that may be written behind what counts."""


@njit(inline="always")
def without_doubles(out, w, size, after_space):
    """Removes the spaces behind a space from out[w:w + size]; returns where it then ends."""
    end = w
    for k in range(w, w + size):
        byte = out[k]
        out[end] = byte
        end += 0 if byte == 32 and after_space else 1
        after_space = byte == 32
    return end


@kernel
def normalize_texts(data, offsets, row, lower, collapse, drop, zero, entries, pool, out, ends, used):
    """Normalises the texts from `row` on, to out[used:]; text d ends at ends[d + 1]. Returns row, used and a reason.

    The texts before the returned row are done. On ROOM call again with a larger `out`; on CALL append that text by
    other means and call again with the row behind it. With `entries` for ASCII alone every other text is a CALL.
    """
    room = out.shape[0] - SLACK
    for d in range(row, offsets.shape[0] - 1):
        i = offsets[d]
        stop = offsets[d + 1]
        w = used
        after_space = collapse
        previous = uint64(0)
        while i < stop:
            if w > room:
                return d, used, ROOM
            if data[i] < 128 and i + 64 <= data.shape[0]:
                size = min(64, stop - i, trailing_zeros(high_bits(data, i)))
                spaces = map_ascii(data, i, out, w, lower, drop, zero, collapse) & low_bits(size)
                i += size
                previous = uint64(LEADS) << uint64(56)
                if collapse and spaces & ((spaces << uint64(1)) | uint64(after_space)) != uint64(0):
                    w = without_doubles(out, w, size, after_space)
                else:
                    w += size
                after_space = collapse and (spaces >> uint64(size - 1)) != uint64(0)
                continue
            word = load64(data, i)
            point = int64(word & uint64(0x7F))
            size = 1
            if word & uint64(0x80) != uint64(0):
                if entries.shape[0] <= 128:
                    return d, used, CALL
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
