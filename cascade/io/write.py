"""The door to writing: where kept rows go, kept rows by format, and rows of our own as JSON lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson

from cascade.errors import OutputError
from cascade.io import lines
from cascade.io.documents import Source
from cascade.io.jsontext import RawJson
from cascade.io.sources import split_suffix
from cascade.io.streams import writing

__all__ = ["RawJson", "check_jsonl", "kept_path", "write_jsonl", "write_kept", "write_text"]

BLOCK = 4096
"""Rows that are joined before they are written."""


def kept_path(out: Path, sources: Sequence[Source]) -> list[Path]:
    """Where the kept rows of each source go: below `out`, no two to one file.

    One source: `kept` with the suffixes it has; several: the folder `kept`, with their paths below the common parent.
    """
    if len(sources) == 1:
        return [out / ("kept" + "".join(split_suffix(sources[0].path) or ("",)))]
    places = [_place(source.path) for source in sources]
    common = os.path.commonpath([p.parent for p in places]) if places else ""
    return [out / "kept" / p.relative_to(common) for p in places]


def _place(path: Path) -> Path:
    """The absolute path. Links stay as they are named, unless `..` behind one would lead elsewhere than it seems."""
    return path.parent.resolve() / path.name if ".." in path.parts else Path(os.path.abspath(path))


def write_kept(
    source: Source,
    keep: npt.NDArray[np.bool_],
    start: npt.NDArray[np.int64],
    stop: npt.NDArray[np.int64],
    path: Path,
) -> None:
    """Writes the kept ones of the documents of `source` to `path`, in order, in the format and compression of `source`.

    `keep` is bool[n], `start` and `stop` int64[n] as the reader gave them, for all n documents of the source. JSON
    lines are copied byte for byte; Parquet keeps values, schema and metadata. Raises InputError or OutputError.
    """
    if source.format == "parquet":
        from cascade.io import parquet

        parquet.copy(source, start[keep], path)
    else:
        lines.copy(source, keep, start, stop, path)


def write_text(path: Path, text: str) -> None:
    """Writes a text in UTF-8. Raises OutputError."""
    with writing(path) as out:
        out.write(text.encode("utf-8"))


def check_jsonl(path: Path) -> None:
    """Raises OutputError unless a file of this name would be taken for JSON lines that are not compressed."""
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise OutputError(f"{path}: JSON lines are written; give the file a name that ends in .jsonl")


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> int:
    """Writes rows as JSON lines and returns how many. Ids, being JSON text already, are wrapped as RawJson(bytes).

    numpy scalars are numbers; NaN and infinities become null. Raises OutputError.
    """
    option = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
    count = 0
    block: list[bytes] = []
    with writing(path) as out:
        for row in rows:
            block.append(orjson.dumps(row, option=option))
            if len(block) == BLOCK:
                out.write(b"".join(block))
                count += BLOCK
                block.clear()
        out.write(b"".join(block))
    return count + len(block)
