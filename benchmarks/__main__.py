"""`python -m benchmarks`: ours, the limit and the peers side by side in one run. Prints a table and writes a JSON file.

Each program is a process of its own on the same processors; rounds alternate their order; figures are medians.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from benchmarks.corpus import Spec, corpus
from benchmarks.environment import machine, make_ours, make_peers
from benchmarks.measure import Run, run
from benchmarks.programs import ROOT, Answer, Program, Task, programs
from benchmarks.readme import write_section
from benchmarks.truth import recall_and_precision, true_pairs

WORK = ROOT / "benchmarks" / "work"
RESULTS = ROOT / "benchmarks" / "results"
THRESHOLD = 0.8
SLOW = 60.0
"""A program that takes more seconds is run once, not in every round."""
QUICK = ("cascade", "limit", "daft", "rensa", "gaoya")


@dataclass
class Record:
    """What became of one program."""

    program: Program
    runs: list[Run] = field(default_factory=list)
    answer: Answer | None = None
    failure: str = ""
    recall: float | None = None
    precision: float | None = None

    @property
    def seconds(self) -> float | None:
        return statistics.median(run.seconds for run in self.runs) if self.runs else None


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    chosen = [p for p in programs() if p.name in options.only and options.language in p.languages]
    if any(program.name not in ("cascade", "cascade-oph", "cascade3", "limit") for program in chosen):
        for failure in make_peers():
            print(f"not installed: {failure}")
    make_ours()
    path, about = _corpus(options)
    texts = [orjson.loads(line)["text"] for line in path.read_bytes().splitlines()]
    size = path.stat().st_size
    print(f"{path.name}: {len(texts):,} documents, {size / 1e6:.1f} MB; {options.threads} thread(s)")
    records = [Record(program) for program in chosen]
    _rounds(records, path, options)
    if len(texts) <= options.truth_up_to:
        pairs = true_pairs(path, texts, options.language, THRESHOLD)
        about["true_pairs"] = len(pairs)
        for record in records:
            if record.answer and record.answer.removed is not None:
                removed = np.array(record.answer.removed, np.int64)
                record.recall, record.precision = recall_and_precision(pairs, removed, len(texts))
    print(_table(records, size))
    about |= {"documents": len(texts), "bytes": size, "threads": options.threads, "threshold": THRESHOLD}
    # A quick run shows that everything works; it is no result to keep.
    target = (WORK if options.quick else RESULTS) / f"{path.stem}-t{options.threads}.json"
    target.parent.mkdir(exist_ok=True)
    result = {"machine": machine(), "corpus": about, "programs": [_as_dict(record, size) for record in records]}
    target.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
    print(f"written: {target.relative_to(ROOT)}")
    if options.readme:
        write_section(target)
    return int(any(record.failure for record in records))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [program.name for program in programs()]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--documents", type=int, default=50_000, help="documents to generate (50000: about 111 MB)")
    parser.add_argument("--language", choices=("english", "chinese"), default="english")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path, help="JSONL file with a field `text`, instead of a generated corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="PROGRAM", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="2,000 documents, one round, the fast programs")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds after which a program is stopped")
    parser.add_argument(
        "--truth-up-to", type=int, default=100_000, help="documents up to which exact truth is computed"
    )
    parser.add_argument("--readme", action="store_true", help="put the table into README.md")
    options = parser.parse_args(arguments)
    if options.quick:
        options.documents, options.rounds = 2_000, 1
        options.only = [name for name in options.only if name in QUICK]
    return options


def _corpus(options: argparse.Namespace) -> tuple[Path, dict[str, Any]]:
    """The file that every program reads: rows of {"id": row, "text": str}, whatever it came from."""
    if options.corpus is None:
        spec = Spec(options.documents, options.language, options.seed)
        return corpus(spec, WORK), {"generated": spec.as_dict()}
    WORK.mkdir(exist_ok=True)
    path = WORK / f"{options.corpus.stem}-{options.corpus.stat().st_mtime_ns}.jsonl"
    with options.corpus.open("rb") as source, path.open("wb") as file:
        rows = (orjson.loads(line)["text"] for line in source if line.strip())
        file.writelines(orjson.dumps({"id": row, "text": text}) + b"\n" for row, text in enumerate(rows))
    return path, {"file": options.corpus.name}


def _rounds(records: list[Record], path: Path, options: argparse.Namespace) -> None:
    for record in records:
        if record.program.warm_up:
            _measure(record, path, options)
            record.runs.clear()
    for number in range(options.rounds):
        for record in records[:: 1 if number % 2 == 0 else -1]:
            if not record.failure and not (record.runs and record.runs[0].seconds > SLOW):
                _measure(record, path, options)
                took = record.failure or f"{record.runs[-1].seconds:.2f} s"
                print(f"  round {number + 1}: {record.program.name} {took}", flush=True)


def _measure(record: Record, path: Path, options: argparse.Namespace) -> None:
    work = WORK / "run" / record.program.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    task = Task(path, work, options.threads, options.language)
    try:
        result = run(record.program.command(task), options.threads, ROOT, options.timeout)
        if result.status:
            last = (result.errors.strip() or result.output.strip() or "no message").splitlines()[-1]
            record.failure = f"status {result.status}: {last}"
        else:
            record.runs.append(result)
            record.answer = record.program.answer(task, result.output)
    except (OSError, ValueError, KeyError) as error:
        record.failure = f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(work, ignore_errors=True)


# -- output ------------------------------------------------------------------------------------------------------------

Column = tuple[str, Callable[[Record, int, float | None], str]]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


COLUMNS: list[Column] = [
    ("program", lambda r, size, ours: r.program.name),
    ("seconds", lambda r, size, ours: f"{r.seconds:.2f}" if r.seconds else "failed"),
    ("runs", lambda r, size, ours: str(len(r.runs))),
    ("× cascade", lambda r, size, ours: f"{r.seconds / ours:.2f}" if r.seconds and ours else ""),
    ("MB/s", lambda r, size, ours: f"{size / 1e6 / r.seconds:.1f}" if r.seconds else ""),
    ("CPU s", lambda r, size, ours: f"{statistics.median(x.cpu for x in r.runs):.2f}" if r.runs else ""),
    ("peak MB", lambda r, size, ours: f"{max(x.peak for x in r.runs) / 1e6:.0f}" if r.runs else ""),
    ("removed", lambda r, size, ours: str(len(r.answer.removed)) if r.answer and r.answer.removed is not None else ""),
    ("recall", lambda r, size, ours: _share(r.recall)),
    ("precision", lambda r, size, ours: _share(r.precision)),
    ("what it does", lambda r, size, ours: r.failure or r.program.does),
]


def _table(records: list[Record], size: int) -> str:
    """The records as a Markdown table."""
    ours = next((record.seconds for record in records if record.program.name == "cascade"), None)
    rows = [[name for name, _ in COLUMNS]]
    rows += [[text(record, size, ours) for _, text in COLUMNS] for record in records]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(c.ljust(w) for c, w in zip(row, widths, strict=True))} |" for row in rows)


def _as_dict(record: Record, size: int) -> dict[str, Any]:
    answer = record.answer
    return {
        "name": record.program.name,
        "does": record.program.does,
        "failure": record.failure,
        "seconds": [round(run.seconds, 3) for run in record.runs],
        "median": record.seconds,
        "mb_per_second": size / 1e6 / record.seconds if record.seconds else None,
        "cpu_seconds": [round(run.cpu, 3) for run in record.runs],
        "peak_bytes": max((run.peak for run in record.runs), default=None),
        "removed": len(answer.removed) if answer and answer.removed is not None else None,
        "recall": record.recall,
        "precision": record.precision,
        "facts": answer.facts if answer else {},
    }


if __name__ == "__main__":
    sys.exit(main())
