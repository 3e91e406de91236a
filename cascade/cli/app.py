"""The commands and their options. Each imports what it needs when it runs, so that --help is quick."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cascade.cli import compare, explain, report, rethreshold, review, sweep, truth, tune
from cascade.cli.arguments import Changes, ConfigSource, Inputs, Out, Overwrite, Quiet, Workers
from cascade.cli.outcome import Group, say

app = typer.Typer(
    cls=Group,
    help="Finds and removes near-duplicate texts with a chain of ever more exact stages, described by a YAML file.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"cascade {version('cascade-dedup')}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="show the version and exit")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    config: ConfigSource,
    inputs: Inputs,
    out: Out,
    *,
    workers: Workers = None,
    overwrite: Overwrite = False,
    strict: Annotated[bool, typer.Option("--strict", help="stop at the first row that cannot be used")] = False,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="budget, e.g. 2GB (default: the config's)")
    ] = None,
    work_dir: Annotated[
        Path | None, typer.Option("--work-dir", metavar="DIR", help="where what exceeds it goes (default: beside OUT)")
    ] = None,
    keep_work: Annotated[bool, typer.Option("--keep-work", help="leave the work files there")] = False,
    page: Annotated[bool, typer.Option("--report", help="also write OUT/report.html, a page for the browser")] = False,
    changes: Changes = None,
    quiet: Quiet = False,
) -> None:
    """Clean files into the folder OUT.

    OUT then holds the kept rows byte for byte, what was removed and for which kept row, what was rejected, clusters,
    a report and the filled config. It appears whole or not at all.
    """
    from cascade.cli.progress import progress_for
    from cascade.cli.summary import summary_lines
    from cascade.config import load_config
    from cascade.run import run_files

    loaded = load_config(config, changes or [])
    if page:
        report.check()
    with progress_for(sys.stderr, quiet) as progress:
        done = run_files(
            loaded,
            inputs,
            out,
            workers=workers,
            overwrite=overwrite,
            strict=strict,
            progress=progress,
            config_path=Path(config) if Path(config).is_file() else None,
            memory=memory,
            work_dir=work_dir,
            keep_work=keep_work,
        )
    if page:
        report.write(out)
    if quiet:
        say(*(f"warning: {note}" for note in done.warnings))
        if done.work is not None:
            say(f"work files kept in {done.work}")
    else:
        print("\n".join(summary_lines(done)))


@app.command()
def check(config: ConfigSource, changes: Changes = None) -> None:
    """Tell all that is wrong with a config.

    If nothing is, show its plan; else the exit code is 2.
    """
    from cascade.config import load_config, warnings
    from cascade.config.advice import ASSUMED_DOCUMENTS
    from cascade.errors import StageError
    from cascade.plan import SCAN_LIMIT, make_plan

    loaded = load_config(config, changes or [])
    notes = warnings(loaded, None)
    try:
        plan = make_plan(loaded, ASSUMED_DOCUMENTS)
    except StageError as large:
        plan = make_plan(loaded, SCAN_LIMIT)
        notes.append(f"with {ASSUMED_DOCUMENTS:,} documents: {large}")
    print(f"{config} is valid. The number of documents is not known; for {plan.documents:,} the plan is:")
    _print_plan(plan.lines(), notes)


@app.command()
def plan(
    config: ConfigSource,
    inputs: Annotated[
        list[str] | None, typer.Argument(metavar="[INPUT...]", help="files whose documents are counted")
    ] = None,
    documents: Annotated[
        int | None, typer.Option("--documents", metavar="N", min=0, help="plan for so many documents")
    ] = None,
    changes: Changes = None,
) -> None:
    """Explain how a config would run.

    Which stage proposes pairs, which filter them, in what order, with what predicted recall and at what cost.
    """
    from cascade.config import load_config, warnings
    from cascade.config.advice import ASSUMED_DOCUMENTS
    from cascade.plan import make_plan

    if inputs and documents is not None:
        raise typer.BadParameter("give INPUT or --documents, not both")
    loaded = load_config(config, changes or [])
    if inputs:
        from cascade.io.documents import InputFields
        from cascade.io.read import find_inputs, read_all

        fields = InputFields(loaded.input.text, loaded.input.id)
        documents = sum(read_all(find_inputs(inputs), fields, len))
    elif documents is None:
        documents = ASSUMED_DOCUMENTS
        print("The number of documents is not known (give INPUT or --documents).")
    _print_plan(make_plan(loaded, documents).lines(), warnings(loaded, documents))


def _print_plan(lines: list[str], notes: list[str]) -> None:
    print("\n".join([*lines, *(f"warning: {note}" for note in notes)]))


@app.command()
def stages() -> None:
    """List stages and shinglers with their options."""
    from cascade.cli.listing import stage_lines

    print("\n".join(stage_lines()))


@app.command()
def presets(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="print this one, to copy and change")] = None,
) -> None:
    """List the configs that come with the package, or print one."""
    from cascade.cli.listing import preset_lines
    from cascade.config.presets import preset_bytes, preset_names

    if name is None:
        print("\n".join(preset_lines()))
    elif name in preset_names():
        print(preset_bytes(name).decode("utf-8"), end="")
    else:
        raise typer.BadParameter(f"there is no preset {name!r}; there are: {', '.join(preset_names())}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of a config, for editors."""
    import json

    from cascade.config import json_schema

    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@app.command()
def demo(
    out: Out,
    overwrite: Overwrite = False,
    workers: Workers = None,
    changes: Changes = None,
) -> None:
    """Clean a sample corpus and show what goes and why."""
    from cascade.cli.demo import run_demo

    for line in run_demo(out, overwrite=overwrite, workers=workers, changes=changes or []):
        print(line)


app.command()(truth.truth)
app.command()(explain.explain)
app.command()(rethreshold.rethreshold)
app.command()(compare.compare)
app.command()(sweep.sweep)
app.command()(tune.tune)
app.command()(report.report)
app.command()(review.review)
