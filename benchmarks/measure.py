"""Runs one program as a process of its own and measures it. What the programs are stands in programs.py."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tree import Tree

POOLS = ("RAYON", "OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
LAUNCH = Path(__file__).with_name("launch.py")


@dataclass(frozen=True)
class Run:
    """One finished process."""

    seconds: float
    """Wall time from start to end, interpreter and imports included."""
    cpu: float
    """User and system seconds, of all that it started too."""
    peak: int
    """Most resident bytes, of all that it started together; pages that processes share count for each of them."""
    private: int
    """As `peak` without pages of files, mapped ones among them, as far as looks four times a second saw it."""
    status: int
    output: str
    errors: str


def run(command: Sequence[str | Path], threads: int, folder: Path, timeout: float, data: int = 0) -> Run:
    """Runs `command` in `folder` on the first `threads` processors, with at most `data` bytes of memory that belong to
    no file (RLIMIT_DATA; 0: no limit). Killed after `timeout` seconds, with status -9."""
    receive, send = os.pipe()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, os.fdopen(receive, "rb") as told:
        start = time.perf_counter()
        launch = [sys.executable, "-I", "-S", str(LAUNCH), str(send), str(threads), str(data)]
        try:
            process = subprocess.Popen(
                [*launch, *map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=folder,
                env=_environment(threads),
                start_new_session=True,
                pass_fds=(send,),
            )
        finally:
            os.close(send)
        with Tree(process.pid) as tree:
            _wait(process, start + timeout)
            elapsed = time.perf_counter() - start
        words = told.read().split()
        texts = []
        for stream in (output, errors):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    if not words:  # the launcher was killed with all the others
        return Run(elapsed, tree.cpu, tree.peak, tree.private, -signal.SIGKILL, *texts)
    seconds, cpu, peak = float(words[1]), max(float(words[2]), tree.cpu), max(int(words[3]), tree.peak)
    return Run(seconds, cpu, peak, tree.private, int(words[0]), *texts)


def _wait(process: subprocess.Popen[bytes], deadline: float) -> None:
    """Waits for the end; at the deadline, or when interrupted, all that was started is killed."""

    def stop() -> None:
        os.killpg(process.pid, signal.SIGKILL)

    # A timer, since Popen.wait with a timeout looks up to twenty times a second.
    timer = threading.Timer(max(deadline - time.perf_counter(), 0), stop)
    timer.start()
    try:
        process.wait()
    except BaseException:
        stop()
        raise
    finally:
        timer.cancel()


def _environment(threads: int) -> Mapping[str, str]:
    pools = {f"{pool}_NUM_THREADS": str(threads) for pool in POOLS}
    quiet = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "DAFT_PROGRESS_BAR": "0", "DO_NOT_TRACK": "1"}
    return {**os.environ, **pools, **quiet}
