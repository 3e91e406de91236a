"""The contract of stages and shinglers: what a third party implements. No stage and no algorithm lives here.

A stage is a predicate on pairs of documents. A pair is a duplicate iff every stage accepts it; therefore the order of
stages changes the cost and never the answer, and every stage must accept a pair of equal texts (unless they hold
nothing it could look at: no shingle, no character).
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, field_validator

from cascade.pairs import Accepted, Pairs
from cascade.text.buffer import Shingles, TextBuffer

TOLERANCE = 1e-9
"""A score meets a threshold when it is no further below it; bounds derived from a threshold allow it as well."""

Columns = Mapping[str, npt.NDArray[Any]]
"""Fixed-width arrays, first axis = documents. `alive` (bool), if there, says which documents may have a partner; `core`
(bool), if there, is true of one document at least in every pair that the stage accepts."""


class Options(BaseModel):
    """Base of everything that YAML fills: frozen, unknown keys refused, numbers must be numbers.

    An option of type Path is made absolute, so that it means the same file from any folder; in a config file, a
    relative one counts from the folder of that file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _absolute(cls, value: object) -> object:
        return Path(os.path.abspath(value)) if isinstance(value, Path) else value


class Shingler(Options):
    """Cuts normalised texts into shingles. The options of a shingler are its fields; YAML names it by `by:`."""

    @abstractmethod
    def shingle(self, texts: TextBuffer, seed: int) -> Shingles:
        """Hashes of all shingles of each text, in order, repeats included. `seed` must enter every hash."""

    @property
    def ngram(self) -> int | None:
        """Tokens in a full shingle, where that means something: documents with fewer are counted and warned of."""
        return None


class Batch(Protocol):
    """Some hundred documents whose arrays stay in cache; their texts are shingled once for all stages."""

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """Positions of the documents in the corpus."""

    @property
    def texts(self) -> TextBuffer:
        """Their normalised texts."""

    def shingles(self, shingler: Shingler | None = None) -> Shingles:
        """Distinct shingles of each document with counts, in order of first occurrence; None: the config's shingler."""


class Corpus(Protocol):
    """The documents that the stages see (one of each when `exact` is on), in keep order."""

    def __len__(self) -> int: ...

    def texts(self, rows: npt.NDArray[np.int64]) -> TextBuffer:
        """Normalised texts of some documents."""

    def sets(self, rows: npt.NDArray[np.int64], shingler: Shingler | None = None) -> Shingles:
        """Distinct shingles of some documents, ascending within each."""

    def overlaps(
        self,
        left: npt.NDArray[np.int64],
        right: npt.NDArray[np.int64],
        least: npt.NDArray[np.int64],
        shingler: Shingler | None = None,
    ) -> npt.NDArray[np.int64]:
        """Shingles that the documents of each pair share, or -1 where they are fewer than `least`."""


class Summary(Protocol):
    """What a first pass learns of the whole corpus. Each thread fills one of its own; then they are merged.

    However the documents are shared out, and in whatever order they come and are merged, the value is the same. A large
    one says by an attribute `nbytes` what it takes, so that no more are filled at a time than memory has room for.
    """

    def add(self, batch: Batch) -> None:
        """Takes in the documents of a batch, in place."""

    def merge(self, other: Self) -> Self:
        """Both together. May change and return either: neither is used again."""


@dataclass(frozen=True)
class Facts:
    """What a stage may know of a run before it sees a document."""

    documents: int
    """Documents that the stages see; None of the decisions may depend on it unless an option is `auto`."""
    seed: int = 0
    confirm_jaccard: float | None = None
    """The greatest Jaccard threshold that a stage of the plan confirms exactly, if one does."""
    summary: Any = None
    """What this stage's `observe` gave, filled with the corpus; None where nothing was asked for, or not yet seen."""
    device: str = "cpu"
    workers: int = 1
    """Threads that a predicate may use by itself for the pairs of one call."""
    twins: bool = False
    """Whether the documents include equal texts (`exact: false`). A first pass sees one of each in any case."""
    enumerates: bool = False
    """Whether this stage's keys are those that enumerate; known when `observe` is asked."""
    text_bytes: int | None = None
    """Bytes of the texts that a first pass sees; known when `observe` is asked."""
    candidates: int | None = None
    """Pairs that the buckets of the enumerating stage propose, one in several buckets counted in each; known when
    `observe` is asked again, for a pass over the documents in buckets only."""
    memory: int | None = None
    """Bytes that a summary may take; None: no limit is set."""


@dataclass(frozen=True)
class Keys:
    """Blocking keys: two documents can only be accepted if they share at least one.

    Fixed width: `values` is uint64[documents, tables], a key meets only keys of its own column. Variable width:
    `values` is uint64[total] with `indptr` int64[documents + 1]. `alive` (bool[documents]) tells who has keys at all.
    `core` (bool, beside ragged `values`): two documents can only be accepted if they share a key that is core to one of
    them at least; so a key that is core to nobody proposes no pair.
    """

    values: npt.NDArray[np.uint64]
    alive: npt.NDArray[np.bool_]
    indptr: npt.NDArray[np.int64] | None = None
    core: npt.NDArray[np.bool_] | None = None


class Predicate:
    """A stage bound to a corpus. A filter needs only `filter`; an enumerator also `columns` and `keys`."""

    cost: float = 1000.0
    """Nanoseconds that a candidate pair takes, roughly: cheaper filters run first."""
    keys_decide: bool = False
    """True if sharing a key is the predicate itself, not only necessary for it."""
    keys_per_document: int | str | None = None
    """Blocking keys for each document, for the plan: their number, or words; None: this predicate offers no keys."""
    bytes_per_document: int = 0
    """What its columns take for each document, for the plan."""
    prunes: bool = False
    """True if its `alive` spares the others work: its columns come first, theirs for the documents it leaves alone."""
    late: bool = False
    """True if columns cost more than shingling anew: as a filter, they are computed only for documents in pairs."""
    bounded_hamming: bool = False
    """True if a pair costs a few nanoseconds and no text, so that all pairs of a larger corpus can be tried."""

    def columns(self, batch: Batch) -> Columns:
        """Arrays kept for all documents, computed batch by batch."""
        return {}

    def keys(self, columns: Columns) -> Keys | None:
        """Blocking keys from this predicate's own columns, if it offers any."""
        return None

    def batch_keys(self, batch: Batch) -> Keys | None:
        """Ragged blocking keys of some documents, where no column of fixed width gives them. Asked of the stage that
        enumerates, batch by batch beside `columns`; then `keys` is not asked."""
        return None

    @abstractmethod
    def filter(self, pairs: Pairs, columns: Columns, corpus: Corpus) -> Accepted:
        """Which of `pairs` this stage accepts, with its score for each accepted one."""

    def scan(
        self, columns: Columns, lefts: npt.NDArray[np.int64], rights: npt.NDArray[np.int64]
    ) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Where `bounded_hamming` holds: the pairs (left, right) that this predicate does not refuse, with left from
        `lefts`, right from `rights` (rows, ascending) and left < right, each once, found without keys. They come some
        at a time, so that memory stays bounded."""
        raise NotImplementedError

    def predicted_recall(self, jaccard: float) -> float | None:
        """Probability that a pair of this Jaccard similarity is accepted; 1.0 for an exact test; None: not known."""
        return None

    def describe(self) -> str:
        """One line for the plan: what it does here, every `auto` resolved."""
        return type(self).__name__


class Stage(Options):
    """The options of a stage, which are its schema, its documentation and its defaults in one. Cheap to construct."""

    use: str = Field("", description="which stage this is")
    name: str = Field("", description="tells two stages of one kind apart; the key in scores and --set (default: use)")
    shingle: Shingler | None = Field(None, description="a shingler for this stage alone (default: the config's)")

    uses_shingles: ClassVar[bool] = True
    confirms: ClassVar[bool] = True
    """False if the predicate is about a sketch: a config of such stages alone draws a warning."""

    def observe(self, facts: Facts) -> Summary | None:
        """An empty summary, if the stage must know something of the whole corpus before it is bound: a first pass puts
        one of each text into it. A stage that wants none is asked again once `facts.candidates` are known; what it
        learns then must not change a decision."""
        return None

    @property
    def early(self) -> bool:
        """True if the predicate's columns follow from a document alone: from neither the number of documents nor, where
        `observe` wants nothing, any other document. They may then be computed while documents are read, batches being
        numbered anyhow, and without regard to any stage that prunes."""
        return False

    @property
    def confirm_jaccard(self) -> float | None:
        """The Jaccard similarity that every accepted pair surely has, if this stage tests it exactly."""
        return None

    @abstractmethod
    def bind(self, facts: Facts) -> Predicate:
        """The predicate for a corpus of which `facts` are known; resolves every `auto`."""


def resolved(stage: Stage, **values: object) -> Stage:
    """A copy of `stage` with some options replaced: how an `auto` is written down once it is known."""
    return stage.model_copy(update=values)
