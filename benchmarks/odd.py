"""Corpora of shapes that are hard on a deduplicator, with the answer that is right by construction. Runs nothing.

Every corpus is made row by row from a fixed seed. The right answer is a list: for each row the row that it is removed
for, or -1 where it is kept (of near-duplicates the first stays; Jaccard of word 5-grams at 0.8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Answer = npt.NDArray[np.int64]
KEPT = -1


@dataclass(frozen=True)
class Shape:
    """A kind of corpus that comes in any size."""

    name: str
    title: str
    full: int
    """The size that the project must be able to bear: rows, but megabytes for `giant`."""
    make: Callable[[int], tuple[Iterator[str], Answer]]
    """From a size to the texts and the right answer."""


def shapes() -> list[Shape]:
    """All of them."""
    return [
        Shape("template", "pages of one template, little differs", 200_000, template),
        Shape("half", "unrelated but for half of their words", 200_000, half),
        Shape("most", "unrelated but for 85 % of their words", 200_000, most),
        Shape("copies", "copies of one text", 50_000, copies),
        Shape("giant", "one document of so many MB", 50, giant),
        Shape("tiny", "texts of one to three words", 1_000_000, tiny),
    ]


def template(rows: int) -> tuple[Iterator[str], Answer]:
    """Pages of 300 words that each have two words of their own, side by side, at one of 250 places.

    A page has 296 shingles; two words that touch are in 6 of them at most. So two pages share 284 of 308 or more,
    J >= 0.92, where the default config loses one pair in 10^7, and all go for the first.
    """
    common = [f"c{i}" for i in range(300)]

    def texts() -> Iterator[str]:
        for row in range(rows):
            place = 20 + row % 250
            yield " ".join((*common[:place], f"own{row}", f"page{row}", *common[place + 2 :]))

    return texts(), np.array([KEPT] + [0] * (rows - 1))


def half(rows: int) -> tuple[Iterator[str], Answer]:
    """100 words that all have and 100 that only one has: J = 96 / (196 + 196 - 96) = 0.32."""
    return _block(rows, 100, 100)


def most(rows: int) -> tuple[Iterator[str], Answer]:
    """170 words that all have and 30 that only one has: J = 166 / (196 + 196 - 166) = 0.73."""
    return _block(rows, 170, 30)


def _block(rows: int, shared: int, own: int) -> tuple[Iterator[str], Answer]:
    block = " ".join(f"boiler{i}" for i in range(shared))

    def texts() -> Iterator[str]:
        for row in range(rows):
            yield " ".join([f"w{row * own + i}" for i in range(own)]) + " " + block

    return texts(), np.full(rows, KEPT)


def copies(rows: int) -> tuple[Iterator[str], Answer]:
    """The same 200 words again and again."""
    text = " ".join(f"word{i}" for i in range(200))
    return (text for _ in range(rows)), np.array([KEPT] + [0] * (rows - 1))


def giant(megabytes: int) -> tuple[Iterator[str], Answer]:
    """500 small texts, a great one, 500 small ones of which each equals one of the first but for its last word."""
    size = megabytes * 1_000_000

    def small(row: int, last: str) -> str:
        return " ".join([*(f"w{row * 60 + i}" for i in range(60)), last])

    def texts() -> Iterator[str]:
        yield from (small(row, "first") for row in range(500))
        words = np.random.default_rng(0).integers(0, 10_000_000, size // 9)
        yield " ".join(map("v{:07d}".format, words.tolist()))
        yield from (small(row, "second") for row in range(500))

    # 57 shingles each, of which 56 are the same: J = 56/58.
    return texts(), np.concatenate((np.full(501, KEPT), np.arange(500)))


def tiny(rows: int) -> tuple[Iterator[str], Answer]:
    """One to three words of 20,000: alike only if all words are the same, since fewer than five make one shingle."""
    random = np.random.default_rng(0)
    words = random.integers(0, 20_000, (rows, 3))
    words[np.arange(3) > random.integers(0, 3, rows)[:, None]] = -1
    _, first, group = np.unique(words, axis=0, return_index=True, return_inverse=True)
    answer = first[group.ravel()]
    answer[answer == np.arange(rows)] = KEPT
    return (" ".join(f"w{word}" for word in row if word >= 0) for row in words.tolist()), answer
