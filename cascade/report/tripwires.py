"""Tripwires: what in a run should make people stop and look. They judge figures that others have gathered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from cascade.config import Config
from cascade.config.advice import LEAST_RECALL, percent
from cascade.report.decisions import Decisions
from cascade.report.originals import Group, Originals
from cascade.report.similarity import NEAR, Measure

MOST_OF_CORPUS = 0.05
"""A cluster with a greater share of all documents trips."""
MOST_LOST = 0.9
"""So does a value of a source-like field that loses a greater share of its documents,"""
LEAST_DOCUMENTS = 10
"""if it has so many at least: of fewer a share says little."""
MOST_SHORT = 0.2
"""So does a greater share of documents with fewer tokens than a shingle has."""
MOST_CLOSE = 0.2
"""So does a greater share of near removals within NEAR of the threshold, twice that of an even spread from 0.8 to 1,"""
LEAST_CLOSE = 20
"""if there are so many."""
SHOWN = 3
"""Values of a field that are named."""


@dataclass(frozen=True)
class Tripwire:
    """One thing that was looked at."""

    state: Literal["tripped", "fine", "unknown"]
    title: str
    told: str


def tripwires(
    report: Mapping[str, Any],
    config: Config,
    decisions: Decisions,
    originals: Originals,
    measure: Measure | None,
) -> list[Tripwire]:
    """All tripwires, those that have tripped first."""
    documents = sum(told["documents"] for told in report["inputs"])
    files = [Group(str(t["source"]), t["documents"], t["documents"] - t["kept"]) for t in report["inputs"]]
    found = [
        cluster_wire(decisions.sizes()[0], documents),
        field_wire({"input file": files if len(files) > 1 else (), **originals.fields}, originals),
        short_wire(originals, config),
        recall_wire(report["stages"], config),
        close_wire(decisions, measure),
    ]
    return sorted(found, key=lambda wire: ("tripped", "unknown", "fine").index(wire.state))


def cluster_wire(sizes: Sequence[int] | np.ndarray[Any, Any], documents: int) -> Tripwire:
    """One cluster over 5 % of the corpus."""
    title = "One cluster holds a large part of the corpus"
    if not len(sizes):
        return Tripwire("fine", title, "There is no cluster of two documents or more.")
    largest = int(sizes[0])
    told = f"The largest cluster has {largest:,} of {documents:,} documents, {percent(largest / documents)}"
    over = largest > MOST_OF_CORPUS * documents
    return Tripwire("tripped" if over else "fine", title, f"{told} (limit {percent(MOST_OF_CORPUS)}).")


def field_wire(fields: Mapping[str, Iterable[Group]], originals: Originals) -> Tripwire:
    """A value of a source-like field that loses over 90 %."""
    title = "A source is nearly gone"
    limit = f"(limit {percent(MOST_LOST)}, of {LEAST_DOCUMENTS} documents or more)"
    lost = [
        (group.removed / group.documents, name, group)
        for name, groups in fields.items()
        for group in groups
        if group.documents >= LEAST_DOCUMENTS and group.removed > MOST_LOST * group.documents
    ]
    lost.sort(key=lambda each: (-each[0], -each[2].documents))
    looked = [name for name, groups in fields.items() if any(True for _ in groups)]
    if lost:
        told = "; ".join(
            f"{name} {group.value} lost {group.removed:,} of {group.documents:,} documents, {percent(share)}"
            for share, name, group in lost[:SHOWN]
        )
        more = f"; and {len(lost) - SHOWN:,} more" if len(lost) > SHOWN else ""
        return Tripwire("tripped", title, f"{told}{more} {limit}.")
    if originals.problems and not originals.documents:
        return Tripwire("unknown", title, "The inputs could not be read again, so their fields are not known.")
    if not looked:
        return Tripwire("unknown", title, "No field of the inputs looks like a source; name one with --by FIELD.")
    return Tripwire("fine", title, f"No value of {', '.join(looked)} lost more {limit}.")


def short_wire(originals: Originals, config: Config) -> Tripwire:
    """Over 20 % of the documents with fewer than n tokens."""
    title = "Many documents are shorter than a shingle"
    n = config.shingle.ngram
    if originals.short is None:
        return Tripwire("unknown", title, "The shingles of this config are not of a number of tokens.")
    if not originals.documents:
        return Tripwire("unknown", title, "The inputs could not be read again.")
    share = originals.short / originals.documents
    told = (
        f"{originals.short:,} of {originals.documents:,} documents, {percent(share)}, have fewer than the {n} tokens "
        f"of a shingle (limit {percent(MOST_SHORT)})."
    )
    if share > MOST_SHORT:
        return Tripwire("tripped", title, f"{told} A smaller shingle.n sees more.")
    return Tripwire("fine", title, told)


def recall_wire(stages: Sequence[Mapping[str, Any]], config: Config) -> Tripwire:
    """A predicted recall under 0.9 at the confirm threshold."""
    title = "The plan may miss many pairs"
    known = {s["name"]: s["predicted_recall"] for s in stages if s["predicted_recall"] is not None}
    silent = [s["name"] for s in stages if s["predicted_recall"] is None]
    if not stages:
        return Tripwire("fine", title, "There is no stage: only equal texts are removed, and all of them are found.")
    if config.recall_at is None or not known:
        return Tripwire("unknown", title, "Recall is not predictable: no stage confirms a Jaccard threshold.")
    total = prod(known.values())
    told = f"Predicted recall at Jaccard {config.recall_at:g} is {percent(total)} (limit {percent(LEAST_RECALL)})"
    if silent:
        told += f", without {', '.join(silent)}, of which no model tells"
    return Tripwire("tripped" if total < LEAST_RECALL else "fine", title, f"{told}.")


def close_wire(decisions: Decisions, measure: Measure | None) -> Tripwire:
    """Many removals just above the threshold."""
    title = "Many removals are close calls"
    if measure is None or not measure.similarity:
        return Tripwire("unknown", title, "No stage confirms a similarity, so there is no threshold to be close to.")
    near = ~decisions.exact
    if not near.any():
        return Tripwire("fine", title, "No near-duplicate was removed.")
    scores = decisions.scores.get(measure.stage, np.empty(0))
    close = int((measure.margin(scores[near]) <= measure.near).sum()) if len(scores) else 0
    total = int(near.sum())
    told = (
        f"{close:,} of {total:,} near removals, {percent(close / total)}, have a {measure.label} within {NEAR:g} of "
        f"{measure.threshold:g} (limit {percent(MOST_CLOSE)}, of {LEAST_CLOSE} removals or more)."
    )
    over = close >= LEAST_CLOSE and close > MOST_CLOSE * total
    return Tripwire("tripped" if over else "fine", title, told)
