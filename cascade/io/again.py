"""Normalised texts that are read again, whenever they are asked for, from the places noted when they were first read.

Only rows whose bytes can be found without what is before them: plain JSON lines. What is read must be what it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from cascade.corpus import Places
from cascade.errors import InputError
from cascade.io.documents import InputFields, Source
from cascade.io.jsonl import LF, SLACK, Block, read_values
from cascade.io.streams import opened, read_faults
from cascade.text.buffer import TextBuffer, batches, joined

GAP = 1 << 15
"""Bytes between two rows that are read and thrown away, rather than asking the system twice."""

AT_ONCE = 1 << 21
"""Bytes of rows, and of what lies between them, that are read at a time: rows may be far longer than their texts."""

Rows = npt.NDArray[np.int64]


class TextsAgain:
    """The texts of documents at `places` in `sources`, as `normalize` makes them of what `wanted` names.

    Implements cascade.corpus.Texts. Asking raises InputError where a file has changed since the run began.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        wanted: InputFields,
        normalize: Callable[[TextBuffer], TextBuffer],
        places: Places,
    ) -> None:
        self._sources, self._wanted, self._normalize, self._places = sources, wanted, normalize, places

    def __len__(self) -> int:
        return len(self._places.size)

    def __getitem__(self, i: int, /) -> str:
        return self.take(np.array([range(len(self))[i]]))[0]

    def sizes(self, rows: Rows | None = None) -> Rows:
        """Bytes of the texts at `rows`, or of all."""
        return self._places.size if rows is None else self._places.size[rows]

    def take(self, rows: Rows) -> TextBuffer:
        """The texts at `rows`, in that order."""
        if bool((np.diff(rows) > 0).all()):
            return joined([self._read(self._sources[source], mine) for source, mine in self._by_source(rows)])
        ascending, at = np.unique(rows, return_inverse=True)
        return self.take(ascending).take(at)

    def same(self, left: Rows, right: Rows) -> npt.NDArray[np.bool_]:
        """Whether the texts at left[i] and right[i] are equal."""
        rows, at = np.unique(np.concatenate((left, right)), return_inverse=True)
        return self.take(rows).same(at[: len(left)], at[len(left) :])

    def _by_source(self, rows: Rows) -> Iterator[tuple[int, Rows]]:
        numbers, begins = np.unique(self._places.source[rows], return_index=True)
        ends = [*begins[1:].tolist(), len(rows)]
        for number, begin, end in zip(numbers.tolist(), begins.tolist(), ends, strict=False):
            yield number, rows[begin:end]

    def _read(self, source: Source, rows: Rows) -> TextBuffer:
        start, stop = self._places.start[rows], self._places.stop[rows]
        size, gap = stop - start, start[1:] - stop[:-1]
        size[1:] += np.where(gap > GAP, 0, gap)
        parts = batches(np.arange(len(rows)), size, AT_ONCE)
        return joined([self._part(source, rows[part], start[part], stop[part]) for part in parts])

    def _part(self, source: Source, rows: Rows, start: Rows, stop: Rows) -> TextBuffer:
        data, size = _rows(source, start, stop)
        changed = InputError(f"{source.name}: rows are not what they were when they were first read; run again")
        if np.count_nonzero(data[:size] == LF) != len(rows):
            raise changed
        block = Block(data, size, size, place=0, line=0, lines=len(rows))
        texts = self._normalize(read_values(source, self._wanted, block, small=0).found.texts)
        if not np.array_equal(texts.sizes(), self._places.size[rows]):
            raise changed
        return texts


def _rows(source: Source, start: Rows, stop: Rows) -> tuple[npt.NDArray[np.uint8], int]:
    """The bytes at start[i]:stop[i] (ascending, apart), each with a line end; SLACK bytes more; and how many."""
    from cascade.kernels.buffers import gather

    apart = np.flatnonzero(start[1:] - stop[:-1] > GAP)
    begins, ends = start[np.append(0, apart + 1)], stop[np.append(apart, -1)]
    places = np.concatenate((np.zeros(1, np.int64), np.cumsum(ends - begins)))
    raw = np.empty(int(places[-1]) + SLACK, np.uint8)
    with opened(source) as file, read_faults(source):
        for begin, at, to in zip(begins.tolist(), places.tolist(), places[1:].tolist(), strict=False):
            _fill(source, file.fileno(), begin, raw[at:to])
    size = int((stop - start).sum())
    if size < places[-1]:
        span = np.searchsorted(begins, start, side="right") - 1
        moved = places[span] - begins[span]
        indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(stop - start)))
        data = np.empty(size + SLACK, np.uint8)
        gather(raw, start + moved, stop + moved, data, indptr)
        raw = data
    if size and raw[size - 1] != LF:
        raw[size] = LF
        size += 1
    return raw, size


def _fill(source: Source, handle: int, place: int, out: npt.NDArray[np.uint8]) -> None:
    """Fills `out` with the bytes of a file from `place` on."""
    done = 0
    while done < len(out):
        got = os.preadv(handle, [out[done:].data], place + done)
        if not got:
            raise InputError(f"{source.name}: is shorter than it was when its rows were read; run again")
        done += got
