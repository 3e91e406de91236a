"""`cascade truth`: all pairs that are as alike as asked, written to a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cascade.cli.arguments import Changes, Inputs, OverwriteFile, Quiet, Workers
from cascade.cli.outcome import say

if TYPE_CHECKING:
    from cascade.evaluate.truth import TruthResult


def truth(
    inputs: Inputs,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="where the pairs go, as JSON lines", show_default=False)
    ],
    *,
    min_jaccard: Annotated[
        float | None, typer.Option("--min-jaccard", metavar="J", help="least Jaccard similarity of the shingle sets")
    ] = None,
    min_similarity: Annotated[
        float | None, typer.Option("--min-similarity", metavar="S", help="least edit similarity of the texts, instead")
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", help="compare N texts drawn at random with all, not all")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="which texts are drawn")] = 0,
    config: Annotated[
        str, typer.Option("--config", metavar="CONFIG", help="whose normalize, shingle and input apply")
    ] = "default",
    workers: Workers = None,
    overwrite: OverwriteFile = False,
    changes: Changes = None,
    quiet: Quiet = False,
) -> None:
    """Find all pairs that are as alike as asked, exactly.

    Nothing is missed by hashing: every pair at --min-jaccard J by an exact join, or at --min-similarity S by comparing
    all. FILE then holds a row for each pair and one for each group of equal texts, and serves as truth to compare
    configs with. With --sample, only the pairs of N texts.
    """
    from time import perf_counter

    from cascade.cli.progress import progress_for
    from cascade.evaluate.truth import exact_truth
    from cascade.io.place import output_file
    from cascade.io.read import find_inputs
    from cascade.io.write import check_jsonl, write_jsonl

    start = perf_counter()
    check_jsonl(out)
    paths = [source.path for source in find_inputs(inputs)]
    with output_file(out, overwrite, paths) as work:
        with progress_for(sys.stderr, quiet) as progress:
            found = exact_truth(
                paths,
                config,
                min_jaccard=min_jaccard,
                min_similarity=min_similarity,
                sample=sample,
                seed=seed,
                set=changes or [],
                workers=workers,
                progress=progress,
            )
        write_jsonl(work, found.rows())
    notes = [f"warning: {warning}" for warning in found.result.warnings]
    if quiet:
        say(*notes)
    else:
        print("\n".join([*_lines(found), *notes, f"written to {out} ({perf_counter() - start:.1f} s)"]))


def _lines(found: TruthResult) -> list[str]:
    """What was found, in words."""
    truth, rejected = found.truth, len(found.result.rejected)
    measure, _, least = truth.source.partition(":")
    alike = f"pairs with {'a Jaccard' if measure == 'exact' else 'an edit'} similarity of {least} or more"
    lines = [f"documents: {truth.documents:,}; different texts: {len(truth.rows):,}"]
    if rejected:
        lines.append(f"rows that could not be used: {rejected:,}; `cascade run` tells why")
    if truth.sampled is None:
        return [*lines, f"{alike}: {len(truth.left):,}"]
    lines.append(f"{alike} and an end among the {len(truth.sampled):,} texts drawn: {len(truth.left):,}")
    return [*lines, f"estimated for all texts: {truth.pairs_in_all:,.0f}"]
