"""Normalising UTF-8 text: bytes of ASCII many at a time, other code points by a table. The table is not made here.

A table entry (uint64) says what becomes of one code point: bytes 0-3 hold the UTF-8 that replaces it, or its place in
`pool` if that is longer; byte 4 its length; bytes 5 and 6 the canonical combining classes of the first and last
character of its decomposition; byte 7 the flags below. cascade.text.mapping proves when entries may simply be joined.

Where they may not, the *cluster* around that place, from one cut to the next, is what the library must normalise: a few
characters as a rule, and the same few again and again. A table of clusters keeps what became of them.
"""

from __future__ import annotations

from numba import int64, uint64

from cascade.kernels.compile import kernel, part
from cascade.kernels.hashing import GOLDEN, MIX_A, hash_bytes
from cascade.kernels.tokenize import code_point
from cascade.kernels.words import high_bits, load64, low_bits, map_ascii, same_bytes, store64, trailing_zeros

LEADS, JOINS, BARE, LIBRARY, SPACE_FIRST, SPACE_LAST, CONTEXT, SPECIAL = 1, 2, 4, 8, 16, 32, 64, 128
"""It may compose with what follows; with what precedes; holds no starter; needs the library; replaced by text that
begins, ends with a space that collapses; needs the library for the whole text; is not just copied."""

DONE, ROOM, CALL, TABLE, CLUSTERS = range(5)
"""Why the kernel returned: all texts are done; `out` is too small for the text; a part of the text needs the library;
the table for more than ASCII is needed; there are new clusters, or there is no place for any."""

SLACK = 64
"""Bytes that may be written behind what counts."""

MAX_CLUSTER = 256
"""Bytes of a cluster in the table: longer ones are a CALL each."""

AHEAD, AHEAD_EACH = 4096, 256
"""Bytes that are searched for more new clusters behind the first one, and behind each further one."""


@part
def without_doubles(out, w, size, after_space):
    """Removes the spaces behind a space from out[w:w + size]; returns where it then ends."""
    end = w
    for k in range(w, w + size):
        byte = out[k]
        out[end] = byte
        end += 0 if byte == 32 and after_space else 1
        after_space = byte == 32
    return end


@part
def is_cut(entry):
    """May texts be cut before this code point? cascade.text.mapping proves it."""
    if entry < uint64(SPECIAL) << uint64(56):
        return True
    flags = int64(entry >> uint64(56))
    first, length = (entry >> uint64(40)) & uint64(0xFF), (entry >> uint64(32)) & uint64(0xFF)
    return flags & (JOINS | BARE | LIBRARY) == 0 and first == uint64(0) and length > uint64(0)


@part
def cluster_start(data, begin, i, begin_w, w, entries):
    """The last cut from `begin` up to place i, of which the output ends at begin_w and w; and where it ends at the cut.

    Of a character whose space may have been left out nobody knows what it added. The cut is behind it where nothing
    of it can meet what follows, else at `begin`.
    """
    apart = uint64(LEADS | JOINS | BARE | LIBRARY) << uint64(56) | uint64(0xFF) << uint64(48)
    while i > begin:
        behind = i
        i -= 1
        while data[i] & 0xC0 == 0x80:
            i -= 1
        point = int64(data[i])
        if point >= 128:
            point, _ = code_point(load64(data, i))
        entry = entries[point]
        length = int64((entry >> uint64(32)) & uint64(0xFF))
        if entry & (uint64(SPACE_FIRST) << uint64(56)) != uint64(0):
            if entry & apart == uint64(0) and length > 0:
                return behind, w
            return begin, begin_w
        w -= length
        if is_cut(entry):
            return i, w
    return begin, begin_w


@part
def cluster_end(data, i, stop, entries):
    """The first cut from place i on, or `stop`; and whether what is before it needs the whole text."""
    context = False
    while i < stop and data[i] >= 128:
        point, size = code_point(load64(data, i))
        entry = entries[point]
        if is_cut(entry):
            break
        context |= int64(entry >> uint64(56)) & CONTEXT != 0
        i += size
    return i, context


@part
def find_cluster(data, start, end, slots, keys, key_ends, known):
    """The number of the cluster data[start:end] in the table, where it is put if it is new; -1 if there is no place.

    Cluster k is keys[key_ends[k]:key_ends[k + 1] - 1], with a line feed behind it; known[0] of them are in the table.
    """
    size = end - start
    slot = int64(hash_bytes(data, start, end, GOLDEN, MIX_A) & uint64(slots.shape[0] - 1))
    while slots[slot] > 0:
        number = int64(slots[slot]) - 1
        place = key_ends[number]
        if key_ends[number + 1] - place - 1 == size and same_bytes(keys, place, data, start, size):
            return number
        slot = (slot + 1) & (slots.shape[0] - 1)
    number = known[0]
    if number == key_ends.shape[0] - 1:
        return -1
    place = key_ends[number]
    for k in range(size):
        keys[place + k] = data[start + k]
    keys[place + size] = 10
    key_ends[number + 1] = place + size + 1
    slots[slot] = number + 1
    known[0] = number + 1
    return number


@part
def stopped(known, row, at, w):
    """What the kernel returns where it cannot go on: that new clusters were found before, if any, else ROOM."""
    if known[2]:
        return known[3], known[4], known[4], known[5], CLUSTERS
    return row, at, at, w, ROOM


@part
def pass_cluster(
    data, row, begin, i, behind, start, stop, begin_w, w, used, context, collapse,
    entries, out, room, slots, keys, key_ends, values, value_ends, known,
):  # fmt: skip
    """Passes the cluster around the code point at data[i:behind], of the text data[start:stop].

    Returns a reason to leave the kernel, or DONE; what it then returns, row, start, end and w; and the new `room`.
    known[2:] tells whether new clusters were found, and row, place and w of the first one. Behind it nothing that is
    written counts, and `room` is how far to go.
    """
    cut, w = cluster_start(data, begin, i, begin_w, w, entries)
    end, more = cluster_end(data, behind, stop, entries)
    if context or more:
        cut, w, end = start, used, stop
    reason = CALL if context or more or end - cut > MAX_CLUSTER else CLUSTERS
    number = int64(-1)
    if reason == CLUSTERS:
        before = known[0]
        number = find_cluster(data, cut, end, slots, keys, key_ends, known)
        if number == before:
            room = min(room + AHEAD_EACH if known[2] else w + AHEAD, out.shape[0] - SLACK)
    if number < 0:
        if known[2]:
            return CLUSTERS, known[3], known[4], known[4], known[5], room
        return reason, row, cut, end, w, room
    if number >= known[1]:
        if not known[2]:
            known[2], known[3], known[4], known[5] = 1, row, cut, w
        return DONE, row, cut, end, w, room
    place, length = value_ends[number], value_ends[number + 1] - value_ends[number]
    if w + length > room:
        if known[2]:
            return CLUSTERS, known[3], known[4], known[4], known[5], room
        return ROOM, row, start, start, used, room
    if collapse and length > 0 and values[place] == 32 and (w == used or out[w - 1] == 32):
        place, length = place + 1, length - 1
    for k in range(length):
        out[w + k] = values[place + k]
    return DONE, row, cut, end, w + length, room


@kernel
def normalize_texts(
    data, offsets, row, at, w, lower, collapse, drop, zero, entries, pool, out, ends,
    slots, keys, key_ends, values, value_ends, known,
):  # fmt: skip
    """Normalises texts from place `at` of text `row` on, to out[w:]; text d becomes out[ends[d]:ends[d + 1]].

    Returns row, start, end, w and a reason: what is before data[start] is done and ends at out[w]. On ROOM call again
    with a larger `out`; on CALL append what becomes of data[start:end] by other means and go on at `end`; on TABLE go
    on with entries for all code points, not ASCII alone; on CLUSTERS give the clusters known[1] … known[0] - 1 their
    values, or empty the table if there are none. Cluster k < known[1] becomes values[value_ends[k]:value_ends[k + 1]].
    """
    room = out.shape[0] - SLACK
    known[2] = 0
    for d in range(row, offsets.shape[0] - 1):
        i = offsets[d]
        stop = offsets[d + 1]
        used = ends[d]
        if d == row:
            i = at
        else:
            w = used
        begin, begin_w = i, w
        after_space = collapse and (w == used or out[w - 1] == 32)
        previous = uint64(0)
        while i < stop:
            if w > room:
                return stopped(known, d, offsets[d], used)
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
                    return d, offsets[d], stop, used, TABLE
                point, size = code_point(word)
            i += size
            entry = entries[point]
            if entry < uint64(SPECIAL) << uint64(56):
                store64(out, w, entry)
                w += int64((entry >> uint64(32)) & uint64(0xFF))
                previous = entry
                after_space = False
                while point >= 128 and i < stop and data[i] >= 128 and w <= room:
                    point, size = code_point(load64(data, i))
                    entry = entries[point]
                    if entry >= uint64(SPECIAL) << uint64(56):
                        break
                    i += size
                    store64(out, w, entry)
                    w += int64((entry >> uint64(32)) & uint64(0xFF))
                    previous = entry
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
                reason, at_row, cut, i, w, room = pass_cluster(
                    data, d, begin, i - size, i, offsets[d], stop, begin_w, w, used, flags & CONTEXT != 0, collapse,
                    entries, out, room, slots, keys, key_ends, values, value_ends, known,
                )  # fmt: skip
                if reason != DONE:
                    return at_row, cut, i, w, reason
                previous = uint64(0)
                after_space = collapse and (w == used or out[w - 1] == 32)
                begin, begin_w = i, w
                continue
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
                    return stopped(known, d, offsets[d], used)
                place = int64(entry & uint64(0xFFFFFFFF))
                for k in range(skip, length):
                    out[w + k - skip] = pool[place + k]
            w += length - skip
            after_space = flags & SPACE_LAST != 0
        if after_space and w > used and not known[2]:
            w -= 1
        ends[d + 1] = w
    if known[2]:
        return stopped(known, 0, 0, 0)
    last = offsets.shape[0] - 1
    return last, offsets[last], offsets[last], ends[last], DONE
