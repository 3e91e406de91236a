"""Corpus: all documents of a run, numbered in input order: normalised texts, ids, where they came from.

Grows batch by batch and is then frozen. Its texts are held, or wherever they can be had from again. Nothing here opens
a file, shingles or decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cascade.memory import Growing, Memory
from cascade.pairs import Rows
from cascade.text.buffer import PAD, TextBuffer


class Texts(Protocol):
    """The normalised texts of all documents. Any thread may ask; a TextBuffer holds them, others read them again."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: int, /) -> str:
        """The text of row i."""

    def sizes(self, rows: Rows | None = None) -> Rows:
        """Bytes of the texts at `rows`, or of all."""

    def take(self, rows: Rows) -> TextBuffer:
        """The texts at `rows`, in that order."""

    def same(self, left: Rows, right: Rows) -> npt.NDArray[np.bool_]:
        """Whether the texts at left[i] and right[i] are equal."""


@dataclass(frozen=True)
class Places:
    """Where the rows of some documents are in their sources, and the bytes of their normalised texts: int64 each."""

    source: Rows
    start: Rows
    stop: Rows
    size: Rows


class TextStore:
    """Texts appended one batch after the other to a single buffer. `expected` is how many bytes are likely to come."""

    def __init__(self, expected: int = 0, memory: Memory | None = None) -> None:
        memory = memory or Memory()
        self._data = Growing(memory, np.uint8, expected)
        self._offsets = Growing(memory, np.int64)
        self._offsets.append(np.zeros(1, np.int64))

    def append(self, texts: TextBuffer) -> None:
        """Copies the texts behind those that are there."""
        first = int(texts.offsets[0])
        self._offsets.append(texts.offsets[1:] + (len(self._data) - first))
        self._data.append(texts.data[first : first + texts.size])

    def finish(self) -> TextBuffer:
        """All texts as one buffer; nothing can be appended any more."""
        self._data.append(np.zeros(PAD, np.uint8))
        return TextBuffer(self._data.finish(), self._offsets.finish())


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

    texts: Texts
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
    """Takes arrivals in input order; `finish` gives the corpus. `expected`: bytes of text that may come.

    With `again` texts are let go: it tells, of the places of all documents, where they can be had from.
    """

    def __init__(
        self, expected: int = 0, memory: Memory | None = None, again: Callable[[Places], Texts] | None = None
    ) -> None:
        memory = memory or Memory()
        self._again = again
        self._texts = TextStore(0 if again else expected, memory)
        self._ids = TextStore(0, memory)
        names = ["source", "line", "start", "stop", "characters", *(["size"] if again else [])]
        self._arrays = {name: Growing(memory, np.int64) for name in names}
        self._digest = Growing(memory, np.uint64)
        self._fields: dict[str, list[object]] = {}

    def add(self, arrival: Arrival) -> None:
        """Appends the documents of one batch."""
        if self._again is None:
            self._texts.append(arrival.texts)
        else:
            self._arrays["size"].append(arrival.texts.sizes())
        self._ids.append(arrival.ids)
        self._digest.append(arrival.digest.reshape(-1))
        self._arrays["source"].append(np.full(len(arrival.texts), arrival.source, np.int64))
        for name in ("line", "start", "stop", "characters"):
            self._arrays[name].append(getattr(arrival, name))
        for name, values in arrival.fields.items():
            self._fields.setdefault(name, []).extend(values)

    def finish(self) -> Corpus:
        """The corpus of all that was added."""
        arrays = {name: array.finish() for name, array in self._arrays.items()}
        texts: Texts = self._texts.finish()
        if self._again is not None:
            texts = self._again(Places(arrays["source"], arrays["start"], arrays["stop"], arrays.pop("size")))
        return Corpus(
            texts=texts,
            digest=self._digest.finish().reshape(-1, 2),
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
