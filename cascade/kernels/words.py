"""Eight bytes at a time: unaligned loads and stores, and tests on the bytes of a 64-bit word. No hashing, no text rules.

`data` is a contiguous uint8 array with eight accessible bytes from place `i`; words are little-endian. A test answers
with the high bit of each byte that passes.
"""

from __future__ import annotations

from llvmlite import ir
from numba import int64, njit, types, uint64
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


def _byte_test(test):  # type: ignore[no-untyped-def]
    """An intrinsic (data, i) -> uint64 whose bit k says whether byte i + k passes; LLVM makes vector code of it."""

    @intrinsic  # type: ignore[untyped-decorator]
    def bits(typing_context, data, i):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            block = ir.VectorType(ir.IntType(8), 64)
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            loaded = builder.load(builder.bitcast(builder.gep(data, [args[1]]), block.as_pointer()))
            loaded.align = 1

            def constant(byte):  # type: ignore[no-untyped-def]
                return ir.Constant(block, [byte] * 64)

            def inside(bytes_, low, high):  # type: ignore[no-untyped-def]
                return builder.icmp_unsigned("<=", builder.sub(bytes_, constant(low)), constant(high - low))

            return builder.bitcast(test(builder, loaded, constant, inside), ir.IntType(64))

        return types.uint64(data, types.intp), generate

    return bits


def _is_word(builder, block, constant, inside):  # type: ignore[no-untyped-def]
    letter = inside(builder.or_(block, constant(0x20)), 0x61, 0x7A)
    return builder.or_(builder.or_(letter, inside(block, 0x30, 0x39)), inside(block, 0x5F, 0x5F))


def _is_visible(builder, block, constant, inside):  # type: ignore[no-untyped-def]
    return builder.not_(builder.or_(inside(block, 9, 13), inside(block, 28, 32)))


_word_bits = _byte_test(_is_word)
_visible_bits = _byte_test(_is_visible)
_high_bits = _byte_test(lambda builder, block, constant, inside: inside(block, 0x80, 0xFF))


@njit(inline="always")
def word_bits(data, i):  # type: ignore[no-untyped-def]
    """Which of 64 bytes from place `i` are ASCII letters, digits or underscores: bit k for byte i + k."""
    return _word_bits(data, i)


@njit(inline="always")
def visible_bits(data, i):  # type: ignore[no-untyped-def]
    """Which of 64 bytes from place `i` are no ASCII white space."""
    return _visible_bits(data, i)


@njit(inline="always")
def high_bits(data, i):  # type: ignore[no-untyped-def]
    """Which of 64 bytes from place `i` are beyond ASCII."""
    return _high_bits(data, i)


@njit(inline="always")
def load64(data, i):  # type: ignore[no-untyped-def]
    """Eight bytes of a uint8 array from place `i` as one uint64."""
    return _load64(data, i)


@njit(inline="always")
def store64(data, i, word):  # type: ignore[no-untyped-def]
    """Writes the eight bytes of `word` from place `i`."""
    _store64(data, i, uint64(word))


@njit(inline="always")
def trailing_zeros(word):  # type: ignore[no-untyped-def]
    """Place of the lowest bit that is set; 64 if none is."""
    return int64(_trailing_zeros(uint64(word)))


@njit(inline="always")
def low_bits(count):  # type: ignore[no-untyped-def]
    """A word whose `count` (0-64) lowest bits are set."""
    return uint64(0) if count == 0 else uint64(0xFFFFFFFFFFFFFFFF) >> uint64(64 - count)


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
