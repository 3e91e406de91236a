"""Parquet: rows to documents, and kept rows with their values, schema and metadata."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cascade.errors import InputError
from cascade.io.documents import DocumentBatch, InputFields, Source


def read(source: Source, wanted: InputFields) -> Iterator[DocumentBatch]:
    """The documents of `source`, row group by row group."""
    raise InputError(f"{source.name}: Parquet cannot be read yet")


def copy(source: Source, rows: npt.NDArray[np.int64], path: Path) -> None:
    """Writes the rows (0-based, ascending) of `source` to `path`."""
    raise InputError(f"{source.name}: Parquet cannot be read yet")
