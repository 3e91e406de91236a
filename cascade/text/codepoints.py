"""What Unicode says of each code point, as arrays that are filled once, when a text beyond ASCII first comes.

Only EXAMINED code points are looked at. The others are unified ideographs, surrogates, private use and what no version
of Unicode has assigned: no form, case or composition touches them, and they are no marks, digits, punctuation, format
characters or white space. A test holds this for the Unicode version of the interpreter.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt

LIMIT = 0x110000
EXAMINED = (
    range(0x3400), range(0x4DC0, 0x4E00), range(0xA000, 0xD800), range(0xF900, 0x20000), range(0x2F800, 0x2FA20),
    range(0xE0000, 0xE1000),
)  # fmt: skip

Flags = npt.NDArray[np.bool_]


def characters(points: range) -> list[str]:
    """The code points of a range as one-character strings."""
    return list(map(chr, points))


@cache
def categories() -> npt.NDArray[np.uint16]:
    """General category of each code point, its two letters packed as `packed` does; 0 outside EXAMINED."""
    table = np.zeros(LIMIT, np.uint16)
    for points in EXAMINED:
        names = "".join(map(unicodedata.category, characters(points)))
        table[points.start : points.stop] = np.frombuffer(names.encode("ascii"), ">u2")
    table.flags.writeable = False
    return table


@cache
def assigned() -> npt.NDArray[np.uint32]:
    """The examined code points that are assigned, ascending."""
    names = categories()
    return np.flatnonzero((names != 0) & (names != packed("Cn"))).astype(np.uint32)


def packed(category: str) -> int:
    """A category's two letters as one number, the first one in the higher byte."""
    return ord(category[0]) << 8 | ord(category[1])


def of_category(category: str) -> Flags:
    """Which code points are of a category ("Nd") or of a major class ("L")."""
    if len(category) == 1:
        return np.asarray(categories() >> 8 == ord(category))
    return np.asarray(categories() == packed(category))


@cache
def spaces() -> Flags:
    """Which code points are white space by str.isspace; all lie in the basic plane."""
    table = np.zeros(LIMIT, np.bool_)
    table[:0x10000] = np.fromiter(map(str.isspace, characters(range(0x10000))), np.bool_, 0x10000)
    table.flags.writeable = False
    return table


@cache
def combining() -> npt.NDArray[np.uint8]:
    """Canonical combining class of each code point: only marks have one that is not 0."""
    table = np.zeros(LIMIT, np.uint8)
    marks = np.flatnonzero(of_category("M"))
    table[marks] = np.fromiter(map(unicodedata.combining, map(chr, marks.tolist())), np.uint8, len(marks))
    return table


@cache
def composing() -> tuple[Flags, Flags]:
    """Which code points may be the first, and which the second member of a primary composite (generously)."""
    lead, second = np.zeros((2, LIMIT), np.bool_)
    for character in map(chr, assigned().tolist()):
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and parts[0][0] != "<" and unicodedata.normalize("NFC", character) == character:
            lead[int(parts[0], 16)] = True
            lead[ord(unicodedata.normalize("NFD", character)[0])] = True
            second[int(parts[1], 16)] = True
    second[0x1161:0x1176] = second[0x11A7:0x11C3] = True
    lead[0x1100:0x1113] = True
    lead |= second & (combining() == 0)
    return lead, second
