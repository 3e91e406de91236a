"""Corpus: all documents of a run, numbered in input order: normalised texts, ids, where they came from.

Grows batch by batch and is then frozen. Nothing here opens a file, shingles or decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cascade.pairs import Rows
from cascade.text.buffer import PAD, TextBuffer


class TextStore:
    """Texts appended one batch after the other to a single buffer that grows in place.

    `expected` is how many bytes are likely to come: room that stays untouched costs no memory, and growing costs time.
    """

    def __init__(self, expected: int = 0) -> None:
        self._data = np.empty(max(expected, 1 << 16), np.uint8)
        self._ends: list[Rows] = [np.zeros(1, np.int64)]
        self._size = 0

    def append(self, texts: TextBuffer) -> None:
        """Copies the texts behind those that are there."""
        first, size = int(texts.offsets[0]), texts.size
        if self._size + size + PAD > len(self._data):
            # realloc of a large block moves pages, not bytes; numpy zeroes what is new, so it must not be too much.
            self._data.resize(max(self._size + size + PAD, len(self._data) * 5 // 4), refcheck=False)
        self._data[self._size : self._size + size] = texts.data[first : first + size]
        self._ends.append(texts.offsets[1:] - first + self._size)
        self._size += size

    def finish(self) -> TextBuffer:
        """All texts as one buffer; nothing can be appended any more."""
        self._data.resize(self._size + PAD, refcheck=False)
        self._data[self._size :] = 0
        return TextBuffer(self._data, np.concatenate(self._ends))


@dataclass(frozen=True)
class Arrival:
    """Some documents on their way into a corpus. All arrays have one entry a document.

    `ids` are JSON texts; `digest` uint64[n, 2] is the xxh3-128 of the normalised text; `source` numbers the input;
    `characters` counts code points of the raw text; `start`, `stop` are the row's place in its input.
    """

    texts: TextBuffer
    digest: npt.NDArray[np.uint64]
    ids: TextBuffer
    source: int
    line: Rows
    start: Rows
    stop: Rows
    characters: Rows
    fields: Mapping[str, Sequence[object]] = field(default_factory=dict)


@dataclass(frozen=True)
class Corpus:
    """All documents of a run in input order; see Arrival for the arrays."""

    texts: TextBuffer
    digest: npt.NDArray[np.uint64]
    ids: TextBuffer
    source: Rows
    line: Rows
    start: Rows
    stop: Rows
    characters: Rows
    fields: Mapping[str, Sequence[object]]

    def __len__(self) -> int:
        return len(self.texts)


class CorpusBuilder:
    """Takes arrivals in input order; `finish` gives the corpus. `expected`: bytes of text that are likely to come."""

    def __init__(self, expected: int = 0) -> None:
        self._texts = TextStore(expected)
        self._ids = TextStore()
        self._arrays: dict[str, list[npt.NDArray[np.int64]]] = {
            name: [] for name in ("source", "line", "start", "stop", "characters")
        }
        self._digest: list[npt.NDArray[np.uint64]] = [np.empty((0, 2), np.uint64)]
        self._fields: dict[str, list[object]] = {}

    def add(self, arrival: Arrival) -> None:
        """Appends the documents of one batch."""
        self._texts.append(arrival.texts)
        self._ids.append(arrival.ids)
        self._digest.append(arrival.digest)
        self._arrays["source"].append(np.full(len(arrival.texts), arrival.source, np.int64))
        for name in ("line", "start", "stop", "characters"):
            self._arrays[name].append(getattr(arrival, name))
        for name, values in arrival.fields.items():
            self._fields.setdefault(name, []).extend(values)

    def finish(self) -> Corpus:
        """The corpus of all that was added."""
        arrays = {name: np.concatenate([np.empty(0, np.int64), *parts]) for name, parts in self._arrays.items()}
        return Corpus(
            texts=self._texts.finish(),
            digest=np.concatenate(self._digest),
            ids=self._ids.finish(),
            fields=self._fields,
            **arrays,
        )


def digests(texts: TextBuffer, seed: int) -> npt.NDArray[np.uint64]:
    """xxh3-128 of each text under a seed, as uint64[n, 2]."""
    from xxhash import xxh3_128_digest

    data = memoryview(texts.data.data)
    ends = texts.offsets.tolist()
    joined = b"".join([xxh3_128_digest(data[a:b], seed % 2**64) for a, b in pairwise(ends)])
    return np.frombuffer(joined, np.uint64).reshape(-1, 2)
