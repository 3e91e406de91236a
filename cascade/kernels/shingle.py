"""From texts or tokens to shingle hashes, and from shingles to distinct ones. Token rules and options are not here.

Every kernel returns how many hashes it wrote. Those that make shingles return -1 (nothing of worth written) when `out`
was too small, or when the class table must cover more than ASCII.
"""

from __future__ import annotations

import numpy as np
from numba import int64, uint8, uint32, uint64

from cascade.kernels.compile import kernel, part
from cascade.kernels.hashing import GOLDEN, hash_bytes, mix64, multiplier, start_value
from cascade.kernels.tokenize import CHUNK, CJK, SEPARATOR, find_tokens, pass_characters, token_room


@part
def place_factors(count, first):
    """An odd number for each place in an n-gram, chosen by the seed."""
    factors = np.empty(count, np.uint64)
    for k in range(count):
        factors[k] = mix64(first + uint64(k) * uint64(GOLDEN)) | uint64(1)
    return factors


@part
def ngrams_in_place(out, start, count, n, factors, first):
    """Turns `count` token hashes at out[start:] into hashes of their n-grams; returns how many these are.

    The hash of tokens t1 … tn is mix64(c + f1·t1 + … + fn·tn) modulo 2^64 (multilinear hashing, Carter and Wegman 1979)
    with odd factors that the seed chooses for each place, and c for each length: no sequence is hashed like the
    beginning of a longer one. n-grams that differ in one token never collide; others by a chance of about 2^-64, since
    token hashes are random to whoever does not know the seed. The products do not wait for one another, and an n-gram
    needs no token before its own, so it may overwrite its first one. Fewer than n tokens make one shingle.
    """
    if count == 0:
        return 0
    length = min(n, count)
    begin = mix64(first - uint64(length) * uint64(GOLDEN))
    i = start
    stop = start + count - length + 1
    while i + 4 <= stop:
        # Four at a time: for a handful of tokens the loop would cost as much as the products.
        h0, h1, h2, h3 = begin, begin, begin, begin
        for k in range(length):
            factor = factors[k]
            h0 += factor * out[i + k]
            h1 += factor * out[i + k + 1]
            h2 += factor * out[i + k + 2]
            h3 += factor * out[i + k + 3]
        out[i] = mix64(h0)
        out[i + 1] = mix64(h1)
        out[i + 2] = mix64(h2)
        out[i + 3] = mix64(h3)
        i += 4
    while i < stop:
        h = begin
        for k in range(length):
            h += factors[k] * out[i + k]
        out[i] = mix64(h)
        i += 1
    return stop - start


@kernel
def token_shingles(data, offsets, classes, by_word, n, seed, out, indptr):
    """N-grams of the tokens of each text."""
    first = start_value(seed)
    odd = multiplier(seed)
    factors = place_factors(n, first)
    edges, kinds = token_room(CHUNK)
    used = 0
    for d in range(offsets.shape[0] - 1):
        i = offsets[d]
        stop = offsets[d + 1]
        begin = used
        kind = uint8(SEPARATOR)
        while i < stop:
            done, i, kind = find_tokens(data, i, stop, classes, by_word, edges, kinds, kind)
            if done < 0 or used + done > out.shape[0]:
                return -1
            for t in range(done):
                out[used + t] = hash_bytes(data, edges[2 * t], edges[2 * t + 1], first, odd)
            used += done
            edges[0] = edges[2 * done]
        used = begin + ngrams_in_place(out, begin, used - begin, n, factors, first)
        indptr[d + 1] = used
    return used


@kernel
def cjk_shingles(data, offsets, classes, n, word_n, seed, out, indptr):
    """N-grams of length `n` inside runs of CJK tokens that touch, of length `word_n` between two such runs."""
    first = start_value(seed)
    odd = multiplier(seed)
    factors = place_factors(max(n, word_n), first)
    edges, kinds = token_room(CHUNK)
    used = 0
    for d in range(offsets.shape[0] - 1):
        i = offsets[d]
        stop = offsets[d + 1]
        begin = used  # where the hashes of the open segment start
        inside = False  # is that a run of CJK characters?
        end = i
        kind = uint8(SEPARATOR)
        while i < stop:
            done, i, kind = find_tokens(data, i, stop, classes, True, edges, kinds, kind)
            if done < 0 or used + done > out.shape[0]:
                return -1
            for t in range(done):
                start = edges[2 * t]
                if (kinds[t] == CJK) != inside or (inside and start != end):
                    used = begin + ngrams_in_place(out, begin, used - begin, n if inside else word_n, factors, first)
                    begin = used
                    inside = kinds[t] == CJK
                end = edges[2 * t + 1]
                out[used] = hash_bytes(data, start, end, first, odd)
                used += 1
            edges[0] = edges[2 * done]
            kinds[0] = kinds[done]
        used = begin + ngrams_in_place(out, begin, used - begin, n if inside else word_n, factors, first)
        indptr[d + 1] = used
    return used


@kernel
def span_shingles(data, offsets, rows, n, seed, out, indptr):
    """N-grams of given tokens: token i is data[offsets[i]:offsets[i + 1]], text d has tokens rows[d] to rows[d + 1]."""
    first = start_value(seed)
    odd = multiplier(seed)
    factors = place_factors(n, first)
    used = 0
    for d in range(rows.shape[0] - 1):
        count = rows[d + 1] - rows[d]
        if used + count > out.shape[0]:
            return -1
        for k in range(count):
            token = rows[d] + k
            out[used + k] = hash_bytes(data, offsets[token], offsets[token + 1], first, odd)
        used += ngrams_in_place(out, used, count, n, factors, first)
        indptr[d + 1] = used
    return used


@kernel
def piece_shingles(data, offsets, pieces, rows, classes, n, seed, out, indptr):
    """N-grams of those pieces of each text that hold a character of a token.

    A text is cut into pieces without gaps: pieces[rows[d]:rows[d + 1]] says how many code points each piece of text d
    has. `classes` must cover all code points. Returns -1 also when the pieces of a text are not as long as the text.
    """
    first = start_value(seed)
    odd = multiplier(seed)
    factors = place_factors(n, first)
    used = 0
    for d in range(rows.shape[0] - 1):
        count = 0
        i = offsets[d]
        if used + rows[d + 1] - rows[d] > out.shape[0]:
            return -1
        for k in range(rows[d], rows[d + 1]):
            start = i
            i, holds_token = pass_characters(data, i, offsets[d + 1], pieces[k], classes)
            if holds_token:
                out[used + count] = hash_bytes(data, start, i, first, odd)
                count += 1
        if i != offsets[d + 1]:
            return -1
        used += ngrams_in_place(out, used, count, n, factors, first)
        indptr[d + 1] = used
    return used


@part
def next_character(data, i, stop):
    """The place behind the code point at place `i`."""
    i += 1
    while i < stop and data[i] & 0xC0 == 0x80:
        i += 1
    return i


@kernel
def char_shingles(data, offsets, n, seed, out, indptr):
    """Windows of `n` code points of each text, hashed as bytes; a shorter text is one window."""
    first = start_value(seed)
    odd = multiplier(seed)
    used = 0
    for d in range(offsets.shape[0] - 1):
        start = offsets[d]
        stop = offsets[d + 1]
        if start < stop:
            end = start
            for _ in range(n):
                if end < stop:
                    end = next_character(data, end, stop)
            while True:
                if used >= out.shape[0]:
                    return -1
                out[used] = mix64(hash_bytes(data, start, end, first, odd))
                used += 1
                if end >= stop:
                    break
                start = next_character(data, start, stop)
                end = next_character(data, end, stop)
        indptr[d + 1] = used
    return used


@kernel
def distinct_shingles(hashes, rows, slots, secret, out, counts, indptr):
    """Distinct hashes of each row in order of first occurrence, and how often each occurs (up to 2^32 - 1).

    `slots` is zero, a power of two long, and longer than any row; it holds places in `out` plus one. A place before the
    current row's is as good as empty, so the table is never cleared. Short rows use four slots for a hash, so that few
    meet; long ones half of that. `secret` (odd) chooses the slots: which hashes crowd together cannot be known from
    outside, and the result does not depend on it. Indices are unsigned, for numba would look whether others are below
    zero; a hash is written before it is known to be new, for most are.
    """
    one = uint64(1)
    used = uint64(0)
    for d in range(rows.shape[0] - 1):
        start = used
        count = rows[d + 1] - rows[d]
        bits = 1
        while (int64(1) << bits) * (1 if count <= 4096 else 2) < count * 4 and (int64(2) << bits) <= slots.shape[0]:
            bits += 1
        mask = (one << uint64(bits)) - one
        shift = uint64(64 - bits)
        for i in range(uint64(rows[d]), uint64(rows[d + 1])):
            h = hashes[i]
            k = (h * secret) >> shift
            place = uint64(slots[k])
            out[used] = h
            counts[used] = 1
            while place > start and out[place - one] != h:
                k = (k + one) & mask
                place = uint64(slots[k])
            if place <= start:
                used += one
                slots[k] = used
            elif counts[place - one] != uint32(0xFFFFFFFF):
                counts[place - one] += uint32(1)
        indptr[d + 1] = used
    return used
