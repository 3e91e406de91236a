"""The minhash stage: documents that share a band of their MinHash signatures, and an estimate if one is asked for.

Its options, and how bands are chosen. Signatures and keys themselves are computed in cascade.kernels.minhash.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cascade.errors import StageError
from cascade.kernels import chance
from cascade.pairs import Accepted, Pairs
from cascade.stage import TOLERANCE, Batch, Columns, Corpus, Facts, Keys, Predicate, Stage, resolved

Scheme = Literal["affine32", "affine64", "oph"]

MAX_PERMUTATIONS = 4096
"""The longest signature that `auto` considers by itself, and that `oph` can have."""
LONGEST = 100_000
"""The longest signature that can be asked for: the error of an estimate is then under 0.002."""
SHINGLES, PERMUTATION_NS, KEY_NS, CANDIDATE_NS, BACKGROUND = 300, 0.1, 60.0, 200.0, 0.05


class MinHash(Stage):
    """Accepts two documents iff their MinHash signatures agree on at least one whole band (Broder 1997; banding: Indyk
    and Motwani 1998), and, with `min_estimate`, iff the share of all `num_perm` places that agree reaches it.

    A pair of Jaccard similarity J is accepted with probability 1 - (1 - J^rows_per_band)^bands. The score is the number
    of bands shared, always. Documents without shingles are never accepted.

    `auto` takes the cheapest bands × rows that reach `recall` at `at_jaccard`, or else at the threshold of the stage
    that confirms Jaccard. Cost in nanoseconds, for N documents: N · (300 shingles · permutations · 0.1 + bands · 60)
    + N²/2 · P(a pair of Jaccard 0.05 shares a band) · 200. So a larger corpus gets longer bands.
    """

    confirms = False
    use: Literal["minhash"] = "minhash"
    bands: Annotated[int, Field(ge=1, le=10_000)] | Literal["auto"] = Field(
        24, description="bands, each giving a blocking key; or auto"
    )
    rows_per_band: Annotated[int, Field(ge=1, le=1_000)] | Literal["auto"] = Field(
        5, description="signature places in a band; or auto"
    )
    num_perm: int | None = Field(
        None,
        ge=1,
        le=LONGEST,
        description="length of the signature (default: bands × rows_per_band; more serve min_estimate)",
    )
    scheme: Scheme = Field(
        "affine32",
        description="affine32: 32-bit permutations; affine64: for sets of over 10^7 shingles; oph: one permutation",
    )
    min_estimate: float | None = Field(
        None, ge=0, le=1, description="also ask that this share of all num_perm places agrees"
    )
    recall: float = Field(0.999, gt=0, lt=1, description="what auto has to reach at at_jaccard")
    at_jaccard: float | None = Field(
        None, gt=0, le=1, description="Jaccard similarity that auto is for (default: the confirming stage's threshold)"
    )

    @model_validator(mode="after")
    def _permutations_suffice(self) -> Self:
        if self.num_perm is not None:
            bands = 1 if self.bands == "auto" else self.bands
            rows = 1 if self.rows_per_band == "auto" else self.rows_per_band
            if bands * rows > self.num_perm:
                raise ValueError(
                    f"num_perm is {self.num_perm}, but {bands} bands of {rows} rows need {bands * rows} permutations; "
                    f"raise num_perm or leave it out"
                )
            _check_length(self.scheme, self.num_perm)
        elif self.bands != "auto" and self.rows_per_band != "auto":
            _check_length(self.scheme, self.bands * self.rows_per_band)
        return self

    @property
    def early(self) -> bool:
        return "auto" not in (self.bands, self.rows_per_band)

    def bind(self, facts: Facts) -> Predicate:
        """The predicate with bands and rows known. Raises StageError where `auto` cannot reach `recall`."""
        bands, rows = self.bands, self.rows_per_band
        if bands == "auto" or rows == "auto":
            bands, rows = _choose(self, facts)
        return SharedBand(self, bands, rows, facts.seed)


class SharedBand(Predicate):
    """Documents that share a band. Columns: `keys` (uint64[documents, bands]), `alive` (bool; has a shingle), and with
    `min_estimate` also `signature` (uint32, affine64: uint64 [documents, num_perm])."""

    cost = 50.0
    late = True

    def __init__(self, options: MinHash, bands: int, rows_per_band: int, seed: int) -> None:
        self.options = resolved(options, bands=bands, rows_per_band=rows_per_band)
        self.bands, self.rows_per_band, self.seed = bands, rows_per_band, seed
        self.num_perm = options.num_perm or bands * rows_per_band
        self.scheme, self.shingle = options.scheme, options.shingle
        self.matches = _matches(options.min_estimate, self.num_perm)
        self.keys_decide = self.matches is None
        self.keys_per_document = bands
        self.bytes_per_document = 8 * bands + 1
        # Permutations that nothing looks at are left out; the bins of one-permutation hashing depend on their number.
        self.computed = bands * rows_per_band
        if self.scheme == "oph" or self.matches is not None:
            self.computed = self.num_perm
        if self.matches is not None:
            self.bytes_per_document += self.num_perm * (8 if self.scheme == "affine64" else 4)

    def columns(self, batch: Batch) -> Columns:
        """Signatures of a batch and the keys of their bands."""
        from cascade.kernels import minhash

        shingles = batch.shingles(self.shingle)
        signatures = minhash.signatures(shingles.hashes, shingles.indptr, self.computed, self.scheme, self.seed)
        keys = np.empty((len(shingles), self.bands), np.uint64)
        minhash.band_keys(signatures, self.bands, self.rows_per_band, np.uint64(self.seed % 2**64), keys)
        columns: dict[str, npt.NDArray[Any]] = {"keys": keys, "alive": shingles.lengths > 0}
        if self.matches is not None:
            columns["signature"] = np.ascontiguousarray(signatures[:, : self.num_perm])
        return columns

    def keys(self, columns: Columns) -> Keys:
        """One key for each band."""
        return Keys(columns["keys"], columns["alive"])

    def filter(self, pairs: Pairs, columns: Columns, corpus: Corpus) -> Accepted:
        """Pairs that share a band and meet the estimate; score: bands shared."""
        from cascade.kernels.minhash import agreements

        shared = np.empty(len(pairs), np.int64)
        agreements(columns["keys"], columns["alive"], pairs.left, pairs.right, shared)
        accepted = shared > 0
        if self.matches is not None:
            index = np.flatnonzero(accepted)
            equal = np.empty(len(index), np.int64)
            agreements(columns["signature"], columns["alive"], pairs.left[index], pairs.right[index], equal)
            accepted[index] = equal >= self.matches
        return Accepted.where(accepted, shared.astype(np.float64))

    def predicted_recall(self, jaccard: float) -> float:
        """1 - (1 - J^r)^b; with `min_estimate` the exact probability of both, places agreeing independently."""
        return _recall(jaccard, self.bands, self.rows_per_band, self.num_perm, self.matches)

    def describe(self) -> str:
        """Bands, rows, scheme and what else is asked."""
        text = f"a shared band of {self.bands} × {self.rows_per_band} ({self.num_perm} permutations, {self.scheme})"
        return text if self.matches is None else f"{text} and at least {self.matches} of {self.num_perm} places equal"


def _check_length(scheme: str, num_perm: int) -> None:
    if scheme == "oph" and num_perm > MAX_PERMUTATIONS:
        raise ValueError(f"scheme oph takes at most {MAX_PERMUTATIONS} permutations, not {num_perm}; take affine32")
    if num_perm > LONGEST:
        raise ValueError(f"bands × rows_per_band is {num_perm}, and more than {LONGEST} permutations; take fewer")


def _matches(min_estimate: float | None, num_perm: int) -> int | None:
    """Places that must agree so that the estimate reaches min_estimate - 1e-9."""
    return None if min_estimate is None else max(0, math.ceil((min_estimate - TOLERANCE) * num_perm))


def _recall(jaccard: float, bands: int, rows: int, num_perm: int, matches: int | None) -> float:
    if matches is None:
        return chance.shared_band(jaccard, bands, rows)
    return chance.shared_band_and_estimate(jaccard, bands, rows, num_perm, matches)


def _choose(options: MinHash, facts: Facts) -> tuple[int, int]:
    """The cheapest bands and rows that reach options.recall, in a cost model that the stage's docstring states."""
    label = options.name or options.use
    target = options.at_jaccard or facts.confirm_jaccard
    if not target:
        raise StageError(
            f"{label}: auto needs the Jaccard similarity at which recall counts, and no stage confirms one; "
            f"state at_jaccard, or give numbers for bands and rows_per_band"
        )
    limit = options.num_perm or MAX_PERMUTATIONS
    best: tuple[float, int, int] | None = None
    for rows in [options.rows_per_band] if options.rows_per_band != "auto" else range(1, 65):
        choices = _choices(options, target, rows, limit)
        if best is not None and choices and _cost(options, choices[0], rows, facts.documents) >= best[0]:
            continue  # more bands would cost more still
        bands = _first(options, target, choices, rows)
        if bands is not None:
            cost = _cost(options, bands, rows, facts.documents)
            best = (cost, bands, rows) if best is None else min(best, (cost, bands, rows))
    if best is None:
        raise StageError(
            f"{label}: no choice of bands and rows_per_band with at most {limit} permutations finds pairs of Jaccard "
            f"{target:g} with probability {options.recall:g} under these options; lower recall or min_estimate, raise "
            f"num_perm, or give numbers"
        )
    return best[1], best[2]


def _reaches(options: MinHash, target: float, bands: int, rows: int) -> bool:
    num_perm = options.num_perm or bands * rows
    matches = _matches(options.min_estimate, num_perm)
    if matches is not None and chance.at_least(matches, num_perm, target) < options.recall:
        return False  # the estimate alone loses too much: spares the longer sum
    return _recall(target, bands, rows, num_perm, matches) >= options.recall


def _choices(options: MinHash, target: float, rows: int, limit: int) -> range:
    """Numbers of bands of `rows`, within `limit` permutations, that may reach the recall; fewer surely do not."""
    most = limit // rows if options.bands == "auto" else min(options.bands, limit // rows)
    if most < 1 or chance.shared_band(target, most, rows) < options.recall:
        return range(0)
    if options.bands != "auto":
        return range(options.bands, most + 1)
    agree = target**rows
    start = 1 if agree >= 1 else max(1, math.floor(math.log1p(-options.recall) / math.log1p(-agree)))
    # Without an estimate the formula is right but for rounding.
    return range(start, (most if options.min_estimate is not None else min(most, start + 2)) + 1)


def _first(options: MinHash, target: float, choices: range, rows: int) -> int | None:
    """The fewest bands of `choices` that reach the recall, if any do."""

    def reaches(bands: int) -> bool:
        return _reaches(options, target, bands, rows)

    if options.num_perm is None:
        return next(filter(reaches, choices), None)
    # In a signature of fixed length one more band never finds less: double, then halve.
    end = 1
    while end < len(choices) and not reaches(choices[end - 1]):
        end *= 2
    found = bisect_left(choices, True, hi=min(end, len(choices)), key=reaches)
    return choices[found] if found < len(choices) and reaches(choices[found]) else None


def _cost(options: MinHash, bands: int, rows: int, documents: int) -> float:
    num_perm = options.num_perm or bands * rows
    signing = documents * (SHINGLES * PERMUTATION_NS * num_perm + KEY_NS * bands)
    return signing + documents * (documents - 1) / 2 * chance.shared_band(BACKGROUND, bands, rows) * CANDIDATE_NS
