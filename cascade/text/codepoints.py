"""What Unicode says of each code point, as arrays that are filled once, when a text beyond ASCII first comes.

Only the ranges ASSIGNED are looked at: outside them are surrogates, private use and code points that no version of
Unicode has assigned, which no rule of ours mentions. A test holds this for the Unicode version of the interpreter.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt

LIMIT = 0x110000
ASSIGNED = (range(0, 0xD800), range(0xF900, 0x40000), range(0xE0000, 0xE1000))

Flags = npt.NDArray[np.bool_]


def characters(points: range) -> list[str]:
    """The code points of a range as one-character strings."""
    return list(map(chr, points))


@cache
def categories() -> npt.NDArray[np.uint16]:
    """General category of each code point, its two letters packed as `packed` does; 0 outside ASSIGNED."""
    table = np.zeros(LIMIT, np.uint16)
    for points in ASSIGNED:
        names = "".join(map(unicodedata.category, characters(points)))
        table[points.start : points.stop] = np.frombuffer(names.encode("ascii"), ">u2")
    table.flags.writeable = False
    return table


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
