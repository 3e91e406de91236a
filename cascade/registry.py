"""From the name in YAML to the class: entry points, or `module:Class`. Nothing is imported before it is asked for."""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter

from cascade.errors import ConfigError
from cascade.stage import Shingler, Stage

STAGES = "cascade.stages"
SHINGLERS = "cascade.shinglers"


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """Entry points of a group by name, in alphabetical order."""
    return {e.name: e for e in sorted(entry_points(group=group), key=lambda e: e.name)}


def stage_class(name: str) -> type[Stage]:
    """The stage that `use: name` means. Raises ConfigError if there is none."""
    found = _load(STAGES, name, "stage")
    if not (isinstance(found, type) and issubclass(found, Stage)):
        raise ConfigError(f"{name!r} is not a subclass of cascade.Stage")
    return found


def shingler_class(name: str) -> type[Shingler]:
    """The shingler that `by: name` means. Raises ConfigError if there is none."""
    found = _load(SHINGLERS, name, "shingler")
    if not (isinstance(found, type) and issubclass(found, Shingler)):
        raise ConfigError(f"{name!r} is not a subclass of cascade.Shingler")
    return found


def name_of(found: type[Stage] | type[Shingler]) -> str:
    """The name under which YAML finds this class: that of its entry point, or `module:Class`."""
    place = f"{found.__module__}:{found.__qualname__}"
    entries = installed(STAGES if issubclass(found, Stage) else SHINGLERS).values()
    return next((entry.name for entry in entries if entry.value == place), place)


def _load(group: str, name: str, kind: str) -> object:
    known = installed(group)
    if name in known:
        try:
            return known[name].load()
        except Exception as error:  # a third party's module can fail in any way
            raise ConfigError(f"cannot load {kind} {name!r} ({known[name].value}): {error}") from error
    module, colon, attribute = name.partition(":")
    if not colon:
        from difflib import get_close_matches

        close = get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise ConfigError(f"unknown {kind} {name!r}; {hint}installed are: {', '.join(known)}; or give module:Class")
    try:
        return attrgetter(attribute)(importlib.import_module(module))
    except ModuleNotFoundError as error:
        raise ConfigError(f"cannot load {kind} {name!r}: {error}; is its folder on PYTHONPATH?") from error
    except Exception as error:  # a module can fail in any way while it is imported
        raise ConfigError(f"cannot load {kind} {name!r}: {error}") from error
