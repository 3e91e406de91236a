"""Bytes many at a time: 64-bit words and blocks of 64 bytes, loaded, tested and mapped. No hashing, no text rules.

`data` and `out` are contiguous uint8 arrays that reach eight, or 64, bytes beyond the place given; words are
little-endian. Blocks are written as LLVM vectors, of which every processor makes what it can.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from cascade.kernels.compile import part

BYTE, BLOCK = ir.IntType(8), ir.VectorType(ir.IntType(8), 64)


def _place(context, builder, array_type, array, index, bits):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ir.IntType(bits).as_pointer())


@intrinsic
def load64(typing_context, data, i):
    """Eight bytes of a uint8 array from place `i` as one uint64."""

    def generate(context, builder, signature, args):
        word = builder.load(_place(context, builder, signature.args[0], args[0], args[1], 64))
        word.align = 1
        return word

    return types.uint64(data, types.intp), generate


@intrinsic
def store64(typing_context, data, i, word):
    """Writes the eight bytes of `word` (uint64) from place `i`."""

    def generate(context, builder, signature, args):
        store = builder.store(args[2], _place(context, builder, signature.args[0], args[0], args[1], 64))
        store.align = 1
        return context.get_dummy_value()

    return types.void(data, types.intp, types.uint64), generate


@intrinsic
def copy_bytes(typing_context, data, i, out, w, size):
    """Copies data[i:i + size] to out[w:w + size], uint8 arrays apart from each other, as the C library does."""

    def generate(context, builder, signature, args):
        source = _place(context, builder, signature.args[0], args[0], args[1], 8)
        target = _place(context, builder, signature.args[2], args[2], args[3], 8)
        cgutils.raw_memcpy(builder, target, source, args[4], 1)
        return context.get_dummy_value()

    return types.void(data, types.intp, out, types.intp, types.intp), generate


@intrinsic
def trailing_zeros(typing_context, word):
    """Place (int64) of the lowest bit of a uint64 that is set; 64 if none is."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def count_bits(typing_context, word):
    """How many bits of a uint64 are set, as int64."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


def _constant(byte):
    return ir.Constant(BLOCK, [byte] * 64)


def _inside(builder, block, low, high):
    return builder.icmp_unsigned("<=", builder.sub(block, _constant(low)), _constant(high - low))


def _any(builder, block, *ranges):
    found = _inside(builder, block, *ranges[0])
    for low, high in ranges[1:]:
        found = builder.or_(found, _inside(builder, block, low, high))
    return found


def _load_block(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    block = builder.load(builder.bitcast(builder.gep(data, [index]), BLOCK.as_pointer()))
    block.align = 1
    return block


def _byte_test(test):
    """An intrinsic (data, i) -> uint64 whose bit k says whether byte i + k passes."""

    @intrinsic
    def bits(typing_context, data, i):
        def generate(context, builder, signature, args):
            block = _load_block(context, builder, signature.args[0], args[0], args[1])
            return builder.bitcast(test(builder, block), ir.IntType(64))

        return types.uint64(data, types.intp), generate

    return bits


def _is_word(builder, block):
    letter = _inside(builder, builder.or_(block, _constant(0x20)), 0x61, 0x7A)
    return builder.or_(letter, _any(builder, block, (0x30, 0x39), (0x5F, 0x5F)))


@intrinsic
def copy_plain(typing_context, data, i, out, w):
    """Copies 64 bytes from data[i:] to out[w:]; returns which of them cannot simply stand in a JSON string.

    Those are quotes, backslashes, control characters; bytes beyond ASCII, which are to be checked, count as well.
    """

    def generate(context, builder, signature, args):
        block = _load_block(context, builder, signature.args[0], args[0], args[1])
        target = context.make_array(signature.args[2])(context, builder, args[2]).data
        store = builder.store(block, builder.bitcast(builder.gep(target, [args[3]]), BLOCK.as_pointer()))
        store.align = 1
        other = _any(builder, block, (0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x80, 0xFF))
        return builder.bitcast(other, ir.IntType(64))

    return types.uint64(data, types.intp, out, types.intp), generate


word_bits = _byte_test(_is_word)
"""Which of 64 bytes from place `i` are ASCII letters, digits or underscores: bit k for byte i + k."""
visible_bits = _byte_test(lambda builder, block: builder.not_(_any(builder, block, (9, 13), (28, 32))))
"""Which of them are no ASCII white space."""
high_bits = _byte_test(lambda builder, block: _inside(builder, block, 0x80, 0xFF))
"""Which of them are beyond ASCII."""


@intrinsic
def map_ascii(typing_context, data, i, out, w, lower, drop, zero, space):
    """Copies 64 ASCII bytes from data[i:] to out[w:], changed as the flags say; returns which of them are spaces there.

    `lower`: letters to lower case; `drop`: punctuation and symbols to spaces; `zero`: digits to 0; `space`: white space
    to spaces.
    """

    def generate(context, builder, signature, args):
        block = _load_block(context, builder, signature.args[0], args[0], args[1])

        def where(test, flag, bits):
            """`bits` in each byte that passes, if the flag is set."""
            chosen = builder.select(flag, ir.Constant(BYTE, bits), ir.Constant(BYTE, 0))
            vector = builder.insert_element(ir.Constant(BLOCK, ir.Undefined), chosen, ir.Constant(ir.IntType(32), 0))
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
            return builder.and_(builder.sext(test, BLOCK), builder.shuffle_vector(vector, vector, lanes))

        upper = where(_inside(builder, block, 0x41, 0x5A), args[4], 0x20)
        marks = ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E))
        blank = builder.or_(
            where(_any(builder, block, *marks), args[5], 0xFF),
            where(_any(builder, block, (9, 13), (28, 31)), args[7], 0xFF),
        )
        digit = where(_inside(builder, block, 0x30, 0x39), args[6], 0x0F)
        block = builder.and_(builder.or_(block, upper), builder.not_(builder.or_(blank, digit)))
        block = builder.or_(block, builder.and_(blank, _constant(0x20)))
        target = context.make_array(signature.args[2])(context, builder, args[2]).data
        store = builder.store(block, builder.bitcast(builder.gep(target, [args[3]]), BLOCK.as_pointer()))
        store.align = 1
        return builder.bitcast(_inside(builder, block, 0x20, 0x20), ir.IntType(64))

    flag = types.boolean
    return types.uint64(data, types.intp, out, types.intp, flag, flag, flag, flag), generate


@part
def low_bits(count):
    """A word whose `count` (0-64) lowest bits are set."""
    return uint64(0) if count == 0 else uint64(0xFFFFFFFFFFFFFFFF) >> uint64(64 - count)


@part
def same_bytes(data, i, other, j, size):
    """Whether data[i:i + size] and other[j:j + size] are equal."""
    k = 0
    while k < size and data[i + k] == other[j + k]:
        k += 1
    return k == size
