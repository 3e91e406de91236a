"""`cascade compare`: several configs over one corpus, held against a truth and against each other."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cascade.cli.arguments import Changes, Out, Overwrite, Quiet, Rounds, Sample, SampleSeed, TruthSource, Workers
from cascade.cli.evaluated import result_folder, write_or_tell


def compare(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="CONFIG... INPUT", help="YAML files or names of presets; the last is the input", show_default=False
        ),
    ],
    out: Out,
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="INPUT", help="files, folders or globs; then all arguments are configs"),
    ] = None,
    truth: TruthSource = "exact:0.8",
    sample: Sample = None,
    rounds: Rounds = 3,
    shown: Annotated[
        int, typer.Option("--pairs", metavar="N", min=0, help="disagreeing pairs in the report, for each two configs")
    ] = 50,
    seed: SampleSeed = 0,
    workers: Workers = None,
    overwrite: Overwrite = False,
    changes: Changes = None,
    quiet: Quiet = False,
) -> None:
    """Run configs side by side and tell how they differ.

    Precision, recall and clusters against a truth, recall by similarity beside the predicted S-curve, what each removes
    and takes, and the pairs on which they disagree, the most surprising first. OUT then holds compare.json and
    compare.html.
    """
    from cascade.cli.compared import lines
    from cascade.cli.progress import progress_for
    from cascade.evaluate.compare import compare as compared
    from cascade.io.report import write_report
    from cascade.report.comparison import comparison_page

    *configs, last = arguments
    if inputs:
        configs, given = [*configs, last], inputs
    else:
        given = [last]
    if not configs:
        raise typer.BadParameter("give at least one CONFIG and an INPUT: cascade compare A.yaml B.yaml INPUT -o OUT")
    with result_folder(out, overwrite, given, (*configs, truth)) as (paths, work):
        with progress_for(sys.stderr, quiet) as progress:
            found = compared(
                configs,
                paths,
                truth,
                rounds=rounds,
                sample=sample,
                seed=seed,
                shown=shown,
                set=changes or [],
                workers=workers,
                work_dir=work.parent,
                progress=progress,
            )
        write_report(work / "compare.json", found.as_mapping())
        missing = write_or_tell(work / "compare.html", lambda: comparison_page(found))
    if not quiet:
        print("\n".join([*lines(found), "", *missing, f"results in {out}"]))
