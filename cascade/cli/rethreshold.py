"""`cascade rethreshold`: the decisions of a run under a higher Jaccard threshold, without reading texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascade.cli.arguments import Out, Overwrite, Quiet
from cascade.cli.outcome import say

if TYPE_CHECKING:
    from cascade.evaluate.rethreshold import Rethresholded


def rethreshold(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="folder of a run with resolve.pairs: all", show_default=False)
    ],
    min_jaccard: Annotated[
        float, typer.Option("--min-jaccard", metavar="J", help="the new, higher threshold", show_default=False)
    ],
    out: Out,
    *,
    stage: Annotated[
        str | None, typer.Option("--stage", metavar="NAME", help="whose threshold, if several stages have one")
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Decide anew under a higher threshold, from the pairs of a run.

    No text is read: OUT holds what is removed now, and for what, which documents are kept anew, clusters, pairs, the
    config with the new threshold, and a report. A lower threshold needs a new run.
    """
    from cascade.evaluate.rethreshold import rethreshold as decided

    done = decided(run, min_jaccard, out, stage=stage, overwrite=overwrite)
    notes = [f"warning: {warning}" for warning in done.warnings]
    if quiet:
        say(*notes)
    else:
        print("\n".join([*_lines(done), *notes]))


def _lines(done: Rethresholded) -> list[str]:
    counts = done.counts
    exact, near = counts["removed_exact"], counts["removed_near"]
    return [
        f"{done.stage}: min_jaccard {done.before:g} -> {done.after:g}",
        f"pairs    {done.pairs[0]:,} -> {done.pairs[1]:,}",
        f"kept     {counts['kept']:,} of {counts['read']:,} rows, {done.kept_again:,} removed before",
        f"removed  {exact + near:,}  {exact:,} exact, {near:,} near-duplicates; {done.removed_anew:,} kept before",
        f"results in {done.out}",
    ]
