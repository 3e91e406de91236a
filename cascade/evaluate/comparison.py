"""What a comparison of configs has found, as plain values, and as one mapping for JSON. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cascade.config import Config
from cascade.config.fill import as_mapping
from cascade.evaluate.disagree import Disagreement
from cascade.evaluate.intervals import McNemar, Share
from cascade.evaluate.measure import Measured
from cascade.evaluate.metrics import ClusterFigures, PairFigures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIMING = (
    "Seconds and memory are of each config as it is written, in a process of its own for every run; nothing is shared "
    "between runs. The configs take turns, each round the other way round; figures are medians of {rounds} after one "
    "run each that does not count. Pairs, and what follows from them, are of other runs, with pairs: all, untimed."
)
UNTIMED = "Nothing was timed. The funnel is that of runs with pairs: all."


@dataclass(frozen=True)
class BandFigures:
    """Recall of the duplicate pairs with low <= similarity < high (the last band includes its high)."""

    low: float
    high: float
    recall: Share
    predicted: float | None
    """The mean, over these very pairs, of the probability that the models of the stages give for finding one: the
    S-curve at each pair's own Jaccard similarity, under the shingles of each stage. None of no pair."""


@dataclass(frozen=True)
class StageFigures:
    """One line of the funnel of a config, in the order in which the stages ran."""

    name: str
    use: str
    role: str
    pairs_in: int
    pairs_out: int
    seconds: float | None
    """Median; sketching, summed over threads, and filtering. None where nothing was timed."""
    column_bytes: int
    """What the columns of this stage take for all documents that it sees."""
    predicted_recall: float | None
    """At the threshold that the config confirms."""


@dataclass(frozen=True)
class ConfigFigures:
    """What one config does with the corpus."""

    name: str
    config: Config
    """As it is written."""
    counts: Mapping[str, int]
    """read = kept + removed_exact + removed_near + rejected"""
    characters_removed: int
    """Code points of the removed documents, as they came."""
    confirmed: int
    """Pairs of different texts that every stage accepts."""
    largest_cluster: int
    """Documents, equal texts included."""
    chained: int
    """Documents removed though no confirmed pair joins their text to the keeper's."""
    pairs: PairFigures | None
    """None without a truth."""
    bands: tuple[BandFigures, ...]
    """() where the truth does not know similarities."""
    clusters: ClusterFigures | None
    """None without a truth that knows of every pair."""
    stages: tuple[StageFigures, ...]
    measured: Measured | None
    curve: tuple[tuple[float, float], ...]
    """(Jaccard similarity, predicted probability of finding such a pair), by the stages that have a model."""
    unmodelled: tuple[str, ...]
    """The other stages: they count as accepting in all predictions."""
    warnings: tuple[str, ...]

    @property
    def removed(self) -> int:
        """Documents removed."""
        return self.counts["removed_exact"] + self.counts["removed_near"]


@dataclass(frozen=True)
class Versus:
    """Two configs, A and B, side by side."""

    a: str
    b: str
    removed_by_both: int
    removed_only_by_a: int
    removed_only_by_b: int
    removals: McNemar
    """Whether one of them removes more documents than chance would have it."""
    pairs_of_both: int
    pairs_only_of_a: int
    pairs_only_of_b: int
    found: McNemar | None
    """The same of the duplicate pairs of the truth that only one of them finds; None without a truth. Of a sampled
    truth, pairs with two sampled ends count once here."""
    disagreements: tuple[Disagreement, ...]
    """The most surprising pairs that only one of them takes for duplicates."""


@dataclass(frozen=True)
class TruthFigures:
    """What the configs were held against."""

    source: str
    pairs: int
    """Duplicate pairs that are known, between different texts (of labels: documents)."""
    twins: int
    """Documents with an equal text before them, as the truth has it."""
    sampled: int | None
    """Documents all of whose pairs are known, where that is not so of all."""


@dataclass(frozen=True)
class Comparison:
    """What `compare` has found."""

    documents: int
    characters: int
    truth: TruthFigures | None
    configs: tuple[ConfigFigures, ...]
    versus: tuple[Versus, ...]
    """Each two of the configs, in their order."""
    rounds: int
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> ConfigFigures:
        """The figures of the config of that name."""
        for figures in self.configs:
            if figures.name == name:
                return figures
        raise KeyError(name)

    @property
    def timing(self) -> str:
        """How seconds and memory were measured, in words."""
        return TIMING.format(rounds=self.rounds) if self.rounds else UNTIMED

    def as_mapping(self) -> dict[str, Any]:
        """Everything as plain values, as compare.json holds it."""
        return {
            "documents": self.documents,
            "characters": self.characters,
            "truth": None if self.truth is None else asdict(self.truth),
            "rounds": self.rounds,
            "timing": self.timing,
            "notes": list(self.notes),
            "configs": [_config(figures) for figures in self.configs],
            "versus": [_versus(versus) for versus in self.versus],
        }

    def plot(self) -> Figure:
        """Recall by similarity band over the predicted S-curves, and seconds by step, as a matplotlib figure.

        Raises BackendUnavailable without matplotlib.
        """
        from cascade.evaluate.plots import plot_comparison

        return plot_comparison(self)


def _config(figures: ConfigFigures) -> dict[str, Any]:
    found = {name: getattr(figures, name) for name in figures.__dataclass_fields__}
    plain = ("pairs", "clusters", "measured")
    return {
        **found,
        "config": as_mapping(figures.config),
        "counts": dict(figures.counts),
        "removed": figures.removed,
        **{name: None if found[name] is None else asdict(found[name]) for name in plain},
        "bands": [asdict(band) for band in figures.bands],
        "stages": [asdict(stage) for stage in figures.stages],
    }


def _versus(versus: Versus) -> dict[str, Any]:
    found = {name: getattr(versus, name) for name in versus.__dataclass_fields__}
    return {
        **found,
        "removals": asdict(versus.removals),
        "found": None if versus.found is None else asdict(versus.found),
        "disagreements": [_disagreement(pair) for pair in versus.disagreements],
    }


def _disagreement(pair: Disagreement) -> dict[str, Any]:
    found = {name: getattr(pair, name) for name in pair.__dataclass_fields__}
    verdicts = [[asdict(verdict) for verdict in said] for said in pair.verdicts]
    parts = [[kind, len(text) if kind == "skipped" else text] for kind, text in pair.difference.shown()]
    return {**found, "verdicts": verdicts, "difference": parts}
