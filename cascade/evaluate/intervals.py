"""How sure a figure is: Wilson intervals of shares, also for pairs that come by sampled documents; McNemar's test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """A share hits / total with its interval. `value`, `low` and `high` are None where total is 0."""

    hits: float
    total: float
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class McNemar:
    """McNemar's test of two kinds of disagreement."""

    only_a: int
    only_b: int
    p_value: float
    test: str
    """exact or chi-square"""


def mcnemar(only_a: int, only_b: int) -> McNemar:
    """Whether `only_a` and `only_b` differ by more than chance would have it."""
    raise NotImplementedError
