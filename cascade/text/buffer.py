"""TextBuffer and Shingles: many texts, or many rows of shingle hashes, in one array each with offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

PAD = 16
"""Readable bytes behind the last text: kernels load eight bytes at a time."""
BATCH_BYTES = 512 * 1024
"""Text of a batch: its shingles, signatures and tables together stay in the second-level cache."""
BATCH_DOCUMENTS = 4096


def batches(
    rows: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], most: int | None = None
) -> Iterator[npt.NDArray[np.int64]]:
    """`rows` cut into parts of about `most` bytes, or of BATCH_BYTES and at most BATCH_DOCUMENTS; `sizes`: bytes of
    each. A larger row is a part of its own."""
    documents = BATCH_DOCUMENTS if most is None else len(rows)
    most = BATCH_BYTES if most is None else most
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(rows):
        limit = (ends[begin - 1] if begin else 0) + most
        stop = max(int(np.searchsorted(ends, limit, "right")), begin + 1)
        stop = min(stop, begin + documents)
        yield rows[begin:stop]
        begin = stop


@dataclass(frozen=True)
class TextBuffer:
    """UTF-8 texts, one behind the other: text i is data[offsets[i]:offsets[i + 1]].

    `data` is uint8 and has at least PAD bytes behind offsets[-1]; `offsets` is int64 with one entry more than texts.
    """

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> str:
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes().decode("utf-8")

    @property
    def size(self) -> int:
        """Bytes of all texts together."""
        return int(self.offsets[-1] - self.offsets[0])

    def part(self, start: int, stop: int) -> TextBuffer:
        """Texts start … stop - 1, sharing memory."""
        return TextBuffer(self.data, self.offsets[start : stop + 1])

    def sizes(self, rows: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
        """Bytes of the texts at `rows`, or of all: int64."""
        if rows is None:
            return np.diff(self.offsets)
        return np.asarray(self.offsets[rows + 1] - self.offsets[rows])

    def take(self, rows: npt.NDArray[np.int64]) -> TextBuffer:
        """The texts at `rows`, in that order; shares memory where the rows follow one another."""
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
            return self.part(int(rows[0]), int(rows[-1]) + 1)
        from cascade.kernels.buffers import gather

        start, stop = self.offsets[rows], self.offsets[rows + 1]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(stop - start, out=offsets[1:])
        data = np.empty(int(offsets[-1]) + PAD, np.uint8)
        gather(self.data, start, stop, data, offsets)
        data[int(offsets[-1]) :] = 0
        return TextBuffer(data, offsets)

    def same(self, left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether the texts at left[i] and right[i] are equal: bool[len(left)]."""
        from cascade.kernels.buffers import equal

        out = np.empty(len(left), np.bool_)
        equal(self.data, self.offsets, left, right, out)
        return out

    def to_list(self) -> list[str]:
        """The texts as Python strings."""
        return [self[i] for i in range(len(self))]

    @staticmethod
    def from_strings(texts: Iterable[str]) -> TextBuffer:
        """Copies Python strings; a lone surrogate becomes U+FFFD."""
        return TextBuffer.from_bytes([encode(t) for t in texts])

    @staticmethod
    def from_bytes(texts: Sequence[bytes]) -> TextBuffer:
        """Copies byte strings that hold valid UTF-8."""
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
        return TextBuffer(np.frombuffer(b"".join((*texts, bytes(PAD))), np.uint8), offsets)

    @staticmethod
    def from_arrow(array: pa.Array) -> TextBuffer:
        """Copies a string array without nulls (string, large_string, string_view or a dictionary of them)."""
        import pyarrow as pa

        array = array.cast(pa.large_string())
        start, count = array.offset, len(array)
        _, offset_buffer, data_buffer = array.buffers()
        if count == 0 or data_buffer is None:
            return TextBuffer(np.zeros(PAD, np.uint8), np.zeros(count + 1, np.int64))
        offsets = np.frombuffer(offset_buffer, np.int64)[start : start + count + 1]
        size = int(offsets[-1] - offsets[0])
        data = np.empty(size + PAD, np.uint8)
        data[:size] = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
        data[size:] = 0
        return TextBuffer(data, offsets - offsets[0])


def joined(parts: Sequence[TextBuffer]) -> TextBuffer:
    """The texts of several buffers in one."""
    if len(parts) == 1:
        return parts[0]
    offsets = np.zeros(1 + sum(map(len, parts)), np.int64)
    np.cumsum(np.concatenate([np.zeros(0, np.int64), *(part.sizes() for part in parts)]), out=offsets[1:])
    texts = [part.data[part.offsets[0] : part.offsets[-1]] for part in parts]
    return TextBuffer(np.concatenate([*texts, np.zeros(PAD, np.uint8)]), offsets)


def encode(text: str) -> bytes:
    """UTF-8 of a string; a lone surrogate, which UTF-8 cannot hold, becomes U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # A pair of surrogates that belong together is one character: UTF-16 joins it, and replaces the rest.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")


@dataclass(frozen=True)
class Shingles:
    """Shingle hashes of many documents: document i has hashes[indptr[i]:indptr[i + 1]] (uint64; indptr int64).

    `counts` (uint32, beside `hashes`) says how often each occurs in its document, once they are distinct; before that
    it is None and a repeated shingle stands there repeatedly.
    """

    hashes: npt.NDArray[np.uint64]
    indptr: npt.NDArray[np.int64]
    counts: npt.NDArray[np.uint32] | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def row(self, i: int) -> npt.NDArray[np.uint64]:
        """The hashes of document i."""
        return self.hashes[self.indptr[i] : self.indptr[i + 1]]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of hashes of each document."""
        return np.diff(self.indptr)

    def where(self, mask: npt.NDArray[np.bool_]) -> Shingles:
        """Those of the documents where `mask` holds."""
        taken = np.repeat(mask, self.lengths)
        indptr = np.zeros(int(mask.sum()) + 1, np.int64)
        np.cumsum(self.lengths[mask], out=indptr[1:])
        return Shingles(self.hashes[taken], indptr, None if self.counts is None else self.counts[taken])
