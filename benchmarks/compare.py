"""Runs programs side by side on one corpus and holds their answers against exact truth; the result as one mapping.

Rounds alternate the order of the programs; figures are medians. Corpora are made in corpus.py, tables in table.py.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import machine
from benchmarks.measure import Run, run
from benchmarks.programs import ROOT, Answer, Program, Task
from benchmarks.truth import recall_and_precision, true_pairs

WORK = ROOT / "benchmarks" / "work"
THRESHOLD = 0.8
SLOW = 60.0
"""A program that takes more seconds is run once, not in every round."""


@dataclass(frozen=True)
class Corpus:
    """A file with rows {"id": row, "text": str}, and where it came from."""

    path: Path
    documents: int
    language: str
    about: dict[str, Any]


@dataclass
class Record:
    """What became of one program."""

    program: Program
    runs: list[Run] = field(default_factory=list)
    answer: Answer | None = None
    failure: str = ""

    @property
    def seconds(self) -> float | None:
        return statistics.median(run.seconds for run in self.runs) if self.runs else None


def compare(
    programs: Sequence[Program], corpus: Corpus, threads: int, rounds: int, timeout: float, truth_up_to: int
) -> dict[str, Any]:
    """Measures each program, and returns what goes into a result file."""
    size = corpus.path.stat().st_size
    print(f"{corpus.path.name}: {corpus.documents:,} documents, {size / 1e6:.1f} MB; {threads} thread(s)", flush=True)
    before = machine()
    records = [Record(program) for program in programs]
    for record in records:
        if record.program.warm_up:
            _measure(record, corpus, threads, timeout)
            record.runs.clear()
    for number in range(rounds):
        for record in records[:: 1 if number % 2 == 0 else -1]:
            if not record.failure and not (record.runs and record.runs[0].seconds > SLOW):
                _measure(record, corpus, threads, timeout)
                took = record.failure or f"{record.runs[-1].seconds:.2f} s"
                print(f"  round {number + 1}: {record.program.name} {took}", flush=True)
    pairs = None
    if corpus.documents <= truth_up_to:
        pairs = true_pairs(corpus.path, corpus.language, THRESHOLD)
    about = corpus.about | {
        "language": corpus.language,
        "documents": corpus.documents,
        "bytes": size,
        "threads": threads,
        "threshold": THRESHOLD,
        "true_pairs": None if pairs is None else len(pairs),
    }
    medians = {record.program.name: record.seconds for record in records}
    found = [_as_dict(record, size, medians) | _rates(record, pairs, corpus.documents) for record in records]
    return {"machine": before, "corpus": about, "programs": found}


def _measure(record: Record, corpus: Corpus, threads: int, timeout: float) -> None:
    work = WORK / "run" / record.program.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    task = Task(corpus.path, work, threads, corpus.language)
    try:
        result = run(record.program.command(task), threads, ROOT, timeout)
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


def _rates(record: Record, pairs: np.ndarray[Any, Any] | None, documents: int) -> dict[str, float | None]:
    recall = precision = None
    if pairs is not None and record.answer and record.answer.removed is not None:
        recall, precision = recall_and_precision(pairs, np.array(record.answer.removed, np.int64), documents)
    return {"recall": recall, "precision": precision}


def _as_dict(record: Record, size: int, medians: dict[str, float | None]) -> dict[str, Any]:
    runs, answer, seconds = record.runs, record.answer or Answer(None), record.seconds

    def times(other: str) -> float | None:
        base = medians.get(other)
        return seconds / base if seconds and base else None

    return {
        "name": record.program.name,
        "does": record.program.does,
        "failure": record.failure,
        "seconds": [round(run.seconds, 3) for run in runs],
        "median": seconds,
        "times_cascade": times("cascade"),
        "times_limit": times("limit"),
        "mb_per_second": size / 1e6 / seconds if seconds else None,
        "cpu_seconds": [round(run.cpu, 3) for run in runs],
        "peak_bytes": max((run.peak for run in runs), default=None),
        "removed": len(answer.removed) if answer.removed is not None else None,
        "pairs_compared": answer.compared,
        "config": answer.config,
        "digest": answer.digest,
        "facts": answer.facts,
    }
