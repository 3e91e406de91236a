"""What became of one document of a result, and through whom; and texts as they came."""

from __future__ import annotations

import numpy as np

from cascade.api import Result
from cascade.evaluate.explanation import Fate
from cascade.evidence import partners, scores_at
from cascade.io.row import find
from cascade.pairs import Rows


def fate_of(result: Result, row: int) -> Fate:
    """What was decided about a row of the corpus."""
    outcome = result.outcome
    stands_for = int(outcome.stands_for[row])
    twin = None if stands_for == row else result.id_of(stands_for)
    keeper = int(outcome.keeper[row])
    if keeper < 0:
        return Fate(kept=True)
    exact = bool(outcome.exact[row])
    path = [row]
    while not exact and path[-1] != keeper:
        # With star the partner is the kept one; with components it leads one step towards it.
        (partner,) = partners(outcome, np.array([path[-1]])).tolist()
        path.append(partner)
    if exact:
        path.append(keeper)
    (scores,) = scores_at(outcome, outcome.via[[row]])
    return Fate(
        kept=False,
        kept_id=result.id_of(keeper),
        kept_row=int(result.given.position[keeper]),
        reason="exact" if exact else "near",
        scores=scores,
        path=tuple(result.id_of(step) for step in path),
        twin_of=twin,
    )


def raw_texts(result: Result, rows: Rows) -> dict[int, str]:
    """The texts of some documents as they came (rows ascending, no row twice), by row.

    Raises InputError if a file has changed meanwhile.
    """
    wanted = np.zeros(len(result.corpus), bool)
    wanted[rows] = True
    given, name = result.given.select(wanted), result.config.input.text
    if hasattr(given, "columns"):  # a table or a frame
        column = given[name]
        texts = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    else:
        texts = [row if isinstance(row, str) else find(row, name) for row in given]
    return dict(zip(rows.tolist(), texts, strict=True))
