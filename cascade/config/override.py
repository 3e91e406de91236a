"""`--set PATH=VALUE`: changes the tree of a config before it is validated. Faults name the argument."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cascade.config.block import did_you_mean
from cascade.config.expect import shown
from cascade.config.tree import Node, Place, Problems, read_value

_STEP = re.compile(r"\.?([^.\[\]=]+)|\[(\d+)\]")


def override(tree: Node, arguments: Sequence[str], problems: Problems) -> Node:
    """A tree with every argument applied, in order. What an option may be called is checked with the rest later."""
    for number, argument in enumerate(arguments):
        place = Place(f"--set {argument}", (1, number))
        path, equals, text = argument.partition("=")
        if not equals or not path.strip():
            problems.add(place, "", "expected PATH=VALUE, for example shingle.n=3")
            continue
        if not isinstance(tree.value, dict):
            continue  # no config at all, and the loader says so
        steps = _steps(path.strip(), tree, place, problems)
        value = read_value(text, place, problems)
        if steps and value:
            tree = _put(tree, steps, value, "", problems)
    return tree


def _steps(path: str, tree: Node, place: Place, problems: Problems) -> list[str | int] | None:
    """The keys and positions that a path means; `stages.NAME` becomes the position of that stage."""
    steps: list[str | int] = []
    if path.startswith("stages."):
        stages = tree.value.get("stages")
        items = stages.value if stages is not None and isinstance(stages.value, list) else []
        names = [_name(item) for item in items]
        rest = path.removeprefix("stages.")
        # A name may hold dots itself (module:Class), so the longest that fits is meant.
        fits = [name for name in names if name and (rest == name or rest.startswith((f"{name}.", f"{name}[")))]
        if not fits:
            wanted = rest.partition(".")[0]
            problems.add(place, "", f"no stage is named {wanted}{did_you_mean(wanted, filter(None, names))}")
            return None
        name = max(fits, key=len)
        steps = ["stages", names.index(name)]
        path = rest.removeprefix(name)
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if not match:
            problems.add(place, "", "cannot read this path; write names with dots and positions as [0]")
            return None
        steps.append(match[1] if match[1] is not None else int(match[2]))
        position = match.end()
    return steps


def _name(stage: Node) -> str | None:
    if isinstance(stage.value, dict):
        name = stage.value.get("name")
        stage = name if name is not None and name.value else stage.value.get("use", Node(None))
    return stage.value if isinstance(stage.value, str) else getattr(stage.value, "name", None)


def _put(node: Node, steps: list[str | int], value: Node, path: str, problems: Problems) -> Node:
    """`node` with `value` at the end of `steps`; mappings on the way are made where there is nothing."""
    if not steps:
        return value
    step, *rest = steps
    if isinstance(step, int):
        if not isinstance(node.value, list):
            problems.add(value.place, path, f"is {shown(node)}, no list")
            return node
        if step >= len(node.value):
            problems.add(value.place, path, f"there is no position [{step}]; it has {len(node.value)}")
            return node
        items = list(node.value)
        if path == "stages" and not rest and value.value is False:
            del items[step]  # stages.simhash=off
        else:
            items[step] = _put(items[step], rest, value, f"{path}[{step}]", problems)
        return Node(items, node.place)
    inner = f"{path}.{step}" if path else step
    if isinstance(node.value, str) and re.fullmatch(r"stages\[\d+\]", path):
        node = Node({"use": node}, node.place)
    elif isinstance(node.value, str) and path.rpartition(".")[2] == "shingle":
        node = Node({"by": node}, node.place)
    elif node.value is None:
        node = Node({}, value.place)
    if not isinstance(node.value, dict):
        problems.add(value.place, path, f"is {shown(node)}, so it has no {step}")
        return node
    old = node.value.get(step, Node(None, value.place))
    return Node({**node.value, step: _put(old, rest, value, inner, problems)}, node.place)
