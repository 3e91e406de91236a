"""`cascade review`: a local page on which people judge pairs."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from cascade.cli.outcome import say
from cascade.cli.report import RunFolder
from cascade.io.place import LABELS_FILE


def review(
    out: RunFolder,
    *,
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", metavar="FILE", help="judge these (rows a, b; or a compare.json), not the removals"),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="FILE", help=f"where the labels go (default: OUT/{LABELS_FILE})")
    ] = None,
    most: Annotated[int, typer.Option("--most", metavar="N", min=1, help="pairs to judge, at most")] = 1000,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="port of the page (default: a free one)")
    ] = 0,
) -> None:
    """Judge pairs in the browser: duplicate, not, unsure.

    The removals closest to the threshold come first. Each mark is saved at once, to a file that --truth takes; begun
    again, it goes on where it stopped. Only this computer can reach the page. Ctrl-C ends it.
    """
    from cascade.errors import OutputError
    from cascade.io.marks import read_marks
    from cascade.report.judging import judging_of
    from cascade.report.server import HOST, check, review_server

    check()
    judging = judging_of(out, labels, pairs, most)
    if not judging.items:
        print("there is no pair to judge: no near-duplicate was removed")
        return
    token = secrets.token_urlsafe(24)
    try:
        server = review_server(judging, token, port)
    except OSError as error:
        raise OutputError(f"port {port}: cannot be listened at: {error.strerror or error}; take another") from error
    say(*(f"note: {note}" for note in judging.notes))
    print(f"{len(judging.items):,} pairs to judge; open http://{HOST}:{server.port}/{token}/", flush=True)
    with suppress(KeyboardInterrupt):
        server.serve_forever()
    print(f"\n{len(read_marks(judging.labels)):,} labels in {judging.labels}")
