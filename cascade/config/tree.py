"""Config text to a tree of values that remember where they were written. What the values mean is decided elsewhere."""

from __future__ import annotations

import numbers
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import BaseModel

from cascade.errors import ConfigError
from cascade.text.buffer import encode

MAX_BYTES = 256 * 1024
"""No config is longer; a data file given in its place is."""
MAX_VALUES = 10_000
"""Values after the aliases are expanded: some lines of nested aliases can stand for billions."""
MAX_DEPTH = 30


@dataclass(frozen=True)
class Place:
    """Where something was written: `where` opens the message ("a.yaml:3"), `order` sorts messages."""

    where: str = ""
    order: tuple[int, ...] = ()
    folder: str = ""
    """From where a relative path counts: the folder of the file; elsewhere the working folder."""


@dataclass(frozen=True)
class Node:
    """A value and its place: a dict of nodes, a list of nodes, a scalar, or a ready object given from Python."""

    value: Any
    place: Place = Place()
    text: str = ""
    """A scalar as it was written: YAML reads `no` as false, and a message should show both."""


@dataclass
class Problems:
    """Everything wrong with a config, gathered so that it can be told at once."""

    found: list[tuple[tuple[int, ...], str]] = field(default_factory=list)

    def add(self, place: Place, path: str, message: str) -> None:
        """Notes one problem of the value at `path`."""
        self.found.append((place.order, ": ".join(part for part in (place.where, path, message) if part)))

    def raise_any(self) -> None:
        """Raises ConfigError with all problems in the order of the file, if there are some."""
        if self.found:
            raise ConfigError([message for _, message in sorted(self.found, key=lambda entry: entry[0])])


class _Loader(yaml.SafeLoader):
    """Safe tags only. Numbers as YAML 1.1 or 1.2 spells them, but for 010 and 1:30, of which they think differently."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 (the name and the place are PyYAML's)


_TAG = "tag:yaml.org,2002:"
_SCALARS = {
    "null": r"(?:~|null|Null|NULL|)",
    "bool": r"(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)",
    "int": r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F_]*[0-9a-fA-F]|0b[01_]*[01])",
    "float": r"[-+]?(?:(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+"
    r"|\.(?:inf|Inf|INF))"
    r"|\.(?:nan|NaN|NAN)",
    "merge": r"<<",
}
for _kind, _pattern in _SCALARS.items():
    _Loader.add_implicit_resolver(_TAG + _kind, re.compile(rf"^(?:{_pattern})$"), None)


def reads_as_text(text: str) -> bool:
    """True if a plain scalar `text` would be read as a string and not as a number, a boolean or null."""
    return not any(re.fullmatch(pattern, text) for pattern in _SCALARS.values())


def reads_as_number(text: str) -> bool:
    """True if a plain scalar `text` would be read as a number."""
    return any(re.fullmatch(_SCALARS[kind], text) for kind in ("int", "float"))


def read_bytes(data: bytes, name: str, problems: Problems) -> Node:
    """The tree of a YAML file. Raises ConfigError where nothing can be read; smaller faults go to `problems`."""
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{name}: {len(data):,} bytes are too many for a config; is it a data file?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}:{line}: not UTF-8 (byte 0x{data[error.start]:02x}); save it as UTF-8") from None
    node = _compose(text, name)
    if node is None:
        raise ConfigError(f"{name}: empty; a config needs at least `stages:`")
    return _Builder(name, problems).build(node, node.start_mark, "", 0)


def read_value(text: str, place: Place, problems: Problems) -> Node | None:
    """The tree of a value given on the command line; everything in it has the same place. None if it is no YAML."""
    try:
        node = _compose(text, place.where)
        if node is None:
            return Node(None, place)
        return _Builder(place.where, problems, place).build(node, node.start_mark, "", 0)
    except ConfigError as error:
        problems.add(Place("", place.order), "", str(error))
        return None


def read_mapping(value: object, depth: int = 0) -> Node:
    """The tree of a Python mapping, which has no lines. Objects that are no plain data stay as they are."""
    if depth > MAX_DEPTH:
        raise ConfigError(f"the config is nested more than {MAX_DEPTH} deep")
    if isinstance(value, BaseModel):
        return Node(value)
    if isinstance(value, Mapping):
        return Node({str(key): read_mapping(item, depth + 1) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return Node([read_mapping(item, depth + 1) for item in value])
    if isinstance(value, os.PathLike):
        return Node(os.fspath(value))
    if isinstance(value, numbers.Real) and not isinstance(value, bool | int | float):
        return Node(int(value) if isinstance(value, numbers.Integral) else float(value))  # numpy's
    return Node(value)


def plain(node: Node) -> Any:
    """The value of a tree without its places."""
    if isinstance(node.value, dict):
        return {key: plain(item) for key, item in node.value.items()}
    if isinstance(node.value, list):
        return [plain(item) for item in node.value]
    return node.value


def _compose(text: str, name: str) -> yaml.Node | None:
    """The nodes of the only YAML document in `text`. Raises ConfigError with line and column."""
    try:
        node: yaml.Node | None = yaml.compose(text, _Loader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{name}:{line}: character U+{ord(text[error.position]):04X} is not allowed here") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark and not name.startswith("--set ") else name
        if error.problem == "but found another document":
            raise ConfigError(f"{where}: a second document starts here; a config is one document") from None
        said = ", ".join(part for part in (error.context, error.problem) if part)
        hint = "; indent with spaces, not with tabs" if "\\t" in said else ""
        raise ConfigError(f"{where}: not valid YAML: {said}{hint}") from None
    except RecursionError:
        raise ConfigError(f"{name}: nested more than {MAX_DEPTH} deep") from None
    return node


@dataclass
class _Builder:
    """Turns YAML nodes into our tree: checks keys and tags, expands aliases within bounds."""

    name: str
    problems: Problems
    fixed: Place | None = None
    values: int = 0

    def place(self, mark: yaml.Mark) -> Place:
        return self.fixed or Place(
            f"{self.name}:{mark.line + 1}", (0, mark.line, mark.column), os.path.dirname(self.name)
        )

    def build(self, node: yaml.Node, mark: yaml.Mark, path: str, depth: int) -> Node:
        """The tree of `node`; `mark` is where it starts, or where its key does."""
        self.values += 1
        if self.values > MAX_VALUES:
            raise ConfigError(f"{self.name}: expands to more than {MAX_VALUES:,} values; are aliases nested?")
        if depth > MAX_DEPTH:
            raise ConfigError(
                f"{self.name}:{mark.line + 1}: nested more than {MAX_DEPTH} deep, or an alias that holds itself"
            )
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return Node(self.mapping(node, path, depth), self.place(mark))
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            items = enumerate(node.value)
            return Node([self.build(v, v.start_mark, f"{path}[{i}]", depth + 1) for i, v in items], self.place(mark))
        if isinstance(node, yaml.ScalarNode):
            try:
                return Node(_scalar(node.tag, node.value), self.place(mark), node.value)
            except ValueError as error:
                self.problems.add(self.place(mark), path, str(error))
                return Node(None, self.place(mark), node.value)
        self.problems.add(self.place(mark), path, f"tag {_short(node.tag)} is not allowed")
        return Node(None, self.place(mark))

    def mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        seen: dict[str, int] = {}
        for key_node, value_node in node.value:
            mark = key_node.start_mark
            if not isinstance(key_node, yaml.ScalarNode):
                self.problems.add(self.place(mark), path, "a key must be text, not a list or a mapping")
                continue
            key = _text(key_node.value)
            inner = f"{path}.{key}" if path else key
            if key in seen:
                again = "" if self.fixed else f"; it stands in line {seen[key]} already"
                self.problems.add(self.place(mark), inner, f"repeated key {key}{again}")
                continue
            seen[key] = mark.line + 1
            if key_node.tag == _TAG + "merge":
                for name, item in self.merge(value_node, mark, path, depth).items():
                    merged.setdefault(name, item)
            else:
                entries[key] = self.build(value_node, mark, inner, depth + 1)
        return {**merged, **entries}

    def merge(self, node: yaml.Node, mark: yaml.Mark, path: str, depth: int) -> dict[str, Node]:
        """The entries that `<<: *name` or `<<: [*name, *other]` brings; the first that has a key wins."""
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Node] = {}
        for source in sources:
            built = self.build(source, mark, path, depth + 1)
            if not isinstance(built.value, dict):
                self.problems.add(self.place(mark), path, "<< merges mappings, and this is none")
                return merged
            for key, item in built.value.items():
                merged.setdefault(key, item)
        return merged


def _scalar(tag: str, text: str) -> Any:
    kind = tag.removeprefix(_TAG)
    if kind in ("str", "merge"):
        return _text(text)
    if kind == "null":
        return None
    if kind == "bool" and re.fullmatch(_SCALARS["bool"], text):
        return text.lower() in ("yes", "true", "on")
    try:
        if kind == "int":
            return int(text.replace("_", ""), 0)
        if kind == "float":
            value = float(text.lower().replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
            return int(value) if value.is_integer() else value  # 1e3 is a whole number; 1.0 will do as one
    except ValueError:
        raise ValueError(f"{text[:40]!r} is no {kind}") from None
    raise ValueError(f"tag {_short(tag)} is not allowed; write plain YAML values")


def _text(text: str) -> str:
    """A string without surrogates: two escaped ones, as JSON writes an emoji, become the character they stand for."""
    return encode(text).decode("utf-8")


def _short(tag: str) -> str:
    return "!!" + tag.removeprefix(_TAG) if tag.startswith(_TAG) else tag
