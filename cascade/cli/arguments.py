"""Arguments and options that several commands take, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigSource = Annotated[
    str, typer.Argument(metavar="CONFIG", help="a YAML file, or the name of a preset", show_default=False)
]
Inputs = Annotated[list[str], typer.Argument(metavar="INPUT", help="files, folders or globs", show_default=False)]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="change an option, e.g. stages.minhash.bands=24 or shingle.n=3"),
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="OUT", help="folder for the results", show_default=False)]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="replace OUT if it holds something")]
OverwriteFile = Annotated[bool, typer.Option("--overwrite", help="replace FILE if it is there")]
Workers = Annotated[int | None, typer.Option("--workers", metavar="N", min=1, help="threads (default: all cores)")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no progress and no summary")]
TruthSource = Annotated[
    str,
    typer.Option(
        "--truth",
        metavar="TRUTH",
        help="exact:J (all pairs of that Jaccard similarity), similarity:S (edits), a file of labels, or none",
    ),
]
Sample = Annotated[
    int | None,
    typer.Option("--sample", metavar="N", min=1, help="compute the truth of N documents against all, not of all"),
]
SampleSeed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="what is drawn at random")]
Rounds = Annotated[
    int, typer.Option("--rounds", metavar="N", min=0, help="timed runs of each config; medians count (0: none)")
]
