"""Warnings: configs that are legal and foolish. What is illegal is refused while reading."""

from __future__ import annotations

from math import prod

from cascade.config.model import Config
from cascade.errors import CascadeError
from cascade.stage import Facts, Stage

ASSUMED_DOCUMENTS = 1_000_000
"""Corpus size where none is known: only what is `auto` depends on it."""
LEAST_RECALL = 0.9
"""A predicted recall under this is warned of."""
LEAST_FILTER_RECALL = 0.99
"""So is a SimHash stage that alone loses more than this leaves."""


def warnings(config: Config, documents: int | None = None) -> list[str]:
    """One line for each thing that is probably not meant; `documents` is the corpus size, if known."""
    found = [text for stage in config.stages for text in _unused_permutations(stage)]
    if config.stages and not any(stage.confirms for stage in config.stages):
        found.append(
            "no stage confirms: pairs are removed on the word of a sketch; "
            "end with jaccard, containment or edit_distance to check them"
        )
    found.extend(_recall(config, documents or ASSUMED_DOCUMENTS))
    return found


def recall_by_stage(config: Config, documents: int, jaccard: float) -> dict[str, float | None]:
    """For each stage, the predicted probability that it accepts a pair of this Jaccard similarity.

    None where it is not known, also where an `auto` cannot be resolved (the plan says why).
    """
    facts = Facts(documents=documents, seed=config.seed, confirm_jaccard=config.confirm_jaccard)
    recall: dict[str, float | None] = {}
    for stage in config.stages:
        try:
            recall[stage.name] = stage.bind(facts).predicted_recall(jaccard)
        except CascadeError:
            recall[stage.name] = None
    return recall


def _recall(config: Config, documents: int) -> list[str]:
    jaccard = config.recall_at
    if jaccard is None:
        confirming = [stage.name for stage in config.stages if stage.confirms]
        stating = [stage.name for stage in config.stages if hasattr(stage, "at_jaccard")]
        if stating and confirming:
            return [
                f"recall is not predictable: {', '.join(confirming)} does not test Jaccard; "
                f"state at_jaccard on {stating[-1]}, the least Jaccard that such a pair may have"
            ]
        return []
    recall = recall_by_stage(config, documents, jaccard)
    found = [
        f"{stage.name}: max_hamming {stage.max_hamming} keeps only {percent(known)} of pairs with Jaccard {jaccard:g}"
        for stage in config.stages
        if hasattr(stage, "max_hamming") and (known := recall[stage.name]) is not None and known < LEAST_FILTER_RECALL
    ]
    total = prod(known for known in recall.values() if known is not None)
    if total < LEAST_RECALL:
        shares = ", ".join(f"{name} {percent(known)}" for name, known in recall.items() if known is not None)
        remedies = [
            remedy
            for option, remedy in (
                ("bands", "more bands or fewer rows_per_band"),
                ("max_hamming", "a greater max_hamming"),
                ("min_estimate", "a lower min_estimate"),
            )
            if any(getattr(stage, option, None) is not None for stage in config.stages)
        ]
        found.append(
            f"predicted recall at Jaccard {jaccard:g} is {percent(total)} ({shares})"
            + (f": {' or '.join(remedies)} would find more" if remedies else "")
        )
    return found


def _unused_permutations(stage: Stage) -> list[str]:
    given, bands, rows = (getattr(stage, option, None) for option in ("num_perm", "bands", "rows_per_band"))
    if not (isinstance(given, int) and isinstance(bands, int) and isinstance(rows, int)):
        return []
    if given <= bands * rows or getattr(stage, "min_estimate", None) is not None:
        return []
    return [
        f"{stage.name}: {given - bands * rows} of num_perm {given} permutations serve nothing, since {bands} bands of "
        f"{rows} rows take {bands * rows}; set min_estimate, or leave num_perm out"
    ]


def percent(share: float) -> str:
    """A probability for people: three digits, and never 100 % for what is less."""
    text = f"{100 * share:.3g}"
    return "more than 99.9 %" if text == "100" and share < 1 else f"{text} %"
