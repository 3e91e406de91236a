"""load_config: a path, a preset's name or a mapping to a Config, with every fault told at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cascade.config.block import did_you_mean, read_block
from cascade.config.expect import shown
from cascade.config.model import Config, Input, Resolve, name_faults, with_name
from cascade.config.presets import preset_bytes, preset_names
from cascade.config.settle import unsettled
from cascade.config.tree import Node, Problems, read_bytes, read_mapping
from cascade.errors import ConfigError
from cascade.registry import shingler_class, stage_class
from cascade.stage import Shingler, Stage
from cascade.text.normalize import Normalize

_EXAMPLES = {"stage": "minhash", "shingler": "word"}


def load_config(source: str | Path | Mapping[str, Any] | Config, overrides: Sequence[str] = ()) -> Config:
    """The config that `source` means: a YAML file, else a preset of that name, a mapping, or a Config as it is.

    `overrides` are texts `PATH=VALUE` as on the command line: `stages.minhash.bands=24` (by the stage's name),
    `stages[1].bands=24`, `shingle.n=3`; `stages.simhash=off` takes that stage out. Values are read as YAML.

    Raises ConfigError whose `problems` are all that is wrong, in the order of the file, each with line and path.
    """
    if isinstance(source, Config):
        if not overrides:
            return source
        from cascade.config.fill import as_mapping

        source = as_mapping(source)
    problems = Problems()
    if isinstance(source, Mapping):
        tree = read_mapping(source)
    elif isinstance(source, str | Path):
        tree = read_bytes(*_read_source(source), problems)
    else:
        raise TypeError(f"a config is a path, a preset's name, a mapping or a Config, not {type(source).__name__}")
    if overrides:
        from cascade.config.override import override

        tree = override(tree, overrides, problems)
    config = _read_config(tree, problems)
    problems.raise_any()
    assert config is not None
    return config


def _read_source(source: str | Path) -> tuple[bytes, str]:
    path, name = Path(source), str(source)
    try:
        if path.is_file():
            return path.read_bytes(), name
        if name in preset_names():
            return preset_bytes(name), f"{name}.yaml"
        exists = path.exists()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(f"{name[:200]}: cannot be read: {reason}") from None
    if exists:
        raise ConfigError(f"{name}: a folder or a device, not a config file")
    raise ConfigError(f"{name[:200]}: no such file, and no preset of that name{did_you_mean(name, preset_names())}")


def _read_config(tree: Node, problems: Problems) -> Config | None:
    if not isinstance(tree.value, dict):
        problems.add(tree.place, "", f"a config is a mapping with `stages:` and more, found {shown(tree)}")
        return None
    entries: dict[str, Node] = tree.value
    before = len(problems.found)
    given: dict[str, object] = {}
    for name, cls in (("normalize", Normalize), ("resolve", Resolve), ("input", Input)):
        if name in entries:
            given[name] = read_block(cls, entries[name], name, problems)
    if "shingle" in entries:
        given["shingle"] = _read_shingler(entries["shingle"], "shingle", problems, "word")
    if "stages" in entries:
        given["stages"] = _read_stages(entries["stages"], problems)
        _check_autos(given["stages"], entries["stages"], problems)
    else:
        problems.add(tree.place, "stages", "missing; give a list of stages ([] removes exact copies only)")
        given["stages"] = ()
    # A block that failed is told already; its default stands in so that the rest is checked too.
    sound = {name: value for name, value in given.items() if value is not None}
    passed_over = set(given)
    if not sound.get("stages") and entries.get("exact", Node(True)).value is False:
        passed_over.add("exact")
        if sound.get("stages") == () and "stages" in entries:
            message = "no stages and exact is false: nothing would ever be removed"
            problems.add(entries["stages"].place, "stages", message)
    rest = Node({key: item for key, item in entries.items() if key not in passed_over}, tree.place)
    config = read_block(Config, rest, "", problems, {"stages": (), **sound})
    return config if len(problems.found) == before else None


def _read_stages(node: Node, problems: Problems) -> tuple[Stage, ...] | None:
    if not isinstance(node.value, list):
        problems.add(node.place, "stages", f"expected a list of stages, found {shown(node)}")
        return None
    read = [_read_stage(item, f"stages[{i}]", problems) for i, item in enumerate(node.value)]
    positions = [i for i, stage in enumerate(read) if stage is not None]
    stages = tuple(stage for stage in read if stage is not None)
    for i, message in name_faults(stages):
        item: Node = node.value[positions[i]]
        named = item.value.get("name", item) if isinstance(item.value, dict) else item
        problems.add(named.place, f"stages[{positions[i]}].name", message)
    return stages if len(stages) == len(read) and not name_faults(stages) else None


def _check_autos(stages: object, node: Node, problems: Problems) -> None:
    """Notes every `auto` that nothing settles; what settles one may stand in any stage, so all must be sound."""
    if not stages:
        return
    for i, option, reason in unsettled(Config(stages=stages)):
        item: Node = node.value[i]
        found = item.value.get(option, item) if isinstance(item.value, dict) else item
        problems.add(found.place, f"stages[{i}].{option}", reason)


def _read_stage(node: Node, path: str, problems: Problems) -> Stage | None:
    if isinstance(node.value, Stage):
        return with_name(node.value)
    if isinstance(node.value, str):  # `stages: [minhash]` means {use: minhash}
        node = Node({"use": node}, node.place)
    if not isinstance(node.value, dict):
        problems.add(node.place, path, f"expected a mapping with `use:`, found {shown(node)}")
        return None
    use = node.value.get("use")
    cls = _class_named(use, node, f"{path}.use", "stage", problems)
    if cls is None or use is None:
        return None
    given: dict[str, object] = {}
    own = node.value.get("shingle")
    if own is not None:
        given["shingle"] = None if own.value is None else _read_shingler(own, f"{path}.shingle", problems, None)
    options = {key: item for key, item in node.value.items() if key != "use"}
    stage = read_block(cls, Node(options, node.place), path, problems, given)
    return None if stage is None else with_name(stage)


def _read_shingler(node: Node, path: str, problems: Problems, default: str | None) -> Shingler | None:
    if isinstance(node.value, Shingler):
        return node.value
    if isinstance(node.value, str):  # `shingle: char` means {by: char}
        node = Node({"by": node}, node.place)
    if not isinstance(node.value, dict) and node.value is not None:
        problems.add(node.place, path, f"expected a mapping with `by:`, found {shown(node)}")
        return None
    entries: dict[str, Node] = node.value or {}
    by = entries.get("by") or (Node(default, node.place) if default else None)
    cls = _class_named(by, node, f"{path}.by", "shingler", problems)
    if cls is None:
        return None
    return read_block(cls, Node({k: v for k, v in entries.items() if k != "by"}, node.place), path, problems)


def _class_named(name: Node | None, block: Node, path: str, kind: str, problems: Problems) -> Any:
    """The class that `use:` or `by:` names; None if it names none, which is then in `problems`."""
    if name is None:
        problems.add(block.place, path, f"missing; name a {kind}, for example {_EXAMPLES[kind]}")
        return None
    if not isinstance(name.value, str):
        problems.add(name.place, path, f"expected the name of a {kind}, found {shown(name)}")
        return None
    try:
        return stage_class(name.value) if kind == "stage" else shingler_class(name.value)
    except ConfigError as error:
        for message in error.problems:
            problems.add(name.place, path, message)
        return None
