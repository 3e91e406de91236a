"""Lines of marked text: in colours on a terminal, plain elsewhere. What they say is decided by others."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

Line = Sequence[tuple[str, str]]
"""Pieces of text, each with a style of rich ("" for none)."""


def show(lines: Iterable[Line]) -> None:
    """Prints lines; the styles are seen on a terminal only, so that they may underline and must not tell."""
    if not sys.stdout.isatty():
        print("\n".join("".join(text for text, _ in line).rstrip() for line in lines))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    for line in lines:
        console.print(Text.assemble(*line), soft_wrap=True)


def printable(text: str) -> str:
    """A text without anything that a terminal obeys: what is not printable is written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
