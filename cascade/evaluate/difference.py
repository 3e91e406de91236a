"""Where two texts differ: which parts both have, and which only one of them has, by words or characters.

How the parts are shown, in a terminal or on a page, is not decided here.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

Kind = Literal["same", "left", "right"]
Part = tuple[Kind, str]
Shown = tuple[Literal["same", "left", "right", "skipped"], str]

MOST = 1 << 29
"""Places of the table of tokens against tokens that a comparison may fill: 23,000 words against as many, 64 MB."""
GAP = 16
"""Between two pieces that both texts have, a table may have one part in so many of that: there may be many."""
CHUNK = 32
"""Tokens of a piece, on average."""
FACTORS = np.array([0x9E3779B97F4A7C15 * (2 * place + 1) % 2**64 for place in range(12)], np.uint64)
"""Of the characters that decide about a cut."""
LOOK = 1 << 10
"""Characters in which the border of a token is looked for where two texts part."""
ISLAND = 3
"""Characters of space or punctuation between two changed words that are not worth telling apart."""
SPACE = 7
"""A class of characters beside those of cascade.kernels.tokenize."""
_RUNS = np.array([False, False, True, True, True, False, False, True])
"""The classes whose runs are tokens: words, Katakana, Hangul, white space."""
LEAST_SKIPPED = 20
"""Characters that are not worth leaving out."""


@dataclass(frozen=True)
class Difference:
    """Two texts as one row of parts: (`same`, text), (`left`, only in the left text), (`right`, only in the right one).

    `same` and `left` joined are the left text, `same` and `right` joined the right one. No part is empty, and no two
    neighbours are of one kind; between two parts that both have, what is left stands before what is right.
    """

    parts: tuple[Part, ...]

    @property
    def left(self) -> str:
        """The left text."""
        return "".join(text for kind, text in self.parts if kind != "right")

    @property
    def right(self) -> str:
        """The right text."""
        return "".join(text for kind, text in self.parts if kind != "left")

    def shown(self, around: int = 60, longest: int = 1000) -> tuple[Shown, ...]:
        """The parts with what is long left out, to be shown: (`skipped`, the text that is left out).

        Of what both have, at most `around` characters stay beside each change (of texts without any, at the start); of
        a change that is longer than `longest`, half of that at its start and at its end.
        """
        found: list[Shown] = []
        last = len(self.parts) - 1
        for i, (kind, text) in enumerate(self.parts):
            if kind != "same":
                found += _cut(kind, text, longest // 2, longest - longest // 2)
            else:
                found += _cut(kind, text, around if i or not last else 0, around if i < last else 0)
        return tuple(found)


def difference(left: str, right: str, *, most: int = MOST) -> Difference:
    """What two texts have in common, and what not, by tokens: words, the characters of scripts without spaces, runs of
    white space, and every other character; marks stay with what they mark.

    The work is bounded. What both begin and end with is found by comparing arrays. What is left of tokens is compared
    by their longest common subsequence, if the table has at most `most` places. Otherwise both are cut into pieces of
    some 32 tokens at places that the text itself chooses; pieces that occur once in each text, and in the same order,
    are taken for the same (Cohen's patience diff); and what lies between two of them is compared by tokens if that
    table has at most `most` / 16 places, and else said to differ as a whole.
    """
    a, b = _points(left), _points(right)
    start = _common_start(a, b)
    stop = _common_start(a[start:][::-1], b[start:][::-1])
    start, stop = _start_of_token(a, b, start), _end_of_token(a, b, start, stop)
    middle = left[start : len(left) - stop], right[start : len(right) - stop]
    head, tail = left[:start], left[len(left) - stop :]
    return Difference(tuple(_tidy([("same", head), *_compare(*middle, most), ("same", tail)])))


def _compare(left: str, right: str, most: int) -> Iterator[Part]:
    """The parts of two texts that neither begin nor end alike."""
    ours, theirs = _borders(_points(left)), _borders(_points(right))
    if len(ours) * len(theirs) <= most:
        yield from _by_tokens(_pieces(left, ours), _pieces(right, theirs))
        return
    chunks, others = _pieces(left, _cuts(left, ours)), _pieces(right, _cuts(right, theirs))
    done, seen = 0, 0
    for i, j in [*_anchors(chunks, others), (len(chunks), len(others))]:
        yield from _gap("".join(chunks[done:i]), "".join(others[seen:j]), most // GAP)
        yield from [("same", text) for text in chunks[i : i + 1]]
        done, seen = i + 1, j + 1


def _gap(left: str, right: str, most: int) -> Iterator[Part]:
    if left and right:
        ours, theirs = _borders(_points(left)), _borders(_points(right))
        if len(ours) * len(theirs) <= most:
            yield from _by_tokens(_pieces(left, ours), _pieces(right, theirs))
            return
    yield from (("left", left), ("right", right))


def _by_tokens(left: list[str], right: list[str]) -> Iterator[Part]:
    """The longest common subsequence."""
    from rapidfuzz.distance import Indel

    numbers: dict[str, int] = {}
    ours, theirs = (array("Q", [numbers.setdefault(token, len(numbers)) for token in row]) for row in (left, right))
    for step in Indel.opcodes(ours, theirs):
        of_left = "".join(left[step.src_start : step.src_end])
        if step.tag == "equal":
            yield "same", of_left
        else:
            yield from (("left", of_left), ("right", "".join(right[step.dest_start : step.dest_end])))


def _anchors(left: list[str], right: list[str]) -> list[tuple[int, int]]:
    """Positions of texts that each list holds once, ascending in both: the longest such row (patience sorting)."""
    ours, theirs = Counter(left), Counter(right)
    where = {text: j for j, text in enumerate(right) if theirs[text] == 1 and ours[text] == 1}
    pairs = [(i, where[text]) for i, text in enumerate(left) if text in where]
    piles: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for at, (_, j) in enumerate(pairs):
        pile = bisect_left(piles, j)
        before.append(tops[pile - 1] if pile else -1)
        if pile == len(piles):
            piles.append(j)
            tops.append(at)
        else:
            piles[pile], tops[pile] = j, at
    found = []
    at = tops[-1] if tops else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _pieces(text: str, begins: npt.NDArray[np.int64]) -> list[str]:
    """A text cut at some positions, 0 among them if there is any text."""
    return [text[i:j] for i, j in pairwise([*begins.tolist(), len(text)])]


def _cuts(text: str, begins: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Some of the places where a token begins, 0 included: where the characters behind hash to 0 modulo CHUNK.

    So a change moves no cut but those beside it (content-defined chunking: Muthitacharoen et al., LBFS, 2001, 3.1).
    """
    behind = np.concatenate((_points(text), np.zeros(len(FACTORS), np.uint32)))
    mixed = np.zeros(len(begins), np.uint64)
    for place, factor in enumerate(FACTORS):
        mixed += behind[begins + place] * factor
    mixed ^= mixed >> np.uint64(29)
    chosen = (mixed * FACTORS[0]) >> np.uint64(32) & np.uint64(CHUNK - 1) == 0
    chosen[:1] = True
    return np.asarray(begins[chosen])


def _points(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _borders(points: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Where a token begins: words, single characters of scripts without spaces, white space, all other characters."""
    from cascade.kernels.tokenize import MARK

    kind = _kinds()[points]
    mark = kind == MARK
    run = _RUNS[kind]
    before = kind
    if mark.any():  # a mark is of the kind of what it marks
        before = kind[np.maximum.accumulate(np.where(mark, 0, np.arange(len(kind), dtype=np.int32)))]
    inside = run[1:] & (kind[1:] == before[:-1])
    inside |= mark[1:] & (before[:-1] != SPACE)
    begins = np.ones(len(points), bool)
    begins[1:] = ~inside
    return np.flatnonzero(begins)


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """The class of every code point under the rule `word`, and SPACE for white space."""
    from cascade.text.codepoints import spaces
    from cascade.text.tokenize import classes

    return np.where(spaces(), np.uint8(SPACE), classes("word"))


def _common_start(a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32]) -> int:
    """Characters at the start that both have."""
    shorter = min(len(a), len(b))
    differ = a[:shorter] != b[:shorter]
    return int(differ.argmax()) if differ.any() else shorter


def _start_of_token(a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32], start: int) -> int:
    """The last position up to `start`, which both texts share, where a token begins in both (or `start`, if far)."""
    low = max(0, start - LOOK)
    common = set.intersection(*(_begins(x[low : start + 1], start - low) for x in (a, b)))
    return low + max(common) if common else start


def _begins(points: npt.NDArray[np.uint32], most: int) -> set[int]:
    """Positions up to `most` where a token begins; the end of the text is one too."""
    return {i for i in [*_borders(points).tolist(), len(points)] if i <= most} if len(points) else {0}


def _end_of_token(a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32], start: int, stop: int) -> int:
    """The most of the last `stop` characters, which both texts share, before which a token begins in both."""
    ahead = LOOK
    found = []
    for x in (a, b):
        at = len(x) - stop
        low = max(start, at - ahead)
        window = x[low : at + ahead + 1]
        begins = _borders(window) if len(window) else np.zeros(0, np.int64)
        found.append({int(i) + low - at for i in begins.tolist() if i + low >= at} | {stop})
    return stop - min(set.intersection(*found))


@dataclass
class _Hunk:
    """What both texts have, and behind it a change."""

    same: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    right: list[str] = field(default_factory=list)


def _tidy(parts: Iterable[Part]) -> Iterator[Part]:
    """Neighbours of one kind as one part; within a change first what is left, then what is right.

    A space or a comma that both have between two changed words is taken for changed: so it reads more easily.
    """
    hunks = [_Hunk()]
    for kind, text in parts:
        last = hunks[-1]
        if text and kind == "same" and (last.left or last.right):
            last = _Hunk()
            hunks.append(last)
        if text:
            getattr(last, kind).append(text)
    kept = hunks[:1]
    for hunk in hunks[1:]:
        last, same = kept[-1], "".join(hunk.same)
        both = (last.left or hunk.left) and (last.right or hunk.right)
        if both and (hunk.left or hunk.right) and len(same) <= ISLAND and not any(map(str.isalnum, same)):
            last.left += [same, *hunk.left]
            last.right += [same, *hunk.right]
        else:
            kept.append(hunk)
    for hunk in kept:
        for kind, texts in (("same", hunk.same), ("left", hunk.left), ("right", hunk.right)):
            if texts:
                yield kind, "".join(texts)


def _cut(kind: Kind, text: str, head: int, tail: int) -> Iterator[Shown]:
    """A part, or its start and its end where it is longer than both together; at least a few characters go."""
    if len(text) <= head + tail + LEAST_SKIPPED:
        yield kind, text
        return
    middle = text[head : len(text) - tail]
    yield from (
        part for part in ((kind, text[:head]), ("skipped", middle), (kind, text[len(text) - tail :])) if part[1]
    )
