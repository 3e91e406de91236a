"""Runs one program as a process of its own and measures it. What the programs are stands in programs.py."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tree import Tree

POOLS = ("RAYON", "OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")


@dataclass(frozen=True)
class Run:
    """One finished process."""

    seconds: float
    """Wall time from start to end, interpreter and imports included."""
    cpu: float
    """User and system seconds, of all that it started too."""
    peak: int
    """Most resident bytes, of all that it started together; pages that processes share count for each of them."""
    status: int
    output: str
    errors: str


def run(command: Sequence[str | Path], threads: int, folder: Path, timeout: float) -> Run:
    """Runs `command` in `folder` on the first `threads` processors. Killed after `timeout` seconds, with status -9."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            [*_pinned(threads), *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            cwd=folder,
            env=_environment(threads),
            start_new_session=True,
        )
        with Tree(process.pid) as tree:
            status, usage = _wait(process, start + timeout)
            seconds = time.perf_counter() - start
        texts = []
        for stream in (output, errors):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    unit = 1 if sys.platform == "darwin" else 1024
    cpu = max(usage.ru_utime + usage.ru_stime, tree.cpu)
    return Run(seconds, cpu, max(usage.ru_maxrss * unit, tree.peak), status, *texts)


def _wait(process: subprocess.Popen[bytes], deadline: float) -> tuple[int, resource.struct_rusage]:
    """os.wait4, which alone tells the memory of one child, with a deadline."""
    import signal
    import threading

    def stop() -> None:
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(max(deadline - time.perf_counter(), 0), stop)
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        stop()
        raise
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage


def _pinned(threads: int) -> list[str]:
    from shutil import which

    if not hasattr(os, "sched_getaffinity") or not which("taskset"):
        return []
    allowed = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", ",".join(map(str, allowed[:threads]))]


def _environment(threads: int) -> Mapping[str, str]:
    pools = {f"{pool}_NUM_THREADS": str(threads) for pool in POOLS}
    quiet = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "DAFT_PROGRESS_BAR": "0", "DO_NOT_TRACK": "1"}
    return {**os.environ, **pools, **quiet}
