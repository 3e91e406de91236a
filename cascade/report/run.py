"""What the folder of a run and its inputs hold, gathered for a page. How it is shown is not told here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cascade.config import Config, load_config
from cascade.errors import CascadeError, InputError
from cascade.io.report import read_report
from cascade.io.stored import check_run, read_pairs
from cascade.io.whole import read_text
from cascade.pairs import Scores
from cascade.plan import Plan, make_plan
from cascade.report.decisions import Cluster, Decisions, Document, Pair, read_decisions
from cascade.report.originals import Originals, read_originals
from cascade.report.similarity import Measure, measure_of

PAIRS = 20
"""Removals near the threshold that are shown."""
CLUSTERS, MEMBERS = 10, 8
"""Largest clusters that are shown, and the removed documents of each."""


@dataclass(frozen=True)
class Run:
    """What the folder of a run and its inputs hold."""

    out: Path
    report: Mapping[str, Any]
    config: Config
    config_text: str
    decisions: Decisions
    measure: Measure | None
    pairs: Sequence[Pair]
    clusters: Sequence[Cluster]
    originals: Originals


def read_run(out: Path, by: Sequence[str] = ()) -> Run:
    """What a page tells of. Raises InputError."""
    check_run(out)
    report = read_report(out / "report.json")
    missing = [name for name in ("counts", "inputs", "stages", "seconds") if name not in report]
    if missing:
        raise InputError(f"{out / 'report.json'}: is no report of a run: there is no {missing[0]}")
    config = load_config(out / "config.yaml")
    decisions = read_decisions(out / "removed.jsonl", [str(told["source"]) for told in report["inputs"]])
    measure = measure_of(config)
    pairs = decisions.pairs(decisions.closest(measure, PAIRS)) if measure else []
    clusters = decisions.largest(CLUSTERS, MEMBERS)
    wanted = [document for pair in pairs for document in (pair.left, pair.right)]
    for cluster in clusters:
        wanted += [cluster.kept, *(Document(each.id, each.at) for each in cluster.removed)]
    since = (out / "report.json").stat().st_mtime
    originals = read_originals(report["inputs"], config, wanted, removed=decisions.at, by=by, since=since)
    if originals.lacking:
        raise InputError(f"no document of the inputs has the field {originals.lacking[0]!r}; name another to count by")
    text = read_text(out / "config.yaml")
    return Run(out, report, config, text, decisions, measure, pairs, clusters, originals)


def plan_of(run: Run) -> Plan | None:
    """The plan, for the number of documents that the stages saw; None where it cannot be made any more."""
    try:
        return make_plan(run.config, int(run.report.get("distinct_texts", 0)))
    except CascadeError:
        return None


def similarity_scores(run: Run) -> Scores:
    """The scores of the confirmed pairs: of all where a run has stored them, else of those behind removals."""
    if run.measure is None:
        return np.empty(0)
    if run.config.resolve.pairs == "all" and (run.out / "pairs.jsonl").is_file():
        stage = run.measure.stage
        return np.array([pair.scores[stage] for pair in read_pairs(run.out / "pairs.jsonl", False)], np.float64)
    found = run.decisions.scores.get(run.measure.stage)
    return np.empty(0) if found is None else found[~run.decisions.exact & ~run.decisions.twin]
