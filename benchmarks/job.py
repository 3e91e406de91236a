"""One `cascade run` as a process of its own: what it took, what it reported, what it removed. No table is made here."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from benchmarks.measure import Run, run
from benchmarks.programs import ROOT

Given = str | Mapping[str, Any]
"""A config: a preset's name, or its content."""


@dataclass(frozen=True)
class Job:
    """A finished run. With a `failure` the rest is empty."""

    run: Run
    failure: str = ""
    report: dict[str, Any] = field(default_factory=dict)
    removed: dict[int, int] = field(default_factory=dict)
    """Rows that were removed, and for each the row that was kept instead."""


def clean(given: Given, path: Path, work: Path, threads: int, timeout: float) -> Job:
    """Cleans a file whose ids are its rows, in the folder `work`. Nothing stays there but the config."""
    out = work / "out"
    shutil.rmtree(out, ignore_errors=True)
    if not isinstance(given, str):
        file = work / "config.yaml"
        file.write_bytes(orjson.dumps(given))  # JSON is YAML
        given = str(file)
    command = [Path(sys.executable).with_name("cascade"), "run", given, path, "-o", out, "--workers", str(threads)]
    result = run(command, threads, ROOT, timeout)
    try:
        if result.status == -9 and result.seconds >= timeout:
            return Job(result, f"stopped after {timeout:g} s")
        if result.status:
            last = (result.errors.strip() or result.output.strip() or "no message").splitlines()[-1]
            return Job(result, f"status {result.status}: {last}")
        with (out / "removed.jsonl").open("rb") as file:
            rows = map(orjson.loads, file)
            removed = {row["id"]: row["kept_id"] for row in rows}
        return Job(result, "", orjson.loads((out / "report.json").read_bytes()), removed)
    finally:
        shutil.rmtree(out, ignore_errors=True)


def start_up(given: Given, work: Path, threads: int) -> float:
    """Processor seconds of a run over a few documents, once the compiled kernels are cached."""
    path = write_rows((f"a few words and the number {i}" for i in range(9)), work / "few.jsonl")
    clean(given, path, work, threads, 600)
    return clean(given, path, work, threads, 600).run.cpu


def read_texts(path: Path) -> Iterator[str]:
    """The field `text` of each row of a JSONL file."""
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                yield orjson.loads(line)["text"]


def write_rows(texts: Iterable[str], path: Path) -> Path:
    """Texts as JSON lines {"id": row, "text": text}."""
    with path.open("wb") as file:
        file.writelines(orjson.dumps({"id": row, "text": text}) + b"\n" for row, text in enumerate(texts))
    return path
