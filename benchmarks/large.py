"""`python -m benchmarks.large`: how time and memory of `cascade run` grow with the corpus, and that a bound holds.

Each generated corpus is cleaned with the default memory, and again with `--memory` under RLIMIT_DATA, which counts all
memory that belongs to no file: the system refuses more. Both must write the same bytes. Needs `make bench` to have run.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from benchmarks.compare import SLOW, WORK
from benchmarks.corpus import Spec, corpus
from benchmarks.environment import machine, make_ours
from benchmarks.measure import Run, run
from benchmarks.plot import plot_growth
from benchmarks.programs import OURS_PYTHON, ROOT, digest
from benchmarks.table import markdown, number

RESULTS = ROOT / "benchmarks" / "results"
DOCUMENTS = (50_000, 200_000, 1_000_000, 2_000_000)
SHORT = (1_000_000, 10_000_000)
UNITS = {"MB": 10**6, "GB": 10**9}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    make_ours()
    specs = [Spec(count, shape="documents") for count in options.documents]
    specs += [Spec(count, shape="short") for count in options.short]
    _clean(corpus(Spec(200), WORK), "auto", options, 1)  # so that compiled kernels are cached
    before, runs = machine(), []
    for spec in specs:
        path = corpus(spec, WORK)
        for memory in ("auto", options.memory):
            measured = _clean(path, memory, options, options.rounds)
            runs.append({"shape": spec.shape, "documents": spec.documents, "bytes": path.stat().st_size, **measured})
            took = measured["failure"] or f"{measured['seconds']:.1f} s, {measured['peak_bytes'] / 1e9:.2f} GB"
            print(f"  {path.stem}, memory {memory}: {took}", flush=True)
        if options.remove:
            path.unlink()
    failures = faults(runs)
    result = {
        "machine": before,
        "config": "default",
        "threads": options.threads,
        "generated": [spec.as_dict() for spec in specs],
        "runs": runs,
        "faults": failures,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
    plot_growth(result, options.output.with_suffix(".svg"))
    print(table(runs))
    print("\n".join(failures) or "the same bytes with either memory")
    print(f"written: {options.output}, .svg")
    return int(bool(failures))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--documents", type=int, nargs="*", default=DOCUMENTS, help="sizes of corpora of documents")
    parser.add_argument("--short", type=int, nargs="*", default=SHORT, help="sizes of corpora of short texts")
    parser.add_argument("--memory", default="2GB", help="the bound of the second run of each corpus")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="a run of more than a minute is not repeated")
    parser.add_argument("--timeout", type=float, default=7200)
    parser.add_argument("--remove", action="store_true", help="remove each corpus after its runs")
    parser.add_argument("--output", type=Path, default=RESULTS / "large.json", help="the plot goes beside it")
    return parser.parse_args(arguments)


def _clean(path: Path, memory: str, options: argparse.Namespace, rounds: int) -> dict[str, Any]:
    """`cascade run default` on one corpus: what it took, and what it wrote."""
    work, out = WORK / "run" / "large", WORK / "run" / "large" / "out"
    cascade, workers = OURS_PYTHON.with_name("cascade"), str(options.threads)
    command: list[str | Path] = [cascade, "run", "default", path, "-o", out, "--workers", workers]
    bound = 0
    if memory != "auto":
        bound = size(memory)
        command += ["--memory", memory, "--work-dir", work]
    runs: list[Run] = []
    told: dict[str, Any] = {"memory": memory, "failure": "", "digest": None, "counts": {}, "steps": {}}
    try:
        while len(runs) < rounds and not (runs and runs[0].seconds > SLOW):
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            result = run(command, options.threads, ROOT, options.timeout, bound)
            if result.status:
                last = (result.errors.strip() or result.output.strip() or "no message").splitlines()[-1]
                told["failure"] = f"status {result.status}: {last}"
                break
            runs.append(result)
            report = orjson.loads((out / "report.json").read_bytes())
            told |= {"digest": digest(out), "counts": report["counts"], "steps": report["seconds"]}
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return told | {
        "seconds": statistics.median(run.seconds for run in runs) if runs else None,
        "runs": [round(run.seconds, 3) for run in runs],
        "cpu_seconds": [round(run.cpu, 3) for run in runs],
        "peak_bytes": max((run.peak for run in runs), default=None),
        "private_bytes": max((run.private for run in runs), default=None),
    }


def size(written: str) -> int:
    """Bytes of a size such as 2GB."""
    found = re.fullmatch(rf"([0-9]+(?:\.[0-9]+)?) ?({'|'.join(UNITS)})", written)
    if not found:
        raise ValueError(f"{written!r} is no size: write it as 2GB or 500MB")
    return int(float(found[1]) * UNITS[found[2]])


def faults(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What must not be: a run that failed, or one that wrote other bytes than that of the same corpus before it."""
    found: list[str] = []
    first: dict[tuple[str, int], str] = {}
    for row in runs:
        name = f"{row['documents']:,} {row['shape']}, memory {row['memory']}"
        if row["failure"]:
            found.append(f"{name}: {row['failure']}")
        elif first.setdefault((row["shape"], row["documents"]), row["digest"]) != row["digest"]:
            found.append(f"{name}: other bytes than with other memory")
    return found


def table(runs: Sequence[Mapping[str, Any]]) -> str:
    """The runs as Markdown; growth is the time of a document divided by that in the smallest corpus of its kind."""
    head = ["texts", "number", "MB", "memory", "seconds", "µs each", "growth", "peak MB", "without files MB", "removed"]
    rows = [head]
    base: dict[tuple[str, str], float] = {}
    for row in runs:
        each = row["seconds"] / row["documents"] * 1e6 if row["seconds"] else None
        if each:
            base.setdefault((row["shape"], row["memory"]), each)
        counts = row["counts"]
        rows.append(
            [
                row["shape"],
                f"{row['documents']:,}",
                f"{row['bytes'] / 1e6:.0f}",
                row["memory"],
                number(row["seconds"], ".2f") or "failed",
                number(each, ".1f"),
                f"{each / base[row['shape'], row['memory']]:.2f}" if each else "",
                f"{row['peak_bytes'] / 1e6:.0f}" if row["peak_bytes"] else "",
                f"{row['private_bytes'] / 1e6:.0f}" if row["private_bytes"] else "",
                f"{counts['removed_exact'] + counts['removed_near']:,}" if counts else "",
            ]
        )
    return markdown(rows)


if __name__ == "__main__":
    sys.exit(main())
