"""Seconds and memory of configs: each run is a process of its own, all configs take turns, medians count.

A run of paths is what `cascade run` does, from reading to writing, into a folder that goes again; anything else is
handed over and decided about. What is found is not looked at here: see compare.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from cascade import errors
from cascade.config import Config, load_config
from cascade.config.fill import as_mapping
from cascade.errors import CascadeError, ConfigError, StageError
from cascade.evaluate.peak import PeakMeter
from cascade.given import as_paths
from cascade.progress import Progress, Silent
from cascade.result import StageReport

CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from cascade.evaluate.measure import child; child()"
)
"""What a process of its own runs: with our module path, so that it finds the stages that we have found."""


@dataclass(frozen=True)
class Run:
    """One run of a config in a process of its own."""

    seconds: float
    """From the first row read to the last one written (paths); from the documents to the decisions (other data)."""
    process_seconds: float
    """The process from start to end, interpreter and imports included."""
    steps: Mapping[str, float]
    """Seconds by step, in order: read (paths, and other data), collapse, observe, columns, candidates, pairs, write."""
    peaks: Mapping[str, int]
    """Most resident bytes in each step and between steps."""
    stages: tuple[StageReport, ...]
    """The funnel of the config as it is written."""
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Measured:
    """What a config took: medians over its runs."""

    seconds: float
    process_seconds: float
    peak_bytes: int
    steps: Mapping[str, float]
    peaks: Mapping[str, int]
    stages: Mapping[str, float]
    """Seconds by stage: sketching, summed over threads, and filtering."""
    runs: tuple[Run, ...]
    """Those that count, in order; one before them, in which kernels are compiled and files cached, does not."""

    @staticmethod
    def of(runs: Sequence[Run]) -> Measured:
        """The medians of some runs, at least one."""
        return Measured(
            seconds=median(run.seconds for run in runs),
            process_seconds=median(run.process_seconds for run in runs),
            peak_bytes=int(median(max(run.peaks.values()) for run in runs)),
            steps=_medians(run.steps for run in runs),
            peaks={step: int(most) for step, most in _medians(run.peaks for run in runs).items()},
            stages=_medians({stage.name: stage.seconds for stage in run.stages} for run in runs),
            runs=tuple(runs),
        )


def _medians(each: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found = list(each)
    return {name: median(one[name] for one in found if name in one) for name in found[0]}


def measure(
    configs: Sequence[Config],
    data: Any,
    *,
    rounds: int = 3,
    workers: int | None = None,
    work_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> tuple[Measured, ...]:
    """Runs every config `rounds` times over `data` (as for `cascade.dedupe`), after one time that does not count.

    In every round each config has one turn, in the next the other way round, so that what slows the machine for a while
    slows them all. Nothing is shared between runs. `work_dir`: where the folders that paths are cleaned into lie while
    a run lasts (default: the system's folder for temporary files). Raises what a run raises.
    """
    if rounds < 1:
        raise ConfigError(f"rounds is {rounds}; give 1 or more")
    progress = progress or Silent()
    runs: list[list[Run]] = [[] for _ in configs]
    progress.start("measure", (rounds + 1) * len(configs))
    for at, counts in turns(len(configs), rounds):
        done = run_apart(configs[at], data, workers, work_dir)
        if counts:
            runs[at].append(done)
        progress.advance("measure", 1)
    progress.finish("measure")
    return tuple(Measured.of(some) for some in runs)


def turns(number: int, rounds: int) -> Iterator[tuple[int, bool]]:
    """(which, whether it counts): each of so many has one turn in a round, in the next the other way round; a round
    that does not count comes first."""
    for turn in range(rounds + 1):
        for at in range(number)[:: -1 if turn % 2 else 1]:
            yield at, turn > 0


def run_apart(config: Config, data: Any, workers: int | None = None, work_dir: str | Path | None = None) -> Run:
    """Runs a config in a process of its own. Raises what it raises; StageError where the process dies."""
    folder = None if work_dir is None else str(work_dir)
    try:
        job = pickle.dumps((as_mapping(config), data, workers, folder), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise errors.InputError(
            f"cannot hand {type(data).__name__} to a process that is measured: {error}; give paths, a table or a list"
        ) from error
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(sys.path).encode() + b"\n" + job,
        capture_output=True,
        check=False,
    )
    elapsed = perf_counter() - start
    try:
        told = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.decode("utf-8", "replace").strip() or "no message").splitlines()[-1]
        raise StageError(f"a run that was measured ended with status {done.returncode}: {last}") from None
    if "error" in told:
        raise _raised(told["error"], told["problems"])
    stages = tuple(StageReport(**stage) for stage in told.pop("stages"))
    return Run(process_seconds=elapsed, stages=stages, **told)


def _raised(name: str, problems: list[str]) -> CascadeError:
    kind = getattr(errors, name, CascadeError)
    return kind(problems) if kind is ConfigError else kind("\n".join(problems))


def child() -> None:
    """What the process of its own does: takes a job from stdin, runs it, and tells of it on stdout as JSON."""
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever a stage of somebody's prints must not get among the figures
    try:
        told = _run(*pickle.load(sys.stdin.buffer))
    except CascadeError as error:
        problems = list(error.problems) if isinstance(error, ConfigError) else [str(error)]
        told = {"error": type(error).__name__, "problems": problems}
    words = json.dumps(told).encode()
    while words:
        words = words[os.write(answers, words) :]


def _run(given: Mapping[str, Any], data: Any, workers: int | None, work_dir: str | None) -> dict[str, Any]:
    config = load_config(given)
    meter = PeakMeter()
    start = perf_counter()
    if (paths := as_paths(data)) is not None:
        from cascade.io.report import read_report
        from cascade.run import run_files

        with tempfile.TemporaryDirectory(prefix="cascade-measure-", dir=work_dir) as folder:
            out = Path(folder, "out")
            report = run_files(config, paths, out, workers=workers, progress=meter)
            steps = read_report(out / "report.json")["seconds"]
        seconds = steps.pop("total")
        stages, counts = report.stages, report.counts
    else:
        from cascade.api import dedupe

        result = dedupe(data, config, workers=workers, progress=meter)
        seconds = perf_counter() - start
        stages, counts = result.stages, result.counts
        steps = {"read": seconds - sum(result.outcome.seconds.values()), **result.outcome.seconds}
    meter.end()
    return {
        "seconds": seconds,
        "steps": steps,
        "peaks": meter.bytes_by_step,
        "stages": [asdict(stage) for stage in stages],
        "counts": dict(counts),
    }
