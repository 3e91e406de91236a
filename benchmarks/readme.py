"""The speed section of README.md, written from a result file: figures get there by this and by no hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from benchmarks.programs import ROOT

SECTION = re.compile(r"(?<=^<!-- speed -->\n).*?(?=^<!-- /speed -->$)", re.M | re.S)


def section(result: Mapping[str, Any], name: str) -> str:
    """Markdown of one result: what was measured, on what, and the table."""
    about, machine = result["corpus"], result["machine"]
    ours = next(p["median"] for p in result["programs"] if p["name"] == "cascade")
    threads = "one thread" if about["threads"] == 1 else f"{about['threads']} threads"
    lines = [
        f"{about['documents']:,} generated documents, {about['bytes'] / 1e6:.0f} MB of JSON lines, {threads}, whole",
        f"processes, medians; {machine['processor']}, {machine['date'][:10]}. Recall and precision are held against",
        f"all pairs with an exact Jaccard similarity of {about['threshold']} or more (word 5-grams). What each program",
        f"does and leaves out: [benchmarks](benchmarks/README.md); every figure: `benchmarks/results/{name}`.",
        "",
        "| program | seconds | × cascade | MB/s | peak MB | recall | precision |",
        "|---|---|---|---|---|---|---|",
    ]
    for program in result["programs"]:
        cells = [program["name"]]
        if program["median"] is None:
            cells += ["failed", "", "", "", "", ""]
        else:
            recall, precision = ("" if program[k] is None else f"{program[k]:.4f}" for k in ("recall", "precision"))
            cells += [
                f"{program['median']:.2f}",
                f"{program['median'] / ours:.2f}",
                f"{program['mb_per_second']:.1f}",
                f"{program['peak_bytes'] / 1e6:.0f}",
                recall,
                precision,
            ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write_section(path: Path, readme: Path = ROOT / "README.md") -> None:
    """Puts the section of a result file into README.md."""
    text = section(orjson.loads(path.read_bytes()), path.name)
    readme.write_text(SECTION.sub(lambda _: text, readme.read_text("utf-8"), count=1), "utf-8")
