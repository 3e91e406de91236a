"""What every peer program does alike: read the corpus, cut words, remove in row order, report. No peer lives here.

A program is called as `python -m benchmarks.peers.NAME CORPUS WORK_FOLDER THREADS LANGUAGE` and prints one line of
JSON. It runs in the peers' own environment, so nothing here needs more than orjson.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TypeVar

import orjson

from benchmarks.words import words

NGRAM = 5
PERMUTATIONS, BANDS, ROWS = 128, 16, 8
THRESHOLD = 0.8
BATCH = 500
"""Documents whose shingles are in memory at a time."""

Result = TypeVar("Result")


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
            texts = _texts(file)
        self.lap("read")
        return texts

    def sketches(self, sketch: Callable[[list[list[str]]], list[Result]]) -> list[Result]:
        """`sketch` of the word 5-grams of the documents, a batch at a time, in as many processes as there are threads:
        cutting shingles in Python is most of the work, and threads of one process would do it in turn."""
        batch = partial(_sketch_lines, sketch, self.language)
        with open(self.corpus, "rb") as file:
            if self.threads == 1:
                results = [result for lines in _batches(file) for result in batch(lines)]
            else:
                with multiprocessing.get_context("fork").Pool(self.threads) as pool:
                    results = [result for part in pool.imap(batch, _batches(file)) for result in part]
        self.lap("sketch")
        return results

    def report(
        self, package: str, removed: Iterable[int], pairs: int | None = None, compared: int | None = None
    ) -> None:
        """Prints the answer: rows removed, how many pairs were found, and how many compared to find them (None: the
        program does not tell)."""
        settings = {"ngram": NGRAM, "permutations": PERMUTATIONS, "bands": BANDS, "rows_per_band": ROWS}
        answer = {
            "version": version(package),
            "config": {**settings, "threshold": THRESHOLD, "threads": self.threads},
            "seconds": self.seconds,
            "pairs": pairs,
            "compared": compared,
            "removed": sorted(map(int, removed)),
        }
        print(orjson.dumps(answer).decode())


def shingles(text: str, language: str) -> list[str]:
    """Word 5-grams, cut in Python."""
    found = words(text, language)
    if len(found) < NGRAM:
        return [" ".join(found)] if found else []
    return list(map(" ".join, zip(*(found[k:] for k in range(NGRAM)), strict=False)))


def candidates(neighbours: Iterable[Iterable[int]]) -> list[tuple[int, int]]:
    """Pairs (row, later row) of what a table answered for each row in turn."""
    return [(row, other) for row, others in enumerate(neighbours) for other in others if row < other]


def star(pairs: Iterable[tuple[int, int]]) -> set[int]:
    """Rows removed when each is dropped that is in a pair with an earlier row that was kept."""
    removed: set[int] = set()
    for left, right in sorted((max(pair), min(pair)) for pair in pairs):
        if right not in removed:
            removed.add(left)
    return removed


def _texts(lines: Iterable[bytes]) -> list[str]:
    return [orjson.loads(line)["text"] for line in lines]


def _batches(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    while batch := list(islice(lines, BATCH)):
        yield batch


def _sketch_lines(sketch: Callable[[list[list[str]]], list[Result]], language: str, lines: list[bytes]) -> list[Result]:
    return sketch([shingles(text, language) for text in _texts(lines)])
