"""What a library user may hand over: lists, tables, frames, paths. Each becomes a corpus and gives back its part."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from cascade.config.model import Config
from cascade.corpus import Arrival, Corpus, CorpusBuilder, digests
from cascade.early import EarlyColumns, Part
from cascade.errors import InputError
from cascade.io.documents import Rejected, Source
from cascade.io.row import find
from cascade.memory import Memory
from cascade.pairs import Rows
from cascade.parallel import ordered_map
from cascade.progress import Progress
from cascade.run import read_corpus
from cascade.text.buffer import TextBuffer
from cascade.text.normalize import normalize_texts

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 8192
_MISSING = object()
MOST_NAMES, LONGEST_NAME = 1000, 1000
"""Longer lists, and longer texts, are hardly names of files."""


class Given(Protocol):
    """What was given. `position` int64[documents]: where each document of the corpus stands in it."""

    @property
    def position(self) -> Rows: ...

    def select(self, kept: npt.NDArray[np.bool_]) -> Any:
        """The part whose documents are kept (bool[documents]), of the kind that was given."""


@dataclass(frozen=True)
class GivenList:
    """A list of texts or of mappings."""

    rows: Sequence[Any]
    position: Rows

    def select(self, kept: npt.NDArray[np.bool_]) -> list[Any]:
        return [self.rows[i] for i in self.position[kept].tolist()]


@dataclass(frozen=True)
class GivenFrame:
    """A pyarrow table, or a frame of pandas or polars."""

    frame: Any
    position: Rows

    def select(self, kept: npt.NDArray[np.bool_]) -> Any:
        rows = self.position[kept]
        if hasattr(self.frame, "iloc"):
            return self.frame.iloc[rows]
        if hasattr(self.frame, "take"):
            return self.frame.take(rows)
        return self.frame[rows]


@dataclass(frozen=True)
class GivenFiles:
    """Files; their kept rows are read again when they are asked for."""

    sources: Sequence[Source]
    corpus: Corpus
    position: Rows

    def select(self, kept: npt.NDArray[np.bool_]) -> list[dict[str, Any]]:
        from cascade.io.read import read_rows

        rows: list[dict[str, Any]] = []
        for source in self.sources:
            mine = (self.corpus.source == source.index) & kept
            rows += read_rows(source, self.corpus.start[mine], self.corpus.stop[mine])
        return rows


def given_by(
    data: Any, config: Config, workers: int, progress: Progress, memory: Memory, early: EarlyColumns | None = None
) -> tuple[Given, Corpus, list[Rejected]]:
    """The corpus of what a user has handed over, and the rows that could not be used.

    `early` takes what is to be computed of the documents as they arrive.
    """
    paths = as_paths(data)
    if paths is not None:
        from cascade.io.read import find_inputs

        sources = find_inputs(paths)
        corpus, refused = read_corpus(sources, config, memory, early, workers=workers, progress=progress)
        return GivenFiles(sources, corpus, np.arange(len(corpus), dtype=np.int64)), corpus, refused
    if hasattr(data, "__arrow_c_stream__") and _has_columns(data):
        table = _table(data)
        corpus, refused, position = _read(_table_rows(table, config), config, workers, memory, early)
        # A reader of batches has been used up; all others give back their own kind.
        return GivenFrame(data if hasattr(data, "__len__") else table, position), corpus, refused
    try:
        if isinstance(data, Mapping) or not isinstance(data, Iterable):
            raise TypeError
        # The values of an Arrow array are no str until they are asked for.
        rows = data.to_pylist() if hasattr(data, "to_pylist") else iter(data)
    except TypeError:
        raise InputError(
            f"cannot read documents from {type(data).__name__}; give texts, mappings, an Arrow table, a frame, or paths"
        ) from None
    rows = list(rows)
    _refuse_names(rows)
    corpus, refused, position = _read(_list_rows(rows, config), config, workers, memory, early)
    return GivenList(rows, position), corpus, refused


def _refuse_names(rows: Sequence[Any]) -> None:
    """Raises InputError where a list of texts is one of file names, taken for something that dedupe opens."""
    if 0 < len(rows) <= MOST_NAMES and all(isinstance(row, str) and row and len(row) < LONGEST_NAME for row in rows):
        with suppress(OSError, ValueError):
            if all(Path(row).is_file() for row in rows):
                raise InputError(
                    f"a list of str is taken as texts, and these are names of files ({rows[0]}, …); "
                    "give pathlib.Path to have them read"
                )


def _has_columns(data: Any) -> bool:
    """Whether something with an Arrow stream is a table or frame; a series or an array of texts is a list of them."""
    return hasattr(data, "schema") or hasattr(data, "columns")


def _table(data: Any) -> pa.Table:
    import pyarrow as pa

    try:
        return data if isinstance(data, pa.Table) else pa.table(data)
    except (pa.ArrowException, ValueError) as error:  # ValueError: pandas with a column name twice
        raise InputError(f"cannot read the {type(data).__name__} as a table: {error}") from error


def as_paths(data: Any) -> list[str | Path] | None:
    """Paths, where that is what was given: a str alone is one, in a list only pathlib.Path is."""
    if isinstance(data, str | Path):
        return [data]
    if isinstance(data, Sequence) and data and all(isinstance(item, Path) for item in data):
        return list(data)
    return None


Row = tuple[Any, Any, list[Any]]
"""Text, id, values of the wanted fields; the text may be anything, and is looked at later."""


def _wanted(config: Config) -> list[str]:
    field = config.resolve.keep_field
    return [field] if field else []


def _list_rows(rows: Sequence[Any], config: Config) -> Iterator[Row]:
    fields = _wanted(config)
    for number, row in enumerate(rows):
        if isinstance(row, Mapping):
            text = find(row, config.input.text, _MISSING)
            if text is _MISSING:
                text = InputError(
                    f"row {number} has no field {config.input.text!r}; it has: {', '.join(map(str, row))}"
                )
            yield text, find(row, config.input.id, number), [find(row, f) for f in fields]
        else:
            yield row, number, [None] * len(fields)


def _table_rows(table: pa.Table, config: Config) -> Iterator[Row]:
    if config.input.text not in table.column_names:
        raise InputError(
            f"there is no column {config.input.text!r}; columns are: {', '.join(table.column_names)}; "
            "name the one that holds the text by input.text"
        )
    fields = _wanted(config)
    for name in (config.input.text, config.input.id, *fields):
        if table.column_names.count(name) > 1:
            raise InputError(f"there is more than one column {name!r}; rename all but one")
    has_id = config.input.id in table.column_names
    number = 0
    for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        columns = {name: batch.column(name).to_pylist() for name in {config.input.text, config.input.id, *fields}
                   if name in table.column_names}  # fmt: skip
        ids = columns[config.input.id] if has_id else range(number, number + batch.num_rows)
        for i, (text, key) in enumerate(zip(columns[config.input.text], ids, strict=True)):
            yield text, key, [columns[f][i] if f in columns else None for f in fields]
        number += batch.num_rows


def _read(
    rows: Iterable[Row], config: Config, workers: int, memory: Memory, early: EarlyColumns | None
) -> tuple[Corpus, list[Rejected], Rows]:
    """The corpus of rows, those that hold no text, and the position of each document."""
    builder = CorpusBuilder(0, memory)
    fields = _wanted(config)
    refused: list[Rejected] = []
    position: list[int] = []

    def chunks() -> Iterator[list[tuple[int, Row]]]:
        chunk: list[tuple[int, Row]] = []
        for number, row in enumerate(rows):
            text = row[0]
            if isinstance(text, str):
                chunk.append((number, row))
                position.append(number)
            else:
                why = str(text) if isinstance(text, InputError) else f"the text is {type(text).__name__}, not a string"
                refused.append(Rejected("", number, why))
            if len(chunk) == ROWS_AT_ONCE:
                yield chunk
                chunk = []
        yield chunk

    def arrive(chunk: list[tuple[int, Row]]) -> tuple[Arrival, Part | None]:
        texts = normalize_texts(TextBuffer.from_strings(row[0] for _, row in chunk), config.normalize)
        numbers = np.array([number for number, _ in chunk], np.int64)
        arrived = Arrival(
            texts=texts,
            digest=digests(texts, config.seed),
            ids=TextBuffer.from_strings(_id_text(row[1]) for _, row in chunk),
            source=0,
            line=numbers,
            start=numbers,
            stop=numbers,
            characters=np.array([len(row[0]) for _, row in chunk], np.int64),
            fields={name: [row[2][i] for _, row in chunk] for i, name in enumerate(fields)},
        )
        return arrived, early.compute(texts, arrived.digest) if early else None

    for arrived, part in ordered_map(arrive, chunks(), workers):
        builder.add(arrived)
        if early and part:
            early.add(part)
    if refused and not position:
        raise InputError(f"none of the {len(refused):,} rows holds a text; the first: {refused[0].error}")
    return builder.finish(), refused, np.array(position, np.int64)


def _id_text(value: Any) -> str:
    """An id as JSON text; what JSON does not know (a UUID, a date, a numpy number) by its str()."""
    if hasattr(value, "item"):
        value = value.item()
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(str(value), ensure_ascii=False)
