"""The truth that is asked for by a word: computed, read from a file, given, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cascade.api import Result
from cascade.errors import ConfigError, InputError
from cascade.evaluate.labelled import labelled_truth
from cascade.evaluate.truth import Truth, TruthResult, exact_truth

Asked = str | Path | Truth | TruthResult | None
"""A truth: "exact:0.8" (Jaccard), "similarity:0.9" (edits), a file of labels, one that was computed; None or "none"."""


def truth_of(
    asked: Asked, data: Any, first: Result, *, sample: int | None, seed: int, workers: int | None
) -> Truth | None:
    """The truth that was asked for. Raises ConfigError, InputError."""
    if isinstance(asked, TruthResult):
        asked = asked.truth
    if isinstance(asked, Truth):
        if asked.documents != len(first.corpus):
            raise InputError(
                f"the truth is of {asked.documents:,} documents, and there are {len(first.corpus):,}; "
                "take one of this corpus"
            )
        return asked
    if asked is None or asked == "none":
        return None
    kind, colon, number = str(asked).partition(":")
    if not colon or kind not in ("exact", "similarity") or Path(asked).exists():
        if sample is not None:
            raise ConfigError(f"sample is for a truth that is computed, such as exact:0.8, and not for {asked}")
        return labelled_truth(asked, first.corpus)
    try:
        least = float(number)
    except ValueError:
        raise ConfigError(f"truth: {asked}: expected a number behind the colon, such as {kind}:0.8") from None
    jaccard, similarity = (least, None) if kind == "exact" else (None, least)
    return exact_truth(
        data, first.config, min_jaccard=jaccard, min_similarity=similarity, sample=sample, seed=seed, workers=workers
    ).truth
