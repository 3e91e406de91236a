"""The hash against the same in Python integers, its golden values, and that every part of the input moves it."""

from __future__ import annotations

import numpy as np
import oracle_text as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from cascade.kernels import hashing

SEEDS = st.integers(0, 2**64 - 1)


@njit
def hash_of(data, start, stop, seed):
    return hashing.hash_bytes(data, start, stop, hashing.start_value(seed), hashing.multiplier(seed))


@njit
def mixed(x):
    return hashing.mix64(x)


@njit
def folded(a, b):
    return hashing.fold(a, b), hashing.multiply_high(a, b)


def hash_raw(raw: bytes, seed: int = 0, before: bytes = b"", after: bytes = b"") -> int:
    data = np.frombuffer(before + raw + after + bytes(hashing.PAD), np.uint8)
    return int(hash_of(data, len(before), len(before) + len(raw), np.uint64(seed)))


@settings(deadline=None)
@given(st.binary(max_size=60), SEEDS, st.binary(max_size=9), st.binary(max_size=30))
def test_hash_is_that_of_plain_integers_wherever_the_bytes_lie(raw, seed, before, after):
    assert hash_raw(raw, seed, before, after) == oracle.hash_bytes(raw, seed)


@settings(deadline=None)
@given(SEEDS, SEEDS)
def test_mixing_steps_are_those_of_plain_integers(a, b):
    assert int(mixed(np.uint64(a))) == oracle.mix64(a)
    fold, high = folded(np.uint64(a), np.uint64(b))
    assert (int(fold), int(high)) == (oracle.fold(a, b), a * b >> 64)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 24, 25, 40])
def test_every_bit_of_the_input_moves_about_half_of_the_output(length):
    raw = bytes(range(1, length + 1))
    moved = []
    for bit in range(8 * length):
        other = bytearray(raw)
        other[bit // 8] ^= 1 << bit % 8
        moved.append((oracle.mix64(hash_raw(raw)) ^ oracle.mix64(hash_raw(bytes(other)))).bit_count())
    assert min(moved) > 8
    assert 28 < sum(moved) / len(moved) < 36


def test_length_and_seed_enter_the_hash():
    zeros = [hash_raw(bytes(n)) for n in range(40)]
    assert len(set(zeros)) == 40
    assert len({hash_raw(b"word", seed) for seed in range(100)}) == 100


def test_golden_values():
    assert hash_raw(b"") == GOLDEN[0]
    assert hash_raw(b"a") == GOLDEN[1]
    assert hash_raw("中文".encode(), 1) == GOLDEN[2]
    assert hash_raw(b"a long sequence of forty bytes or so ....", 2**64 - 1) == GOLDEN[3]


GOLDEN = (0xBC757A4768320D0B, 0x304CFB7536182ABF, 0xCCE1FC7C647FE455, 0x2119F874E9D0437C)
