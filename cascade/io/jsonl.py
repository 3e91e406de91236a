"""JSON lines: rows to documents, and kept rows copied byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from cascade.errors import InputError
from cascade.io import jsontext
from cascade.io.documents import DocumentBatch, InputFields, Rejected, Source
from cascade.io.row import Reject, RowReader, find, wide
from cascade.io.streams import reading, writing
from cascade.text.buffer import TextBuffer, encode

BATCH = 2 << 20
"""Bytes of rows in a batch, about; a longer row is a batch of its own. More would leave the cache: short rows then
take half as long again."""
BOM = b"\xef\xbb\xbf"

Values = tuple[list[bytes], list[bytes], list[int], dict[str, list[object]]]
"""Texts in UTF-8, ids as JSON text, code points, wanted fields."""


def read(source: Source, wanted: InputFields) -> Iterator[DocumentBatch]:
    """The documents of `source`. Only a line feed ends a row; blank lines and a BOM at the start are nothing."""
    line, place = 0, 0
    with reading(source) as stream:
        while rows := stream.readlines(BATCH):
            if not line and rows[0].startswith(BOM):
                rows[0], place = rows[0].removeprefix(BOM), len(BOM)
            stops = np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows))) + place
            yield _documents(source, wanted, rows, line, np.concatenate(([place], stops)))
            line += len(rows)
            place = int(stops[-1])


def _documents(
    source: Source, wanted: InputFields, rows: list[bytes], line: int, edges: npt.NDArray[np.int64]
) -> DocumentBatch:
    """The documents among `rows`, of which the first is at `line` (0-based) and row i at edges[i]:edges[i + 1]."""
    reader = RowReader(wanted)
    used, rejected = np.arange(len(rows)), list[Rejected]()
    values = _quick(rows, wanted, source.name, line)
    if values is None:
        used, values, rejected = _careful(rows, reader, source.name, line)
    texts, ids, characters, fields = values
    return DocumentBatch(
        source=source,
        texts=TextBuffer.from_bytes(texts),
        ids=TextBuffer.from_bytes(ids),
        line=used + (line + 1),
        start=edges[used],
        stop=edges[used + 1],
        characters=np.array(characters, np.int64),
        fields=fields,
        rejected=rejected,
        lacking=reader.lacking,
        names=tuple(reader.names),
        unread=reader.unread,
    )


def _quick(rows: list[bytes], wanted: InputFields, name: str, line: int) -> Values | None:
    """All rows at once if each is an object with a text and with numbers that orjson keeps; None if any is not."""
    try:
        objects = list(map(orjson.loads, rows))
        texts = _look_up(objects, wanted.text)
        encoded = list(map(str.encode, texts))
        ids = _look_up(objects, wanted.id)
        fields = {name: _look_up(objects, name) for name in wanted.fields}
    except (ValueError, TypeError, AttributeError):
        return None
    if None in ids:
        ids = [f"{name}:{line + 1 + i}" if v is None else v for i, v in enumerate(ids)]
    if not {int, str}.issuperset(map(type, ids)) or any(any(map(wide, values)) for values in fields.values()):
        return None
    return encoded, jsontext.dumps_all(ids), list(map(len, texts)), fields


def _look_up(rows: list[Any], name: str) -> list[Any]:
    return [find(row, name) for row in rows] if "." in name else [row.get(name) for row in rows]


def _careful(
    rows: list[bytes], reader: RowReader, name: str, line: int
) -> tuple[npt.NDArray[np.int64], Values, list[Rejected]]:
    """Row by row: which rows are documents, their values, and the rows that are rejected."""
    used: list[int] = []
    texts: list[bytes] = []
    ids: list[bytes] = []
    characters: list[int] = []
    fields: dict[str, list[object]] = {name: [] for name in reader.wanted.fields}
    rejected: list[Rejected] = []
    for i, row in enumerate(rows):
        if not row or row.isspace():
            continue
        try:
            value = reader.parse(row)
            text = reader.text(value)
            ids.append(reader.id(value, missing=f"{name}:{line + 1 + i}"))
        except Reject as fault:
            if reader.wanted.strict:
                raise InputError(f"{name}:{line + 1 + i}: {fault}; mend the row or run without --strict") from None
            rejected.append(Rejected(name, line + 1 + i, str(fault)))
            continue
        used.append(i)
        texts.append(encode(text))
        characters.append(len(text))
        for values, found in zip(fields.values(), reader.fields(value), strict=True):
            values.append(found)
    return np.array(used, np.int64), (texts, ids, characters, fields), rejected


def copy(source: Source, start: npt.NDArray[np.int64], stop: npt.NDArray[np.int64], path: Path) -> None:
    """Copies the rows at start[i]:stop[i] (bytes, ascending) of `source` to `path`, compressed as `source` is.

    A line feed is added where the last row has none.
    """
    last = b"\n"
    with writing(path, source.compression) as out:
        for block in chosen(source, start, stop):
            out.write(block)
            last = block[-1:]
        if last != b"\n":
            out.write(b"\n")


def rows_at(source: Source, start: npt.NDArray[np.int64], stop: npt.NDArray[np.int64]) -> Iterator[dict[str, object]]:
    """The rows at start[i]:stop[i] (bytes, ascending) of `source` as mappings, integers exact."""
    begun: list[bytes] = []
    for block in chosen(source, start, stop):
        begun.append(block)
        if b"\n" in block:
            *rows, rest = b"".join(begun).split(b"\n")
            yield from map(jsontext.loads, rows)
            begun = [rest] if rest else []
    if begun:
        yield jsontext.loads(b"".join(begun))


def chosen(source: Source, start: npt.NDArray[np.int64], stop: npt.NDArray[np.int64]) -> Iterator[bytes]:
    """The bytes at start[i]:stop[i] (ascending, apart) of `source`, in blocks, none of them empty."""
    opens = np.concatenate(([True], start[1:] != stop[:-1]))[: len(start)]
    begins = start[opens]
    ends = stop[np.concatenate((opens[1:], [True]))[: len(stop)]]
    done, place = 0, 0
    with reading(source) as stream:
        while done < len(begins):
            block = memoryview(stream.read(BATCH))
            if not block:
                raise InputError(f"{source.name}: is shorter than it was when its rows were read; run again")
            after = place + len(block)
            reached = int(np.searchsorted(begins, after))
            left = np.maximum(begins[done:reached] - place, 0).tolist()
            right = np.minimum(ends[done:reached] - place, len(block)).tolist()
            if left:
                yield b"".join([block[i:j] for i, j in zip(left, right, strict=True)])
            done = int(np.searchsorted(ends, after, side="right"))
            place = after
