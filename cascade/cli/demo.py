"""`cascade demo`: the default config on the bundled sample corpus, and what it removed and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from cascade.cli.progress import progress_for
from cascade.cli.summary import summary_lines
from cascade.config import load_config
from cascade.run import run_files

PRESET = "default"
COLUMNS = 64
"""Width of what is shown of a text; a wide character takes two."""
LEAD = 16
"""Characters shown before the first difference of two texts."""


def run_demo(out: Path, *, overwrite: bool, workers: int | None, changes: Sequence[str]) -> Iterator[str]:
    """Cleans the sample into `out` and tells of every removal and rejection, line by line."""
    config = load_config(PRESET, changes)
    with as_file(files("cascade.sample") / "sample.jsonl") as sample:
        with progress_for(sys.stderr, quiet=True) as progress:
            report = run_files(config, [sample], out, workers=workers, overwrite=overwrite, progress=progress)
        texts = _texts(sample)
    yield f"The sample corpus: {report.counts['read']} rows in English, Chinese, Japanese, Korean, Arabic and mixtures."
    yield f"The config: {PRESET}, written out in {out / 'config.yaml'}."
    yield ""
    for decision in _rows(out / "removed.jsonl"):
        yield f"{decision['id']} <- {decision['kept_id']}: {_reason(decision)}"
        removed, kept = texts.get(decision["line"], ""), texts.get(decision["kept_line"], "")
        start = first_difference(removed, kept) if decision["reason"] == "near" else 0
        yield f"    removed  {excerpt(removed, start)}"
        yield f"    kept     {excerpt(kept, start)}"
    for rejected in _rows(out / "rejected.jsonl"):
        yield f"rejected, line {rejected['line']}: {rejected['error']}"
    yield ""
    yield from summary_lines(report)


def _reason(decision: dict[str, Any]) -> str:
    if decision["reason"] == "exact":
        return "exact, the same text after normalising"
    scores = decision.get("scores") or {}
    said = {"jaccard": "Jaccard {:.3f}", "simhash": "{:.0f} of 64 bits differ", "minhash": "{:.0f} bands shared"}
    parts = [said.get(name, name + " {:.3f}").format(score) for name, score in sorted(scores.items())]
    return ", ".join(["near-duplicate", *parts])


def _texts(path: Path) -> dict[int, str]:
    """Texts by line; lines that are no row have none."""
    found = {}
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        try:
            found[number] = str(json.loads(line)["text"])
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def first_difference(one: str, other: str) -> int:
    """Where two texts part, both with their white space collapsed."""
    one, other = " ".join(one.split()), " ".join(other.split())
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def excerpt(text: str, near: int = 0) -> str:
    """A line of a text, white space collapsed: its beginning, or what stands around position `near`."""
    from unicodedata import east_asian_width

    text = " ".join(text.split())
    start = near - LEAD if near > COLUMNS // 2 else 0
    shown, columns = "…" if start else "", 0
    for character in text[start:]:
        columns += 2 if east_asian_width(character) in "WF" else 1
        if columns > COLUMNS:
            return shown + "…"
        shown += character
    return shown
