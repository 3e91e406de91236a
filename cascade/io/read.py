"""The door to reading: any source to batches of documents, by its format. The formats are modules of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.errors import InputError
from cascade.io import jsonl
from cascade.io.documents import DocumentBatch, InputFields, Rejected, Source
from cascade.io.row import MOST_NAMES, listed
from cascade.io.sources import earlier_results, find_inputs

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


def read_documents(source: Source, wanted: InputFields) -> Iterator[DocumentBatch]:
    """The documents of one source, in batches of some megabytes, in order.

    Raises InputError: unreadable, damaged, cut or changed file; with `strict` also the first row that cannot be used.
    """
    if source.format == "parquet":
        from cascade.io import parquet

        return parquet.read(source, wanted)
    return jsonl.read(source, wanted)


def read_rows(source: Source, start: npt.NDArray[np.int64], stop: npt.NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    """Rows of `source` in full, as mappings; `start` and `stop` int64[n], ascending, as the reader gave them.

    Raises InputError: the file has changed meanwhile, or cannot be read any more.
    """
    if source.format == "parquet":
        from cascade.io import parquet

        return parquet.rows_at(source, start)
    return jsonl.rows_at(source, start, stop)


def read_all(sources: Sequence[Source], wanted: InputFields) -> Iterator[DocumentBatch]:
    """The documents of all sources, one after the other.

    Raises also InputError at the end if no row could be used because none has the text field.
    """
    documents, lacking, unread, rejected = 0, 0, 0, 0
    names: dict[str, None] = {}
    for source in sources:
        for batch in read_documents(source, wanted):
            documents += len(batch)
            lacking += batch.lacking
            unread += batch.unread
            rejected += len(batch.rejected)
            if len(names) < MOST_NAMES:
                names.update(dict.fromkeys(batch.names))
            yield batch
    if lacking and not documents and lacking + unread == rejected:
        found = listed(list(names))
        raise InputError(
            f"no row has the text field {wanted.text!r}; fields found: {found}; name the one that holds the text: "
            f"`input: {{text: FIELD}}` in the config or --set input.text=FIELD"
        )
