"""What the inputs of a run tell once more: texts of some documents, fields by value, short documents, in one reading.

An input that is gone, or is not what the run has read, is told of and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.config import Config
from cascade.errors import InputError
from cascade.io.documents import DocumentBatch, InputFields, Source
from cascade.io.read import find_inputs, read_all, read_documents, read_rows
from cascade.io.stored import Place
from cascade.pairs import Rows
from cascade.parallel import available_workers
from cascade.report.decisions import Document

LOOKED_AT = 1000
"""Rows of each input in which fields are looked for."""
MOST_FIELDS = 12
LONGEST_VALUE = 200
"""Characters of a value that may name a group."""
FEW = 50
"""Values up to which any field groups the documents as a source does; of a field named like one, any number may."""
MOST_VALUES = 100_000
NAMES = frozenset((
    "source", "src", "dataset", "subset", "corpus", "collection", "domain", "host", "hostname", "site", "website",
    "publisher", "feed", "crawl", "dump", "lang", "language", "locale", "category", "section",
))  # fmt: skip
"""Fields that say where a document comes from, case aside."""
LONGEST_TEXT = 20_000
"""Characters of a text that are kept to be shown."""


@dataclass(frozen=True)
class Group:
    """Documents with one value of a field."""

    value: str
    documents: int
    removed: int


@dataclass(frozen=True)
class Originals:
    """What was found in the inputs."""

    texts: Mapping[Place, str]
    """Raw texts of the documents that were asked for, long ones cut."""
    found: Mapping[bytes, tuple[tuple[Place, str], ...]]
    """Places and texts of the documents with the ids that were asked for."""
    fields: Mapping[str, tuple[Group, ...]]
    """Source-like fields: their values, in no order."""
    lacking: tuple[str, ...]
    """Fields that were asked for and that no document has."""
    short: int | None
    """Documents with fewer tokens than a full shingle has; None where that is not known."""
    documents: int
    """Documents in the inputs that were read."""
    problems: tuple[str, ...]
    """Inputs that are gone or changed, in words."""


@dataclass
class _Part:
    """What one batch, or one input, tells."""

    texts: dict[Place, str] = field(default_factory=dict)
    found: list[tuple[bytes, Place, str]] = field(default_factory=list)
    counts: dict[str, Counter[object]] = field(default_factory=dict)
    removed: dict[str, Counter[object]] = field(default_factory=dict)
    short: int = 0
    documents: int = 0
    other: int | None = None
    """A line whose document has another id than it had."""

    def add(self, part: _Part) -> None:
        self.texts |= part.texts
        self.found += part.found
        for mine, theirs in ((self.counts, part.counts), (self.removed, part.removed)):
            for name, counter in theirs.items():
                mine.setdefault(name, Counter()).update(counter)
        self.short += part.short
        self.documents += part.documents
        self.other = part.other if self.other is None else self.other


def read_originals(
    inputs: Sequence[Mapping[str, Any]],
    config: Config,
    wanted: Iterable[Document] = (),
    *,
    removed: npt.NDArray[np.int64] | None = None,
    ids: Iterable[bytes] = (),
    by: Sequence[str] = (),
    since: float | None = None,
    whole: bool = False,
) -> Originals:
    """Reads the inputs of a run once.

    `inputs`: what report.json tells of each (`source`, `documents`). `wanted`: documents whose texts are asked for; an
    input in which one of them has another id has changed. `ids`: ids (JSON text) that are looked for. `removed`:
    int64[n, 2], the places of all removed documents in input order; with it, fields and short documents are counted.
    `by`: fields that are counted whatever their values. `since`: the time of the run, after which nothing should have
    been written. `whole`: texts are not cut. Raises ConfigError, never InputError.
    """
    places: dict[int, dict[int, bytes]] = {}
    for document in wanted:
        places.setdefault(document.at[0], {})[document.at[1]] = document.id
    problems: list[str] = []
    total = _Part()
    asked = frozenset(ids)
    for number, told in enumerate(inputs):
        name = str(told["source"])
        try:
            (source,) = find_inputs([Path(name)])
            source = replace(source, index=number)
            gone = None if removed is None else np.sort(removed[removed[:, 0] == number, 1])
            fields = _fields(source, config, by) if gone is not None else ()
            look = _look(config, places.get(number, {}), asked, gone, LONGEST_TEXT if not whole else None)
            part = _Part()
            names = InputFields(config.input.text, config.input.id, fields)
            for batch in read_all([source], names, look, available_workers()):
                part.add(batch)
        except InputError as error:
            problems.append(str(error))
            continue
        if part.other is not None:
            problems.append(f"{source.name}: has changed since the run: line {part.other:,} has another id")
        elif part.documents != told["documents"]:
            had = f"{part.documents:,} documents now, {told['documents']:,} then"
            problems.append(f"{source.name}: has changed since the run: {had}")
        else:
            missing = set(places.get(number, {})) - {line for _, line in part.texts}
            if missing:
                problems.append(
                    f"{source.name}: has changed since the run: there is no document in line {min(missing):,}"
                )
                continue
            if since is not None and source.mtime_ns / 1e9 > since:
                problems.append(f"{source.name}: was written to after the run; its texts may differ from those of then")
            total.add(part)
    return Originals(
        texts=total.texts,
        found=_by_id(total.found),
        fields=_source_like(total, by),
        lacking=tuple(name for name in by if set(total.counts.get(name, ())) == {None}),
        short=total.short if removed is not None and _smaller(config) is not None else None,
        documents=total.documents,
        problems=tuple(problems),
    )


def _by_id(found: Iterable[tuple[bytes, Place, str]]) -> dict[bytes, tuple[tuple[Place, str], ...]]:
    places: dict[bytes, tuple[tuple[Place, str], ...]] = {}
    for id_, place, text in found:
        places[id_] = (*places.get(id_, ()), (place, text))
    return places


def _look(
    config: Config, places: Mapping[int, bytes], ids: frozenset[bytes], gone: Rows | None, longest: int | None
) -> Callable[[DocumentBatch], _Part]:
    """What is done with a batch, in any thread."""
    lines = np.array(sorted(places), np.int64)

    def look(batch: DocumentBatch) -> _Part:
        part = _Part(documents=len(batch))
        here = np.flatnonzero(np.isin(batch.line, lines, assume_unique=True)).tolist() if len(lines) else ()
        for row in here:
            line = int(batch.line[row])
            if batch.ids[row].encode("utf-8") != places[line]:
                part.other = line
            part.texts[batch.source.index, line] = batch.texts[row][:longest]
        if ids:
            for row in range(len(batch)):
                id_ = batch.ids[row].encode("utf-8")
                if id_ in ids:
                    place = batch.source.index, int(batch.line[row])
                    part.found.append((id_, place, batch.texts[row][:longest]))
        if gone is not None and len(batch):
            part.short = _short(batch, config)
            out = np.flatnonzero(np.isin(batch.line, gone, assume_unique=True)).tolist()
            for name, values in batch.fields.items():
                part.counts[name] = Counter(values)
                part.removed[name] = Counter([values[row] for row in out])
        return part

    return look


def _smaller(config: Config) -> Any:
    """The config's shingler with shingles of one token less; None where a shingle has no number of tokens."""
    n = config.shingle.ngram
    if n is None or n < 2 or getattr(config.shingle, "n", None) != n or not any(s.uses_shingles for s in config.stages):
        return None
    return config.shingle.model_copy(update={"n": n - 1})


def _short(batch: DocumentBatch, config: Config) -> int:
    """Documents with fewer than n tokens: those that have no two shingles of n - 1."""
    from cascade.text.normalize import normalize_texts

    smaller = _smaller(config)
    if smaller is None:
        return 0
    lengths = smaller.shingle(normalize_texts(batch.texts, config.normalize), config.seed).lengths
    return int((lengths <= 1).sum())


def _fields(source: Source, config: Config, by: Sequence[str]) -> tuple[str, ...]:
    """Fields of the first rows that may say where a document comes from: those of `by`, those named so, and others
    with few texts as values. Fields inside of objects are named by a dotted path."""
    first = next(read_documents(source, InputFields(config.input.text, config.input.id)), None)
    if first is None or not len(first):
        return tuple(by)
    values: dict[str, Counter[object]] = {}
    for row in read_rows(source, first.start[:LOOKED_AT], first.stop[:LOOKED_AT]):
        for name, value in _flat(row):
            values.setdefault(name, Counter())[value] += 1
    passed_over = {config.input.text, config.input.id, *by}
    named = [name for name in values if is_named(name) and name not in passed_over]
    few = [name for name, counter in values.items() if name not in passed_over and name not in named and _few(counter)]
    return tuple(dict.fromkeys((*by, *named, *few)))[: MOST_FIELDS + len(by)]


def _few(counter: Counter[object]) -> bool:
    """Whether these are names that come again and again; numbers, such as years and versions, are no sources."""
    return len(counter) <= FEW and counter.total() > len(counter) and all(isinstance(value, str) for value in counter)


def is_named(name: str) -> bool:
    """Whether a field is named like one that says where documents come from."""
    return name.rpartition(".")[2].lower() in NAMES


def _flat(row: Mapping[str, Any]) -> Iterable[tuple[str, object]]:
    """The plain values of a row and of the objects in it."""
    for name, value in row.items():
        inner = [(f"{name}.{key}", v) for key, v in value.items()] if isinstance(value, dict) else [(name, value)]
        for path, v in inner:
            if isinstance(v, str | int) and len(str(v)) <= LONGEST_VALUE:
                yield path, v


def _source_like(part: _Part, by: Sequence[str]) -> dict[str, tuple[Group, ...]]:
    """Fields with two values or more, and, unless they were asked for or are named so, with few."""
    found = {}
    for name, counter in part.counts.items():
        limit = MOST_VALUES if name in by or is_named(name) else FEW
        if name in by or 2 <= len(counter) <= limit:
            found[name] = tuple(
                Group(_shown(value), documents, part.removed[name][value]) for value, documents in counter.items()
            )
    return found


def _shown(value: object) -> str:
    return "(none)" if value is None else str(value)
