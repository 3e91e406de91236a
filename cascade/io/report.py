"""Writes the report of a run as JSON for people and programs, and reads it. What stands in it is decided elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from cascade.errors import InputError
from cascade.io import jsontext
from cascade.io.streams import writing


def write_report(path: Path, report: Mapping[str, object]) -> None:
    """Writes `report` indented, keys in the order given; numpy numbers are numbers, NaN is null. Raises OutputError."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
    with writing(path) as out:
        try:
            text = orjson.dumps(report, option=option)
        except TypeError:
            # A lone surrogate, or an integer of more than 64 bits, of an id or a text: the standard library has both.
            text = json.dumps(_plain(report), indent=2).encode("ascii") + b"\n"
        out.write(text)


def _plain(value: object) -> object:
    """The same of Python's own types, NaN and infinities as None, as orjson has them."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def read_report(path: Path) -> dict[str, Any]:
    """What `write_report` has written, every integer exact. Raises InputError."""
    try:
        found = jsontext.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{path}: is no report: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is no report: expected an object")
    return found
