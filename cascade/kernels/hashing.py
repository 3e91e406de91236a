"""The 64-bit hash that everything else is made of: folded multiplication, seeded.

`fold(a, b)` multiplies two 64-bit words to 128 bits and xors the halves (the mixing step of wyhash, Wang Yi 2019).
The seed chooses both the start value and the multiplier, so that texts crafted to collide under one seed do not under
another. Buffers must have at least PAD readable bytes behind the last text: words are loaded eight bytes at a time.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic

from cascade.kernels.compile import part
from cascade.kernels.words import load64, low_bits

PAD = 16
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)


@intrinsic
def multiply_high(typing_context, a, b):
    """Upper 64 bits of the product of two uint64: maps a uniform `a` to a uniform number under `b`."""

    def generate(context, builder, signature, args):
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def fold(typing_context, a, b):
    """Low half xor high half of the 128-bit product of two uint64.

    One operation, because LLVM does not see that two products of the same numbers are one.
    """

    def generate(context, builder, signature, args):
        wide, narrow = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), narrow)
        return builder.xor(builder.trunc(product, narrow), high)

    return types.uint64(types.uint64, types.uint64), generate


@part
def mix64(x):
    """A bijection of uint64 in which every input bit moves every output bit (splitmix64, Steele et al. 2014)."""
    x = uint64(x)
    x = (x ^ (x >> uint64(30))) * uint64(MIX_A)
    x = (x ^ (x >> uint64(27))) * uint64(MIX_B)
    return x ^ (x >> uint64(31))


@part
def start_value(seed):
    """The hash of nothing under `seed` (uint64)."""
    return mix64(uint64(seed) + uint64(GOLDEN))


@part
def multiplier(seed):
    """The odd multiplier that `seed` (uint64) chooses."""
    return mix64(uint64(seed) + uint64(2) * uint64(GOLDEN)) | uint64(1)


@part
def hash_bytes(data, start, stop, first, odd):
    """Hash of data[start:stop]; `first` and `odd` are start_value(seed) and multiplier(seed).

    The length enters the start value, so that `a` and `a` NUL differ. Then eight bytes a step; the last two steps,
    padded with zeros, are always made: up to 16 bytes need no branch, and few tokens are longer.
    """
    length = stop - start
    h = uint64(first) + uint64(length) * uint64(GOLDEN)
    while length > 16:
        h = fold(h ^ load64(data, start), odd)
        start += 8
        length -= 8
    head = min(length, 8)
    h = fold(h ^ (load64(data, start) & low_bits(head * 8)), odd)
    return fold(h ^ (load64(data, start + 8) & low_bits((length - head) * 8)), odd)


@part
def chain(h, number, odd):
    """Extends the hash `h` of a sequence of uint64 by one more; their order counts."""
    return fold(h ^ number, odd) + uint64(GOLDEN)
