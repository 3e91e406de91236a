"""The filled config: every option with its value, as a mapping and as YAML text that loads to an equal config."""

from __future__ import annotations

from typing import Any

import yaml

from cascade.config.model import Config
from cascade.config.tree import reads_as_text
from cascade.registry import name_of
from cascade.stage import Shingler, Stage


def as_mapping(config: Config) -> dict[str, Any]:
    """Plain data of every option, in a fixed order."""
    return {
        "normalize": config.normalize.model_dump(mode="json"),
        "shingle": _shingler(config.shingle),
        "exact": config.exact,
        "stages": [_stage(stage) for stage in config.stages],
        "resolve": config.resolve.model_dump(mode="json"),
        "input": config.input.model_dump(mode="json"),
        "seed": config.seed,
        "memory": config.memory,
    }


def filled(config: Config) -> str:
    """YAML text of every option; the same config gives the same text."""
    return yaml.dump(as_mapping(config), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def written(value: object) -> str:
    """A value as YAML on one line, which our reader reads back as it is."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=True, width=1 << 20
    )
    return text.removesuffix("\n").removesuffix("\n...")


def _shingler(shingler: Shingler) -> dict[str, Any]:
    return {"by": name_of(type(shingler)), **shingler.model_dump(mode="json", exclude={"by"})}


def _stage(stage: Stage) -> dict[str, Any]:
    own = {} if stage.shingle is None else {"shingle": _shingler(stage.shingle)}
    options = stage.model_dump(mode="json", exclude={"use", "name", "shingle"})
    return {"use": stage.use, "name": stage.name, **options, **own}


class _Dumper(yaml.SafeDumper):
    """Quotes every string that our reader would not read back as a string."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    plain = reads_as_text(text) and text.isprintable()  # PyYAML folds line ends such as U+0085 in single quotes
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _represent_text)
