"""New decisions under a higher Jaccard threshold, from the confirmed pairs that a run has stored; no text is read.

The pairs that stay are resolved as a run resolves them; files are read and written by cascade.io.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cascade.config import Config, load_config
from cascade.errors import ConfigError, InputError
from cascade.evaluate.stored import Stored, read_stored
from cascade.evidence import cluster_rows, pair_rows, raw_ids, removed_rows
from cascade.io.place import output_folder
from cascade.io.report import write_report
from cascade.io.stored import FILES, check_run
from cascade.io.write import write_jsonl, write_text
from cascade.keep import keep_order
from cascade.pairs import Pairs
from cascade.resolve import resolve_all
from cascade.result import Outcome
from cascade.stage import TOLERANCE, Stage

PAIRS = "pairs.jsonl"


@dataclass(frozen=True)
class Rethresholded:
    """What `rethreshold` did."""

    out: Path
    stage: str
    """The stage whose `min_jaccard` was raised, `before` to `after`."""
    before: float
    after: float
    pairs: tuple[int, int]
    """Confirmed pairs before and after."""
    counts: Mapping[str, int]
    """rows read = kept + removed_exact + removed_near + rejected, now"""
    kept_again: int
    """Documents that were removed and are kept now."""
    removed_anew: int
    """Documents that were kept and are removed now: with star clusters, for one that is kept again."""
    warnings: tuple[str, ...]


def rethreshold(
    run: str | Path,
    min_jaccard: float,
    out: str | Path,
    *,
    stage: str | None = None,
    overwrite: bool = False,
) -> Rethresholded:
    """The decisions of a run under a higher `min_jaccard`, written to the folder `out`.

    `run` is the folder of a run with `resolve.pairs: all`; `stage` names the one that is meant if several have a
    `min_jaccard`. The answer is that of a fresh run wherever that one's candidates are the same: behind an exact join
    or given bands. A warning tells where they may not be: `auto` bands, and buckets that `resolve.max_bucket` has cut,
    may be others for the new threshold.
    Raises InputError (no such run, or one that did not store what is needed), ConfigError (a lower threshold, or none),
    OutputError.
    """
    run, out = Path(run), Path(out)
    check_run(run)
    config = load_config(run / "config.yaml")
    if config.resolve.pairs != "all" or not (run / PAIRS).is_file():
        raise InputError(
            f"{run}: does not hold every confirmed pair, since star resolution alone never looks at pairs of two "
            "removed documents; run once more with --set resolve.pairs=all"
        )
    chosen = _stage(config, stage, run)
    before = float(chosen.min_jaccard)  # type: ignore[attr-defined]
    if min_jaccard < before:
        raise ConfigError(
            f"min_jaccard: {min_jaccard:g} is lower than the {before:g} of this run, and pairs below that were never "
            "stored; a lower threshold needs a new run"
        )
    position = config.stages.index(chosen)
    raised = load_config(config, [f"stages[{position}].min_jaccard={float(min_jaccard)}"])
    with output_folder(out, overwrite, [run / name for name in (*FILES, PAIRS)]) as work:
        stored = read_stored(run, config)
        outcome = decide(stored, raised, chosen.name, min_jaccard)
        done = _summary(stored, outcome, raised, chosen.name, (before, float(min_jaccard)), out)
        _write(work, stored, outcome, raised)
        write_report(work / "report.json", _report(stored, outcome, done, run))
    return done


def _stage(config: Config, name: str | None, run: Path) -> Stage:
    """The stage whose threshold is to be raised."""
    possible = [stage for stage in config.stages if "min_jaccard" in type(stage).model_fields]
    names = ", ".join(stage.name for stage in possible)
    if not possible:
        raise InputError(f"{run}: no stage of its config.yaml has a min_jaccard, so no Jaccard score was stored")
    if name is None and len(possible) > 1:
        raise ConfigError(f"several stages have a min_jaccard: {names}; name the one that is meant (--stage)")
    found = [stage for stage in possible if name in (None, stage.name)]
    if not found:
        raise ConfigError(f"no stage named {name} has a min_jaccard; there is: {names}")
    return found[0]


def decide(stored: Stored, config: Config, stage: str, min_jaccard: float) -> Outcome:
    """What a run would decide of the stored documents, if only pairs with this score of `stage` or more were confirmed.

    Documents in no pair and without a copy are not among them: they are kept in any case.
    """
    from cascade.kernels.collapse import fates

    corpus, twin_of, pairs = stored.corpus, stored.twin_of, stored.pairs
    order, _ = keep_order(corpus, config.resolve.keep)
    order = order[twin_of[order] == order]
    rank = np.full(len(corpus), -1, np.int64)
    rank[order] = np.arange(len(order))
    score = pairs.scores.get(stage, np.zeros(0))
    stay = pairs.take(np.flatnonzero(score >= min_jaccard - TOLERANCE))
    left, right = rank[stay.left], rank[stay.right]
    seen = Pairs(np.minimum(left, right), np.maximum(left, right), stay.scores)
    resolution = resolve_all(len(order), seen, clusters=config.resolve.clusters)
    keeper, via = np.empty((2, len(corpus)), np.int64)
    exact = np.empty(len(corpus), np.bool_)
    fates(order, twin_of, resolution.keeper, resolution.via, keeper, via, exact)
    return Outcome(
        keeper=keeper, exact=exact, via=via, stands_for=twin_of, pairs=stay, stages=(), seconds={}, warnings=(),
        plan=(), large_buckets=0, without_shingles=0,
    )  # fmt: skip


def _summary(
    stored: Stored, outcome: Outcome, config: Config, stage: str, thresholds: tuple[float, float], out: Path
) -> Rethresholded:
    removed = int((~outcome.kept & ~outcome.exact).sum()), int(outcome.exact.sum())
    counts = dict(stored.report["counts"])
    counts.update(removed_exact=removed[1], removed_near=removed[0])
    counts["kept"] = counts["read"] - counts["rejected"] - sum(removed)
    return Rethresholded(
        out=out,
        stage=stage,
        before=thresholds[0],
        after=thresholds[1],
        pairs=(len(stored.pairs), len(outcome.pairs)),
        counts=counts,
        kept_again=int((stored.removed & outcome.kept).sum()),
        removed_anew=int((~stored.removed & ~outcome.kept).sum()),
        warnings=tuple(_warnings(config, stored.report)),
    )


def _warnings(config: Config, report: Mapping[str, Any]) -> Iterator[str]:
    """Where a fresh run might find other pairs."""
    found = "these decisions go by the pairs that were found for the old threshold"
    for stage in config.stages:
        autos = [name for name, value in stage.model_dump(mode="json").items() if value == "auto" and name != "prune"]
        if autos:
            yield f"{stage.name}: {', '.join(autos)}: auto may be settled otherwise for the new one; {found}"
    if report.get("large_buckets"):
        yield f"resolve.max_bucket has acted, and may cut buckets otherwise for the new threshold; {found}"


def _write(work: Path, stored: Stored, outcome: Outcome, config: Config) -> None:
    corpus, names = stored.corpus, stored.names
    write_jsonl(work / "removed.jsonl", removed_rows(corpus, outcome, config, names))
    write_jsonl(work / "kept_ids.jsonl", _kept_rows(stored, outcome))
    write_jsonl(work / "clusters.jsonl", cluster_rows(corpus, outcome))
    write_jsonl(work / PAIRS, pair_rows(corpus, outcome))
    write_text(work / "config.yaml", config.filled())


def _kept_rows(stored: Stored, outcome: Outcome) -> Iterator[dict[str, Any]]:
    """The stored documents that are kept, and whether they were before."""
    corpus = stored.corpus
    rows = np.flatnonzero(outcome.kept)
    for row, id_ in zip(rows.tolist(), raw_ids(corpus, rows), strict=True):
        was = "removed" if stored.removed[row] else "kept"
        yield {"id": id_, "source": stored.names[corpus.source[row]], "line": int(corpus.line[row]), "was": was}


def _report(stored: Stored, outcome: Outcome, done: Rethresholded, run: Path) -> dict[str, Any]:
    """What report.json holds: of the run what is still true, and where it was derived from."""
    change = np.zeros(len(stored.names), np.int64)
    np.add.at(change, stored.corpus.source[stored.removed & outcome.kept], 1)
    np.add.at(change, stored.corpus.source[~stored.removed & ~outcome.kept], -1)
    inputs = [
        {**given, "kept": given["kept"] + more}
        for given, more in zip(stored.report["inputs"], change.tolist(), strict=True)
    ]
    same = ("distinct_texts", "without_shingles", "large_buckets", "seed", "versions")
    return {
        "derived": {
            "from": str(run),
            "stage": done.stage,
            "min_jaccard": {"before": done.before, "after": done.after},
            "pairs": {"before": done.pairs[0], "after": done.pairs[1]},
            "kept_again": done.kept_again,
            "removed_anew": done.removed_anew,
        },
        "counts": dict(done.counts),
        "inputs": inputs,
        **{name: stored.report[name] for name in same if name in stored.report},
        "warnings": list(done.warnings),
    }
