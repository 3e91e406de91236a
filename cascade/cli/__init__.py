"""The command `cascade`: arguments to calls, results to text, errors to exit codes. Nothing is decided here."""

from __future__ import annotations

import gc


def main() -> None:
    """Entry point of the command. Exit codes: 0, 1 the run failed, 2 usage or config, 130 interrupted."""
    # Imports make hundreds of thousands of objects that stay; looking through them again and again takes a fifth of
    # the start. A run itself makes few: its data is in arrays.
    gc.set_threshold(100_000)
    from cascade.cli.app import app

    app(prog_name="cascade")
