"""What readers hand on: sources, batches of documents, rejected rows. No file is opened here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cascade.text.buffer import TextBuffer


@dataclass(frozen=True)
class Source:
    """One input file. `size` and `mtime_ns` are those at the start of the run; -1: not known, so not checked."""

    path: Path
    """The file as the user named it."""
    format: str
    """jsonl or parquet."""
    compression: str
    """"" (none), gz or zst; parquet compresses by itself."""
    index: int
    """Position among the inputs."""
    size: int = -1
    mtime_ns: int = -1

    @property
    def plain(self) -> bool:
        """Whether the file's bytes are its rows: JSON lines that are not compressed."""
        return self.format == "jsonl" and not self.compression

    @property
    def name(self) -> str:
        """The file as it is called in messages, in missing ids and in the output; valid Unicode in any case."""
        return str(self.path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@dataclass(frozen=True)
class InputFields:
    """Where in a row things are: a top-level key or, where there is none of that name, a dotted path into objects."""

    text: str = "text"
    id: str = "id"
    fields: tuple[str, ...] = ()
    """Further fields whose values are wanted (by the keep policy)."""
    strict: bool = False
    """Raise on the first row that cannot be used, instead of rejecting it."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that cannot be used: its file, its line (1-based; of a Parquet file the row) and what is wrong with it."""

    source: str
    line: int
    error: str


@dataclass(frozen=True)
class DocumentBatch:
    """Some consecutive rows of one source: those that are documents, n of them, and those that were rejected."""

    source: Source
    texts: TextBuffer
    """The raw texts; a lone surrogate is U+FFFD."""
    ids: TextBuffer
    """The ids as JSON text, numbers digit for digit: `3`, `"3"`, `9007199254740993`; a missing one is `"FILE:LINE"`."""
    line: npt.NDArray[np.int64]
    """int64[n], 1-based: the line in the file, of a Parquet file the row."""
    start: npt.NDArray[np.int64]
    """int64[n]: where the row begins: a byte of the decompressed file, of a Parquet file a row, both 0-based."""
    stop: npt.NDArray[np.int64]
    """int64[n]: where the row ends, its line end included."""
    characters: npt.NDArray[np.int64]
    """int64[n]: code points of the raw text."""
    fields: dict[str, list[object]] = field(default_factory=dict)
    """Values of the wanted fields, n each: numbers (integers exact), strings, booleans; None where there is none."""
    rejected: list[Rejected] = field(default_factory=list)
    lacking: int = 0
    """How many of the rejected rows have no field of the text's name at all."""
    names: tuple[str, ...] = ()
    """Fields that such rows have instead."""
    unread: int = 0
    """How many of the rejected rows were no object, so that nothing can be said of their fields."""

    def __len__(self) -> int:
        return len(self.line)


Pending = Callable[[], DocumentBatch]
"""A batch whose bytes have been read, to be taken apart in any thread."""
