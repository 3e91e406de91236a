"""From an id, as Python or a person at a terminal gives it, to the document that is meant; or why there is none."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np

from cascade.api import Result
from cascade.errors import InputError
from cascade.evaluate.identify import find_ids
from cascade.given import GivenFiles
from cascade.io import jsontext

By = Literal["id", "row", "typed"]
"""How a document is named: by its id, by its position in what was given, or by its id as people type it."""
CLOSE = 3
"""Ids that are suggested at most."""
ALIKE = 60
"""How alike they must be, in per cent."""


def locate(result: Result, wanted: Any, by: By = "id") -> int:
    """The row of the corpus that `wanted` names. Raises InputError: there is none, or there are several."""
    if by == "row":
        return _at_position(result, wanted)
    names = _typed(str(wanted)) if by == "typed" else [jsontext.dumps(_plain(wanted))]
    first, second = (rows.tolist() for rows in find_ids(names, result.corpus))
    for name, row, other in zip(names, first, second, strict=True):
        if other >= 0:
            raise InputError(
                f"the id {name.decode()} is not the only one of its kind: {_place(result, row)} and "
                f"{_place(result, other)} have it; {_how_else(result)}"
            )
        if row >= 0:
            return int(row)
    if by == "typed" and (at := _at_line(result, str(wanted))) is not None:
        return at
    shown = names[0].decode()
    raise InputError(f"no document has the id {shown}{_suggestion(result, shown)}")


def _typed(text: str) -> list[bytes]:
    """The JSON texts that somebody may mean: the text itself if it is JSON, else, or next, a string of its characters.

    Written with quotes it is the string and nothing else.
    """
    plain = jsontext.dumps(text)
    try:
        value = jsontext.loads_exact(text.encode("utf-8", "surrogatepass"))
    except jsontext.NotJson:
        return [plain]
    return [jsontext.dumps(value)] if isinstance(value, str) and text[:1] == '"' else [jsontext.dumps(value), plain]


def _plain(value: Any) -> Any:
    """What JSON knows of an id, as `dedupe` has it: numpy's numbers as numbers, and else its str()."""
    if hasattr(value, "item"):
        value = value.item()
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return str(value)
    return value


def _at_position(result: Result, wanted: Any) -> int:
    position = result.given.position
    row = int(np.searchsorted(position, wanted))
    if row == len(position) or position[row] != wanted:
        raise InputError(f"row {wanted} is no document; rows count from 0, and {len(position):,} hold a text")
    return row


def _at_line(result: Result, text: str) -> int | None:
    """The row that FILE:LINE names, if the documents come from files."""
    name, colon, line = text.rpartition(":")
    if not (colon and line.isdecimal() and isinstance(result.given, GivenFiles)):
        return None
    corpus = result.corpus
    for source in result.given.sources:
        if source.name == name:
            rows = np.flatnonzero((corpus.source == source.index) & (corpus.line == int(line)))
            return int(rows[0]) if len(rows) else None
    return None


def _place(result: Result, row: int) -> str:
    if isinstance(result.given, GivenFiles):
        return f"{result.given.sources[int(result.corpus.source[row])].name}:{int(result.corpus.line[row])}"
    return f"row {int(result.given.position[row])}"


def _how_else(result: Result) -> str:
    if isinstance(result.given, GivenFiles):
        return "name the row as FILE:LINE instead"
    return 'name the row by its position, with by="row"'


def _suggestion(result: Result, shown: str) -> str:
    """Ids that look like this one, quotes aside."""
    from rapidfuzz import fuzz, process

    if not len(result.corpus):
        return ": there are no documents"
    ids = result.corpus.ids.to_list()
    bare = [id_.strip('"') for id_ in ids]
    close = process.extract(shown.strip('"'), bare, scorer=fuzz.ratio, limit=CLOSE, score_cutoff=ALIKE)
    near = list(dict.fromkeys(ids[row] for _, _, row in close))
    return f"; did you mean {' or '.join(near)}?" if near else f"; ids look like {ids[0]}"
