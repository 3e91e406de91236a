"""What tuning has found: the choices it weighed, the config that it took, and that config as commented YAML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from cascade.config import Config
from cascade.config.advice import percent
from cascade.config.fill import as_mapping, written
from cascade.evaluate.intervals import Share


@dataclass(frozen=True)
class TuneCandidate:
    """One choice that was weighed."""

    bands: int | None
    """None: the exact join, a lone jaccard stage."""
    rows_per_band: int | None
    max_hamming: int | None
    """None: no simhash stage."""
    predicted_recall: float
    predicted_candidates: float | None
    """Pairs of the whole corpus that would share a band; None for the exact join, for which there is no model."""
    predicted_seconds: float | None
    """Of processor time for the whole corpus, reading and shingling left out; see cascade.evaluate.costs."""
    recall: Share | None
    """Of the pairs of the tuning documents, as it was found by a run; None where none was made."""
    seconds: float | None
    """From the documents to the decisions on the sample, made to the size of the corpus; None if not timed."""

    @property
    def told(self) -> str:
        """The choice in words."""
        if self.bands is None:
            return "exact join"
        distance = "no simhash" if self.max_hamming is None else f"max_hamming {self.max_hamming}"
        return f"{self.bands} bands of {self.rows_per_band}, {distance}"


@dataclass(frozen=True)
class TuneResult:
    """What `tune` has found."""

    config: Config
    chosen: TuneCandidate
    candidates: tuple[TuneCandidate, ...]
    """The best few by the predicted cost, and the exact join; the cheapest first."""
    min_jaccard: float
    goal: float
    """The recall that was asked for."""
    documents: int
    """Different texts of the corpus."""
    tuning_documents: int
    held_out_documents: int
    tuning_pairs: int
    held_out_pairs: int
    predicted_recall: float | None
    """What the models expect for the pairs of the held-out documents; None without any."""
    held_out: Share
    """The recall of those pairs, as it was found by a run."""
    rounds: int
    notes: tuple[str, ...]

    @property
    def met(self) -> bool | None:
        """Whether the recall of the held-out pairs reaches the goal; None without any."""
        return None if self.held_out.value is None else self.held_out.value >= self.goal

    @property
    def verdict(self) -> str:
        """Whether the goal is met, in words."""
        if self.met is None:
            return "the held-out documents have no such pair, so nothing was measured; take a larger sample"
        found = f"{self.held_out.hits:,.0f} of {self.held_out.total:,.0f}, {self.held_out}"
        if self.met:
            return f"reached: found {found}"
        if self.held_out.high is not None and self.held_out.high >= self.goal:
            return f"missed, though chance may explain it: found {found}, and {self.goal:g} was the goal"
        return f"MISSED: found {found}, and {self.goal:g} was the goal"

    def yaml(self) -> str:
        """The config as YAML with comments: what was asked, weighed, predicted and measured."""
        return "\n".join([*(f"# {line}" for line in self._comments()), *self._options()]) + "\n"

    def as_mapping(self) -> dict[str, Any]:
        """Everything as plain values."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            **found,
            "config": as_mapping(self.config),
            "chosen": asdict(self.chosen),
            "candidates": [asdict(each) for each in self.candidates],
            "held_out": asdict(self.held_out),
            "met": self.met,
            "verdict": self.verdict,
        }

    def _comments(self) -> Iterator[str]:
        yield f"Tuned for {percent(self.goal)} of the pairs with a Jaccard similarity of {self.min_jaccard:g} or more."
        yield (
            f"Corpus: {self.documents:,} different texts; tuned on {self.tuning_documents:,} of them with "
            f"{self.tuning_pairs:,} such pairs,"
        )
        yield f"held out: {self.held_out_documents:,} with {self.held_out_pairs:,}; no such pair crosses."
        yield f"Recall of the held-out pairs: {self.verdict}."
        if self.predicted_recall is not None:
            yield f"Predicted for them: {self.predicted_recall:.5f}."
        yield from self.notes
        yield "Weighed:"
        for each in self.candidates:
            cost = "" if each.predicted_seconds is None else f", predicted {each.predicted_seconds:.3g} s"
            took = "" if each.seconds is None else f", measured {each.seconds:.3g} s"
            yield f"- {each.told}: expected recall {each.predicted_recall:.5f}{cost}{took}"

    def _why(self, use: str) -> str:
        if use == "simhash":
            return "sends pairs away whose fingerprints are far apart"
        if use == "minhash":
            return f"proposes some {self.chosen.predicted_candidates or 0:,.0f} pairs in the whole corpus"
        return "confirms exactly" if self.chosen.bands is not None else "finds all pairs by itself, and confirms them"

    def _options(self) -> Iterator[str]:
        given, plain = as_mapping(self.config), as_mapping(Config(stages=()))
        for name, value in given.items():
            if name == "stages":
                yield "stages:"
                for stage in self.config.stages:
                    yield f"  - {written(_changed(stage))} # {self._why(stage.use)}"
            elif value != plain[name] or name == "shingle":
                yield f"{name}: {written(value)}"


def _changed(stage: Any) -> dict[str, Any]:
    """The options of a stage that were set."""
    options = stage.model_dump(mode="json", exclude_unset=True, exclude={"name", "use", "shingle"})
    return {"use": stage.use, **options}
