"""The command `cascade`: arguments to calls, results to text, errors to exit codes. Nothing is decided here."""

from __future__ import annotations


def main() -> None:
    """Entry point of the command. Exit codes: 0, 1 the run failed, 2 usage or config, 130 interrupted."""
    from cascade.cli.process import settle

    settle()
    from cascade.cli.app import app

    app(prog_name="cascade")
