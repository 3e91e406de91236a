"""Whether every `auto` of a config can be settled. How a stage settles one is its own affair, when it is bound."""

from __future__ import annotations

from collections.abc import Iterator

from cascade.config.model import Config
from cascade.errors import StageError
from cascade.stage import Facts, Stage

SIZES = (1_000, 1_000_000)
"""Numbers of documents that are tried: what fails at one of them only is no fault of the config."""


def unsettled(config: Config) -> Iterator[tuple[int, str, str]]:
    """(position of the stage, option, reason) for each stage whose `auto` no number of documents settles."""
    for position, stage in enumerate(config.stages):
        autos = [option for option in type(stage).model_fields if getattr(stage, option) == "auto"]
        if autos and (reason := _refusal(stage, config)) is not None:
            yield position, autos[0], reason.removeprefix(f"{stage.name}: ").removeprefix(f"{autos[0]}: ")


def _refusal(stage: Stage, config: Config) -> str | None:
    reason = None
    for documents in SIZES:
        try:
            stage.bind(Facts(documents=documents, seed=config.seed, confirm_jaccard=config.confirm_jaccard))
            return None
        except StageError as error:
            reason = str(error)
        except Exception:  # a third party's stage may ask for more than is known before a run
            return None
    return reason
