"""Normalising texts: the options, the plain version for one text, and the fast one for a buffer of texts.

The order of steps is part of their meaning: Unicode form; case; format characters vanish (U+200B becomes a space);
Unicode form again, since case and what vanished may have brought characters together; punctuation; digits; white space.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

import numpy as np
from pydantic import Field

from cascade.stage import Options
from cascade.text.buffer import PAD, TextBuffer, encode


class Normalize(Options):
    """What is the same before texts are compared. Kept rows are written as they came, whatever is chosen here."""

    unicode: Literal["NFC", "NFD", "NFKC", "NFKD", "none"] = Field(
        "NFKC", description="Unicode form; the K forms also make full-width letters, ligatures and the like plain"
    )
    case: Literal["fold", "lower", "keep"] = Field("fold", description="case folding, lower case, or case as it is")
    whitespace: Literal["collapse", "keep"] = Field(
        "collapse", description="runs of white space become one space, none at the ends; or stay"
    )
    punctuation: Literal["keep", "drop"] = Field(
        "keep", description="drop: each punctuation character or symbol becomes a space"
    )
    digits: Literal["keep", "zero"] = Field("keep", description="zero: each decimal digit of any script becomes 0")


DEFAULT = Normalize()
SMALL = 1 << 11
"""Bytes of text that are not worth a kernel, which a first run has to compile."""
LONG_TEXT = 4096
"""In shorter texts no row of marks takes the library more than some milliseconds."""
LONG_ROW = 100
"""Shorter rows of marks are left to the library."""


def normalize(text: str, options: Normalize = DEFAULT) -> str:
    """One text normalised; a lone surrogate counts as U+FFFD."""
    if not text.isascii():
        text = encode(text).decode("utf-8")
    text = prepared(text, options)
    if options.punctuation == "drop":
        text = _punctuation().sub(" ", text)
    if options.digits == "zero":
        text = re.sub(r"\d", "0", text)
    return " ".join(text.split()) if options.whitespace == "collapse" else text


def prepared(text: str, options: Normalize) -> str:
    """The steps up to the second Unicode form."""
    text = _formed(text, options.unicode)
    if options.case == "fold":
        text = text.casefold()
    elif options.case == "lower":
        text = text.lower()
    if text.isascii():
        return text
    return _formed(_format().sub("", text.replace("\u200b", " ")), options.unicode)


def _formed(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD", "none"]) -> str:
    """The Unicode form of a text.

    The library takes time with the square of the marks in a row where these stand out of order, hours for a hostile
    text. So in a long text long rows of marks are taken apart and put in order before.
    """
    if form == "none":
        return text
    if len(text) > LONG_TEXT:
        apart: Literal["NFD", "NFKD"] = "NFKD" if "K" in form else "NFD"
        text = _ordered(text, apart)
    return unicodedata.normalize(form, text)


def _ordered(text: str, apart: Literal["NFD", "NFKD"]) -> str:
    """The text with each row of LONG_ROW or more marks taken apart and put in order."""
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    others = np.concatenate(([-1], np.flatnonzero(~_only_marks(apart)[points]), [len(points)]))
    rows = np.flatnonzero(np.diff(others) > LONG_ROW)
    pieces: list[str] = []
    done = 0
    for start, stop in zip((others[rows] + 1).tolist(), others[rows + 1].tolist(), strict=True):
        marks = "".join(unicodedata.normalize(apart, mark) for mark in text[start:stop])
        # A sort keeps marks of one class as they stand, as canonical ordering (UAX #15) does.
        pieces += text[done:start], "".join(sorted(marks, key=unicodedata.combining))
        done = stop
    return "".join((*pieces, text[done:]))


def normalize_texts(texts: TextBuffer, options: Normalize = DEFAULT) -> TextBuffer:
    """All texts of a buffer normalised: the same as `normalize` on each, in compiled code wherever that can be proved.

    Safe to call from several threads; the interpreter lock is released but for characters that meet for the first time.
    """
    if texts.size <= SMALL:
        return TextBuffer.from_strings([normalize(texts[row], options) for row in range(len(texts))])
    from cascade.kernels import normalize as kernel
    from cascade.text.clusters import Clusters
    from cascade.text.mapping import ascii_mapping, mapping

    table = ascii_mapping(options)
    clusters = Clusters.empty(options)
    lower, collapse = options.case != "keep", options.whitespace == "collapse"
    drop, zero = options.punctuation == "drop", options.digits == "zero"
    out = np.empty(texts.size + kernel.SLACK, np.uint8)
    ends = np.zeros(len(texts) + 1, np.int64)
    row, at, used = 0, int(texts.offsets[0]), 0
    while True:
        row, at, stop, used, reason = kernel.normalize_texts(
            texts.data, texts.offsets, row, at, used, lower, collapse, drop, zero, table.entries, table.pool, out, ends,
            *clusters.arrays,
        )  # fmt: skip
        if reason == kernel.DONE:
            break
        if reason == kernel.ROOM:
            out = _larger(out, used, 2 * len(out) + kernel.SLACK)
        elif reason == kernel.TABLE:
            table = mapping(options)
        elif reason == kernel.CLUSTERS:
            clusters = clusters.learnt()
        else:
            text = clusters.normalized(texts.data[at:stop].tobytes())
            if collapse and text[:1] == b" " and (used == ends[row] or out[used - 1] == 32):
                text = text[1:]
            if used + len(text) + kernel.SLACK > len(out):
                out = _larger(out, used, 2 * (used + len(text)) + kernel.SLACK)
            out[used : used + len(text)] = np.frombuffer(text, np.uint8)
            used += len(text)
            at = stop
    out[used : used + PAD] = 0
    return TextBuffer(out[: used + PAD], ends)


def _larger(
    out: np.ndarray[tuple[int], np.dtype[np.uint8]], used: int, size: int
) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    grown = np.empty(size, np.uint8)
    grown[:used] = out[:used]
    return grown


@cache
def _format() -> re.Pattern[str]:
    """Matches characters of category Cf."""
    from cascade.text.codepoints import of_category

    return _any_of(np.flatnonzero(of_category("Cf")).tolist())


@cache
def _only_marks(form: Literal["NFD", "NFKD"]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which code points `form` takes apart into nothing but marks with a combining class; bool[0x110000]."""
    from cascade.text.codepoints import of_category

    table = np.asarray(of_category("M") | of_category("Lm"))
    points = np.flatnonzero(table).tolist()
    table[points] = [all(map(unicodedata.combining, unicodedata.normalize(form, chr(p)))) for p in points]
    return table


@cache
def _punctuation() -> re.Pattern[str]:
    """Matches characters of the categories P* and S*."""
    from cascade.text.codepoints import of_category

    return _any_of(np.flatnonzero(of_category("P") | of_category("S")).tolist())


def _any_of(points: list[int]) -> re.Pattern[str]:
    """As ranges: beyond U+FFFF `re` tries the parts of a class one after the other."""
    starts = [p for p, before in zip(points, [-2, *points], strict=False) if p - before > 1]
    stops = [p for p, behind in zip(points, [*points[1:], -1], strict=True) if behind - p != 1]
    ranges = zip(map(chr, starts), map(chr, stops), strict=True)
    return re.compile("[" + "".join(f"{re.escape(start)}-{re.escape(stop)}" for start, stop in ranges) + "]")
