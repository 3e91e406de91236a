"""What normalising makes of each code point alone, as a table for the kernel, and the proof that this is enough.

Let f be a Unicode form and D(c) the full decomposition of c that belongs to it (canonical for NFC and NFD, compatible
for NFKC and NFKD), in canonical order. f(c1 … cn) orders D(c1) … D(cn) and, for the C forms, composes it (Unicode
Standard, section 3.11; UAX #15). Neighbours can meet in two ways only:

- *Ordering* exchanges neighbours of combining classes a > b > 0. Each D(ci) is ordered in itself, so nothing moves if
  the first class of each D(ci) is 0 or no less than the last class of what is before it.
- *Composing* joins a character X to the last starter L before it if a primary composite LX exists and nothing between
  them blocks X; a starter between them does. So of D(ci) only the characters up to its first starter can see an L
  outside D(ci), unless that starter itself is joined to one. If none of them is the second member of a primary
  composite (flag JOINS), or if the last starter before is the first member of none (no flag LEADS), nothing is
  joined. A starter that is itself a second member, a conjoining jamo for one, may have gone into a composite which
  leads in its turn: it always counts as LEADS. D(ci) without a starter (flag BARE) leaves the last starter what it was.

Under these conditions f(c1 … cn) = f(c1) … f(cn). Case folding treats each code point alone, and so does str.lower but
for capital sigma, whose small form depends on its place: flag LIBRARY where the first form gives one. Format
characters, punctuation and digits are matters of single code points too. So the whole chain is a concatenation if the
conditions hold at both forms. The flags are united over the two forms, and where the combining classes or BARE differ
between them the entry is LIBRARY. What vanishes between the forms leaves the state as it is, which is right for the
second; at the first form it is a starter that neither joins nor leads (else LIBRARY), which can only part what is on
its sides. White space is collapsed by the kernel, on what the entries give.

A text can be *cut* before c, whatever its neighbours are, if nothing from c on can meet what is before: if at either
form it begins with a starter that is no second member. That holds if it holds for each code point that may be the
first one there, the first of D(c) or a primary composite which begins with that one; else the entry is LIBRARY. So if a
condition fails somewhere, the library needs no more than the cluster of code points between two cuts. Behind c there is
a cut if D(c) ends with a starter that leads nothing and is no second member: what follows cannot even see past it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from cascade.kernels.normalize import BARE, CONTEXT, JOINS, LEADS, LIBRARY, SPACE_FIRST, SPACE_LAST, SPECIAL
from cascade.text.codepoints import LIMIT, Flags, assigned, combining, composing, of_category, spaces
from cascade.text.normalize import Normalize, normalize, prepared

BREAK = 10
"""Line feed stands between code points: no form, case or category rule lets anything reach across it."""
CAPITAL_SIGMA = "\u03a3"

Points = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Mapping:
    """The kernel's table: entries uint64[0x110000], the pool of long replacements, the length of the longest one."""

    entries: npt.NDArray[np.uint64]
    pool: npt.NDArray[np.uint8]
    longest: int


@cache
def ascii_mapping(options: Normalize) -> Mapping:
    """The entries of ASCII alone, free of charge. Any of its characters may lead a composite."""
    collapse = options.whitespace == "collapse"
    each = options.model_copy(update={"whitespace": "keep"})
    entries = np.empty(128, np.uint64)
    for point in range(128):
        text = normalize(chr(point), each)
        space = collapse and text.isspace()
        flags = LEADS | (SPACE_FIRST | SPACE_LAST | SPECIAL if space else 0)
        entries[point] = ord(" " if space else text) | 1 << 32 | flags << 56
    return Mapping(entries, np.empty(0, np.uint8), 1)


@dataclass(frozen=True)
class Segments:
    """What became of each code point: chars[starts[i]:ends[i]], with a line feed at ends[i]."""

    chars: Points
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    @staticmethod
    def of(chars: Points) -> Segments:
        """Cuts at line feeds."""
        ends = np.flatnonzero(chars == BREAK)
        return Segments(chars, np.append(0, ends[:-1] + 1), ends)

    def any(self, flags: Flags) -> Flags:
        """For each segment: does the flag hold for a character of it? It must not hold for a line feed."""
        return np.asarray(np.logical_or.reduceat(flags[self.chars], self.starts))


@dataclass(frozen=True)
class Edges:
    """How a segment meets its neighbours: classes of its first and last character, and the flags of the kernel."""

    first: npt.NDArray[np.uint8]
    last: npt.NDArray[np.uint8]
    leads: Flags
    joins: Flags
    bare: Flags

    @property
    def starts(self) -> Flags:
        """Where it begins with a starter that joins nothing; bare segments, and empty ones, have no starter."""
        return np.asarray((self.first == 0) & ~self.joins & ~self.bare)


@cache
def mapping(options: Normalize) -> Mapping:
    """The table for some options, made on first use in some tenths of a second."""
    points = assigned()
    points = points[points != BREAK]
    apart = _text(np.column_stack((points, np.full_like(points, BREAK))).ravel())
    ready = prepared(apart, options)

    segments = Segments.of(_finished(_points(ready), options))
    if len(segments.ends) != len(points):
        raise AssertionError(f"{len(points)} code points became {len(segments.ends)} segments")
    raw = np.frombuffer(_text(segments.chars).encode("utf-8") + bytes(4), np.uint8)
    stops = np.flatnonzero(raw == BREAK)
    begins = np.append(0, stops[:-1] + 1)
    length = (stops - begins).astype(np.uint64)
    inline = np.zeros(len(points), np.uint64)
    for k in range(4):
        inline |= np.where(k < length, raw[begins + k], 0).astype(np.uint64) << np.uint64(8 * k)
    long = np.flatnonzero(length > 4)
    inline[long] = np.cumsum(length[long]) - length[long]
    pool = np.concatenate([raw[begins[i] : stops[i]] for i in long] or [raw[:0]])

    before, after, library, context = _edges(apart, ready, options)
    library |= (length == 0) & ((before.first | before.last) > 0) | (length == 0) & (before.leads | before.joins)
    flags = (before.leads | after.leads) * LEADS + (before.joins | after.joins) * JOINS + after.bare * BARE
    library |= _not_cut(apart, options.unicode, (length > 0) & before.starts & after.starts) | context
    flags += library * LIBRARY + context * CONTEXT
    if options.whitespace == "collapse":
        filled = length > 0
        flags += (filled & (segments.chars[segments.starts] == 32)) * SPACE_FIRST
        flags += (filled & (segments.chars[segments.ends - 1] == 32)) * SPACE_LAST
    copied = ((flags & ~LEADS) == 0) & (after.first == 0) & (length > 0) & (length <= 4)
    flags += ~copied * SPECIAL

    entries = _unchanged()
    entries[points] = _packed(inline, length, after, flags)
    if options.whitespace == "collapse":
        entries[BREAK] = entries[32]
    return Mapping(entries, pool, int(length.max()))


def _packed(inline, length, edges: Edges, flags):  # type: ignore[no-untyped-def]
    parts = (inline, length, edges.first, edges.last, flags)
    word = np.zeros(len(inline), np.uint64)
    for part, shift in zip(parts, (0, 32, 40, 48, 56), strict=True):
        word |= part.astype(np.uint64) << np.uint64(shift)
    return word


def _unchanged() -> npt.NDArray[np.uint64]:
    """A table in which each code point stands for itself."""
    table = np.arange(LIMIT, dtype=np.uint64)
    for start, stop, size, lead in ((0x80, 0x800, 2, 0xC0), (0x800, 0x10000, 3, 0xE0), (0x10000, LIMIT, 4, 0xF0)):
        points = np.arange(start, stop, dtype=np.uint32)
        utf8 = lead | points >> 6 * (size - 1)
        for k in range(1, size):
            utf8 |= (points >> 6 * (size - 1 - k) & 0x3F | 0x80) << 8 * k
        table[start:stop] = utf8
        table[start:stop] |= np.uint64(size << 32)
    table[:0x80] |= np.uint64(1 << 32)
    return table


def _finished(chars: Points, options: Normalize) -> Points:
    """The steps behind the second form, within each segment; spaces at its ends stay."""
    chars = chars.copy()
    if options.punctuation == "drop":
        chars[(of_category("P") | of_category("S"))[chars]] = 32
    if options.digits == "zero":
        chars[of_category("Nd")[chars]] = ord("0")
    if options.whitespace == "collapse":
        chars[spaces()[chars] & (chars != BREAK)] = 32
        again = np.zeros(len(chars), np.bool_)
        again[1:] = (chars[1:] == 32) & (chars[:-1] == 32)
        chars = chars[~again]
    return chars


def _not_cut(apart: str, form: str, starts: Flags) -> Flags:
    """Which code points, though they are ones that `starts` tells of, may stand before a cut that is none.

    `starts` says of each code point alone that nothing of it can meet what is before it.
    """
    if form == "none":
        return ~starts & starts
    decomposed: Literal["NFD", "NFKD"] = "NFKD" if "K" in form else "NFD"
    whole, own = (Segments.of(_points(unicodedata.normalize(f, apart))) for f in ("NFD", decomposed))
    fails = np.zeros(LIMIT, np.bool_)
    fails[whole.chars[whole.starts[~starts]]] = True
    return starts & fails[own.chars[own.starts]]


def _edges(apart: str, ready: str, options: Normalize) -> tuple[Edges, Edges, Flags, Flags]:
    """The edges of each code point's text at the first and the second form, and where the library must decide.

    Last, where it needs the whole text to do so.
    """
    form = options.unicode
    composed = apart if form == "none" else unicodedata.normalize(form, apart)
    segments = Segments.of(_points(composed))
    sigma = np.zeros(LIMIT, np.bool_)
    sigma[ord(CAPITAL_SIGMA)] = options.case == "lower"
    context = segments.any(sigma)
    if form == "none":
        none = np.zeros(len(segments.ends), np.uint8)
        edges = Edges(none, none, none > 0, none > 0, none > 0)
        return edges, edges, context & ~context, context
    decomposed: Literal["NFD", "NFKD"] = "NFKD" if "K" in form else "NFD"
    before, after = (_edge(unicodedata.normalize(decomposed, text), form) for text in (apart, ready))
    filled = np.diff(np.append(-1, Segments.of(_points(ready)).ends)) > 1
    library = filled & ((before.first != after.first) | (before.last != after.last) | (before.bare != after.bare))
    return before, after, library, context


def _edge(text: str, form: str) -> Edges:
    segments = Segments.of(_points(text))
    order = combining()
    starters = order == 0
    starters[BREAK] = False
    filled = segments.ends > segments.starts
    first = order[segments.chars[segments.starts]]
    last_char = segments.chars[segments.ends - 1]
    last = np.where(filled, order[last_char], 0).astype(np.uint8)
    bare = filled & ~segments.any(starters)
    if form in ("NFD", "NFKD"):
        never = np.zeros(len(filled), np.bool_)
        return Edges(first, last, never, never, bare)
    lead, second = composing()
    joins = np.where(first == 0, second[segments.chars[segments.starts]], segments.any(second))
    leads = filled & np.where(last == 0, lead[last_char], segments.any(lead))
    return Edges(first, last, leads & ~bare, joins, bare)


def _text(chars: Points) -> str:
    return chars.astype("<u4").tobytes().decode("utf-32-le")


def _points(text: str) -> Points:
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint32, copy=False)
