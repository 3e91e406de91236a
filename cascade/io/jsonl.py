"""JSON lines to documents: the file in blocks of whole rows, and the rows of a block, which any thread may take apart.

Rows are read by a kernel; those that it leaves are judged one by one. Copying rows is the business of lines.py.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import orjson

from cascade.errors import InputError
from cascade.io import jsontext
from cascade.io.documents import DocumentBatch, InputFields, Pending, Rejected, Source
from cascade.io.row import Reject, RowReader, wide
from cascade.io.streams import reading
from cascade.text.buffer import PAD, TextBuffer, encode

BATCH = 1 << 20
"""Bytes of rows in a block, about; a longer row is a block of its own. More would leave the cache."""
SLACK = 64
"""Bytes behind the end that kernels may look at or write to."""
SMALL = 1 << 14
"""Bytes of rows that are not worth a kernel, which a first run has to compile: they are all judged one by one."""
BOM = b"\xef\xbb\xbf"
LF = 10

Bytes = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Rows of a file, each with its line end: data[:size], and SLACK bytes more."""

    data: Bytes
    size: int
    written: int
    """How many of these bytes are in the file: all, but for the line end that its last row may lack."""
    place: int
    """Where the first row begins in the file."""
    line: int
    """The number (0-based) of the first row."""
    lines: int
    """How many rows there are, blank ones included."""


def read(source: Source, wanted: InputFields) -> Iterator[Pending]:
    """The documents of `source`. Only a line feed ends a row; blank lines and a BOM at the start are nothing."""
    with reading(source) as stream:
        for block in _blocks(stream):
            yield partial(_documents, source, wanted, block)


def _blocks(stream: io.BufferedReader) -> Iterator[Block]:
    data = np.empty(max(BATCH, len(BOM)) + SLACK, np.uint8)
    used = line = place = 0
    more = True
    while more:
        before = used
        while used < len(data) - SLACK and more:
            got = stream.readinto(data[used : len(data) - SLACK].data)
            more, used = got > 0, used + got
        if not before and not place and used >= 3 and data[:3].tobytes() == BOM:
            data, used, place = data[3:], used - 3, 3
        end = _behind_last_line_end(data, before, used) if more else used
        written = end
        if end and data[end - 1] != LF:
            data[end] = LF
            end += 1
        if end:
            lines = int(np.count_nonzero(data[:end] == LF))
            yield Block(data, end, written, place, line, lines)
            line += lines
            place += written
        rest = data[written:used]
        # Room for as much again as there is: a long row must not be copied each time that some of it comes.
        data = np.empty(len(rest) + max(BATCH, len(rest)) + SLACK, np.uint8)
        data[: len(rest)] = rest
        used = len(rest)


def _behind_last_line_end(data: Bytes, start: int, stop: int) -> int:
    """The place behind the last line feed in data[start:stop]; 0 if there is none."""
    while stop > start:
        begin = max(start, stop - 16384)
        found = np.flatnonzero(data[begin:stop] == LF)
        if len(found):
            return begin + int(found[-1]) + 1
        stop = begin
    return 0


@dataclass(frozen=True)
class _Values:
    """What rows have: texts, ids as JSON text (empty: none), code points, further fields."""

    texts: TextBuffer
    ids: TextBuffer
    characters: Rows
    fields: dict[str, list[object]]


@dataclass(frozen=True)
class _Names:
    """What is wanted, as the kernel takes it; see cascade.kernels.jsonrows.scan_rows."""

    keys: Bytes
    parts: Rows
    paths: Rows


@lru_cache(maxsize=8)
def _names(wanted: InputFields) -> _Names:
    """A name is a key at the top or, if it has dots, also a path; where a row has both, the kernel leaves it."""
    names: list[bytes] = []
    paths: list[tuple[int, int, int]] = []
    for number, name in enumerate((wanted.text, wanted.id, *wanted.fields)):
        for path in [[name], name.split(".")] if "." in name else [[name]]:
            paths.append((number, len(names), len(path)))
            names += map(encode, path)
    ends = np.cumsum([0, *map(len, names)])
    return _Names(
        np.frombuffer(b"".join(names) + bytes(1), np.uint8),
        np.column_stack((ends[:-1], ends[1:])),
        np.array(paths, np.int64),
    )


@dataclass(frozen=True)
class BlockValues:
    """What was read of a block: the values of its documents, where these rows are, and all that was no document."""

    found: _Values
    start: Rows
    stop: Rows
    line: Rows
    rejected: list[Rejected]
    reader: RowReader


def read_values(source: Source, wanted: InputFields, block: Block, small: int | None = None) -> BlockValues:
    """What the rows of a block hold; a block of `small` (SMALL) bytes is not worth a kernel."""
    from cascade.kernels import jsonrows as kernel

    names = _names(wanted)
    texts, ids = np.empty(len(block.data) + SLACK, np.uint8), np.empty(len(block.data) + SLACK, np.uint8)
    table = np.empty((block.lines, kernel.SPANS + 2 * len(wanted.fields)), np.int64)
    scan = kernel.leave_rows if block.size <= (SMALL if small is None else small) else kernel.scan_rows
    rows = scan(block.data, block.size, names.keys, names.parts, names.paths, texts, ids, table)
    table = table[:rows]
    lines = table[:, kernel.LINE] + (block.line + 1)
    found = _Values(
        _buffer(texts, table[:, kernel.TEXT_END]),
        _buffer(ids, table[:, kernel.ID_END]),
        table[:, kernel.CHARACTERS].copy(),
        {
            name: _field(block.data, table[:, at], table[:, at + 1])
            for at, name in zip(range(kernel.SPANS, table.shape[1], 2), wanted.fields, strict=True)
        },
    )
    reader, rejected = RowReader(wanted), list[Rejected]()
    used = np.arange(rows)
    left = np.flatnonzero(table[:, kernel.READ] == 0)
    if len(left):
        spans = table[left][:, [kernel.START, kernel.STOP]].tolist()
        raw = [(row, block.data[a:b].tobytes()) for row, (a, b) in zip(left.tolist(), spans, strict=True)]
        found, used, rejected = _judged(raw, found, reader, source.name, lines)
    start, stop = table[used, kernel.START], np.minimum(table[used, kernel.STOP], block.written)
    return BlockValues(found, start + block.place, stop + block.place, lines[used], rejected, reader)


def _documents(source: Source, wanted: InputFields, block: Block) -> DocumentBatch:
    """The documents of a block."""
    read = read_values(source, wanted, block)
    return DocumentBatch(
        source=source,
        texts=read.found.texts,
        ids=_filled(read.found.ids, source.name, read.line),
        line=read.line,
        start=read.start,
        stop=read.stop,
        characters=read.found.characters,
        fields=read.found.fields,
        rejected=read.rejected,
        lacking=read.reader.lacking,
        names=tuple(read.reader.names),
        unread=read.reader.unread,
    )


def _buffer(data: Bytes, ends: Rows) -> TextBuffer:
    offsets = np.concatenate((np.zeros(1, np.int64), ends))
    size = int(offsets[-1])
    data[size : size + PAD] = 0
    return TextBuffer(data[: size + PAD], offsets)


def _cut(buffer: TextBuffer) -> list[bytes]:
    data = buffer.data[: buffer.offsets[-1]].tobytes()
    return [data[a:b] for a, b in pairwise(buffer.offsets.tolist())]


def _field(data: Bytes, start: Rows, stop: Rows) -> list[object]:
    """The values at data[start:stop], None where start is -1."""
    raw = [data[a:b].tobytes() if a >= 0 else b"null" for a, b in zip(start.tolist(), stop.tolist(), strict=True)]
    try:
        values: list[object] = orjson.loads(b"[" + b",".join(raw) + b"]")
    except orjson.JSONDecodeError:  # a number that no double holds
        return list(map(jsontext.loads, raw))
    return list(map(jsontext.loads, raw)) if any(map(wide, values)) else values


def _filled(ids: TextBuffer, name: str, lines: Rows) -> TextBuffer:
    """The ids, with `"FILE:LINE"` for those that are missing."""
    missing = np.flatnonzero(np.diff(ids.offsets) == 0)
    if not len(missing):
        return ids
    values = _cut(ids)
    made = jsontext.dumps_all([f"{name}:{line}" for line in lines[missing].tolist()])
    for row, value in zip(missing.tolist(), made, strict=True):
        values[row] = value
    return TextBuffer.from_bytes(values)


def _judged(
    left: list[tuple[int, bytes]], found: _Values, reader: RowReader, name: str, lines: Rows
) -> tuple[_Values, Rows, list[Rejected]]:
    """Puts the values of the rows that the kernel has left among those of the others.

    Also which rows are documents, and those that are rejected.
    """
    texts, ids = _cut(found.texts), _cut(found.ids)
    documents = np.ones(len(texts), bool)
    rejected: list[Rejected] = []
    for row, raw in left:
        documents[row] = False
        if raw.isspace():
            continue
        try:
            value = reader.parse(raw)
            text = reader.text(value)
            ids[row] = reader.id(value)
        except Reject as fault:
            if reader.wanted.strict:
                raise InputError(f"{name}:{lines[row]}: {fault}; mend the row or run without --strict") from None
            rejected.append(Rejected(name, int(lines[row]), str(fault)))
            continue
        documents[row] = True
        texts[row] = encode(text)
        found.characters[row] = len(text)
        for column, field in zip(found.fields.values(), reader.fields(value), strict=True):
            column[row] = field
    used = np.flatnonzero(documents)
    rows = used.tolist()
    values = _Values(
        TextBuffer.from_bytes([texts[row] for row in rows]),
        TextBuffer.from_bytes([ids[row] for row in rows]),
        found.characters[used],
        {key: [column[row] for row in rows] for key, column in found.fields.items()},
    )
    return values, used, rejected
