"""Truth as people have labelled it: from a file of pairs or clusters to the rows of a corpus.

The file itself is read in cascade.io.labels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cascade.corpus import Corpus
from cascade.errors import InputError
from cascade.evaluate.identify import find_ids
from cascade.evaluate.truth import Truth
from cascade.io.labels import DUPLICATE, NOT, UNSURE, Labels, read_labels, shown
from cascade.pairs import Rows

MOST_PAIRS = 50_000_000
"""Pairs that clusters of a file may make."""


def labelled_truth(path: str | Path, corpus: Corpus) -> Truth:
    """The truth in a file of labelled pairs (a, b[, label]) or of clusters (id, cluster); see cascade.io.labels.

    Pairs with labels: those labelled as duplicates are, those labelled otherwise are refuted, nothing is known of all
    others. Pairs without labels: no others are duplicates. Clusters: all pairs of one cluster are duplicates, no
    others are, nor is a document that the file does not name. Equal texts are no twins unless the file says so: what
    people have labelled are documents.

    Ids are matched as find_ids does it. Raises InputError, with file and line, for an id that no document has or more
    than one, for a pair that is labelled both ways, and for clusters of more than 50 million pairs.
    """
    labels = read_labels(path)
    row = _rows(labels, corpus)
    twin_of = np.arange(len(corpus), dtype=np.int64)
    for _, group in labels.twins:
        twin_of[row[group]] = row[group].min(initial=len(corpus))
    if labels.members is not None:
        left, right = _within(row[labels.members[0]], labels.members[1], labels.name)
    else:
        left, right = twin_of[row[labels.left]], twin_of[row[labels.right]]
    lower, upper = np.minimum(left, right), np.maximum(left, right)
    label = np.ones(len(left), np.int64) if labels.label is None else labels.label
    _refuse_contradictions(labels, lower, upper, label)

    def chosen(which: int) -> tuple[Rows, Rows, Rows]:
        """The different pairs with this label, sorted, and where each stands in the file; not those of twins."""
        at = np.flatnonzero((label == which) & (lower != upper))
        _, first = np.unique(lower[at] * len(corpus) + upper[at], return_index=True)
        return lower[at[first]], upper[at[first]], at[first]

    left, right, at = chosen(DUPLICATE)
    return Truth(
        source=labels.name,
        documents=len(corpus),
        twin_of=twin_of,
        left=left,
        right=right,
        similarity=None if labels.similarity is None else labels.similarity[at],
        refuted=None if labels.label is None else chosen(NOT)[:2],
        sampled=None if labels.sampled is None else np.unique(twin_of[row[labels.sampled]]),
    )


def _rows(labels: Labels, corpus: Corpus) -> Rows:
    """The row of each id of a file. Raises InputError where one has no document, or several."""
    first, second = find_ids(labels.ids, corpus, as_text=labels.text_ids)
    unknown, several = np.flatnonzero(first < 0), np.flatnonzero(second >= 0)
    for at, found in ((unknown, "no document"), (several, "more than one document")):
        if len(at):
            place, id_ = f"{labels.name}:{labels.id_line[at[0]]}", shown(labels.ids[at[0]])
            more = f"; so it is with {len(at) - 1:,} more ids" if len(at) > 1 else ""
            where = ""
            if at is several:
                where = f" (the documents {first[at[0]] + 1:,} and {second[at[0]] + 1:,} of the input)"
            raise InputError(
                f"{place}: {found} of the input has the id {id_}{where}{more}; labels must be about ids of this "
                "input, each of one document (input.id names the field of the ids)"
            )
    return first


def _within(rows: Rows, cluster: Rows, name: str) -> tuple[Rows, Rows]:
    """All pairs of rows of one cluster."""
    order = np.lexsort((rows, cluster))
    rows, sizes = rows[order], np.bincount(cluster)
    if (pairs := int((sizes * (sizes - 1) // 2).sum())) > MOST_PAIRS:
        raise InputError(
            f"{name}: its clusters, of up to {sizes.max():,} documents, make {pairs:,} pairs, over {MOST_PAIRS:,}; "
            'write equal texts as {"twins": [id, …]} in a file of pairs, or leave the largest clusters out'
        )
    # Each member is paired with all behind it in its cluster.
    behind = np.cumsum(sizes)[cluster[order]] - np.arange(len(rows)) - 1
    right = (
        np.arange(pairs) - np.repeat(np.cumsum(behind) - behind, behind) + np.repeat(np.arange(len(rows)) + 1, behind)
    )
    return np.repeat(rows, behind), rows[right]


def _refuse_contradictions(labels: Labels, lower: Rows, upper: Rows, label: Rows) -> None:
    """Raises InputError for a pair that is labelled both ways, or is one of twins and labelled as no duplicate."""
    if labels.label is None:
        return
    for at in np.flatnonzero((label == NOT) & (lower == upper)).tolist():
        raise InputError(f"{labels.name}:{labels.line[at]}: the pair is labelled as no duplicate and listed as twins")
    order = np.lexsort((label, upper, lower))
    order = order[label[order] != UNSURE]
    a, b = order[:-1], order[1:]
    for i in np.flatnonzero((lower[a] == lower[b]) & (upper[a] == upper[b]) & (label[a] != label[b])).tolist():
        one, other = sorted((int(labels.line[a[i]]), int(labels.line[b[i]])))
        raise InputError(
            f"{labels.name}:{other}: the pair is labelled otherwise than in line {one}; leave one of the two"
        )
