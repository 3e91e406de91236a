"""The decisions that a run has written, as a corpus of the documents that they name. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cascade.config import Config
from cascade.corpus import Corpus
from cascade.errors import InputError
from cascade.io.report import read_report
from cascade.io.stored import Place, StoredPair, StoredRemoval, StoredSide, read_pairs, read_removals
from cascade.pairs import Pairs, Rows
from cascade.text.buffer import TextBuffer


@dataclass(frozen=True)
class Stored:
    """The documents that a run has removed, kept for them, or confirmed as a pair, in input order, without texts."""

    report: Mapping[str, Any]
    names: Sequence[str]
    """Of the inputs."""
    corpus: Corpus
    """Ids, places, and what the keep policy goes by: lengths and values are those of documents in pairs alone."""
    twin_of: Rows
    """As of `collapse`: the row of equal text that the stages saw."""
    removed: npt.NDArray[np.bool_]
    pairs: Pairs
    """Confirmed pairs, left < right, by row."""


def read_stored(run: Path, config: Config) -> Stored:
    """What the folder of a run with `resolve.pairs: all` holds. Raises InputError."""
    report = read_report(run / "report.json")
    names, removed_rows = _described(run, report)
    removals = list(read_removals(run / "removed.jsonl", {name: i for i, name in enumerate(names)}))
    if len(removals) != removed_rows:
        raise InputError(
            f"{run}: removed.jsonl has {len(removals):,} rows and report.json counts {removed_rows:,} removed; "
            "they are not of one run, or one was cut"
        )
    pairs = list(read_pairs(run / "pairs.jsonl", config.resolve.keep_field is not None))
    documents = _documents(run, removals, pairs)
    row_of = {place: row for row, place in enumerate(sorted(documents))}
    ordered = [documents[place] for place in row_of]
    left = np.array([row_of[pair.a.at] for pair in pairs], np.int64)
    right = np.array([row_of[pair.b.at] for pair in pairs], np.int64)
    if not (left < right).all():
        raise InputError(f"{run}: pairs.jsonl: a does not stand before b in each row; run again")
    scores = {
        stage.name: np.array([pair.scores[stage.name] for pair in pairs])
        for stage in config.stages
        if pairs and all(stage.name in pair.scores for pair in pairs)
    }
    twin_of = np.arange(len(ordered), dtype=np.int64)
    removed = np.zeros(len(ordered), bool)
    for removal in removals:
        row = row_of[removal.at]
        removed[row] = True
        if removal.exact or removal.twin_at is not None:
            twin_of[row] = row_of[removal.kept_at if removal.twin_at is None else removal.twin_at]
    return Stored(report, names, _corpus(list(row_of), ordered, config), twin_of, removed, Pairs(left, right, scores))


def _described(run: Path, report: Mapping[str, Any]) -> tuple[list[str], int]:
    """Names of the inputs, and how many documents were removed, by the report."""
    try:
        names = [str(given["source"]) for given in report["inputs"]]
        counts = report["counts"]
        return names, int(counts["removed_exact"]) + int(counts["removed_near"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{run / 'report.json'}: is no report of a run: {type(error).__name__}: {error}") from None


def _documents(run: Path, removals: list[StoredRemoval], pairs: list[StoredPair]) -> dict[Place, StoredSide]:
    """Every document that is named, by its place."""
    documents: dict[Place, StoredSide] = {}
    for pair in pairs:
        documents[pair.a.at], documents[pair.b.at] = pair.a, pair.b
    for removal in removals:
        if not removal.exact and removal.twin_at is None and removal.at not in documents:
            raise InputError(
                f"{run}: {removal.id.decode()} was removed as a near-duplicate, and pairs.jsonl has no pair of it; "
                "the files are not of one run, or one was cut"
            )
        for id_, place in ((removal.id, removal.at), (removal.kept_id, removal.kept_at)):
            documents.setdefault(place, StoredSide(id_, place, 0, None))
        if removal.twin_at is not None and removal.twin_at not in documents:
            raise InputError(f"{run}: {removal.id.decode()} is a copy of a document that is in no pair of pairs.jsonl")
    return documents


def _corpus(places: list[Place], documents: list[StoredSide], config: Config) -> Corpus:
    field, count = config.resolve.keep_field, len(documents)
    source, line = (np.array([place[i] for place in places], np.int64) for i in (0, 1))
    return Corpus(
        texts=TextBuffer.from_bytes([b""] * count),
        digest=np.zeros((count, 2), np.uint64),
        ids=TextBuffer.from_bytes([document.id for document in documents]),
        source=source,
        line=line,
        start=line,
        stop=line,
        characters=np.array([document.characters for document in documents], np.int64),
        fields={} if field is None else {field: [document.keep for document in documents]},
    )
