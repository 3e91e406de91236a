"""Ragged keys to candidate pairs, against sets: repeated keys, dead documents, keys that are core to nobody."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.buckets import bucket_candidates
from cascade.stage import Keys

keyed = st.lists(st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=8), max_size=12)


def ragged(documents, alive, with_core=True):
    values = [key for document in documents for key, _ in document]
    core = [core for document in documents for _, core in document]
    indptr = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    return Keys(np.array(values, np.uint64), np.array(alive, bool), indptr, np.array(core, bool) if with_core else None)


def pairs_of(candidates):
    found = [
        pair for arrays in candidates.among(candidates.documents()) for pair in zip(*map(list, arrays), strict=True)
    ]
    assert len(found) == len(set(found)) <= candidates.proposed()
    return set(found)


@given(documents=keyed, data=st.data())
@settings(deadline=None, max_examples=150)
def test_documents_meet_where_they_share_a_key_that_is_core_to_somebody(documents, data):
    alive = data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)))
    for with_core in (True, False):
        useful = {key for d, own in enumerate(documents) if alive[d] for key, core in own if core or not with_core}
        expected = {
            (a, b)
            for a, b in combinations(range(len(documents)), 2)
            if alive[a] and alive[b] and {k for k, _ in documents[a]} & {k for k, _ in documents[b]} & useful
        }
        assert pairs_of(bucket_candidates(ragged(documents, alive, with_core))) == expected


def test_a_document_of_very_many_keys():
    documents = [[(key, True) for key in range(200_000)], [(199_999, False)], [(-1 % 2**64, True)]]
    assert pairs_of(bucket_candidates(ragged(documents, [True] * 3))) == {(0, 1)}
