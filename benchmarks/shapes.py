"""`python -m benchmarks.shapes`: corpora of bad shapes at three sizes each: seconds, memory, growth, and the answer.

Each run is `cascade run`, a process of its own. The answer is held against what is right by construction (odd.py), row
by row. Growth is the exponent e of processor seconds ~ size^e from the smallest to the largest size, less what a run
over a few documents takes: 1 is linear.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from benchmarks.environment import machine
from benchmarks.job import Given, clean, start_up, write_rows
from benchmarks.odd import KEPT, Answer, shapes
from benchmarks.page import put
from benchmarks.programs import ROOT
from benchmarks.table import markdown

WORK = ROOT / "benchmarks" / "work" / "shapes"
RESULT = ROOT / "benchmarks" / "results" / "shapes.json"
SIZES = (0.25, 0.5, 1.0)
CONFIGS: dict[str, Given] = {
    "default": "default",
    "pruned": {
        "stages": [
            {"use": "simhash", "max_hamming": 20},
            {"use": "minhash", "bands": 24, "rows_per_band": 5},
            {"use": "jaccard", "min_jaccard": 0.8, "prune": True},
        ]
    },
    "jaccard": {"stages": [{"use": "jaccard", "min_jaccard": 0.8}]},
}
"""By the name in the table: a preset's name or a config. `pruned` is the default with a first pass whatever it costs,
`jaccard` an exact join."""
LEAST = 0.5
"""Seconds beyond those of a run over a few documents that a growth can be told from."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    WORK.mkdir(parents=True, exist_ok=True)
    bases = {config: start_up(CONFIGS[config], WORK, options.threads) for config in options.config}
    measured: list[dict[str, Any]] = []
    for shape in shapes():
        if shape.name not in options.only:
            continue
        records = [
            {"shape": shape.name, "title": shape.title, "config": config, "runs": []} for config in options.config
        ]
        for share in SIZES:
            size = max(1, round(shape.full * options.scale * share))
            texts, answer = shape.make(size)
            path = write_rows(texts, WORK / f"{shape.name}-{size}.jsonl")
            for record in records:
                if not any(earlier["failure"] for earlier in record["runs"]):
                    record["runs"].append({"size": size, **measure(record["config"], path, answer, options)})
                    print(f"  {shape.name} {record['config']}: {told(record['runs'][-1])}", flush=True)
            path.unlink()
        for record in records:
            record["growth"] = growth(record["runs"], bases[record["config"]])
        measured += records
    text = shapes_table(measured)
    print(text, end="")
    if options.page or options.full:
        result = {"machine": machine(), "threads": options.threads, "scale": options.scale, "measured": measured}
        RESULT.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
    if options.page:
        put("shapes", text)
    return int(any(run["failure"] or run["wrong"] for record in measured for run in record["runs"]))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [shape.name for shape in shapes()]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1, help="the largest size as a share of the full one")
    parser.add_argument("--full", action="store_true", help="the full sizes; the result is kept")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="SHAPE", help=", ".join(names))
    parser.add_argument("--config", nargs="+", choices=CONFIGS, default=list(CONFIGS), metavar="CONFIG")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600, help="seconds after which a run is stopped")
    parser.add_argument("--page", action="store_true", help="keep the result; put the table into docs/performance.md")
    options = parser.parse_args(arguments)
    if options.full:
        options.scale = 1.0
    return options


def measure(config: str, path: Path, answer: Answer, options: argparse.Namespace) -> dict[str, Any]:
    """One run over a corpus: what it took, and how many rows have another fate than they should."""
    job = clean(CONFIGS[config], path, WORK, options.threads, options.timeout)
    return {
        "bytes": path.stat().st_size,
        "seconds": job.run.seconds,
        "cpu": job.run.cpu,
        "peak_bytes": job.run.peak,
        "failure": job.failure,
        "wrong": 0 if job.failure else wrong_rows(answer, job.removed),
        **{key: job.report.get(key) for key in ("counts", "stages")},
        "steps": job.report.get("seconds"),
    }


def wrong_rows(answer: Answer, removed: Mapping[int, int]) -> int:
    """Rows that are kept or removed against the answer, or removed for another row."""
    found = np.full(len(answer), KEPT)
    found[np.fromiter(removed.keys(), np.int64)] = np.fromiter(removed.values(), np.int64)
    return int((found != answer).sum())


def growth(runs: Sequence[Mapping[str, Any]], base: float) -> float | None:
    """The exponent from first to last run; None where the first takes too little time to tell, or one failed."""
    done = [(run["size"], run["cpu"] - base) for run in runs if not run["failure"]]
    if len(done) < 2 or len(done) < len(runs) or done[0][1] < LEAST:
        return None
    (small, before), (large, after) = done[0], done[-1]
    if small == large:
        return None
    return math.log(max(after, LEAST) / before) / math.log(large / small)


def told(run: Mapping[str, Any]) -> str:
    """One run in words."""
    right = "right" if not run["wrong"] else f"{run['wrong']:,} rows WRONG"
    return f"{run['size']:,}: " + (
        run["failure"] or f"{run['seconds']:.2f} s, {run['peak_bytes'] / 1e6:.0f} MB, {right}"
    )


def shapes_table(measured: Sequence[Mapping[str, Any]]) -> str:
    """A line for each shape and config."""
    rows = [["corpus", "config", "size", "s at ¼ / ½ / all of it", "peak MB", "growth", "answer"]]
    for record in measured:
        runs = record["runs"]
        seconds = " / ".join(run["failure"] or f"{run['seconds']:.2f}" for run in runs)
        peak = max((run["peak_bytes"] for run in runs if not run["failure"]), default=0) / 1e6
        wrong = sum(run["wrong"] for run in runs)
        answer = f"{wrong:,} rows wrong" if wrong else "failed" if runs[-1]["failure"] else "right"
        grown = "" if record["growth"] is None else f"{record['growth']:.2f}"
        size = f"{runs[-1]['size']:,}"
        rows.append([record["title"], record["config"], size, seconds, f"{peak:.0f}", grown, answer])
    return f"{markdown(rows)}\n"


if __name__ == "__main__":
    sys.exit(main())
