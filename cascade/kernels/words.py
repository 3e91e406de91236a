"""Eight bytes at a time: unaligned loads and stores, and tests on the bytes of a 64-bit word. No hashing, no text rules.

`data` is a contiguous uint8 array with eight accessible bytes from place `i`; words are little-endian. A test answers
with the high bit of each byte that passes.
"""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types, uint64
from numba.extending import intrinsic

ONES = 0x0101010101010101
HIGH = 0x8080808080808080
LOW7 = 0x7F7F7F7F7F7F7F7F


def _place(context, builder, array_type, array, index, bits):  # type: ignore[no-untyped-def]
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ir.IntType(bits).as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def _load64(typing_context, data, i):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        word = builder.load(_place(context, builder, signature.args[0], args[0], args[1], 64))
        word.align = 1
        return word

    return types.uint64(data, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _store64(typing_context, data, i, word):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        store = builder.store(args[2], _place(context, builder, signature.args[0], args[0], args[1], 64))
        store.align = 1
        return context.get_dummy_value()

    return types.void(data, types.intp, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(typing_context, word):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@njit(inline="always")
def load64(data, i):  # type: ignore[no-untyped-def]
    """Eight bytes of a uint8 array from place `i` as one uint64."""
    return _load64(data, i)


@njit(inline="always")
def store64(data, i, word):  # type: ignore[no-untyped-def]
    """Writes the eight bytes of `word` from place `i`."""
    _store64(data, i, uint64(word))


@njit(inline="always")
def first_byte(test):  # type: ignore[no-untyped-def]
    """Place (0-7) of the first byte that passed a test that some byte passed."""
    return _trailing_zeros(uint64(test)) >> uint64(3)


@njit(inline="always")
def between(word, low, high):  # type: ignore[no-untyped-def]
    """Bytes of `word` from `low` to `high` inclusive; all bytes of `word` and both bounds are under 0x80."""
    at_least = uint64(word) + uint64(ONES) * uint64(0x80 - low)
    above = uint64(word) + uint64(ONES) * uint64(0x7F - high)
    return at_least & ~above & uint64(HIGH)


@njit(inline="always")
def whole_bytes(test):  # type: ignore[no-untyped-def]
    """0xFF in each byte that passed a test, 0 in the others."""
    return (uint64(test) >> uint64(7)) * uint64(0xFF)
