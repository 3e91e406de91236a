"""JSON text to values and back where digits matter: exact numbers, lone surrogates, NaN. No file is opened here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import orjson

RawJson = orjson.Fragment
"""Wraps JSON text (bytes or str) that `dumps` is to insert as it is: how an id keeps its digits."""

DEEPEST = 200
"""Brackets inside one another that are read by the standard library: it needs the stack, and how much of that is left
depends on who calls."""
BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|([\[{])|([\]}])', re.S)
INT_DIGITS = 4000
"""Python refuses to turn longer digit strings into an int; Decimal does it."""
EXACT = 2.0**63
"""orjson turns integers that no 64 bits hold into floats; all of those are at least this great."""


LONG = re.compile(rb"\d{19}")
"""Shorter integers fit into 64 bits."""


PLAIN = {str, int, bool, type(None)}
"""Kinds of values that orjson reads exactly."""


class NotJson(ValueError):
    """A row is not JSON text; the message says where and why."""


class Digits(str):
    """A number as it stands in the text."""

    __slots__ = ()

    def value(self) -> int | float:
        """The number: an exact int if it is written as one, else a float."""
        if any(c in self for c in ".eE"):
            return float(self)
        return int(self) if len(self) <= INT_DIGITS else int(Decimal(self))


def loads_exact(line: bytes) -> object:
    """The value of one row with every number as `Digits`; NaN and Infinity are floats. Raises NotJson."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8: byte 0x{line[error.start]:02x} at byte {error.start + 1} of the row") from None
    if depth(line) > DEEPEST:
        raise NotJson("not readable: brackets are nested too deeply")
    try:
        return json.loads(text, parse_int=Digits, parse_float=Digits)
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg} at character {error.pos + 1} of the row") from None


def loads_with(line: bytes, exact: Callable[[dict[str, Any]], Iterable[object]]) -> object:
    """The value of one row, as orjson reads it where that keeps what `exact` names of the row as it is, else as
    `loads_exact` does. Raises NotJson."""
    try:
        row: object = orjson.loads(line)
    except orjson.JSONDecodeError:
        return loads_exact(line)
    if isinstance(row, dict) and any(type(value) not in PLAIN for value in exact(row)):
        return loads_exact(line)
    return row


def depth(line: bytes) -> int:
    """How many brackets of a row are open at once, at most; what stands in strings does not count."""
    if line.count(b"[") + line.count(b"{") <= DEEPEST:
        return 0
    deepest = level = 0
    for found in BRACKETS.finditer(line):
        level += bool(found[1]) - bool(found[2])
        deepest = max(deepest, level)
    return deepest


def loads(row: bytes) -> Any:
    """The value of one row that is known to be JSON; every integer exact, as `Digits.value` has it."""
    if not LONG.search(row):
        try:
            return orjson.loads(row)
        except orjson.JSONDecodeError:
            pass

    def number(text: str) -> int | float:
        return Digits(text).value()

    return json.loads(row, parse_int=number)


def dumps(value: object) -> bytes:
    """Compact JSON text in UTF-8 of what `loads_exact` or orjson gave: numbers digit for digit.

    A string with lone surrogates, which UTF-8 cannot hold, is escaped; NaN and infinities, for which JSON has no text,
    become strings.
    """
    if isinstance(value, Digits):
        return value.encode("ascii")
    if isinstance(value, float) and value - value != 0:
        return f'"{value}"'.encode("ascii")
    if isinstance(value, list):
        return b"[" + b",".join(map(dumps, value)) + b"]"
    if isinstance(value, dict):
        return b"{" + b",".join(dumps(k) + b":" + dumps(v) for k, v in value.items()) + b"}"
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode("ascii")


def dumps_all(values: list[int | str]) -> list[bytes]:
    """JSON text of each value; one pass for all, because a call for each costs far more."""
    if not values:
        return []
    # A line feed cannot stand inside JSON text, so that of the indentation separates the values without doubt.
    try:
        return orjson.dumps(values, option=orjson.OPT_INDENT_2)[4:-2].split(b",\n  ")
    except TypeError:  # one of more than 64 bits
        return [dumps(value) for value in values]
