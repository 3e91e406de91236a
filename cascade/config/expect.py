"""What an option takes, in words, from the JSON Schema of its field; and what was found instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from cascade.config.tree import Node

Schema = Mapping[str, Any]


def option_schemas(cls: type[BaseModel]) -> dict[str, Schema]:
    """The JSON Schema of each option of `cls`, references resolved one level deep."""
    whole = cls.model_json_schema()
    definitions = whole.get("$defs", {})

    def resolve(schema: Schema) -> Schema:
        if "$ref" in schema:
            target = definitions.get(schema["$ref"].rpartition("/")[2], {})
            return {**target, **{k: v for k, v in schema.items() if k != "$ref"}}
        if "anyOf" in schema:
            return {**schema, "anyOf": [resolve(option) for option in schema["anyOf"]]}
        return schema

    return {name: resolve(schema) for name, schema in whole.get("properties", {}).items()}


def bounds(schema: Schema) -> str:
    """The range of a number: "0..1", "at least 1", "greater than 0"; empty where there is none."""
    if schema.get("type") == "integer" and "exclusiveMinimum" in schema:
        schema = {**schema, "minimum": schema["exclusiveMinimum"] + 1}
        del schema["exclusiveMinimum"]
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{_number(low)}..{_number(high)}"
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "greater than",
        "maximum": "at most",
        "exclusiveMaximum": "less than",
    }
    return " and ".join(f"{word} {_number(schema[key])}" for key, word in words.items() if key in schema)


def choices(schema: Schema) -> list[Any]:
    """The fixed values that an option takes, those of a union included."""
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return list(schema["enum"])
    return [value for option in schema.get("anyOf", ()) for value in choices(option)]


def expected(schema: Schema) -> str:
    """What may be written for an option, in words for a message."""
    if "anyOf" in schema:
        members = [option for option in schema["anyOf"] if option.get("type") != "null"]
        parts = [option.get("title") or expected(option) for option in members]
        return " or ".join(dict.fromkeys(parts))
    fixed = choices(schema)
    if fixed:
        return (
            str(fixed[0]) if len(fixed) == 1 else "one of " + ", ".join("null" if v is None else str(v) for v in fixed)
        )
    kind = schema.get("type")
    names = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "string": "text",
        "array": "a list",
        "object": "a mapping",
    }
    limit = bounds(schema)
    name = names.get(str(kind), "another value")
    return f"{name} in {limit}" if ".." in limit else f"{name} ({limit})" if limit else name


def short_type(schema: Schema) -> str:
    """The type of an option for a listing: "int 0..64 | auto", "fold | lower | keep"."""
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(option.get("title") or short_type(option) for option in schema["anyOf"]))
    fixed = choices(schema)
    if fixed:
        return " | ".join("null" if v is None else str(v) for v in fixed)
    names = {"integer": "int", "number": "float", "boolean": "bool", "string": "text", "array": "list"}
    kind = str(schema.get("type", "any"))
    return " ".join(part for part in (names.get(kind, kind), bounds(schema)) if part)


def shown(node: Node) -> str:
    """A value that was found, for a message."""
    value = node.value
    if isinstance(value, bool):
        word = str(value).lower()
        return word if node.text in ("", word) else f"{word} (YAML reads `{node.text}` so; in quotes it is text)"
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f"text {value if len(value) <= 60 else value[:60] + '…'!r}"
    if isinstance(value, int) and abs(value) >= 10**40:  # Python writes no integer of more than some thousand digits
        return "a number of more than 40 digits"
    text = node.text or (str(value) if isinstance(value, int | float) else type(value).__name__)
    return text if len(text) <= 40 else text[:40] + "…"


def _number(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
