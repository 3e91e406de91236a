"""From YAML to a validated, filled, frozen Config. Nothing of a run happens here."""

from cascade.config.advice import warnings
from cascade.config.load import load_config
from cascade.config.model import Config, Input, KeepPreferred, Prefer, Resolve
from cascade.config.presets import preset_names
from cascade.config.schema import json_schema

__all__ = [
    "Config",
    "Input",
    "KeepPreferred",
    "Prefer",
    "Resolve",
    "json_schema",
    "load_config",
    "preset_names",
    "warnings",
]
