"""SimHash fingerprints, Hamming distances and block keys of many documents at once.

Documents come in CSR form (hashes uint64, indptr int64). Bit j of a fingerprint is 1 iff the shingles whose hash has
that bit weigh more than those whose hash has it not (Charikar, STOC 2002); a tie gives 0, and so does a document with
no shingle. Which weights, distances and blocks to take is decided elsewhere.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint32, uint64

from cascade.kernels.compile import kernel, part
from cascade.kernels.hashing import mix64
from cascade.kernels.words import count_bits

PLANES = 64
_TILE = 2048  # fingerprints (16 KiB) that stay in the first-level cache while a block of rows passes over them
_CHUNK = 64


@part
def hamming(a, b):
    """Bits in which two fingerprints (uint64) differ, as int64."""
    return count_bits(uint64(a) ^ uint64(b))


@part
def _add(a, b, c):
    """Carry and sum of three words, bit by bit (a carry-save adder)."""
    u = a ^ b
    return (a & b) | (u & c), u ^ c


@part
def _carry(planes, level, word):
    """Adds 2^level to the counters of the bits that are set in `word`."""
    while word != uint64(0):
        carry = planes[level] & word
        planes[level] ^= word
        word = carry
        level += 1


@kernel
def fingerprints(hashes, indptr, out):
    """Fingerprints in which every hash weighs the same; `out` is uint64[documents].

    64 counters are kept bit-sliced: planes[l] holds bit l of each. Sixteen words at a time pass through carry-save
    adders into one carry for plane 4; at the end all counters are compared with half the number of hashes at once.
    """
    planes = np.zeros(PLANES, np.uint64)
    for d in range(indptr.shape[0] - 1):
        i = indptr[d]
        stop = indptr[d + 1]
        half = uint64((stop - i) // 2)
        planes[:] = uint64(0)
        ones = twos = fours = eights = uint64(0)
        while i + 16 <= stop:
            twos_a, ones = _add(ones, hashes[i], hashes[i + 1])
            twos_b, ones = _add(ones, hashes[i + 2], hashes[i + 3])
            fours_a, twos = _add(twos, twos_a, twos_b)
            twos_a, ones = _add(ones, hashes[i + 4], hashes[i + 5])
            twos_b, ones = _add(ones, hashes[i + 6], hashes[i + 7])
            fours_b, twos = _add(twos, twos_a, twos_b)
            eights_a, fours = _add(fours, fours_a, fours_b)
            twos_a, ones = _add(ones, hashes[i + 8], hashes[i + 9])
            twos_b, ones = _add(ones, hashes[i + 10], hashes[i + 11])
            fours_a, twos = _add(twos, twos_a, twos_b)
            twos_a, ones = _add(ones, hashes[i + 12], hashes[i + 13])
            twos_b, ones = _add(ones, hashes[i + 14], hashes[i + 15])
            fours_b, twos = _add(twos, twos_a, twos_b)
            eights_b, fours = _add(fours, fours_a, fours_b)
            sixteens, eights = _add(eights, eights_a, eights_b)
            _carry(planes, 4, sixteens)
            i += 16
        planes[0] = ones
        planes[1] = twos
        planes[2] = fours
        planes[3] = eights
        while i < stop:
            _carry(planes, 0, hashes[i])
            i += 1
        top = 0
        while uint64(stop - indptr[d]) >> uint64(top) != uint64(0):
            top += 1
        greater = uint64(0)
        equal = ~uint64(0)
        for level in range(top - 1, -1, -1):
            if (half >> uint64(level)) & uint64(1):
                equal &= planes[level]
            else:
                greater |= equal & planes[level]
                equal &= ~planes[level]
        out[d] = greater


@kernel
def weighted_fingerprints(hashes, weights, indptr, out):
    """Fingerprints in which hashes[i] weighs weights[i] (uint32); `out` is uint64[documents].

    Sums are int64: 2^31 hashes of the greatest weight fit.
    """
    votes = np.empty(64, np.int64)
    for d in range(indptr.shape[0] - 1):
        votes[:] = 0
        total = 0
        for i in range(indptr[d], indptr[d + 1]):
            h = hashes[i]
            w = int64(weights[i])
            total += w
            for b in range(64):
                votes[b] += w & -int64((h >> uint64(b)) & uint64(1))
        word = uint64(0)
        for b in range(64):
            if votes[b] > total - votes[b]:
                word |= uint64(1) << uint64(b)
        out[d] = word


@kernel
def count_slots(slots, table):
    """Adds one to table[s] (uint32) for every entry s of `slots` (uint32); what has reached 2^32 - 1 stays."""
    for slot in slots:
        table[slot] = max(table[slot], uint32(table[slot] + uint32(1)))


@part
def _log2(n):
    """floor(2^16 · log2(n)) of a positive integer below 2^62, nearly: by squaring in integers, the same everywhere."""
    whole = 0
    while uint64(n) >> uint64(whole + 1) != uint64(0):
        whole += 1
    mantissa = (uint64(n) << uint64(62 - whole)) >> uint64(31)  # 1.x with 31 places
    result = int64(whole) << 16
    for place in range(15, -1, -1):
        mantissa = (mantissa * mantissa) >> uint64(31)
        if mantissa >= uint64(1) << uint64(32):
            mantissa >>= uint64(1)
            result += int64(1) << place
    return result


@kernel
def slot_weights(table, documents):
    """Inverse document frequency of each slot in fixed point: 2^16 · log2((documents + 1) / (count + 1)), at least 1.

    uint32, as long as `table` (uint32). Integers throughout, so that no platform changes a bit.
    """
    out = np.empty(table.shape[0], np.uint32)
    all_documents = _log2(documents + 1)
    before = uint32(0)
    weight = max(int64(1), all_documents)
    for i in range(table.shape[0]):
        if table[i] != before:
            before = table[i]
            weight = max(int64(1), all_documents - _log2(int64(before) + 1))
        out[i] = weight
    return out


@kernel
def distances(words, alive, left, right, out):
    """Hamming distance of words[left[i]] and words[right[i]] to out[i] (int64); 65 if one of them is not alive."""
    for i in range(left.shape[0]):
        a = left[i]
        b = right[i]
        out[i] = hamming(words[a], words[b]) if alive[a] and alive[b] else 65


@kernel
def near_words(before, lefts, words, rights, ends, max_hamming, cursor, left, right):
    """Pairs of before[j] and words[i] (uint64) within `max_hamming`, for j < ends[i], as rows lefts[j] and rights[i].

    Returns how many were written to left and right (int64, at least 64 places). `cursor` (int64[4], zeros to begin
    with) says where to go on: cursor[0] is 1 once all pairs are out, else call again. Blocked for the cache: `before`
    in tiles, every word passing over one tile before the next; chunks of 64 are first counted without a branch.
    """
    count = 0
    base, row, column = cursor[1], cursor[2], cursor[3]
    while base < before.shape[0]:
        for i in range(row, words.shape[0]):
            end = min(base + _TILE, ends[i])
            j = max(base, column)
            column = base
            word = words[i]
            while j < end:
                k = min(j + _CHUNK, end)
                hits = 0
                for t in range(j, k):
                    hits += hamming(word, before[t]) <= max_hamming
                if hits > 0:
                    if count + hits > left.shape[0]:
                        cursor[1], cursor[2], cursor[3] = base, i, j
                        return count
                    for t in range(j, k):
                        if hamming(word, before[t]) <= max_hamming:
                            left[count] = lefts[t]
                            right[count] = rights[i]
                            count += 1
                j = k
        base += _TILE
        row = 0
        column = base
    cursor[0] = 1
    return count


@kernel
def block_keys(words, masks, out):
    """Keys of fingerprints under masks (uint64[tables]): equal in table t iff the bits of masks[t] are equal.

    `out` is uint64[documents, tables]. The masked bits and the number of the table pass through a bijection.
    """
    for d in range(words.shape[0]):
        for t in range(masks.shape[0]):
            out[d, t] = mix64((words[d] & masks[t]) ^ mix64(uint64(t)))
