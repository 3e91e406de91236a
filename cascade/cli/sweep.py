"""`cascade sweep`: a grid of settings over one corpus, and which of them nothing beats."""

from __future__ import annotations

import sys
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from cascade.cli.arguments import (
    Changes,
    Inputs,
    Out,
    Overwrite,
    Quiet,
    Rounds,
    Sample,
    SampleSeed,
    TruthSource,
    Workers,
)
from cascade.cli.evaluated import result_folder, write_or_tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cascade.evaluate.sweep import SweepResult


def sweep(
    base: Annotated[
        str, typer.Argument(metavar="BASE", help="a YAML file, or the name of a preset", show_default=False)
    ],
    inputs: Inputs,
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="PATH=V,V…",
            help="an option and its values, e.g. stages.simhash.max_hamming=12,16,off (off: without that stage)",
            show_default=False,
        ),
    ],
    out: Out,
    *,
    truth: TruthSource = "exact:0.8",
    sample: Sample = None,
    rounds: Rounds = 3,
    seed: SampleSeed = 0,
    workers: Workers = None,
    overwrite: Overwrite = False,
    changes: Changes = None,
    quiet: Quiet = False,
) -> None:
    """Try every combination of some options.

    Recall, precision and what a run takes, for each, and the Pareto front: settings of which no other finds as much for
    less. OUT then holds sweep.json and, with matplotlib, sweep.svg.
    """
    from cascade.cli.progress import progress_for
    from cascade.evaluate.plots import svg
    from cascade.evaluate.sweep import sweep as swept
    from cascade.io.report import write_report

    grid = dict(_values(given) for given in vary)
    if len(grid) < len(vary):
        raise typer.BadParameter("--vary names an option twice; give all its values at once: PATH=V,V,V")
    with result_folder(out, overwrite, inputs, (base, truth)) as (paths, work):
        with progress_for(sys.stderr, quiet) as progress:
            found = swept(
                base,
                paths,
                grid,
                truth,
                rounds=rounds,
                sample=sample,
                seed=seed,
                set=changes or [],
                workers=workers,
                work_dir=work.parent,
                progress=progress,
            )
        write_report(work / "sweep.json", found.as_mapping())
        missing = write_or_tell(work / "sweep.svg", lambda: svg(found.plot()))
    if not quiet:
        print("\n".join([*_lines(found), *missing, f"results in {out}"]))


def _values(given: str) -> tuple[str, list[str]]:
    """An option and its values, cut at the commas outside of brackets, braces and quotation marks."""
    path, equals, text = given.partition("=")
    values, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and not depth:
            values.append("")
            continue
        values[-1] += character
    if not equals or not path.strip() or not all(value.strip() for value in values):
        raise typer.BadParameter(f"--vary {given}: expected PATH=V,V,V, for example stages.minhash.bands=16,24,32")
    return path.strip(), [value.strip() for value in values]


def _lines(found: SweepResult) -> Iterator[str]:
    from cascade.cli.table import table
    from cascade.report.compared import number, share, truth_told

    yield f"{found.documents:,} documents; {truth_told(found.truth)}"
    yield ""
    paths = list(dict.fromkeys(path for point in found.points for path in point.settings))
    heads = ["recall", "predicted", "precision", "candidates", "confirmed", "removed", "seconds", "peak MB"]
    rows = [["front", *(path.removeprefix("stages.") for path in paths), *heads]]
    for point in found.points:
        rows.append(
            [
                "*" if point.on_front else "",
                *(str(point.settings.get(path, "-")) for path in paths),
                share(point.recall),
                number(point.predicted_recall, ".5f"),
                number(point.precision.value, ".4f"),
                f"{point.candidates:,}",
                f"{point.confirmed:,}",
                f"{point.removed:,}",
                number(point.seconds, ".2f"),
                number(None if point.peak_bytes is None else point.peak_bytes / 1e6, ",.0f"),
            ]
        )
    yield from table(rows)
    yield ""
    yield f"*: no other setting finds as much for less {'time' if found.rounds else 'candidate pairs'}, or more for it"
    yield from wrap(found.timing, 100)
