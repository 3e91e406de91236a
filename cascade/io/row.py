"""One row of JSON to the values that are wanted of it, or to why it cannot be used. No file is opened here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from cascade.io import jsontext
from cascade.io.documents import InputFields

MOST_NAMES = 100
"""Names of fields that are remembered for a message."""


class Reject(Exception):
    """This row cannot be used; the text says why."""


@dataclass
class RowReader:
    """Takes rows apart, one by one, and counts what is wrong with those that it rejects."""

    wanted: InputFields
    lacking: int = 0
    unread: int = 0
    names: dict[str, None] = field(default_factory=dict)

    def parse(self, row: bytes) -> dict[str, object]:
        """The row's object; its numbers are `Digits` where orjson would not keep the wanted ones exactly."""
        try:
            value = self.load(row)
        except jsontext.NotJson as fault:
            self.unread += 1
            raise Reject(str(fault)) from None
        if not isinstance(value, dict):
            self.unread += 1
            raise Reject(f"not a JSON object but {kind(value)}")
        return value

    def load(self, row: bytes) -> object:
        row = row.rstrip(b"\r\n")
        try:
            value = orjson.loads(row)
        except orjson.JSONDecodeError:
            return jsontext.loads_exact(row)
        return jsontext.loads_exact(row) if isinstance(value, dict) and self.inexact(value) else value

    def inexact(self, value: dict[str, object]) -> bool:
        """Whether a wanted number needs its digits looked at."""
        return type(find(value, self.wanted.id)) not in {int, str, bool, type(None)} or any(
            wide(find(value, name)) for name in self.wanted.fields
        )

    def text(self, value: dict[str, object]) -> str:
        """The row's text."""
        text = find(value, self.wanted.text, missing=_MISSING)
        if type(text) is str:
            return text
        if text is not _MISSING:
            raise Reject(f"field {self.wanted.text!r} must be a string, is {kind(text)}")
        self.lacking += 1
        if len(self.names) < MOST_NAMES:
            self.names.update(dict.fromkeys(value))
        raise Reject(f"there is no field {self.wanted.text!r}; the row has {listed(list(value))}")

    def id(self, value: dict[str, object]) -> bytes:
        """The row's id as JSON text; empty if it has none or null."""
        found = find(value, self.wanted.id)
        if found is None:
            return b""
        try:
            return jsontext.dumps(found)
        except RecursionError:
            raise Reject("the id is not usable: brackets are nested too deeply") from None

    def fields(self, value: dict[str, object]) -> list[object]:
        """The values of the further fields; of objects and arrays, which no policy can use, None."""
        found = [find(value, name) for name in self.wanted.fields]
        found = [None if isinstance(v, dict | list) else v for v in found]
        return [v.value() if isinstance(v, jsontext.Digits) else v for v in found]


_MISSING = object()


def find(row: Mapping[str, object], name: str, missing: object = None) -> object:
    """The value at `name`, a key or else a dotted path into objects; `missing` if there is none."""
    if name in row:
        return row[name]
    if "." not in name:
        return missing
    value: object = row
    for key in name.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return missing
        value = value[key]
    return value


def wide(value: object) -> bool:
    """Whether orjson may have made this float of an integer beyond 64 bits."""
    return type(value) is float and not -jsontext.EXACT < value < jsontext.EXACT


def kind(value: object) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | jsontext.Digits):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


def listed(names: list[str], most: int = 10) -> str:
    """Names of fields for a message; not all of a long list, no long name in full, nothing that a terminal obeys."""
    if not names:
        return "none"
    short = [n if len(n) <= 40 else n[:40] + "…" for n in names[:most]]
    shown = ", ".join(n if n.isprintable() else ascii(n) for n in short)
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
