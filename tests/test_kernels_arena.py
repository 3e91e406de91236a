"""Sets in an arena: stored as they are, and bitmaps that never refuse a pair that shares enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascade.kernels.arena import BITS, HEAD, LEAST, MOST, store
from cascade.kernels.jaccard import overlaps


def arena_of(sets: list[set[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sets, stored in two portions, the rows of each in a shuffled order."""
    arena = np.full(sum(map(len, sets)) + HEAD * len(sets), 7, np.uint64)
    start, stop = np.full(len(sets), -1, np.int64), np.full(len(sets), -1, np.int64)
    used = 0
    for rows in (np.arange(0, len(sets), 2)[::-1].copy(), np.arange(1, len(sets), 2)):
        parts = [np.array(sorted(sets[row]), np.uint64) for row in rows]
        indptr = np.cumsum([0, *map(len, parts)])
        used = store(np.concatenate([np.empty(0, np.uint64), *parts]), indptr, rows, arena, used, start, stop)
    assert used <= len(arena)
    return arena, start, stop


def common(sets: list[set[int]], left: int, right: int, least: int) -> int:
    arena, start, stop = arena_of(sets)
    for row, members in enumerate(sets):
        assert arena[start[row] : stop[row]].tolist() == sorted(members)
    return int(overlaps(arena, start, stop, True, np.array([left]), np.array([right]), np.array([least]))[0])


SIZES = (0, 1, LEAST - 1, LEAST, LEAST + 1, 300, MOST - 1, MOST, MOST + 1)


@pytest.mark.parametrize("one", SIZES)
@pytest.mark.parametrize("other", SIZES)
@pytest.mark.parametrize("modulus", [2**64, BITS, 3])
def test_bounds_are_exact_at_the_overlap(one: int, other: int, modulus: int) -> None:
    """Also where many shingles set one bit: low bits of a small modulus, high bits that tell them apart."""
    random = np.random.default_rng(one * 10_000 + other)

    def numbers(count: int) -> list[int]:
        high = np.arange(count) + random.integers(2**40)
        return [
            (int(h) * BITS + int(low) % modulus) % 2**64
            for h, low in zip(high, random.integers(BITS, size=count), strict=True)
        ]

    shared = numbers(min(one, other) * 2 // 3)
    sets = [{*shared, *numbers(one - len(shared))}, {*shared, *numbers(other - len(shared))}, {5}]
    truth = len(sets[0] & sets[1])
    assert common(sets, 0, 1, truth) == truth
    assert common(sets, 0, 1, truth + 1) == -1
    assert common(sets, 1, 0, 0) == truth


@given(
    st.lists(st.integers(0, 5 * BITS), min_size=LEAST, max_size=3 * LEAST),
    st.lists(st.integers(0, 5 * BITS), min_size=LEAST, max_size=3 * LEAST),
    st.integers(0, 2 * LEAST),
)
def test_no_pair_that_shares_enough_is_refused(one: list[int], other: list[int], least: int) -> None:
    sets = [set(one), set(other) | set(one[: len(one) // 2])]
    truth = len(sets[0] & sets[1])
    assert common(sets, 0, 1, least) == (truth if truth >= least else -1)


def test_bitmaps_refuse_what_shares_little() -> None:
    """The pair goes without a merge: the hashes behind the bitmaps are made unreadable first."""
    random = np.random.default_rng(0)
    sets = [set(random.integers(0, 2**63, 300).tolist()) for _ in range(2)]
    arena, start, stop = arena_of(sets)
    arena[start[1] : stop[1]] = arena[start[0] : stop[0]]
    pair = np.array([0]), np.array([1])
    assert overlaps(arena, start, stop, True, *pair, np.array([100])).tolist() == [-1]
    assert overlaps(arena, start, stop, False, *pair, np.array([100])).tolist() == [300]
