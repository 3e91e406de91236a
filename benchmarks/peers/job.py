"""What every peer program does alike: read the corpus, cut words, remove in row order, report. No peer lives here.

A program is called as `python -m benchmarks.peers.NAME CORPUS WORK_FOLDER THREADS LANGUAGE` and prints one line of
JSON. It runs in the peers' own environment, so nothing here needs more than orjson.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import orjson

from benchmarks.words import words

NGRAM = 5
PERMUTATIONS, BANDS, ROWS = 128, 16, 8
THRESHOLD = 0.8


@dataclass
class Job:
    """Arguments of a peer program, and the clock."""

    corpus: str = field(default_factory=lambda: sys.argv[1])
    work: Path = field(default_factory=lambda: Path(sys.argv[2]))
    threads: int = field(default_factory=lambda: int(sys.argv[3]))
    language: str = field(default_factory=lambda: sys.argv[4])
    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def lap(self, name: str) -> None:
        """Books the time since the last lap under `name`."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self._last, 3)
        self._last = now

    def texts(self) -> list[str]:
        """The documents, in row order."""
        with open(self.corpus, "rb") as file:
            texts = [orjson.loads(line)["text"] for line in file]
        self.lap("read")
        return texts

    def shingles(self, text: str) -> list[str]:
        """Word 5-grams, cut in Python."""
        found = words(text, self.language)
        return [" ".join(found[i : i + NGRAM]) for i in range(max(1, len(found) - NGRAM + 1))] if found else []

    def report(self, package: str, removed: Iterable[int], pairs: int | None = None) -> None:
        """Prints the answer: rows removed, and how many pairs were found."""
        rows = sorted(map(int, removed))
        answer = {"version": version(package), "seconds": self.seconds, "pairs": pairs, "removed": rows}
        print(orjson.dumps(answer).decode())


def star(pairs: Iterable[tuple[int, int]]) -> set[int]:
    """Rows removed when each is dropped that is in a pair with an earlier row that was kept."""
    removed: set[int] = set()
    for left, right in sorted((max(pair), min(pair)) for pair in pairs):
        if right not in removed:
            removed.add(left)
    return removed
