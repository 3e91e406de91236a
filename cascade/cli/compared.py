"""A comparison of configs as lines for the terminal. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from cascade.cli.styled import printable
from cascade.cli.table import table
from cascade.evaluate.comparison import Comparison, Versus
from cascade.report.compared import (
    band_rows,
    disagreement_told,
    figure_rows,
    funnel_rows,
    step_rows,
    truth_told,
    versus_rows,
)

MOST_SHOWN = 3
"""Disagreeing pairs of each two configs on the terminal; the others are in the files."""
WIDTH = 100


def lines(found: Comparison) -> Iterator[str]:
    """What people read."""
    yield f"{found.documents:,} documents, {found.characters:,} characters; {printable(truth_told(found.truth))}"
    for rows, left in (
        (figure_rows(found), 1),
        (band_rows(found), 1),
        (step_rows(found), 1),
        *((funnel_rows(each), 2) for each in found.configs),
    ):
        if rows:
            yield ""
            yield from table(rows, left)
    for each in found.configs:
        if each.unmodelled:
            yield f"{each.name}: no model tells what {', '.join(each.unmodelled)} accepts; expected is without it"
    for versus in found.versus:
        yield from _versus(versus)
    yield ""
    yield from wrap(found.timing, WIDTH)
    yield from (f"note: {printable(note)}" for note in found.notes)
    for each in found.configs:
        yield from (f"warning: {each.name}: {warning}" for warning in each.warnings)


def _versus(versus: Versus) -> Iterator[str]:
    yield ""
    yield printable(f"{versus.a} and {versus.b}")
    yield from table(versus_rows(versus))
    for pair in versus.disagreements[:MOST_SHOWN]:
        yield printable(f"  {pair.ids[0]!r} and {pair.ids[1]!r}: {disagreement_told(pair)}")
