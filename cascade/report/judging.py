"""Pairs for people to judge: which ones, in what order, with their texts; and the marks that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from cascade.config import Config, load_config
from cascade.errors import InputError
from cascade.io import jsontext
from cascade.io.labels import read_labels, shown
from cascade.io.marks import LABELS, Mark, change_marks, mark, read_marks
from cascade.io.place import LABELS_FILE
from cascade.io.report import read_report
from cascade.io.stored import check_run
from cascade.report.decisions import Document, read_decisions
from cascade.report.originals import Originals, read_originals
from cascade.report.similarity import measure_of


@dataclass(frozen=True)
class Item:
    """A pair to judge: ids as JSON text, raw texts, and what is known of it."""

    a: bytes
    b: bytes
    texts: tuple[str, str]
    note: str


@dataclass(frozen=True)
class Judging:
    """The pairs in the order in which they are asked for, and the file in which the marks are."""

    name: str
    items: Sequence[Item]
    labels: Path
    notes: tuple[str, ...] = ()
    """What should be known before one begins."""

    def marked(self) -> list[str | None]:
        """The label of each item, None where there is none. The file is read each time: others may mark as well."""
        found = {each.pair: each.label for each in read_marks(self.labels)}
        return [found.get(frozenset((item.a, item.b))) for item in self.items]

    def mark(self, number: int, label: str) -> None:
        """Marks an item, whatever it was marked as before. It is on the disk when this returns."""
        if label not in LABELS:
            raise InputError(f"label is {label!r}; expected one of {', '.join(LABELS)}")
        item = self.items[number]
        made = mark(item.a, item.b, label, datetime.now(UTC).isoformat(timespec="seconds"))
        change_marks(self.labels, lambda marks: [*(each for each in marks if each.pair != made.pair), made])

    def undo(self) -> int | None:
        """Takes back the mark that was made last of these items, and says which item that is; None if there is none."""
        numbers = {frozenset((item.a, item.b)): number for number, item in enumerate(self.items)}
        undone: list[int] = []

        def without_last(marks: list[Mark]) -> list[Mark]:
            for at in range(len(marks) - 1, -1, -1):
                if marks[at].pair in numbers:
                    undone.append(numbers[marks[at].pair])
                    return marks[:at] + marks[at + 1 :]
            return marks

        change_marks(self.labels, without_last)
        return undone[0] if undone else None


def judging_of(out: Path, labels: Path | None = None, pairs: Path | None = None, most: int | None = None) -> Judging:
    """The pairs to judge of a run in the folder `out`: its near removals, the closest to the threshold first, or those
    in the file `pairs`, in its order: {"a", "b"} as JSON lines or CSV, or the compare.json of a comparison.

    At most `most` of them. Raises InputError: no run, inputs that are gone or changed, ids that no document has.
    """
    check_run(out)
    labels = labels or out / LABELS_FILE
    read_marks(labels)
    config = load_config(out / "config.yaml")
    inputs = read_report(out / "report.json")["inputs"]
    items, found = _of_run(out, inputs, config, most) if pairs is None else _of_file(pairs, inputs, config, most)
    return Judging(str(out), items, labels, found.problems)


def _of_run(out: Path, inputs: Sequence[Any], config: Config, most: int | None) -> tuple[list[Item], Originals]:
    decisions = read_decisions(out / "removed.jsonl", [str(told["source"]) for told in inputs])
    measure = measure_of(config)
    if measure is None:
        rows = np.flatnonzero(~decisions.exact & ~decisions.twin)[:most]
    else:
        rows = decisions.closest(measure, None)[:most]
    pairs = decisions.pairs(rows)
    wanted = [document for pair in pairs for document in (pair.left, pair.right)]
    since = (out / "report.json").stat().st_mtime
    found = read_originals(inputs, config, wanted, since=since, whole=True)

    def text(document: Document) -> str:
        if document.at not in found.texts:
            raise InputError("; ".join(found.problems) + "; the texts to judge are read from the inputs of the run")
        return found.texts[document.at]

    items = []
    for pair in pairs:
        score = pair.scores.get(measure.stage) if measure else None
        note = measure.told(score) if measure and score is not None else ""
        items.append(Item(pair.left.id, pair.right.id, (text(pair.left), text(pair.right)), note))
    return items, found


def _of_file(pairs: Path, inputs: Sequence[Any], config: Config, most: int | None) -> tuple[list[Item], Originals]:
    once: dict[frozenset[bytes], tuple[tuple[bytes, bytes], str]] = {}
    for ids, where in _asked(pairs):
        once.setdefault(frozenset(ids), (ids, where))
    asked = list(once.values())[:most]
    found = read_originals(inputs, config, ids={id_ for ids, _ in asked for id_ in ids}, whole=True)

    def text(id_: bytes, where: str) -> str:
        if id_ not in found.found:
            told = "; ".join(("no document of the inputs has the id " + shown(id_), *found.problems))
            raise InputError(f"{where}: {told}")
        return found.found[id_][0][1]

    items = [Item(a, b, (text(a, where), text(b, where)), "") for (a, b), where in asked]
    return items, found


def _asked(path: Path) -> list[tuple[tuple[bytes, bytes], str]]:
    """The pairs that a file names, as ids in JSON text, each with its place in the file."""
    if path.suffix.lower() == ".json":
        try:
            told = [pair["ids"] for versus in read_report(path)["versus"] for pair in versus["disagreements"]]
            return [((jsontext.dumps(a), jsontext.dumps(b)), str(path)) for a, b in told]
        except (KeyError, TypeError, ValueError):
            raise InputError(
                f"{path}: is no compare.json of cascade compare; give that, or pairs as JSON lines"
            ) from None
    labels = read_labels(path)
    ids = [jsontext.dumps(id_.decode("utf-8")) for id_ in labels.ids] if labels.text_ids else labels.ids
    if not len(labels.left):
        raise InputError(f'{path}: holds no pairs; each row names two documents: {{"a": ID, "b": ID}}')
    return [
        ((ids[a], ids[b]), f"{labels.name}:{line}")
        for a, b, line in zip(labels.left.tolist(), labels.right.tolist(), labels.line.tolist(), strict=True)
    ]
