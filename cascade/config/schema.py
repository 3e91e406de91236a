"""JSON Schema of a config, for editors: every installed stage and shingler with its options."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from cascade.config.model import Config, Input, Resolve
from cascade.memory import MINIMUM, SIZE
from cascade.registry import SHINGLERS, STAGES, installed, shingler_class, stage_class
from cascade.text.normalize import Normalize

_CLASS_PATH = r"^[^:]+:[^:]+$"


def json_schema() -> dict[str, Any]:
    """The schema (draft 2020-12). A third party's stage that is given as module:Class is accepted with any options."""
    definitions: dict[str, Any] = {}
    shinglers = _installed(SHINGLERS, shingler_class, "shingle", "by", definitions)
    stages = _installed(STAGES, stage_class, "stage", "use", definitions)
    for name in stages:
        definitions[f"stage.{name}"]["properties"]["shingle"] = {
            "$ref": "#/$defs/shingle",
            "description": "a shingler for this stage alone (default: the config's)",
        }
    definitions["shingle"] = _one_of("shingle", "by", shinglers)
    definitions["stage"] = _one_of("stage", "use", stages)
    properties: dict[str, Any] = {}
    for name, field in Config.model_fields.items():
        properties[name] = {"description": field.description}
    properties["normalize"] |= _plain(Normalize, definitions)
    properties["shingle"] |= {"$ref": "#/$defs/shingle"}
    properties["exact"] |= {"type": "boolean", "default": True}
    properties["stages"] |= {"type": "array", "items": {"$ref": "#/$defs/stage"}}
    properties["resolve"] |= _plain(Resolve, definitions)
    properties["input"] |= _plain(Input, definitions)
    properties["seed"] |= {"type": "integer", "minimum": 0, "default": 0}
    sizes: list[dict[str, Any]] = [{"const": "auto"}, {"type": "string", "pattern": SIZE}]
    properties["memory"] |= {"anyOf": [*sizes, {"type": "integer", "minimum": MINIMUM}], "default": "auto"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cascade config",
        "type": "object",
        "additionalProperties": False,
        "required": ["stages"],
        "properties": properties,
        "$defs": definitions,
    }


def _installed(group: str, find: Any, kind: str, tag: str, definitions: dict[str, Any]) -> list[str]:
    """Defines every stage or shingler that loads; gives their names."""
    names = []
    for name in installed(group):
        with suppress(Exception):  # a third party's that is broken: `cascade stages` shows its error
            definitions[f"{kind}.{name}"] = _tagged(find(name), tag, name, definitions)
            names.append(name)
    return names


def _plain(cls: type[BaseModel], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of an options class, with what it refers to moved to the common definitions."""
    schema = cls.model_json_schema(ref_template=f"#/$defs/{cls.__name__}.{{model}}")
    for name, definition in schema.pop("$defs", {}).items():
        definitions[f"{cls.__name__}.{name}"] = definition
    schema.pop("title", None)
    return schema


def _tagged(cls: type[BaseModel], tag: str, name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a stage or shingler whose `use:` or `by:` must be `name`."""
    schema = _plain(cls, definitions)
    schema["properties"] = {tag: {"const": name}, **{k: v for k, v in schema["properties"].items() if k != tag}}
    schema["required"] = list(dict.fromkeys([tag, *schema.get("required", [])]))
    return schema


def _one_of(kind: str, tag: str, names: list[str]) -> dict[str, Any]:
    """A block that its tag tells apart, or the bare name, or a class path with any options."""
    by_path = {"type": "object", "properties": {tag: {"type": "string", "pattern": _CLASS_PATH}}, "required": [tag]}
    bare = {"type": "string", "anyOf": [{"enum": names}, {"pattern": _CLASS_PATH}]}
    return {"oneOf": [*({"$ref": f"#/$defs/{kind}.{name}"} for name in names), by_path, bare]}
