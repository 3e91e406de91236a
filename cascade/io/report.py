"""Writes the report of a run as JSON for people and programs, and reads it. What stands in it is decided elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from cascade.errors import InputError
from cascade.io.streams import writing


def write_report(path: Path, report: Mapping[str, object]) -> None:
    """Writes `report` indented, keys in the order given; numpy numbers are numbers, NaN is null. Raises OutputError."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
    with writing(path) as out:
        out.write(orjson.dumps(report, option=option))


def read_report(path: Path) -> dict[str, Any]:
    """What `write_report` has written. Raises InputError."""
    try:
        found = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: is no report: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is no report: expected an object")
    return found
