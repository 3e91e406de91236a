"""Reads what a run has written of its decisions: removed documents, confirmed pairs. Nothing follows from it here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cascade.errors import InputError
from cascade.io import jsontext
from cascade.io.row import kind

FILES = ("config.yaml", "report.json", "removed.jsonl")
"""What every run leaves, and what is told of it is read from."""
Place = tuple[int, int]
"""A document: the number of its file among the inputs of the report, and its line."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredRemoval:
    """A row of removed.jsonl. Ids are JSON text."""

    id: bytes
    at: Place
    kept_id: bytes
    kept_at: Place
    exact: bool
    scores: Mapping[str, float]
    via: bytes | None
    """Whom the confirmed pair joins it to, where that is not told to be the kept document."""
    twin_at: Place | None


@dataclass(frozen=True, slots=True)
class StoredSide:
    """One document of a row of pairs.jsonl."""

    id: bytes
    at: Place
    characters: int
    keep: object
    """Value of the field that the keep policy compares; None without one."""


@dataclass(frozen=True, slots=True)
class StoredPair:
    """A row of pairs.jsonl."""

    a: StoredSide
    b: StoredSide
    scores: Mapping[str, float]


class Lacking(ValueError):
    """A row is not what it should be; the text says why."""


def check_run(out: Path) -> None:
    """Raises InputError unless `out` is the folder of a run."""
    for name in FILES:
        if not (out / name).is_file():
            raise InputError(f"{out}: is no result of a run: there is no {name}; name the folder OUT of cascade run")


def read_removals(path: Path, names: Mapping[str, int]) -> Iterator[StoredRemoval]:
    """The rows of removed.jsonl; `names` numbers the inputs. Raises InputError with the line."""

    def place(row: dict[str, Any], prefix: str) -> Place:
        source = _get(row, f"{prefix}source", str)
        if source not in names:
            raise Lacking(f"{prefix}source is {source!r}, which is none of the inputs in report.json")
        return names[source], _get(row, f"{prefix}line", int)

    def removal(row: dict[str, Any]) -> StoredRemoval:
        via = _get(row, "via", list) if "via" in row else None
        return StoredRemoval(
            id=_id(row, "id"),
            at=place(row, ""),
            kept_id=_id(row, "kept_id"),
            kept_at=place(row, "kept_"),
            exact=_get(row, "reason", str) == "exact",
            scores=_scores(row),
            via=jsontext.dumps(via[0]) if via else None,
            twin_at=place(row, "twin_") if "twin_source" in row else None,
        )

    return _rows(path, removal)


def read_pairs(path: Path, compared: bool) -> Iterator[StoredPair]:
    """The rows of pairs.jsonl; `compared`: the keep policy compares a field. Raises InputError with the line."""

    def side(row: dict[str, Any], name: str) -> StoredSide:
        keep = _value(row, f"{name}_keep") if compared else None
        return StoredSide(
            id=_id(row, name),
            at=(_get(row, f"{name}_input", int), _get(row, f"{name}_line", int)),
            characters=_get(row, f"{name}_characters", int),
            keep=keep.value() if isinstance(keep, jsontext.Digits) else keep,
        )

    def pair(row: dict[str, Any]) -> StoredPair:
        return StoredPair(side(row, "a"), side(row, "b"), _scores(row))

    return _rows(path, pair)


def _rows(path: Path, make: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield make(_object(line))
                except (Lacking, jsontext.NotJson) as fault:
                    raise InputError(f"{path}:{number}: {fault}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def _object(line: bytes) -> dict[str, Any]:
    """The row; its numbers are `Digits` where orjson would not keep an id or a compared value as it is."""
    row = jsontext.loads_with(line, _values)
    if not isinstance(row, dict):
        raise Lacking(f"not a JSON object but {kind(row)}")
    return row


def _values(row: Mapping[str, Any]) -> list[object]:
    """The ids, and the values of the field that a keep policy compares."""
    via = row.get("via")
    return [
        *map(row.get, ("a", "b", "id", "kept_id", "a_keep", "b_keep")), *(via if isinstance(via, list) else ())
    ]  # fmt: skip


def _value(row: Mapping[str, Any], name: str) -> Any:
    if name not in row:
        raise Lacking(f"there is no {name}; a run of this version writes one, so run again")
    return row[name]


def _get(row: Mapping[str, Any], name: str, what: type | tuple[type, ...]) -> Any:
    value = _value(row, name)
    if isinstance(value, jsontext.Digits):
        value = value.value()
    if not isinstance(value, what) or isinstance(value, bool):
        raise Lacking(f"{name} is {kind(value)}, which is not what a run writes there")
    return value


def _scores(row: Mapping[str, Any]) -> dict[str, float]:
    scores = _get(row, "scores", dict)
    return {name: float(_get(scores, name, (int, float))) for name in scores}


def _id(row: Mapping[str, Any], name: str) -> bytes:
    return jsontext.dumps(_value(row, name))
