"""Rows of JSON lines by their places in the file: kept rows copied byte for byte, rows read again. No row is judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cascade.errors import InputError
from cascade.io import jsontext
from cascade.io.documents import Source
from cascade.io.streams import reading, writing

BATCH = 2 << 20
"""Bytes that are read at a time."""


def copy(
    source: Source,
    keep: npt.NDArray[np.bool_],
    start: npt.NDArray[np.int64],
    stop: npt.NDArray[np.int64],
    path: Path,
) -> None:
    """Copies the rows at start[i]:stop[i] (bytes, ascending) where keep[i] holds to `path`, compressed as `source` is.

    A line feed is added where the last row has none.
    """
    last = b"\n"
    with writing(path, source.compression) as out:
        for block in chosen(source, start, stop, keep):
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


def chosen(
    source: Source,
    start: npt.NDArray[np.int64],
    stop: npt.NDArray[np.int64],
    keep: npt.NDArray[np.bool_] | None = None,
) -> Iterator[bytes]:
    """The bytes at start[i]:stop[i] (ascending, apart) of `source`, in blocks, none of them empty; where keep[i] holds.

    Only the rows of one block are looked at at a time: the arrays may be larger than memory.
    """
    keep = np.ones(len(start), bool) if keep is None else keep
    if not keep.any():
        return
    end = int(stop[len(keep) - 1 - int(keep[::-1].argmax())])
    place = 0
    with reading(source) as stream:
        while place < end:
            block = memoryview(stream.read(BATCH))
            if not block:
                raise InputError(f"{source.name}: is shorter than it was when its rows were read; run again")
            first = int(np.searchsorted(stop, place, side="right"))
            rows = slice(first, int(np.searchsorted(start, place + len(block))))
            left = np.maximum(start[rows][keep[rows]] - place, 0)
            right = np.minimum(stop[rows][keep[rows]] - place, len(block))
            if len(left):
                apart = np.flatnonzero(left[1:] != right[:-1])
                begins, ends = left[np.append(0, apart + 1)].tolist(), right[np.append(apart, -1)].tolist()
                yield b"".join([block[i:j] for i, j in zip(begins, ends, strict=True)])
            place += len(block)
