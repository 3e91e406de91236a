"""Tables as Markdown, and their places in docs/performance.md: figures get there by this and by no hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.programs import ROOT

PERFORMANCE = ROOT / "docs" / "performance.md"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, lined up; the first column to the left, the others, which are figures, to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [[cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
             for row in (head, *rows)]  # fmt: skip
    rule = ["-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (lines[0], rule, *lines[1:]))


def put(name: str, text: str, page: Path = PERFORMANCE) -> None:
    """Puts `text` between the markers <!-- name --> and <!-- /name --> of a page. Raises ValueError without them."""
    place = re.compile(rf"(?<=^<!-- {name} -->\n).*?(?=^<!-- /{name} -->$)", re.M | re.S)
    new, found = place.subn(lambda _: text, page.read_text("utf-8"), count=1)
    if not found:
        raise ValueError(f"{page.name} has no place for {name}: a line <!-- {name} --> and a line <!-- /{name} -->")
    page.write_text(new, "utf-8")
