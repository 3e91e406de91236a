"""Reads files that say which documents are duplicates: labelled pairs or clusters, as JSON lines or CSV.

Ids are numbered in the order in which they come; whose they are, and what follows, is told in cascade.evaluate.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cascade.errors import InputError
from cascade.io import jsontext
from cascade.io.documents import Source
from cascade.io.row import kind, listed
from cascade.io.sources import find_inputs, split_suffix
from cascade.io.streams import opened, reading

Numbers = npt.NDArray[np.int64]

DUPLICATE, NOT, UNSURE = 1, 0, -1
WORDS = {
    **dict.fromkeys(("1", "1.0", "true", "duplicate"), DUPLICATE),
    **dict.fromkeys(("0", "0.0", "false", "not", "not duplicate"), NOT),
    **dict.fromkeys(("unsure", ""), UNSURE),
}
"""What a label may be, case aside; null, and an empty cell, mean that nothing is known."""
KNOWN = 'pairs {"a", "b"[, "label"]}, twins {"twins": [id, …]}, or members of clusters {"id", "cluster"}'
SCORES = ("jaccard", "similarity")
CSV_LIMIT = 1 << 24
"""Characters of the longest cell; beyond it a quotation mark is missing somewhere."""


@dataclass(frozen=True)
class Labels:
    """What a file of labels says. Positions (int64) are those in `ids`; lines count from 1."""

    name: str
    text_ids: bool
    """Whether `ids` are plain texts, as CSV has them, and no JSON texts."""
    ids: list[bytes]
    """Each id once, in the order of the file: JSON text such as 3 or "3", or a cell of CSV; UTF-8."""
    id_line: Numbers
    """The first line that each id stands in."""
    left: Numbers
    right: Numbers
    line: Numbers
    """The line of each pair."""
    label: Numbers | None
    """DUPLICATE, NOT or UNSURE for each pair; None: the file has no labels, and every pair in it is a duplicate."""
    similarity: npt.NDArray[np.float64] | None
    """The field `jaccard` or `similarity` of each pair; None unless all pairs have one."""
    twins: list[tuple[int, list[int]]]
    """(line, positions) of each group of equal texts."""
    sampled: Numbers | None
    """Ids all of whose pairs are in the file, where it is a sample."""
    members: tuple[Numbers, Numbers] | None
    """Ids, and the number of the cluster of each, where the file is one of clusters."""


def read_labels(path: str | Path) -> Labels:
    """The labels in a file: *.jsonl, *.ndjson (also with .gz or .zst behind) or *.csv with a header, in UTF-8.

    Rows are pairs, with or without labels throughout, or members of clusters; JSON lines may hold twins and a sample
    beside pairs, as `cascade truth` writes them. Raises InputError with file and line.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name one file of labels, *.jsonl or *.csv")
    if path.suffix.lower() == ".csv":
        source = Source(path, "csv", "", 0)
        return _collect(source, _csv_rows(source), text_ids=True)
    suffix = split_suffix(path)
    if suffix is None or suffix[0].lower() == ".parquet":
        raise InputError(
            f"{path}: unknown kind of file; labels come as *.jsonl (also with .gz or .zst behind) or *.csv"
        )
    (source,) = find_inputs([path])
    return _collect(source, _json_rows(source), text_ids=False)


Row = Mapping[str, object]


def _json_rows(source: Source) -> Iterator[tuple[int, Row]]:
    """The objects of JSON lines; where a number among the ids needs its digits looked at, all are `Digits`."""
    with reading(source) as stream:
        for number, line in enumerate(stream, 1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not text.strip():
                continue
            try:
                row = jsontext.loads_with(text, _all_ids)
            except jsontext.NotJson as fault:
                raise _wrong(source, number, str(fault)) from None
            if not isinstance(row, dict):
                raise _wrong(source, number, f"expected an object, one of {KNOWN}; found {kind(row)}")
            yield number, row


def _all_ids(row: Row) -> Iterator[object]:
    """What stands for a document or a cluster."""
    yield from map(row.get, ("a", "b", "id", "cluster"))
    for name in ("twins", "sampled"):
        if isinstance(group := row.get(name), list):
            yield from group


def _csv_rows(source: Source) -> Iterator[tuple[int, Row]]:
    """The rows of a CSV file as mappings from its header."""
    csv.field_size_limit(CSV_LIMIT)
    with opened(source) as file:
        try:
            text = file.readall().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{source.name}: not UTF-8; save it as UTF-8") from None
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        names: list[str] = []
        while True:
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                raise _wrong(source, rows.line_num, f"not CSV: {error}") from None
            if not names:
                names = [name.strip() for name in cells]
                if not ({"a", "b"} <= set(names) or {"id", "cluster"} <= set(names)):
                    what = f"the header must name a,b[,label] or id,cluster; it has {listed(names)}"
                    raise _wrong(source, rows.line_num, what)
            elif cells:
                if len(cells) != len(names):
                    raise _wrong(
                        source, rows.line_num, f"expected {len(names)} cells as in the header, found {len(cells)}"
                    )
                yield rows.line_num, dict(zip(names, cells, strict=True))


@dataclass
class _Ids:
    """Numbers ids as they come."""

    source: Source
    text_ids: bool
    number: dict[bytes, int] = field(default_factory=dict)
    line: list[int] = field(default_factory=list)

    def take(self, value: object, line: int, what: str) -> int:
        """The number of an id, which stands in the field `what`."""
        if value is None or (self.text_ids and value == ""):
            raise _wrong(self.source, line, f"{what} is {kind(value) if value is None else 'empty'}; give an id")
        key = str(value).encode("utf-8") if self.text_ids else jsontext.dumps(value)
        number = self.number.setdefault(key, len(self.line))
        if number == len(self.line):
            self.line.append(line)
        return number

    def take_all(self, values: object, line: int, what: str) -> list[int]:
        """The numbers of a list of ids."""
        if not isinstance(values, list):
            raise _wrong(self.source, line, f"{what} must be a list of ids, is {kind(values)}")
        return [self.take(value, line, what) for value in values]


def _collect(source: Source, rows: Iterator[tuple[int, Row]], text_ids: bool) -> Labels:
    ids = _Ids(source, text_ids)
    pairs: list[tuple[int, int, int]] = []
    labels: list[int] = []
    scores: list[float] = []
    twins: list[tuple[int, list[int]]] = []
    sampled: list[int] | None = None
    members: dict[int, tuple[int, int]] = {}
    clusters: dict[bytes, int] = {}
    twin_line: dict[int, int] = {}
    for line, row in rows:
        if "a" in row and "b" in row:
            a, b = ids.take(row["a"], line, "a"), ids.take(row["b"], line, "b")
            if a == b:
                raise _wrong(source, line, "a and b are the same document; a pair has two")
            pairs.append((a, b, line))
            if "label" in row:
                labels.append(_label(source, line, row["label"]))
            if len(labels) not in (0, len(pairs)):
                raise _wrong(source, line, "some rows have a label and some have none; give every pair one, or none")
            scores += _score(source, line, row)
        elif "twins" in row:
            group = ids.take_all(row["twins"], line, "twins")
            for number in group:
                if number in twin_line:
                    raise _wrong(source, line, f"{_shown(ids, number)} is already a twin in line {twin_line[number]}")
                twin_line[number] = line
            twins.append((line, group))
        elif "sampled" in row:
            sampled = (sampled or []) + ids.take_all(row["sampled"], line, "sampled")
        elif "id" in row and "cluster" in row:
            number = ids.take(row["id"], line, "id")
            if number in members:
                other = ids.line[number]
                raise _wrong(
                    source, line, f"{_shown(ids, number)} is in line {other} already; a document is in one cluster"
                )
            key = str(row["cluster"]).encode() if text_ids else jsontext.dumps(row["cluster"])
            members[number] = number, clusters.setdefault(key, len(clusters))
        else:
            raise _wrong(source, line, f"expected {KNOWN}; found the fields {listed(list(row))}")
        if members and (pairs or twins or sampled is not None):
            raise _wrong(source, line, "a file holds either pairs or members of clusters; this one mixes them")
        if labels and sampled is not None:
            raise _wrong(source, line, "a sample holds all duplicate pairs of its documents, so it has no labels")
    arrays = np.array(pairs, np.int64).reshape(-1, 3)
    numbers = np.array(list(members.values()), np.int64).reshape(-1, 2)
    return Labels(
        name=source.name,
        text_ids=text_ids,
        ids=list(ids.number),
        id_line=np.array(ids.line, np.int64),
        left=arrays[:, 0],
        right=arrays[:, 1],
        line=arrays[:, 2],
        label=np.array(labels, np.int64) if labels else None,
        similarity=np.array(scores) if scores and len(scores) == len(pairs) else None,
        twins=twins,
        sampled=None if sampled is None else np.array(sampled, np.int64),
        members=(numbers[:, 0], numbers[:, 1]) if members else None,
    )


def _label(source: Source, line: int, value: object) -> int:
    word = "" if value is None else str(value).strip().lower()
    if word not in WORDS or isinstance(value, list | dict):
        raise _wrong(
            source, line, f"label is {str(value)[:40]!r}; expected 1, true or duplicate; 0, false or not; unsure"
        )
    return WORDS[word]


def _score(source: Source, line: int, row: Row) -> list[float]:
    """The similarity of a pair, if the row has one."""
    for name in SCORES:
        value = row.get(name)
        if value is not None and value != "":
            try:
                return [value if type(value) is float else float(str(value))]
            except ValueError:
                raise _wrong(source, line, f"{name} is {str(value)[:40]!r}; expected a number") from None
    return []


def _shown(ids: _Ids, number: int) -> str:
    return "the id " + shown(list(ids.number)[number])


def shown(id_: bytes) -> str:
    """An id for a message: not all of a long one, nothing that a terminal obeys."""
    text = id_.decode("utf-8", "replace")
    text = text if len(text) <= 80 else text[:80] + "…"
    return text if text.isprintable() else ascii(text)


def _wrong(source: Source, line: int, what: str) -> InputError:
    return InputError(f"{source.name}:{line}: {what}")
