"""A comparison of configs as rows of cells, the head first: for the terminal and the page. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cascade.evaluate.comparison import BandFigures, Comparison, ConfigFigures, TruthFigures, Versus
from cascade.evaluate.disagree import Disagreement
from cascade.evaluate.explanation import StageVerdict
from cascade.evaluate.intervals import McNemar, Share

Rows = list[list[str]]
Cell = Callable[[ConfigFigures], str]


def number(value: float | None, form: str) -> str:
    """A figure, or a dash where there is none."""
    return "-" if value is None else format(value, form)


def share(value: Share | None) -> str:
    """A share with its interval."""
    if value is None or value.value is None or value.low is None or value.high is None:
        return "-"
    return f"{value.value:.4f} [{value.low:.4f}, {value.high:.4f}]"


def truth_told(truth: TruthFigures | None) -> str:
    """The truth in a few words."""
    if truth is None:
        return "no truth"
    drawn = "" if truth.sampled is None else f" with an end among {truth.sampled:,} documents drawn at random"
    return f"truth {truth.source}: {truth.pairs:,} pairs{drawn}"


def tested(test: McNemar) -> str:
    """McNemar's test in words."""
    return f"p = {test.p_value:.2g} ({test.test})" if test.only_a + test.only_b else "no difference"


def figure_rows(found: Comparison) -> Rows:
    """Precision, recall, clusters, what is removed and what it takes: a column for each config."""
    against: list[tuple[str, Cell]] = [
        ("pair precision", lambda c: share(c.pairs.precision if c.pairs else None)),
        ("pair recall", lambda c: share(c.pairs.recall if c.pairs else None)),
        ("pair F1", lambda c: share(c.pairs.f1 if c.pairs else None)),
        ("B-cubed precision", lambda c: number(c.clusters.bcubed_precision if c.clusters else None, ".4f")),
        ("B-cubed recall", lambda c: number(c.clusters.bcubed_recall if c.clusters else None, ".4f")),
        ("B-cubed F1", lambda c: number(c.clusters.bcubed_f1 if c.clusters else None, ".4f")),
        ("adjusted Rand index", lambda c: number(c.clusters.adjusted_rand if c.clusters else None, ".4f")),
        ("precision within clusters", lambda c: number(c.clusters.pair_precision if c.clusters else None, ".4f")),
        ("recall within clusters", lambda c: number(c.clusters.pair_recall if c.clusters else None, ".4f")),
    ]
    always: list[tuple[str, Cell]] = [
        ("confirmed pairs", lambda c: f"{c.confirmed:,}"),
        ("documents removed", lambda c: f"{c.removed:,}"),
        ("characters removed", lambda c: f"{c.characters_removed:,}"),
        ("largest cluster", lambda c: f"{c.largest_cluster:,}"),
        ("removed through a chain", lambda c: f"{c.chained:,}"),
    ]
    taken: list[tuple[str, Cell]] = [
        ("seconds", lambda c: number(c.measured.seconds if c.measured else None, ".2f")),
        ("process seconds", lambda c: number(c.measured.process_seconds if c.measured else None, ".2f")),
        ("peak MB", lambda c: number(c.measured.peak_bytes / 1e6 if c.measured else None, ",.0f")),
    ]
    rows = [[name, *map(cell, found.configs)] for name, cell in [*against, *always, *taken]]
    shown = [row for row in rows if any(cell != "-" for cell in row[1:])]
    return [["", *(each.name for each in found.configs)], *shown]


def band_rows(found: Comparison) -> Rows:
    """Recall by similarity, found and expected; no row where nothing is known of it."""
    bands = found.configs[0].bands
    heads = (f"{each.name} {what}" for each in found.configs for what in ("found", "expected"))
    rows = [
        [
            f"{band.low:.2f}-{band.high:.2f}",
            f"{band.recall.total:,.0f}",
            *(cell for each in found.configs for cell in _band(each.bands[at])),
        ]
        for at, band in enumerate(bands)
        if band.recall.total
    ]
    return [["similarity", "pairs", *heads], *rows] if rows else []


def _band(band: BandFigures) -> tuple[str, str]:
    return number(band.recall.value, ".4f"), number(band.predicted, ".4f")


def step_rows(found: Comparison) -> Rows:
    """Seconds and peak memory by step; no row where nothing was timed."""
    timed = [(each.name, each.measured) for each in found.configs if each.measured is not None]
    steps = dict.fromkeys(step for _, took in timed for step in took.steps)
    rows = [
        [
            step,
            *(
                cell
                for _, took in timed
                for cell in (
                    number(took.steps.get(step), ".3f"),
                    number(took.peaks[step] / 1e6 if step in took.peaks else None, ",.0f"),
                )
            ),
        ]
        for step in steps
    ]
    return [["step", *(f"{name} {unit}" for name, _ in timed for unit in ("s", "MB"))], *rows] if rows else []


def funnel_rows(each: ConfigFigures) -> Rows:
    """The stages in the order in which they ran."""
    head = [each.name, "role", "pairs in", "pairs out", "seconds", "columns MB", "predicted recall"]
    rows = [
        [
            stage.name,
            stage.role,
            f"{stage.pairs_in:,}",
            f"{stage.pairs_out:,}",
            number(stage.seconds, ".3f"),
            f"{stage.column_bytes / 1e6:.1f}",
            number(stage.predicted_recall, ".5f"),
        ]
        for stage in each.stages
    ]
    return [head, *rows] if rows else []


def versus_rows(versus: Versus) -> Rows:
    """What both of two configs have, and what only one of them."""
    gone = (versus.removed_by_both, versus.removed_only_by_a, versus.removed_only_by_b)
    claimed = (versus.pairs_of_both, versus.pairs_only_of_a, versus.pairs_only_of_b)
    rows = [
        ["", "both", f"only {versus.a}", f"only {versus.b}", "McNemar's test"],
        ["documents removed", *(f"{n:,}" for n in gone), tested(versus.removals)],
        ["pairs claimed", *(f"{n:,}" for n in claimed), ""],
    ]
    if versus.found is not None:
        alone = (versus.found.only_a, versus.found.only_b)
        rows.append(["duplicates found", "", *(f"{n:,}" for n in alone), tested(versus.found)])
    return rows


def verdict_rows(pair: Disagreement, names: Sequence[str]) -> Rows:
    """What every stage of both configs says of a pair."""
    head = ["config", "stage", "says", "score", "threshold", "Jaccard", "expected to accept"]
    rows = [
        [name, verdict.name, "accepts" if verdict.accepted else "refuses", *_said(verdict)]
        for name, verdicts in zip(names, pair.verdicts, strict=True)
        for verdict in verdicts
    ]
    return [head, *rows]


def _said(verdict: StageVerdict) -> Iterator[str]:
    yield number(verdict.score, ".6g")
    yield ", ".join(f"{name} {limit:g}" for name, limit in verdict.thresholds.items()) or "-"
    yield number(verdict.jaccard, ".4f")
    yield number(verdict.predicted_recall, ".5f")


def disagreement_told(pair: Disagreement) -> str:
    """A disagreeing pair in a line, its ids left out."""
    similar = next((value for value in pair.jaccard if value is not None), None)
    known = {True: ", a duplicate", False: ", no duplicate", None: ""}[pair.duplicate]
    return f"{pair.accepted_by} alone, Jaccard {number(similar, '.4f')}{known}; surprise {pair.surprise:.1f} bits"
