"""Parquet: rows to documents, and kept rows with their values, schema and metadata."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from cascade.errors import InputError
from cascade.io import jsontext
from cascade.io.documents import DocumentBatch, InputFields, Pending, Rejected, Source
from cascade.io.row import listed
from cascade.io.streams import opened, read_faults, writing
from cascade.text.buffer import TextBuffer

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

BATCH = 8 << 20
"""Bytes that a batch takes, about, as far as the file tells beforehand."""
MOST_ROWS = 8192
"""Rows in a batch at most: repeated long texts take little room in the file and much in memory."""
GROUP = 64 << 20
"""Bytes after which a row group is written though that of the input goes on."""


def read(source: Source, wanted: InputFields) -> Iterator[Pending]:
    """The documents of `source`; a null text, or one that is not UTF-8, is rejected with its row."""
    with _opened(source) as file:
        names = file.schema_arrow.names
        heads = [_head(name, names) for name in (wanted.text, wanted.id, *wanted.fields)]
        columns = list(dict.fromkeys(head for head in heads if head is not None))
        for column in columns:
            if names.count(column) > 1:
                raise InputError(f"{source.name}: has more than one column {column!r}; rename all but one")
        row = 0
        for group in range(file.num_row_groups):
            for batch in _batches(source, file, group, columns):
                yield partial(_documents, source, wanted, names, batch, row)
                row += batch.num_rows


def copy(source: Source, rows: npt.NDArray[np.int64], path: Path) -> None:
    """Writes the rows (0-based, ascending) of `source` to `path`: schema, metadata, row groups and codecs stay."""
    with _opened(source) as file, _writing(file, path) as out:
        held: list[pa.RecordBatch] = []
        last = 0
        for group, batch in _chosen(source, file, rows):
            if group != last or sum(b.nbytes for b in held) >= GROUP:
                _write(out, held)
            held.append(batch)
            last = group
        _write(out, held)


def rows_at(source: Source, rows: npt.NDArray[np.int64]) -> Iterator[dict[str, object]]:
    """The rows (0-based, ascending) of `source` as mappings of Python values."""
    with _opened(source) as file:
        for _, batch in _chosen(source, file, rows):
            yield from batch.to_pylist()


def _chosen(source: Source, file: pq.ParquetFile, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows (0-based, ascending), each batch with its row group; groups that hold none are not read."""
    first = 0
    for group in range(file.num_row_groups):
        end = first + file.metadata.row_group(group).num_rows
        if np.searchsorted(rows, first) < np.searchsorted(rows, end):
            for batch in _batches(source, file, group, None):
                low, high = np.searchsorted(rows, (first, first + batch.num_rows))
                if low < high:
                    for part in _parts(batch, rows[low:high] - first):
                        yield group, part
                first += batch.num_rows
        first = end


@contextmanager
def _opened(source: Source) -> Iterator[pq.ParquetFile]:
    import pyarrow.parquet as pq

    with opened(source) as handle:
        with _faults(source):
            file = pq.ParquetFile(handle)
            file.schema_arrow  # noqa: B018 types that Arrow does not know are found out here
        yield file


@contextmanager
def _faults(source: Source) -> Iterator[None]:
    import pyarrow as pa

    with read_faults(source):
        try:
            yield
        except (pa.ArrowException, EOFError) as error:
            reason = str(error).partition("\n")[0]
            raise InputError(f"{source.name}: no Parquet file, or a damaged one: {reason}") from None


def _batches(source: Source, file: pq.ParquetFile, group: int, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    meta = file.metadata.row_group(group)
    rows = max(1, min(MOST_ROWS, BATCH * max(1, meta.num_rows) // max(1, meta.total_byte_size)))
    batches = file.iter_batches(batch_size=rows, row_groups=[group], columns=columns)
    while True:
        with _faults(source):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _head(name: str, names: list[str]) -> str | None:
    """The column in which `name` is to be found: one of that name, or the first part of a dotted path."""
    head = name if name in names else name.partition(".")[0]
    return head if head in names else None


def _column(batch: pa.RecordBatch, name: str) -> pa.Array | None:
    """The values of a field; None if there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    head = _head(name, batch.schema.names)
    if head is None:
        return None
    array = batch.column(head)
    for part in [] if head == name else name.split(".")[1:]:
        if not pa.types.is_struct(array.type) or array.type.get_field_index(part) < 0:
            return None
        array = pc.struct_field(array, part)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _documents(
    source: Source,
    wanted: InputFields,
    names: list[str],
    batch: pa.RecordBatch,
    row: int,
) -> DocumentBatch:
    """The documents of a batch of which the first row is `row` (0-based)."""
    import pyarrow.compute as pc

    column = _column(batch, wanted.text)
    if column is None:
        fault = f"there is no field {wanted.text!r}; the row has {listed(names)}"
        texts, faults = None, dict.fromkeys(range(batch.num_rows), fault)
    else:
        texts, faults = _texts(column, wanted.text)
    if faults and wanted.strict:
        first = min(faults)
        raise InputError(f"{source.name}:{row + first + 1}: {faults[first]}; mend the row or run without --strict")
    used = np.setdiff1d(np.arange(batch.num_rows), np.fromiter(faults, np.int64, len(faults)))
    start = used + row
    return DocumentBatch(
        source=source,
        texts=TextBuffer.from_bytes([]) if texts is None else TextBuffer.from_arrow(texts),
        ids=TextBuffer.from_bytes(_ids(_values(_column(batch, wanted.id), used), source.name, start + 1)),
        line=start + 1,
        start=start,
        stop=start + 1,
        characters=np.empty(0, np.int64) if texts is None else pc.utf8_length(texts).to_numpy().astype(np.int64),
        fields={name: _values(_column(batch, name), used) for name in wanted.fields},
        rejected=[Rejected(source.name, row + i + 1, faults[i]) for i in sorted(faults)],
        lacking=len(faults) if column is None else 0,
        names=tuple(names) if column is None else (),
    )


def _texts(column: pa.Array, name: str) -> tuple[pa.Array | None, dict[int, str]]:
    """The usable texts of a column (large_string), and what is wrong with the rows that have none."""
    import pyarrow as pa

    kind = column.type
    if kind == pa.null():
        return None, dict.fromkeys(range(len(column)), f"field {name!r} must be a string, is null")
    if not (_is_string(kind) or _is_binary(kind)):
        return None, dict.fromkeys(range(len(column)), f"field {name!r} must be a string, is {kind}")
    faults: dict[int, str] = {}
    if column.null_count:
        nulls = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
        faults = dict.fromkeys(nulls.tolist(), f"field {name!r} must be a string, is null")
    raw = column.cast(pa.large_binary()).drop_null()
    try:
        return raw.cast(pa.large_string()), faults
    except pa.ArrowInvalid:
        good: list[bytes] = []
        for i, text in enumerate(column.cast(pa.large_binary()).to_pylist()):
            try:
                if text is not None:
                    text.decode("utf-8")
                    good.append(text)
            except UnicodeDecodeError as error:
                byte = f"byte 0x{text[error.start]:02x} at byte {error.start + 1} of the text"
                faults[i] = f"field {name!r} is not UTF-8: {byte}"
        return pa.array(good, pa.large_binary()).cast(pa.large_string()), faults


def _values(column: pa.Array | None, used: npt.NDArray[np.int64]) -> list[object]:
    """Python values of the used rows: numbers, strings and booleans as such, None where missing, else as text."""
    import pyarrow as pa

    if column is None:
        return [None] * len(used)
    kind = column.type
    if _is_string(kind) or _is_binary(kind):
        raw = column.cast(pa.large_binary()).to_pylist()
        values: list[object] = [None if v is None else v.decode("utf-8", "replace") for v in raw]
    elif any(test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)):
        values = column.to_pylist()
    elif pa.types.is_decimal(kind):
        values = [None if v is None else _number(v) for v in column.to_pylist()]
    else:
        try:
            values = column.cast(pa.string()).to_pylist()
        except pa.ArrowException:
            values = [None if v is None else str(v) for v in column.to_pylist()]
    return values if len(used) == len(values) else [values[i] for i in used.tolist()]


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _ids(values: list[object], name: str, line: npt.NDArray[np.int64]) -> list[bytes]:
    """The ids as JSON text; file and row stand in for those that are not there."""
    found = [f"{name}:{line[i]}" if v is None else v for i, v in enumerate(values)]
    if {int, str}.issuperset(map(type, found)):
        return jsontext.dumps_all(cast("list[int | str]", found))
    return [jsontext.dumps(v) for v in found]


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _is_binary(kind: pa.DataType) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in tests)


@contextmanager
def _writing(file: pq.ParquetFile, path: Path) -> Iterator[pq.ParquetWriter]:
    """A writer with the schema, the metadata and, column by column, the codecs of `file`."""
    import pyarrow.parquet as pq

    columns: list[Any] = []
    if file.num_row_groups:
        group = file.metadata.row_group(0)
        columns = [group.column(i) for i in range(group.num_columns)]
    codecs = {c.path_in_schema: c.compression if c.compression != "UNCOMPRESSED" else "NONE" for c in columns}
    with (
        writing(path) as sink,
        pq.ParquetWriter(
            sink,
            file.schema_arrow,
            compression=codecs or "snappy",
            use_deprecated_int96_timestamps=any(c.physical_type == "INT96" for c in columns),
            store_schema=b"ARROW:schema" in (file.metadata.metadata or {}),
        ) as writer,
    ):
        yield writer


def _parts(batch: pa.RecordBatch, rows: npt.NDArray[np.int64]) -> list[pa.RecordBatch]:
    """The rows (ascending) of a batch."""
    import pyarrow as pa

    if len(rows) == batch.num_rows:
        return [batch]
    try:
        return [batch.take(pa.array(rows))]
    except pa.ArrowNotImplementedError:  # views and some nested types; slices serve every type
        starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
        lengths = np.diff(starts, append=len(rows))
        return [batch.slice(r, n) for r, n in zip(rows[starts].tolist(), lengths.tolist(), strict=True)]


def _write(out: pq.ParquetWriter, held: list[pa.RecordBatch]) -> None:
    """Writes the held batches as one row group and lets them go."""
    import pyarrow as pa

    rows = sum(b.num_rows for b in held)
    if rows:
        out.write_table(pa.Table.from_batches(held), row_group_size=rows)
    held.clear()
