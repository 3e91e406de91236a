"""The peak memory of this process by step, as a run tells of its steps. What it was spent on is not known here."""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from pathlib import Path

BEFORE = {"read": "start", "observe": "collapse", "columns": "collapse", "pairs": "candidates", "write": "decide"}
"""What lies before a step that tells of itself, by the step's name."""


def peak() -> int:
    """Bytes: the most resident memory since the last reset, or since the process began where nothing can be reset."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def reset() -> None:
    """Lets the peak start again from what is resident now, where the system can (Linux 4.0 and later)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")


class PeakMeter:
    """A Progress that notes the peak of each step and of what lies between two steps, in `bytes_by_step`.

    Where the system cannot reset a peak, each is that of all steps so far.
    """

    def __init__(self) -> None:
        self.bytes_by_step: dict[str, int] = {}
        reset()

    def start(self, step: str, total: int | None) -> None:
        before = BEFORE.get(step, "between")
        if "columns" in self.bytes_by_step and before == "collapse":
            before = "candidates"  # a second first pass, in view of the candidates
        elif not self.bytes_by_step and step != "read":
            before = "read"  # what was handed over is read without a word
        self._note(before)

    def advance(self, step: str, documents: int) -> None:
        pass

    def finish(self, step: str) -> None:
        self._note(step)

    def expect(self, step: str, total: int) -> None:
        pass

    def end(self) -> None:
        """Notes what came after the last step."""
        self._note("end")

    def _note(self, step: str) -> None:
        self.bytes_by_step[step] = max(self.bytes_by_step.get(step, 0), peak())
        reset()
