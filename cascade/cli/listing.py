"""What is installed, as text: stages and shinglers with their options, and presets."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from cascade.config.expect import option_schemas, short_type
from cascade.config.presets import preset_names, preset_title
from cascade.errors import ConfigError
from cascade.registry import SHINGLERS, STAGES, installed, shingler_class, stage_class
from cascade.stage import Stage

COMMON = set(Stage.model_fields) | {"by"}
"""Options that every stage has, and the tag of a shingler: told once, not for each."""


def preset_lines() -> list[str]:
    """A line for each preset."""
    names = preset_names()
    width = max(map(len, names))
    return [f"{name:<{width}}  {preset_title(name)}" for name in names]


def stage_lines() -> list[str]:
    """Every installed stage and shingler, those of third parties too; one that does not load shows its error."""
    return [
        "stages (use:), each also with name: and a shingle: of its own",
        *_group(STAGES, stage_class),
        "",
        "shinglers (by:)",
        *_group(SHINGLERS, shingler_class),
    ]


def _group(group: str, find: Callable[[str], type[BaseModel]]) -> Iterator[str]:
    for name, entry in installed(group).items():
        try:
            cls = find(name)
            lines = [f"  {name}: {_first_sentence(cls)}", *_options(cls)]
        except ConfigError as error:
            lines = [f"  {name}: broken: {error}"]
        except Exception as error:  # a third party's class whose options cannot even be described
            lines = [f"  {name}: broken ({entry.value}): {type(error).__name__}: {error}"]
        yield from lines


def _options(cls: type[BaseModel]) -> list[str]:
    schemas = option_schemas(cls)
    rows = [
        (name, short_type(schemas[name]), _default(field), field.description or "")
        for name, field in cls.model_fields.items()
        if name not in COMMON
    ]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    return [
        "      " + "  ".join([*(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)), row[3]]).rstrip()
        for row in rows
    ]


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is PydanticUndefined:
        return "default computed"
    words = {"None": "null", "True": "true", "False": "false"}
    return f"default {words.get(str(value), str(value))}"


def _first_sentence(cls: type[BaseModel]) -> str:
    text = " ".join((inspect.getdoc(cls) or "").split())
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]
