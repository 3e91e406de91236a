"""The plan of a run, as a database has one: which stage enumerates, which filter, in what order, at what cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from cascade.config.model import Config
from cascade.errors import StageError
from cascade.stage import Facts, Predicate, Stage

SCAN_LIMIT = 20_000
"""Documents up to which all pairs are tried when no stage offers keys."""
CHEAP_SCAN_LIMIT = 200_000
"""The same when a test of a few nanoseconds comes first."""


@dataclass(frozen=True)
class PlannedStage:
    """A stage in its place: its options, its predicate, and whether it enumerates candidate pairs or filters them."""

    stage: Stage
    predicate: Predicate
    facts: Facts
    enumerates: bool

    @property
    def role(self) -> str:
        return "enumerates" if self.enumerates else "filters"


@dataclass(frozen=True)
class Plan:
    """Stages in the order in which they run: the enumerator first, then the filters, cheapest first."""

    config: Config
    documents: int
    stages: tuple[PlannedStage, ...]
    scan: bool
    """No stage offers keys: all pairs are tried."""

    @property
    def eager(self) -> tuple[PlannedStage, ...]:
        """Stages whose columns are computed for all documents, not only for those in pairs."""
        return tuple(s for s in self.stages if s.enumerates or not s.predicate.late)

    @property
    def recall_at(self) -> float | None:
        """The Jaccard similarity at which recall is predicted: the confirm threshold."""
        return self.config.recall_at

    def predicted_recall(self, planned: PlannedStage) -> float | None:
        """Probability that this stage accepts a pair just at the confirm threshold, where that can be known."""
        return None if self.recall_at is None else planned.predicate.predicted_recall(self.recall_at)

    @property
    def recall(self) -> float | None:
        """Predicted probability that a pair at the confirm threshold passes all stages (taken as independent)."""
        each = [self.predicted_recall(s) for s in self.stages]
        known = [r for r in each if r is not None]
        return prod(known) if self.recall_at is not None and len(known) == len(each) else None

    @property
    def bytes_per_document(self) -> int:
        """Bytes that the columns of all stages take for each document."""
        return sum(s.predicate.bytes_per_document for s in self.stages)

    def lines(self) -> list[str]:
        """The plan as text."""
        out = [f"plan for {self.documents:,} documents"]
        if self.config.exact:
            out.append("  equal normalised texts are collapsed first")
        if self.scan and self.stages:
            pairs = self.documents * (self.documents - 1) // 2
            out.append(f"  no stage offers keys: all {pairs:,} pairs are tried")
        for number, planned in enumerate(self.stages, 1):
            name = planned.stage.name
            kind = f" ({planned.stage.use})" if name != planned.stage.use else ""
            out.append(f"  {number}. {planned.role:10}  {name}{kind}: {planned.predicate.describe()}")
            out.append(f"                  {self._details(planned)}")
        recall = self.recall
        if not self.stages:
            out.append("  only equal texts are removed")
        elif self.recall_at is None:
            out.append("  recall is not predictable: no stage confirms a Jaccard threshold")
        elif recall is None:
            out.append(f"  recall at Jaccard {self.recall_at:g} is not predictable for every stage")
        else:
            out.append(f"  predicted recall at Jaccard {self.recall_at:g}: {recall:.5f}")
        resolve = self.config.resolve
        keep = resolve.keep if isinstance(resolve.keep, str) else f"prefer {resolve.keep.prefer.field}"
        out.append(f"  clusters: {resolve.clusters}, keep: {keep}, pairs: {resolve.pairs}")
        out.append(f"  {self.bytes_per_document:,} bytes per document beside its text")
        return out

    def _details(self, planned: PlannedStage) -> str:
        predicate = planned.predicate
        parts = []
        if planned.enumerates and predicate.keys_per_document is not None:
            number = predicate.keys_per_document
            parts.append(f"{number} keys per document" if isinstance(number, int) else number)
        recall = self.predicted_recall(planned)
        if self.recall_at is not None:
            shown = "not predictable" if recall is None else f"{recall:.5f}"
            parts.append(f"recall at Jaccard {self.recall_at:g}: {shown}")
        parts.append(f"{predicate.bytes_per_document} bytes per document")
        return ", ".join(parts)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def make_plan(
    config: Config,
    documents: int,
    *,
    summaries: Mapping[str, object] | None = None,
    device: str = "cpu",
    workers: int = 1,
) -> Plan:
    """Binds every stage and decides who enumerates: the first, in the config's order, that offers keys.

    `summaries` holds, by stage name, what `observe` gave. Raises StageError where no stage offers keys and there are
    too many documents for all pairs.
    """
    confirm = config.confirm_jaccard
    bound: list[tuple[Stage, Predicate, Facts]] = []
    for stage in config.stages:
        summary = (summaries or {}).get(stage.name)
        facts = Facts(documents, config.seed, confirm, summary, device, workers, twins=not config.exact)
        bound.append((stage, stage.bind(facts), facts))
    first = next((i for i, (_, p, _) in enumerate(bound) if p.keys_per_document is not None), None)
    filters = sorted((i for i in range(len(bound)) if i != first), key=lambda i: bound[i][1].cost)
    order = ([] if first is None else [first]) + filters
    stages = tuple(PlannedStage(*bound[i], enumerates=i == first) for i in order)
    scan = first is None and bool(stages)
    if scan:
        _check_scan(documents, stages)
    return Plan(config, documents, stages, scan)


def rebind(plan: Plan, summaries: Mapping[str, object]) -> Plan:
    """The same plan, in which some stages have observed all documents that can be in a pair."""
    stages = []
    for planned in plan.stages:
        if planned.stage.name in summaries:
            facts = replace(planned.facts, summary=summaries[planned.stage.name], twins=False)
            stages.append(replace(planned, facts=facts, predicate=planned.stage.bind(facts)))
        else:
            stages.append(planned)
    return replace(plan, stages=tuple(stages))


def _check_scan(documents: int, stages: tuple[PlannedStage, ...]) -> None:
    cheap = any(s.predicate.bounded_hamming for s in stages)
    limit = CHEAP_SCAN_LIMIT if cheap else SCAN_LIMIT
    if documents <= limit:
        return
    advice = "minhash (bands: 24, rows_per_band: 5) before the others, or jaccard without prune: false"
    if not cheap and documents <= CHEAP_SCAN_LIMIT:
        advice += f", or simhash (max_hamming: 20), with which all pairs are tried up to {CHEAP_SCAN_LIMIT:,} documents"
    raise StageError(
        f"no stage offers blocking keys, so all pairs would be compared: possible up to {limit:,} documents, "
        f"there are {documents:,}; add a stage that offers keys: {advice}"
    )
