"""`cascade explain`: why two documents were, or were not, taken for duplicates."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cascade.cli.arguments import Changes, ConfigSource, Workers


def explain(
    config: ConfigSource,
    which: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INPUT... ID_A ID_B]", help="the corpus, and the ids of two documents in it (or FILE:LINE)"
        ),
    ] = None,
    *,
    files: Annotated[
        tuple[Path, Path] | None, typer.Option("--files", metavar="A B", help="two files instead, each one text")
    ] = None,
    texts: Annotated[tuple[str, str] | None, typer.Option("--texts", metavar="A B", help="two texts instead")] = None,
    json: Annotated[bool, typer.Option("--json", help="everything, as JSON")] = False,
    everything: Annotated[bool, typer.Option("--all", help="all shingles, and texts in full")] = False,
    workers: Workers = None,
    changes: Changes = None,
) -> None:
    """Tell why a document was removed, or a pair was missed.

    Shows what each stage says of the two documents, how alike they are, whether they met at all, and what was decided
    about each, and through whom. An id is written as in the file: 3 is the number, or else the text; '"3"' the text.
    """
    from cascade.cli.explained import as_json, lines
    from cascade.cli.progress import progress_for
    from cascade.cli.styled import show
    from cascade.evaluate.explain import explain as explained
    from cascade.io.whole import read_text

    arguments = which or []
    if (files is not None) + (texts is not None) + bool(arguments) != 1:
        raise typer.BadParameter("give INPUT and two ids, or --files A B, or --texts A B")
    if files is not None:
        found = explained(config, [read_text(path) for path in files], set=changes or [])
    elif texts is not None:
        found = explained(config, list(texts), set=changes or [])
    else:
        if len(arguments) < 3:
            raise typer.BadParameter("give INPUT and two ids: cascade explain CONFIG INPUT ID_A ID_B")
        *inputs, a, b = arguments
        with progress_for(sys.stderr, quiet=not sys.stderr.isatty()) as progress:
            found = explained(
                config, [Path(i) for i in inputs], a, b, by="typed", set=changes or [], workers=workers,
                progress=progress,
            )  # fmt: skip
    if json:
        print(as_json(found))
    else:
        show(lines(found, everything))
