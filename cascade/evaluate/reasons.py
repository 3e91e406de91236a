"""The sentence that answers "why was this removed" and "why was this missed". It puts into words what others found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cascade.evaluate.explanation import Candidate, Fate, Side, StageVerdict

SHOWN = 5
"""Documents of a chain that are named, and the last."""


def sentence(
    a: Side, b: Side, equal: bool, candidate: Candidate, stages: tuple[StageVerdict, ...], components: bool
) -> str:
    """Why one of two documents was removed, or neither.

    `equal`: their normalised texts are equal and were collapsed before any stage; `components`: of clusters.
    """
    pair = _pair(candidate, stages)
    confirmed = candidate.met and all(verdict.accepted for verdict in stages)
    if a.fate is None or b.fate is None:
        if equal:
            return "These are duplicates: their normalised texts are equal."
        return f"These are {'' if confirmed else 'no '}duplicates: {pair}."
    own = _pair(candidate, stages, "their own pair")
    one, other, fates = named(a.id), named(b.id), (a.fate, b.fate)
    for gone, name, partner in ((a.fate, one, b), (b.fate, other, a)):
        if gone.kept_row == partner.row:
            why = "their normalised texts are equal" if gone.reason == "exact" else pair
            return f"{name} was removed for {named(partner.id)}{_chain(gone)}: {why}."
    if equal:
        return (
            f"{one} and {other} have equal normalised texts and were judged as one; "
            f"both were removed for {named(a.fate.kept_id)}, {_why(a.fate)}."
        )
    if a.fate.kept and b.fate.kept:
        return f"Both were kept: {pair}."
    if a.fate.kept_row == b.fate.kept_row:
        rest = ", but a removed document removes nobody" if confirmed and not components else ""
        return (
            f"Both were removed for {named(a.fate.kept_id)}: {one} {_why(a.fate)}, {other} {_why(b.fate)}; {own}{rest}."
        )
    if not any(fate.kept for fate in fates):
        rest = ", but a removed document removes nobody" if confirmed else ""
        return f"{one} was {_removed(a.fate)}, and {other} {_removed(b.fate)}; {own}{rest}."
    gone, name, stays = (a.fate, one, other) if b.fate.kept else (b.fate, other, one)
    rest = f", but {named(gone.kept_id)} comes first in keep order" if confirmed else ""
    return f"{name} was {_removed(gone)}, not for {stays}, which was kept; {own}{rest}."


def _chain(fate: Fate) -> str:
    """The way from a removed document to the kept one, where it is no direct one."""
    if len(fate.path) <= 2:
        return ""
    steps = [*fate.path[:SHOWN], "…", fate.path[-1]] if len(fate.path) > SHOWN + 1 else fate.path
    return f" through a chain of confirmed pairs ({' - '.join(s if s == '…' else named(s) for s in steps)})"


def _removed(fate: Fate) -> str:
    return f"removed for {named(fate.kept_id)} ({_why(fate)})"


def _why(fate: Fate) -> str:
    if fate.reason == "exact":
        return "whose normalised text is the same"
    through = f" through {named(fate.path[1])}" if len(fate.path) > 2 else ""
    return f"by {said(fate.scores)}{through}"


def _pair(candidate: Candidate, stages: tuple[StageVerdict, ...], pair: str = "the pair") -> str:
    """What is to be said of the pair itself."""
    refused = [verdict for verdict in stages if not verdict.accepted]
    if candidate.met:
        if not refused:
            return f"every stage accepts {pair} ({said({v.name: v.score for v in stages if v.score is not None})})"
        return "; ".join(_refusal(verdict, pair) for verdict in refused)
    by = next((v for v in stages if v.name == candidate.by), None)
    chance = ""
    if by is not None and by.keys is not None and not by.keys.shared and by.keys.tables and by.predicted_recall:
        chance = f" (probability of one at Jaccard {by.jaccard:.3f}: {percent(by.predicted_recall)})"
    # Who proposes pairs by its keys alone has nothing to add.
    others = [v for v in refused if v is not by or v.score is not None]
    rest = "".join(f"; {_refusal(v, 'it too')}" for v in others)
    if not others and len(stages) > 1:
        rest = "; all other stages would have accepted it"
    return f"{pair} was no candidate, {candidate.how}{chance}{rest}"


def _refusal(verdict: StageVerdict, pair: str) -> str:
    """Which stage refused, by what figure."""
    if verdict.score is not None:
        for option, limit in verdict.thresholds.items():
            low = option.startswith("min_")
            if (verdict.score < limit) if low else (verdict.score > limit):
                score, threshold = apart(verdict.score, limit)
                return f"{verdict.name} refuses {pair}, {score} {'<' if low else '>'} {option} {threshold}"
    if verdict.keys is not None and not verdict.keys.shared and verdict.keys.tables is not None:
        return f"{verdict.name} refuses {pair}, no shared {verdict.keys.unit} of {verdict.keys.tables:,}"
    return f"{verdict.name} refuses {pair}" + (
        "" if verdict.score is None else f", its score being {verdict.score:.4g}"
    )


def apart(score: float, limit: float) -> tuple[str, str]:
    """Two different numbers with as few digits as tell them apart."""
    for digits in range(3, 17):
        one, other = f"{score:.{digits}g}", f"{limit:.{digits}g}"
        if one != other:
            return one, f"{limit:g}" if float(f"{limit:g}") == limit else other
    return repr(score), repr(limit)


def said(scores: Mapping[str, float]) -> str:
    """Scores by the names of their stages."""
    return ", ".join(f"{name} {score:.4g}" for name, score in scores.items()) or "no stage"


def percent(share: float) -> str:
    """A probability for people."""
    if 0 < share < 0.0001:
        return "under 0.01 %"
    if 0.9999 < share < 1:
        return "over 99.99 %"
    return f"{100 * share:.3g} %"


def named(id_: Any) -> str:
    """An id as it is written: 3 and "3" differ."""
    return json.dumps(id_, ensure_ascii=False)
