"""Rows of cells as aligned lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from cascade.cli.styled import printable


def table(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """The rows, the first of them the head; the first `left` columns begin at their left edge, the others end right."""
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    ]
