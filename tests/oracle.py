"""Slow, plain references for whole decisions. Written from the definitions, sharing no code with the product."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


def star(documents: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """keeper[d]: the first kept document before d that a confirmed pair joins to d, -1 if there is none."""
    partners: dict[int, list[int]] = {}
    for a, b in pairs:
        partners.setdefault(max(a, b), []).append(min(a, b))
    keeper = [-1] * documents
    for d in range(documents):
        kept = [p for p in partners.get(d, []) if keeper[p] < 0]
        if kept:
            keeper[d] = min(kept)
    return keeper


def components(documents: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """keeper[d]: the first document of d's connected component, -1 for that one itself. By repeated relabelling."""
    label = list(range(documents))
    pairs = list(pairs)
    changed = True
    while changed:
        changed = False
        for a, b in pairs:
            low = min(label[a], label[b])
            if label[a] != low or label[b] != low:
                label[a] = label[b] = low
                changed = True
    return [-1 if label[d] == d else label[d] for d in range(documents)]


def jaccard(a: set[object], b: set[object]) -> float:
    """|A and B| / |A or B|; 1 for two empty sets."""
    return len(a & b) / len(a | b) if a | b else 1.0


def containment(a: set[object], b: set[object]) -> float:
    """|A and B| / min(|A|, |B|); 1 where the smaller one is empty."""
    return len(a & b) / min(len(a), len(b)) if a and b else 1.0


def near_pairs(
    sets: Sequence[set[object]], similarity: Callable[[set[object], set[object]], float], least: float
) -> set[tuple[int, int]]:
    """Pairs (a < b) of non-empty sets that meet the threshold, by trying all."""
    return {
        (a, b)
        for b in range(len(sets))
        for a in range(b)
        if sets[a] and sets[b] and similarity(sets[a], sets[b]) >= least - 1e-9
    }
