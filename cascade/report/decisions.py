"""The decisions of a run, as read from its folder: clusters, and removals by how close they were. Opens no file itself.

Arrays hold what is needed of all removals; ids are read again for the few that are shown.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cascade.io.stored import Place, StoredRemoval, read_removals
from cascade.pairs import Rows, Scores
from cascade.report.similarity import Measure


@dataclass(frozen=True)
class Document:
    """A document that is shown: its id as JSON text, and where it stands."""

    id: bytes
    at: Place


@dataclass(frozen=True)
class Pair:
    """Two documents that a run took for duplicates: the one that stayed, or joined the other, first."""

    left: Document
    right: Document
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Cluster:
    """A kept document and, of all that were removed for it, the first ones."""

    kept: Document
    size: int
    removed: tuple[StoredRemoval, ...]


@dataclass(frozen=True)
class Decisions:
    """All removals of a run, n of them, in input order. Places are (number of the file, line)."""

    path: Path
    names: Mapping[str, int]
    """The inputs by name, numbered."""
    at: npt.NDArray[np.int64]
    """int64[n, 2]"""
    kept_at: npt.NDArray[np.int64]
    """int64[n, 2]: of the kept document."""
    exact: npt.NDArray[np.bool_]
    twin: npt.NDArray[np.bool_]
    """bool[n]: a document of equal text was judged in its place, so that its scores stand there twice."""
    scores: Mapping[str, Scores]
    """float64[n] by stage, NaN where there is none."""

    def __len__(self) -> int:
        return len(self.exact)

    def sizes(self) -> tuple[Rows, Rows, Rows]:
        """Clusters, the largest first, then in input order of what was kept: how many documents each has (int64[k]),
        and its removals: rows[start:start + size - 1] with start int64[k], rows int64[n]."""
        order = np.lexsort((self.kept_at[:, 1], self.kept_at[:, 0]))
        kept = self.kept_at[order]
        begins = np.flatnonzero(np.append(True, (kept[1:] != kept[:-1]).any(axis=1))) if len(order) else order
        sizes = np.diff(np.append(begins, len(order))) + 1
        largest = np.argsort(-sizes, kind="stable")
        return sizes[largest], begins[largest], order

    def closest(self, measure: Measure, most: int | None, seed: int = 0) -> Rows:
        """Near removals by how close they were to the threshold, the closest first; no twins.

        Where more than `most` are within `measure.near` of it, so many of those are drawn at random.
        """
        rows = np.flatnonzero(~self.exact & ~self.twin)
        margin = measure.margin(self.scores[measure.stage][rows]) if measure.stage in self.scores else rows * 0.0
        rows, margin = rows[~np.isnan(margin)], margin[~np.isnan(margin)]
        inside = np.flatnonzero(margin <= measure.near)
        if most is not None and len(inside) > most:
            drawn = np.random.default_rng(seed).choice(inside, most, replace=False)
            rows, margin = rows[drawn], margin[drawn]
        return rows[np.lexsort((rows, margin))][:most]

    def pairs(self, rows: Rows) -> list[Pair]:
        """The confirmed pairs behind some near removals, in the order of `rows`."""
        read = self.read(rows)
        wanted = {
            (each.kept_at, each.via): each.kept_at if each.via == each.kept_id else None
            for each in read.values()
            if each.via is not None
        }
        if any(place is None for place in wanted.values()):
            for each in read_removals(self.path, self.names):
                if wanted.get((each.kept_at, each.id), each.at) is None:
                    wanted[each.kept_at, each.id] = each.at
        found = []
        for row in rows.tolist():
            each = read[row]
            left = Document(each.kept_id, each.kept_at)
            if each.via is not None:
                left = Document(each.via, wanted[each.kept_at, each.via] or each.kept_at)
            found.append(Pair(left, Document(each.id, each.at), each.scores))
        return found

    def largest(self, clusters: int, members: int) -> list[Cluster]:
        """The largest clusters, each with so many of its removed documents."""
        sizes, starts, order = self.sizes()
        chosen = [
            order[start : start + min(size - 1, members)]
            for size, start in zip(sizes[:clusters].tolist(), starts[:clusters].tolist(), strict=True)
        ]
        read = self.read(np.concatenate(chosen)) if chosen else {}
        found = []
        for size, rows in zip(sizes.tolist(), chosen, strict=False):
            removed = tuple(read[row] for row in rows.tolist())
            found.append(Cluster(Document(removed[0].kept_id, removed[0].kept_at), size, removed))
        return found

    def read(self, rows: Rows) -> dict[int, StoredRemoval]:
        """Some removals in full, by row."""
        wanted = set(rows.tolist())
        last = max(wanted, default=-1)
        found = {}
        for row, each in enumerate(read_removals(self.path, self.names)):
            if row in wanted:
                found[row] = each
            if row >= last:
                break
        return found


def read_decisions(path: Path, inputs: Sequence[str]) -> Decisions:
    """The decisions in a removed.jsonl; `inputs` are the names of the input files. Raises InputError."""
    names = {name: number for number, name in enumerate(inputs)}
    places, exact, twin = array("q"), array("b"), array("b")
    scores: dict[str, array[float]] = {}
    for row, each in enumerate(read_removals(path, names)):
        places.extend((*each.at, *each.kept_at))
        exact.append(each.exact)
        twin.append(each.twin_at is not None)
        for name, value in each.scores.items():
            column = scores.setdefault(name, array("d"))
            column.extend([np.nan] * (row - len(column)))
            column.append(value)
    table = np.array(places, np.int64).reshape(-1, 4)
    return Decisions(
        path=path,
        names=names,
        at=table[:, :2],
        kept_at=table[:, 2:],
        exact=np.array(exact, np.bool_),
        twin=np.array(twin, np.bool_),
        scores={name: np.append(column, [np.nan] * (len(exact) - len(column))) for name, column in scores.items()},
    )
