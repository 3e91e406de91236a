"""The figures of one config over a corpus: what it removes and finds, what its models expect, what it took.

Figures of two configs are told in compare, what each figure means at comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from cascade.config import Config
from cascade.evaluate.comparison import BandFigures, ConfigFigures, StageFigures, TruthFigures
from cascade.evaluate.disagree import Contender
from cascade.evaluate.measure import Measured
from cascade.evaluate.metrics import chained, cluster_figures, largest_cluster, pair_figures, recall_by_band, within
from cascade.evaluate.predict import curve, recall_expected, unmodelled
from cascade.evaluate.truth import Truth


def truth_figures(truth: Truth) -> TruthFigures:
    """A truth in a few numbers."""
    return TruthFigures(
        source=truth.source,
        pairs=len(truth.left),
        twins=truth.documents - len(truth.rows),
        sampled=None if truth.sampled is None else len(truth.sampled),
    )


def config_figures(each: Contender, config: Config, truth: Truth | None, measured: Measured | None) -> ConfigFigures:
    """Everything about one config: `config` as it is written, `each` as it ran with `pairs: all`."""
    result, plan = each.result, each.plan
    outcome = result.outcome
    if measured is not None:
        reports = measured.runs[-1].stages
        seconds: Mapping[str, float] = measured.stages
    else:
        reports, seconds = outcome.stages, {}
    bytes_of = {planned.stage.name: planned.predicate.bytes_per_document for planned in plan.stages}
    return ConfigFigures(
        name=each.name,
        config=config,
        counts=result.counts,
        characters_removed=int(result.corpus.characters[outcome.keeper >= 0].sum()),
        confirmed=len(outcome.pairs),
        largest_cluster=largest_cluster(outcome.keeper),
        chained=len(chained(outcome)),
        pairs=None if truth is None else pair_figures(truth, outcome.pairs, outcome.stands_for),
        bands=() if truth is None else tuple(_bands(each, truth)),
        clusters=None if truth is None else cluster_figures(truth, outcome.keeper),
        stages=tuple(
            StageFigures(
                name=report.name,
                use=report.use,
                role=report.role,
                pairs_in=report.pairs_in,
                pairs_out=report.pairs_out,
                seconds=seconds.get(report.name),
                column_bytes=bytes_of[report.name] * plan.documents,
                predicted_recall=report.predicted_recall,
            )
            for report in reports
        ),
        measured=measured,
        curve=curve(plan.stages),
        unmodelled=unmodelled(plan),
        warnings=result.warnings,
    )


def _bands(each: Contender, truth: Truth) -> Iterator[BandFigures]:
    """Recall by similarity beside what the models expect of the same pairs."""
    bands = recall_by_band(truth, each.result.outcome.pairs, each.result.outcome.stands_for)
    if not bands:
        return
    likely = recall_expected(each.plan, each.result, truth.left, truth.right)
    weight: npt.NDArray[np.float64] = np.ones(len(truth.left))
    if truth.sampled is not None:  # a pair counts for each sampled end, as in the recall beside it
        inside = np.zeros(truth.documents)
        inside[truth.sampled] = 1
        weight = inside[truth.left] + inside[truth.right]
    assert truth.similarity is not None
    for band in bands:
        own = within(truth.similarity, band.low, band.high, last=band is bands[-1]) * weight
        predicted = float((likely * own).sum() / own.sum()) if own.any() else None
        yield BandFigures(band.low, band.high, band.recall, predicted)
