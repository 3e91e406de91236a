"""The configs that come with the package, by name. They are plain YAML files; nothing is decided here."""

from __future__ import annotations

from importlib.resources import files


def preset_names() -> list[str]:
    """Names of all presets, in alphabetical order."""
    found = (entry.name for entry in files("cascade.configs").iterdir())
    return sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml"))


def preset_bytes(name: str) -> bytes:
    """The YAML file of a preset. Raises KeyError if there is none of that name."""
    if name not in preset_names():
        raise KeyError(name)
    return (files("cascade.configs") / f"{name}.yaml").read_bytes()


def preset_title(name: str) -> str:
    """The first comment line of a preset, which says what it is for."""
    first = preset_bytes(name).decode("utf-8").partition("\n")[0]
    return first.lstrip("# ").strip()
