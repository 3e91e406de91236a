"""`cascade report`: the page of a run, for the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cascade.cli.arguments import Quiet, Sample

RunFolder = Annotated[Path, typer.Argument(metavar="OUT", help="the folder of a run", show_default=False)]


def report(
    out: RunFolder,
    *,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="FIELD", help="count what each value of this field lost, beside source-like ones"),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option("--truth", metavar="TRUTH", help="measure recall: exact:J, similarity:S or a file (default: not)"),
    ] = None,
    sample: Sample = None,
    quiet: Quiet = False,
) -> None:
    """Write a page on a run: OUT/report.html.

    Tripwires, counts, funnel, the S-curve of the plan, similarities, clusters, removals near the threshold with what
    differs, time and memory. One file for any browser, without network. The inputs are read once more, from where the
    run found them.
    """
    from cascade.cli.progress import progress_for
    from cascade.io.stored import check_run
    from cascade.report.measured import recall_of_run
    from cascade.report.run_page import write_report_page

    check()
    check_run(out)
    with progress_for(sys.stderr, quiet) as progress:
        measured = recall_of_run(out, truth, sample=sample, progress=progress) if truth is not None else ()
    path = write_report_page(out, by=by or (), measured=measured, truth=truth or "")
    if not quiet:
        print(f"page in {path}")
        if truth is not None and not measured:
            print("nothing was measured: this truth knows no similarities")


def check() -> None:
    """Raises BackendUnavailable if no page can be made: better before a long run than after it."""
    from cascade.report.page import environment

    environment()


def write(out: Path) -> None:
    """The page of a run that has just ended."""
    from cascade.report.run_page import write_report_page

    write_report_page(out)
