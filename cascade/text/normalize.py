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
LONG_TEXT = 4096
"""In shorter texts no row of marks takes the library more than some milliseconds."""


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

        def ordered(row: re.Match[str]) -> str:
            marks = "".join(unicodedata.normalize(apart, mark) for mark in row[0])
            # A sort keeps marks of one class as they stand, as canonical ordering (UAX #15) does.
            return "".join(sorted(marks, key=unicodedata.combining))

        text = _rows_of_marks(apart).sub(ordered, text)
    return unicodedata.normalize(form, text)


def normalize_texts(texts: TextBuffer, options: Normalize = DEFAULT) -> TextBuffer:
    """All texts of a buffer normalised: the same as `normalize` on each, in compiled code wherever that can be proved.

    Safe to call from several threads; the interpreter lock is released but for texts whose characters compose.
    """
    from cascade.kernels import normalize as kernel
    from cascade.text.mapping import ascii_mapping, mapping

    table = ascii_mapping(options)
    count = len(texts)
    lower, collapse = options.case != "keep", options.whitespace == "collapse"
    drop, zero = options.punctuation == "drop", options.digits == "zero"
    out = np.empty(texts.size + kernel.SLACK, np.uint8)
    ends = np.zeros(count + 1, np.int64)
    row, used = 0, 0
    while True:
        row, used, reason = kernel.normalize_texts(
            texts.data, texts.offsets, row, lower, collapse, drop, zero, table.entries, table.pool, out, ends, used
        )
        if reason == kernel.DONE:
            break
        if reason == kernel.ROOM:
            out = _larger(out, used, 2 * len(out) + kernel.SLACK)
        elif len(table.entries) == len(ascii_mapping(options).entries):
            table = mapping(options)
        else:
            text = np.frombuffer(encode(normalize(texts[row], options)), np.uint8)
            if used + len(text) + kernel.SLACK > len(out):
                out = _larger(out, used, 2 * (used + len(text)) + kernel.SLACK)
            out[used : used + len(text)] = text
            used += len(text)
            row += 1
            ends[row] = used
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
def _rows_of_marks(form: Literal["NFD", "NFKD"]) -> re.Pattern[str]:
    """Matches 100 or more characters in a row that `form` takes apart into nothing but marks with a combining class."""
    from cascade.text.codepoints import of_category

    points = np.flatnonzero(of_category("M") | of_category("Lm")).tolist()
    marks = [p for p in points if all(map(unicodedata.combining, unicodedata.normalize(form, chr(p))))]
    return re.compile(_any_of(marks).pattern + "{100,}")


@cache
def _punctuation() -> re.Pattern[str]:
    """Matches characters of the categories P* and S*."""
    from cascade.text.codepoints import of_category

    return _any_of(np.flatnonzero(of_category("P") | of_category("S")).tolist())


def _any_of(points: list[int]) -> re.Pattern[str]:
    return re.compile("[" + "".join(re.escape(chr(point)) for point in points) + "]")
