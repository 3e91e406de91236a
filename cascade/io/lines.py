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
