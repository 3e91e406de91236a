"""Watches all that a process starts: memory of the whole tree, and processor time of children nobody waits for.

os.wait4 tells both exactly, but only for one process and the children that were waited for; a pool of workers can
escape it. So the tree is looked at a few times a second, where the system has /proc.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

INTERVAL = 0.25
"""Seconds between looks: a look takes well under a millisecond."""


class Tree:
    """Use as a context around the life of process `pid`; afterwards `peak` and `private` (bytes) and `cpu` (seconds)
    of what it started are known, itself left out."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.peak = 0
        self.private = 0
        self._ticks: dict[int, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Tree:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def cpu(self) -> float:
        """Seconds of all processes that were seen, each as it was last seen."""
        return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            resident = private = 0
            for pid in _descendants(self.pid)[1:]:
                try:
                    _, pages, of_files, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
                    resident, private = resident + pages, private + pages - of_files
                    # The name, in brackets, may hold spaces; user and system time are the 14th and 15th field.
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    self._ticks[pid] = int(fields[11]) + int(fields[12])
                except (OSError, IndexError, ValueError):
                    continue  # it has just ended
            self.peak = max(self.peak, resident * os.sysconf("SC_PAGE_SIZE"))
            self.private = max(self.private, private * os.sysconf("SC_PAGE_SIZE"))


def _descendants(pid: int) -> list[int]:
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        try:
            for task in Path(f"/proc/{found[-1]}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return found
