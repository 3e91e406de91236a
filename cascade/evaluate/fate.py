"""What became of one document of a result, and through whom; and its text as it came."""

from __future__ import annotations

from typing import Any

import numpy as np

from cascade.api import Result
from cascade.evaluate.explanation import Fate
from cascade.evidence import partners, scores_at
from cascade.io.row import find


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


def raw_text(result: Result, row: int) -> str:
    """The text of a row as it came. Raises InputError if its file has changed meanwhile."""
    chosen = np.zeros(len(result.corpus), bool)
    chosen[row] = True
    given: Any = result.given.select(chosen)
    if isinstance(given, list):
        text = given[0] if isinstance(given[0], str) else find(given[0], result.config.input.text)
    else:
        import pyarrow as pa

        table = given if isinstance(given, pa.Table) else pa.table(given)
        text = table.column(result.config.input.text)[0].as_py()
    return str(text)
