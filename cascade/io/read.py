"""The door to reading: any source to batches of documents, by its format. The formats are modules of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cascade.errors import InputError
from cascade.io import jsonl, lines
from cascade.io.documents import DocumentBatch, InputFields, Pending, Rejected, Source
from cascade.io.row import MOST_NAMES, listed
from cascade.io.sources import earlier_results, find_inputs
from cascade.parallel import ordered_map

__all__ = [
    "DocumentBatch",
    "InputFields",
    "Rejected",
    "Source",
    "earlier_results",
    "find_inputs",
    "read_all",
    "read_documents",
    "read_rows",
]

T = TypeVar("T")


def pending(source: Source, wanted: InputFields) -> Iterator[Pending]:
    """The batches of one source, of about a megabyte or some, in order; each is yet to be taken apart.

    Raises InputError: unreadable, damaged, cut or changed file. Taking apart raises it, with `strict`, at the first row
    that cannot be used.
    """
    if source.format == "parquet":
        from cascade.io import parquet

        return parquet.read(source, wanted)
    return jsonl.read(source, wanted)


def read_documents(source: Source, wanted: InputFields) -> Iterator[DocumentBatch]:
    """The documents of one source, batch by batch. Raises what `pending` does."""
    return (batch() for batch in pending(source, wanted))


def read_rows(source: Source, start: npt.NDArray[np.int64], stop: npt.NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    """Rows of `source` in full, as mappings; `start` and `stop` int64[n], ascending, as the reader gave them.

    Raises InputError: the file has changed meanwhile, or cannot be read any more.
    """
    if source.format == "parquet":
        from cascade.io import parquet

        return parquet.rows_at(source, start)
    return lines.rows_at(source, start, stop)


def read_all(
    sources: Sequence[Source], wanted: InputFields, then: Callable[[DocumentBatch], T], workers: int = 1
) -> Iterator[T]:
    """then(batch) for the documents of all sources, one batch after the other; taken apart, and used, in threads.

    Raises also InputError at the end if no row could be used because none has the text field.
    """
    census = _Census()

    def work(batch: Pending) -> tuple[_Census, T]:
        documents = batch()
        return _Census.of(documents), then(documents)

    batches = chain.from_iterable(pending(source, wanted) for source in sources)
    for seen, made in ordered_map(work, batches, workers):
        census.add(seen)
        yield made
    if census.lacking and not census.documents and census.lacking + census.unread == census.rejected:
        found = listed(list(census.names))
        raise InputError(
            f"no row has the text field {wanted.text!r}; fields found: {found}; name the one that holds the text: "
            f"`input: {{text: FIELD}}` in the config or --set input.text=FIELD"
        )


@dataclass
class _Census:
    """How many rows could be used, and why the others could not; see DocumentBatch."""

    documents: int = 0
    lacking: int = 0
    unread: int = 0
    rejected: int = 0
    names: dict[str, None] = field(default_factory=dict)

    @staticmethod
    def of(batch: DocumentBatch) -> _Census:
        return _Census(len(batch), batch.lacking, batch.unread, len(batch.rejected), dict.fromkeys(batch.names))

    def add(self, other: _Census) -> None:
        self.documents += other.documents
        self.lacking += other.lacking
        self.unread += other.unread
        self.rejected += other.rejected
        if len(self.names) < MOST_NAMES:
            self.names.update(other.names)
