"""Tables of figures and their places in README.md and docs/performance.md: they get there by this and by no hand."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.programs import ROOT

PERFORMANCE = ROOT / "docs" / "performance.md"


def put(name: str, text: str, page: Path = PERFORMANCE) -> None:
    """Puts `text` between the markers <!-- name --> and <!-- /name --> of a page. Raises ValueError without them."""
    place = re.compile(rf"(?<=^<!-- {name} -->\n).*?(?=^<!-- /{name} -->$)", re.M | re.S)
    new, found = place.subn(lambda _: text, page.read_text("utf-8"), count=1)
    if not found:
        raise ValueError(f"{page.name} has no place for {name}: a line <!-- {name} --> and a line <!-- /{name} -->")
    page.write_text(new, "utf-8")
