"""TextBuffer and Shingles: many texts, or many rows of shingle hashes, in one array each with offsets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

PAD = 16
"""Readable bytes behind the last text: kernels load eight bytes at a time."""


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
