"""sweep: a grid of settings over one corpus, and its Pareto front of recall against what a run takes.

What is found comes from runs with pairs: all, what it takes from runs apart: see measure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cascade.api import Result, dedupe
from cascade.config import Config, load_config
from cascade.config.fill import as_mapping
from cascade.errors import ConfigError
from cascade.evaluate.asked import Asked, truth_of
from cascade.evaluate.compare import kept_for_long, with_every_pair
from cascade.evaluate.comparison import TIMING, UNTIMED, TruthFigures
from cascade.evaluate.figures import truth_figures
from cascade.evaluate.intervals import Share
from cascade.evaluate.measure import Measured, measure
from cascade.evaluate.metrics import pair_figures
from cascade.evaluate.truth import Truth
from cascade.plan import make_plan
from cascade.progress import Progress, Silent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OFF = "off"
"""The value of an option of a stage that takes the whole stage out."""

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class SweepPoint:
    """One setting of the grid."""

    settings: Settings
    """The varied options by their paths; those of a stage that is off are left out, but for the one that says so."""
    config: Config
    recall: Share
    precision: Share
    f1: Share
    predicted_recall: float | None
    """At the threshold that the config confirms, where it is known."""
    candidates: int
    """Pairs that the first stage proposed, as the config is written (where nothing was timed: with pairs: all)."""
    confirmed: int
    removed: int
    seconds: float | None = None
    peak_bytes: int | None = None
    on_front: bool = False
    """No other point finds as much for less, or more for the same."""

    @property
    def cost(self) -> float:
        """Seconds, or candidate pairs where nothing was timed."""
        return float(self.candidates) if self.seconds is None else self.seconds


@dataclass(frozen=True)
class SweepResult:
    """What `sweep` has found; the points in the order of the grid, the last option varying fastest."""

    points: tuple[SweepPoint, ...]
    documents: int
    truth: TruthFigures
    rounds: int

    @property
    def front(self) -> tuple[SweepPoint, ...]:
        """The Pareto front of recall against cost, the cheapest first."""
        return tuple(sorted((p for p in self.points if p.on_front), key=lambda p: p.cost))

    @property
    def cost_name(self) -> str:
        """What stands against recall."""
        return "seconds" if self.rounds else "candidate pairs"

    @property
    def timing(self) -> str:
        """How it was measured, in words."""
        return TIMING.format(rounds=self.rounds) if self.rounds else UNTIMED

    def as_mapping(self) -> dict[str, Any]:
        """Everything as plain values, as sweep.json holds it."""
        return {
            "documents": self.documents,
            "truth": asdict(self.truth),
            "rounds": self.rounds,
            "timing": self.timing,
            "points": [_point(point) for point in self.points],
        }

    def plot(self) -> Figure:
        """Recall over seconds, the front joined by a line, as a matplotlib figure.

        Raises BackendUnavailable without matplotlib.
        """
        from cascade.evaluate.plots import plot_sweep

        return plot_sweep(self)


def sweep(
    base: str | Path | Mapping[str, Any] | Config,
    data: Any,
    vary: Mapping[str, Sequence[Any]],
    truth: Asked = "exact:0.8",
    *,
    rounds: int = 3,
    sample: int | None = None,
    seed: int = 0,
    set: str | Sequence[str] = (),
    workers: int | None = None,
    work_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Every combination of the values of some options of a config, over one corpus.

    `vary`: values by path, {"stages.minhash.rows_per_band": [4, 6, 8], "stages.simhash.max_hamming": [16, 20, "off"]};
    a text is read as YAML, as in `set`; "off" takes the stage out. Combinations that come to the same config are one.
    `truth`, `rounds`, `sample`, `seed` as for `compare`; a truth is needed, and computed with the config as it is.

    Raises ConfigError, InputError, StageError, OutputError.
    """
    progress = progress or Silent()
    changes = [set] if isinstance(set, str) else list(set)
    grid = list(combinations(base, vary, changes))
    data = kept_for_long(data)
    only_read = load_config(base, changes).model_copy(update={"stages": ()})
    first = dedupe(data, only_read, workers=workers)
    known = truth_of(truth, data, first, sample=sample, seed=seed, workers=workers)
    if known is None:
        raise ConfigError("a sweep needs a truth to tell recall: exact:0.8, similarity:0.9, or a file of labels")
    found = []
    progress.start("compare", len(grid))
    for _, config in grid:
        found.append(_figures(dedupe(data, with_every_pair(config), workers=workers), known))
        progress.advance("compare", 1)
    progress.finish("compare")
    measured: Sequence[Measured | None] = [None] * len(grid)
    if rounds:
        configs = [config for _, config in grid]
        measured = measure(configs, data, rounds=rounds, workers=workers, work_dir=work_dir, progress=progress)
    points = [
        _with_costs(SweepPoint(settings=settings, config=config, **figures), took)
        for (settings, config), figures, took in zip(grid, found, measured, strict=True)
    ]
    front = pareto([(point.cost, point.recall.value) for point in points])
    return SweepResult(
        points=tuple(replace(point, on_front=on) for point, on in zip(points, front, strict=True)),
        documents=len(first.corpus),
        truth=truth_figures(known),
        rounds=rounds,
    )


def combinations(
    base: str | Path | Mapping[str, Any] | Config, vary: Mapping[str, Sequence[Any]], changes: Sequence[str] = ()
) -> Iterator[tuple[dict[str, Any], Config]]:
    """The different configs of a grid with their settings. Raises ConfigError."""
    if not vary:
        raise ConfigError("nothing varies; name an option and its values, such as stages.minhash.rows_per_band=4,6,8")
    for path, values in vary.items():
        if isinstance(values, str) or not len(values):
            raise ConfigError(f"{path}: expected a list of values, found {values!r}")
    names = [stage.name for stage in load_config(base, changes).stages]
    stages = {path: _stage(path, names) for path in vary}
    seen: list[Config] = []
    for chosen in product(*vary.values()):
        settings = dict(zip(vary, chosen, strict=True))
        off = {stages[path] for path, value in settings.items() if value == OFF}
        kept = {path: value for path, value in settings.items() if value == OFF or stages[path] not in off}
        values = [f"{path}={_yaml(value)}" for path, value in kept.items() if value != OFF]
        config = load_config(base, [*changes, *values, *(f"{stage}={OFF}" for stage in sorted(off, key=_place))])
        if config not in seen:
            seen.append(config)
            yield kept, config


def _stage(path: str, names: Sequence[str]) -> str:
    """The stage that an option belongs to: stages.minhash of stages.minhash.bands. Other paths stay as they are."""
    if position := re.match(r"stages\[\d+\]", path):
        return position[0]
    rest = path.removeprefix("stages.")
    found = [name for name in names if rest == name or rest.startswith((f"{name}.", f"{name}["))]
    return f"stages.{max(found, key=len)}" if found and rest != path else path


def _place(stage: str) -> int:
    """In which order stages go: by position, the last first, since those behind one move up; then by name."""
    position = re.fullmatch(r"stages\[(\d+)\]", stage)
    return -int(position[1]) if position else 1


def _yaml(value: Any) -> str:
    """A value as YAML; a text is YAML already."""
    return value if isinstance(value, str) else json.dumps(value)


def _figures(result: Result, truth: Truth) -> dict[str, Any]:
    """What a config finds: the fields of a SweepPoint that are not about time."""
    outcome = result.outcome
    figures = pair_figures(truth, outcome.pairs, outcome.stands_for)
    distinct = int((outcome.stands_for == np.arange(len(outcome.stands_for))).sum())
    return {
        "recall": figures.recall,
        "precision": figures.precision,
        "f1": figures.f1,
        "predicted_recall": make_plan(result.config, distinct).recall,
        "candidates": outcome.stages[0].pairs_in if outcome.stages else 0,
        "confirmed": len(outcome.pairs),
        "removed": int((outcome.keeper >= 0).sum()),
    }


def _with_costs(point: SweepPoint, took: Measured | None) -> SweepPoint:
    if took is None:
        return point
    funnel = took.runs[-1].stages
    candidates = funnel[0].pairs_in if funnel else 0
    return replace(point, candidates=candidates, seconds=took.seconds, peak_bytes=took.peak_bytes)


def pareto(points: Sequence[tuple[float, float | None]]) -> list[bool]:
    """Which of some (cost, gain) no other beats: as much gain for less cost, or more for as much. Gain None: never."""
    found = []
    for cost, gain in points:
        beaten = gain is None or any(
            other is not None and c <= cost and other >= gain and (c < cost or other > gain) for c, other in points
        )
        found.append(not beaten)
    return found


def _point(point: SweepPoint) -> dict[str, Any]:
    found = {name: getattr(point, name) for name in point.__dataclass_fields__}
    shares = {name: asdict(found[name]) for name in ("recall", "precision", "f1")}
    return {**found, "settings": dict(point.settings), "config": as_mapping(point.config), **shares}
