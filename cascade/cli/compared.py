"""A comparison of configs as lines of text. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import wrap

from cascade.cli.styled import printable
from cascade.cli.table import number, table
from cascade.evaluate.comparison import BandFigures, Comparison, ConfigFigures, TruthFigures, Versus
from cascade.evaluate.intervals import McNemar, Share

MOST_SHOWN = 3
"""Disagreeing pairs of each two configs on the terminal; the others are in the files."""

Cell = Callable[[ConfigFigures], str]


def lines(found: Comparison) -> Iterator[str]:
    """What people read."""
    yield f"{found.documents:,} documents, {found.characters:,} characters; {truth_told(found.truth)}"
    yield ""
    yield from table([["", *(each.name for each in found.configs)], *_rows(found)])
    yield from _bands(found)
    yield from _steps(found)
    for each in found.configs:
        yield from _funnel(each)
    for versus in found.versus:
        yield from _versus(versus)
    yield ""
    yield from wrap(found.timing, 100)
    yield from (f"note: {note}" for note in found.notes)
    for each in found.configs:
        yield from (f"warning: {each.name}: {warning}" for warning in each.warnings)


def truth_told(truth: TruthFigures | None) -> str:
    """The truth in a few words."""
    if truth is None:
        return "no truth"
    drawn = "" if truth.sampled is None else f" with an end among {truth.sampled:,} documents drawn at random"
    return f"truth {truth.source}: {truth.pairs:,} pairs{drawn}"


def share(value: Share | None) -> str:
    """A share with its interval."""
    if value is None or value.value is None or value.low is None or value.high is None:
        return "-"
    return f"{value.value:.4f} [{value.low:.4f}, {value.high:.4f}]"


def _rows(found: Comparison) -> Iterator[list[str]]:
    rows: list[tuple[str, Cell]] = [
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
    if found.truth is not None:
        shown = [[name, *map(cell, found.configs)] for name, cell in rows]
        yield from (row for row in shown if any(cell != "-" for cell in row[1:]))
    for name, cell in [
        ("confirmed pairs", lambda c: f"{c.confirmed:,}"),
        ("documents removed", lambda c: f"{c.removed:,}"),
        ("characters removed", lambda c: f"{c.characters_removed:,}"),
        ("largest cluster", lambda c: f"{c.largest_cluster:,}"),
        ("removed through a chain", lambda c: f"{c.chained:,}"),
        ("seconds", lambda c: number(c.measured.seconds if c.measured else None, ".2f")),
        ("peak MB", lambda c: number(c.measured.peak_bytes / 1e6 if c.measured else None, ",.0f")),
    ]:
        yield [name, *map(cell, found.configs)]


def _bands(found: Comparison) -> Iterator[str]:
    """Recall by similarity; () where nothing is known of it."""
    if not any(each.bands for each in found.configs):
        return
    yield ""
    rows = [
        ["similarity", "pairs", *(f"{each.name} {what}" for each in found.configs for what in ("found", "expected"))]
    ]
    for at, band in enumerate(found.configs[0].bands):
        cells = [cell for each in found.configs for cell in _band(each.bands[at])]
        if band.recall.total:
            rows.append([f"{band.low:.2f}-{band.high:.2f}", f"{band.recall.total:,.0f}", *cells])
    yield from table(rows)
    for each in found.configs:
        if each.unmodelled:
            yield f"{each.name}: no model tells what {', '.join(each.unmodelled)} accepts; expected is without it"


def _band(band: BandFigures) -> tuple[str, str]:
    return number(band.recall.value, ".4f"), number(band.predicted, ".4f")


def _steps(found: Comparison) -> Iterator[str]:
    timed = [(each.name, each.measured) for each in found.configs if each.measured is not None]
    if not timed:
        return
    yield ""
    rows = [["step", *(f"{name} {unit}" for name, _ in timed for unit in ("s", "MB"))]]
    for step in dict.fromkeys(step for _, took in timed for step in took.steps):
        cells = [
            cell
            for _, took in timed
            for cell in (
                number(took.steps.get(step), ".3f"),
                number(took.peaks[step] / 1e6 if step in took.peaks else None, ",.0f"),
            )
        ]
        rows.append([step, *cells])
    yield from table(rows)


def _funnel(each: ConfigFigures) -> Iterator[str]:
    if not each.stages:
        return
    yield ""
    rows = [[each.name, "role", "pairs in", "pairs out", "seconds", "columns MB", "predicted recall"]]
    for stage in each.stages:
        rows.append(
            [
                stage.name,
                stage.role,
                f"{stage.pairs_in:,}",
                f"{stage.pairs_out:,}",
                number(stage.seconds, ".3f"),
                f"{stage.column_bytes / 1e6:.1f}",
                number(stage.predicted_recall, ".5f"),
            ]
        )
    yield from table(rows, left=2)


def _versus(versus: Versus) -> Iterator[str]:
    yield ""
    yield f"{versus.a} and {versus.b}"
    rows = [["", "both", f"only {versus.a}", f"only {versus.b}", "McNemar's test"]]
    gone = (versus.removed_by_both, versus.removed_only_by_a, versus.removed_only_by_b)
    rows.append(["documents removed", *(f"{n:,}" for n in gone), tested(versus.removals)])
    claimed = (versus.pairs_of_both, versus.pairs_only_of_a, versus.pairs_only_of_b)
    rows.append(["pairs claimed", *(f"{n:,}" for n in claimed), ""])
    if versus.found is not None:
        alone = (versus.found.only_a, versus.found.only_b)
        rows.append(["duplicates found", "", *(f"{n:,}" for n in alone), tested(versus.found)])
    yield from table(rows)
    for pair in versus.disagreements[:MOST_SHOWN]:
        similar = next((value for value in pair.jaccard if value is not None), None)
        known = {True: ", a duplicate", False: ", no duplicate", None: ""}[pair.duplicate]
        ids = printable(f"{pair.ids[0]!r} and {pair.ids[1]!r}")
        alike = f"Jaccard {number(similar, '.4f')}{known}; surprise {pair.surprise:.1f} bits"
        yield f"  {pair.accepted_by} alone: {ids}, {alike}"


def tested(test: McNemar) -> str:
    """McNemar's test in words."""
    return f"p = {test.p_value:.2g} ({test.test})" if test.only_a + test.only_b else "no difference"
