"""`cascade tune`: the cheapest bands, rows and distance that find enough of a corpus' own pairs, as a config."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascade.cli.arguments import Changes, Inputs, OverwriteFile, Quiet, SampleSeed, Workers
from cascade.cli.evaluated import existing
from cascade.cli.outcome import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cascade.evaluate.tuned import TuneResult


def tune(
    inputs: Inputs,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="where the config goes, as YAML", show_default=False)
    ],
    *,
    min_jaccard: Annotated[
        float, typer.Option("--min-jaccard", metavar="J", help="Jaccard similarity from which on a pair is a duplicate")
    ] = 0.8,
    recall: Annotated[
        float, typer.Option("--recall", metavar="R", help="share of such pairs that must be found")
    ] = 0.995,
    config: Annotated[
        str, typer.Option("--config", metavar="CONFIG", help="what the new config keeps, all but its stages")
    ] = "default",
    sample: Annotated[
        int, typer.Option("--sample", metavar="N", min=2, help="look at this many different texts at most")
    ] = 20_000,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", min=0, help="timed runs of each choice; medians count (0: none)")
    ] = 3,
    seed: SampleSeed = 0,
    workers: Workers = None,
    overwrite: OverwriteFile = False,
    changes: Changes = None,
    quiet: Quiet = False,
) -> None:
    """Find bands, rows and a distance for a corpus.

    Of the least cost at which SimHash, MinHash and exact Jaccard find the share --recall of the pairs of this corpus,
    or the exact join where that is as cheap. Measured on documents that were held out, and written as a config.
    """
    from cascade.cli.progress import progress_for
    from cascade.evaluate.tune import tune as tuned
    from cascade.io.place import output_file
    from cascade.io.read import find_inputs
    from cascade.io.write import write_text

    paths = [source.path for source in find_inputs(inputs)]
    with output_file(out, overwrite, [*paths, *existing([config])]) as work:
        with progress_for(sys.stderr, quiet) as progress:
            found = tuned(
                paths,
                min_jaccard=min_jaccard,
                recall=recall,
                config=config,
                sample=sample,
                rounds=rounds,
                seed=seed,
                set=changes or [],
                workers=workers,
                progress=progress,
            )
        write_text(work, found.yaml())
    if not quiet:
        print("\n".join([*_lines(found), f"written to {out}"]))
    elif not found.met:
        say(f"warning: recall of the held-out pairs: {found.verdict}")


def _lines(found: TuneResult) -> Iterator[str]:
    from cascade.cli.table import table
    from cascade.report.compared import number, share

    yield (
        f"{found.documents:,} different texts; tuned on {found.tuning_documents:,} with {found.tuning_pairs:,} pairs "
        f"of Jaccard {found.min_jaccard:g} or more, held out {found.held_out_documents:,} with {found.held_out_pairs:,}"
    )
    yield ""
    heads = ["choice", "expected recall", "found in tuning", "candidates", "predicted s", "measured s"]
    rows = [heads]
    for each in found.candidates:
        rows.append(
            [
                f"{'* ' if each == found.chosen else '  '}{each.told}",
                f"{each.predicted_recall:.5f}",
                share(each.recall),
                number(each.predicted_candidates, ",.0f"),
                number(each.predicted_seconds, ".3g"),
                number(each.seconds, ".3g"),
            ]
        )
    yield from table(rows)
    yield ""
    yield "predicted s: processor time for the whole corpus, reading and shingling left out; candidates: its pairs that"
    yield "share a band, by the similarities of random pairs. measured s: from the documents to the decisions."
    yield from found.notes
    yield f"recall of the held-out pairs {found.verdict}"
