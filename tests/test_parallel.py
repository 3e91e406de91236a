"""The fold over threads: nothing is lost or counted twice, however the items are shared out."""

from __future__ import annotations

import pytest

from cascade.parallel import fold


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_a_fold_takes_every_item_once(workers):
    started, seen = [], []

    def start():
        started.append([])
        return started[-1]

    def add(partial, item):
        partial.append(item)
        sum(range(2000))  # so that threads meet

    found = fold(start, add, lambda a, b: a + b, range(500), workers, seen.append)
    assert sorted(found) == list(range(500)) == seen
    assert 1 <= len(started) <= workers


@pytest.mark.parametrize("workers", [1, 3])
def test_a_fold_over_nothing_is_where_it_starts_and_faults_come_through(workers):
    assert fold(list, list.append, list.__add__, [], workers) == []
    with pytest.raises(ZeroDivisionError):
        fold(list, lambda partial, item: 1 // item, list.__add__, [1, 0, 1], workers)
