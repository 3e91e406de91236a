"""cascade as a library: `dedupe` takes texts, rows, tables, frames or paths, and says what was decided and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cascade.config import Config, load_config
from cascade.corpus import Corpus
from cascade.early import early_columns
from cascade.evidence import partners, scores_at
from cascade.given import Given, given_by
from cascade.io.documents import Rejected
from cascade.memory import memory_for
from cascade.pairs import Pairs
from cascade.parallel import available_workers
from cascade.pipeline import deduplicate
from cascade.progress import Progress, Silent
from cascade.result import Decision, Outcome, StageReport

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Result:
    """What `dedupe` found. Rows are positions in what was given, starting at 0 (for paths: among the usable rows)."""

    config: Config
    outcome: Outcome
    corpus: Corpus
    rejected: tuple[Rejected, ...]
    given: Given

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={number}" for name, number in self.counts.items())
        return f"Result({counts})"

    @cached_property
    def kept_rows(self) -> list[int]:
        """Positions of the kept documents."""
        rows: list[int] = self.given.position[self.outcome.kept].tolist()
        return rows

    @cached_property
    def kept(self) -> Any:
        """The kept part of what was given, in its order and of its kind: list, table, frame; for paths, rows."""
        return self.given.select(self.outcome.kept)

    @cached_property
    def removed(self) -> list[Decision]:
        """Why each removed document was removed, in input order."""
        return list(self._decisions())

    @property
    def pairs(self) -> Pairs:
        """Confirmed pairs, by row: with `pairs: needed` those that had to be looked at, with `pairs: all` every one."""
        pairs = self.outcome.pairs
        return Pairs(self.given.position[pairs.left], self.given.position[pairs.right], pairs.scores)

    @property
    def stages(self) -> tuple[StageReport, ...]:
        """The funnel: pairs in and out, seconds and predicted recall by stage."""
        return self.outcome.stages

    @property
    def counts(self) -> dict[str, int]:
        """Documents: read = kept + removed_exact + removed_near + rejected."""
        return self.outcome.counts(len(self.rejected))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is legal but deserves a second look."""
        return self.outcome.warnings

    def id_of(self, row: int) -> Any:
        """The id of a document, by its number in the corpus."""
        return json.loads(self.corpus.ids[row])

    def _decisions(self) -> Iterator[Decision]:
        components = self.config.resolve.clusters == "components"
        rows = np.flatnonzero(self.outcome.keeper >= 0)
        for row, scores in zip(rows.tolist(), scores_at(self.outcome, self.outcome.via[rows]), strict=True):
            keeper, exact = int(self.outcome.keeper[row]), bool(self.outcome.exact[row])
            via = None
            if components and not exact:
                (partner,) = partners(self.outcome, np.array([row]))
                via = (self.id_of(partner), self.id_of(row))
            yield Decision(
                id=self.id_of(row),
                kept_id=self.id_of(keeper),
                reason="exact" if exact else "near",
                scores=scores,
                via=via,
                row=int(self.given.position[row]),
                kept_row=int(self.given.position[keeper]),
            )

    def to_table(self) -> pa.Table:
        """One row for each document: row, id (as text), kept, kept_id, kept_row, reason, a column for each score.

        A stage whose name is one of these has its score in NAME_score.
        """
        import pyarrow as pa

        outcome = self.outcome
        ids = pa.array([str(self.id_of(row)) for row in range(len(self.corpus))], pa.string())
        keeper = pa.array(outcome.keeper, mask=outcome.kept)
        reason = np.where(outcome.exact, "exact", "near")
        columns = {
            "row": pa.array(self.given.position),
            "id": ids,
            "kept": pa.array(outcome.kept),
            "kept_id": ids.take(keeper),
            "kept_row": pa.array(self.given.position).take(keeper),
            "reason": pa.array(reason, mask=outcome.kept),
        }
        for name, scores in outcome.pairs.scores.items():
            columns[f"{name}_score" if name in columns else name] = pa.array(scores).take(
                pa.array(outcome.via, mask=outcome.via < 0)
            )
        return pa.table(columns)


def dedupe(
    data: Any,
    config: str | Path | Mapping[str, Any] | Config = "default",
    *,
    set: str | Sequence[str] = (),
    workers: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Finds near-duplicates in `data` and says which documents to keep.

    `data`: an iterable of texts or of mappings (`input.text` and `input.id` name their fields), a pyarrow Table, a
    pandas or polars frame (anything with the Arrow C stream), or one or several paths (a str alone, or pathlib.Path).
    `config`: a YAML file, the name of a preset, a mapping or a Config; `set` holds overrides such as
    "stages.minhash.bands=24".
    Nothing is written, but what exceeds the config's `memory` lies in nameless files in the system's folder for
    temporary files, while the result lives. Raises ConfigError, InputError, OutputError, StageError.
    """
    loaded = load_config(config, [set] if isinstance(set, str) else set)
    memory = memory_for(loaded.memory)
    workers = memory.threads(workers or available_workers())
    progress = progress or Silent()
    early = early_columns(loaded, memory)
    given, corpus, rejected = given_by(data, loaded, workers, progress, memory, early)
    outcome = deduplicate(corpus, loaded, workers=workers, progress=progress, memory=memory, early=early)
    return Result(loaded, outcome, corpus, tuple(rejected), given)
