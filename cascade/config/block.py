"""One block of a config: a mapping to an instance of its options class, every fault with its path and place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from cascade.config.expect import Schema, bounds, choices, expected, option_schemas, shown
from cascade.config.tree import Node, Problems, plain, reads_as_number
from cascade.errors import ConfigError
from cascade.stage import Options

T = TypeVar("T", bound=Options)


def read_block(
    cls: type[T], node: Node, path: str, problems: Problems, given: Mapping[str, object] | None = None
) -> T | None:
    """An instance of `cls` from a mapping; None if something was wrong, which is then in `problems`.

    `given` are options that the caller has read already; keys of theirs in `node` are passed over.
    """
    if isinstance(node.value, cls):
        return node.value
    given = given or {}
    entries = {} if node.value is None else node.value  # a block with every line commented out
    if not isinstance(entries, dict):
        problems.add(node.place, path, f"expected a mapping of options, found {shown(node)}")
        return None
    before = len(problems.found)
    values: dict[str, object] = dict(given)
    failed: set[str] = set()
    for key, item in entries.items():
        if key in given:
            continue
        if key not in cls.model_fields:
            problems.add(item.place, _join(path, key), f"unknown option{did_you_mean(key, cls.model_fields)}")
            continue
        nested = _nested_options(cls.model_fields[key].annotation)
        if nested is not None and isinstance(item.value, dict):
            made_nested = read_block(nested, item, _join(path, key), problems)
            if made_nested is None:
                failed.add(key)
            else:
                values[key] = made_nested
        else:
            values[key] = _located(cls, key, item)
            # Told here, since pydantic takes such a value where it can, or stops at the first check that fails.
            for indices, part in _coerced(item, _taken(cls, key, values[key])):
                failed.add(key)
                where = _join(path, key) + _positions(indices)
                problems.add(part.place, where, _mismatch(_schema_at(cls, key, indices), part))
    try:
        made = cls.model_validate(values)
    except ValidationError as error:
        errors = [e for e in error.errors(include_url=False) if not e["loc"] or e["loc"][0] not in failed]
        _explain(cls, errors, node, path, problems)
        return None
    except ConfigError as error:
        for message in error.problems:
            problems.add(node.place, path, message)
        return None
    except Exception as error:  # a third party's validator, or a class that lacks a method, can raise anything
        problems.add(node.place, path, f"{cls.__name__} refuses these options: {type(error).__name__}: {error}")
        return None
    return made if len(problems.found) == before else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message that names the nearest known word, or all of a few; empty if there are none."""
    names = sorted(str(name) for name in known)
    close = get_close_matches(word.lower(), names, 1, 0.6)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known are {', '.join(names)}" if names else ""


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _located(cls: type[Options], key: str, node: Node) -> object:
    """The plain value of an option; a path counts from the folder where it was written."""
    annotation = cls.model_fields[key].annotation
    if isinstance(node.value, str) and Path in (annotation, *get_args(annotation)):
        return os.path.join(node.place.folder, node.value)
    return plain(node)


def _nested_options(annotation: Any) -> type[Options] | None:
    """The options class that a field holds, alone or in a union."""
    for option in (annotation, *get_args(annotation)):
        if isinstance(option, type) and issubclass(option, Options):
            return option
    return None


def _schemas(cls: type[Options]) -> dict[str, Schema]:
    try:
        return option_schemas(cls)
    except Exception:  # types that JSON Schema cannot hold: the message is then pydantic's
        return {}


def _schema_at(cls: type[Options], key: str, indices: tuple[int, ...]) -> Schema:
    """The schema of an option, or of an item in its list."""
    schema = _schemas(cls).get(key, {})
    for _ in indices:
        schema = schema.get("items", {})
    return schema


def _positions(indices: Iterable[int]) -> str:
    return "".join(f"[{i}]" for i in indices)


def _taken(cls: type[Options], key: str, value: object) -> object:
    """What pydantic makes of an option by its type alone; the value as it is where it refuses it or knows no type."""
    field = cls.model_fields[key]
    kind: Any = Annotated[field.annotation, field]
    try:
        return TypeAdapter(kind).validate_python(value)
    except Exception:  # what is wrong is told when the whole block is validated
        return value


def _coerced(node: Node, made: object) -> Iterator[tuple[tuple[int, ...], Node]]:
    """Where pydantic took text or a boolean for a number, or the like: an option must be what it says."""
    value = node.value
    if isinstance(value, list):
        if isinstance(made, list | tuple) and len(value) == len(made):
            for i, (item, part) in enumerate(zip(value, made, strict=True)):
                yield from (((i, *indices), found) for indices, found in _coerced(item, part))
    elif isinstance(value, bool) or isinstance(made, bool):
        if isinstance(value, bool) is not isinstance(made, bool):
            yield (), node
    elif isinstance(value, str) and isinstance(made, int | float):
        yield (), node


def _explain(cls: type[Options], errors: list[ErrorDetails], node: Node, path: str, problems: Problems) -> None:
    """One message for each option that failed; a union fails once for each of its members."""
    entries: dict[str, Node] = node.value or {}
    groups: dict[tuple[str, tuple[int, ...]], list[ErrorDetails]] = {}
    for error in errors:
        groups.setdefault(_place_in_block(error["loc"]), []).append(error)
    for (key, indices), group in groups.items():
        own = next((e for e in group if e["type"] in ("value_error", "assertion_error")), None)
        if not key:
            problems.add(node.place, path, _own_words(own or group[0]))
            continue
        where = _join(path, key) + _positions(indices)
        schema = _schema_at(cls, key, indices)
        item = entries.get(key)
        if item is None:
            problems.add(node.place, where, f"missing; expected {expected(schema)}")
            continue
        for i in indices:
            if isinstance(item.value, list) and i < len(item.value):
                item = item.value[i]
        if own is not None or (isinstance(item.value, list) and schema.get("type") == "array"):
            problems.add(item.place, where, _own_words(own or group[0]))
        else:
            problems.add(item.place, where, _mismatch(schema, item))


def _place_in_block(location: tuple[int | str, ...]) -> tuple[str, tuple[int, ...]]:
    """The option and the positions in its list; what pydantic adds for unions and nested types is left out."""
    indices = []
    for part in location[1:]:
        if not isinstance(part, int):
            break
        indices.append(part)
    return str(location[0]) if location else "", tuple(indices)


def _own_words(error: ErrorDetails) -> str:
    message = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return message if error["type"] == "value_error" else message[:1].lower() + message[1:]


def _mismatch(schema: Schema, node: Node) -> str:
    """Why a value does not do: its range where only that is wrong, else what was expected and what was found."""
    value = node.value
    options = [option for option in schema.get("anyOf", [schema]) if option.get("type") in ("integer", "number")]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(value, float) and not isfinite(value):
        return f"expected {expected(schema)}, found {shown(node)}"
    if number and len(options) == 1 and (options[0]["type"] == "number" or isinstance(value, int)):
        limit = bounds(options[0])
        fixed = [str(v) for v in choices(schema) if v is not None]
        other = f" (or {', '.join(fixed)})" if fixed else ""
        if ".." in limit:
            return f"{shown(node)} is not in {limit}{other}"
        if limit:
            return f"{shown(node)} is not {limit}{other}"
    hint = ""
    if isinstance(value, str):
        close = get_close_matches(value, [str(v) for v in choices(schema)], 1)
        if close:
            hint = f"; did you mean {close[0]}?"
        elif options and reads_as_number(value):
            hint = "; write it without quotes"
    return f"expected {expected(schema)}, found {shown(node)}{hint}"
