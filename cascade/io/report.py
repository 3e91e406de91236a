"""Writes the report of a run as JSON for people and programs. What stands in it is decided elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson

from cascade.io.streams import writing


def write_report(path: Path, report: Mapping[str, object]) -> None:
    """Writes `report` indented, keys in the order given; numpy numbers are numbers, NaN is null. Raises OutputError."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
    with writing(path) as out:
        out.write(orjson.dumps(report, option=option))
