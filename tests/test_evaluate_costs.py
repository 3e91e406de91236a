"""Expected recall and cost against their formulas, pair by pair, and the choices against trying all bands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import load_config, predicted_recall
from cascade.evaluate.costs import DISTANCES, MOST_PERMUTATIONS, ROWS, Choice, Profile, choices, rounded
from cascade.stage import Facts

PAIRS = [0.8, 0.81, 0.9, 0.9, 1.0]
RANDOM = [0.0] * 30 + [0.1, 0.3, 0.85]


def profile(pairs=PAIRS, random=RANDOM, documents=1000, shingles=200.0):
    weight = documents * (documents - 1) / 2 / len(random)
    return Profile(documents, shingles, rounded(np.array(pairs), 1 / len(pairs)), rounded(np.array(random), weight))


def within(bits, jaccard):
    stage = load_config({"stages": [{"use": "simhash", "max_hamming": bits}]}).stages[0]
    return stage.bind(Facts(1000)).predicted_recall(jaccard)


@given(st.integers(1, 60), st.integers(1, 12), st.sampled_from([None, 8, 16, 20]))
@settings(deadline=None, max_examples=50)
def test_recall_and_cost_pair_by_pair(bands, rows, bits):
    choice = Choice(bands, rows, bits)
    likely = [predicted_recall(j, bands, rows) * (1.0 if bits is None else within(bits, j)) for j in PAIRS]
    assert profile().recall(choice) == pytest.approx(np.mean(likely))
    each = 1000 * 999 / 2 / len(RANDOM)
    proposed = sum(predicted_recall(j, bands, rows) for j in RANDOM) * each
    compared = sum(predicted_recall(j, bands, rows) * (1.0 if bits is None else within(bits, j)) for j in RANDOM) * each
    assert profile().candidates(choice) == pytest.approx((proposed, compared))
    nanoseconds = 1000 * (200 * bands * rows * 0.1 + bands * 60) + proposed * 50 + compared * (100 + 200)
    if bits is not None:
        nanoseconds += 1000 * 200 * 1.7 + proposed * 10
    assert profile().seconds(choice) == pytest.approx(nanoseconds / 1e9)


@pytest.mark.parametrize("goal", [0.9, 0.999])
def test_choices_have_the_fewest_bands_that_reach_the_goal(goal):
    known = profile()
    found = {(c.rows_per_band, c.max_hamming): c.bands for c in choices(known, goal)}
    for bits in DISTANCES:
        for rows in ROWS:
            most = MOST_PERMUTATIONS // rows
            reachable = known.recall(Choice(most, rows, bits)) >= goal
            assert ((rows, bits) in found) == reachable
            if reachable:
                bands = found[rows, bits]
                assert known.recall(Choice(bands, rows, bits)) >= goal
                assert bands == 1 or known.recall(Choice(bands - 1, rows, bits)) < goal
    assert (1, None) in found
    assert (1, 8) not in found  # 8 bits lose most pairs of 0.8, whatever the bands


def test_rounding_keeps_the_weights():
    values, weights = rounded(np.array([0.80004, 0.8, 0.5]), 0.5)
    assert values.tolist() == [0.5, 0.8]
    assert weights.tolist() == [0.5, 1.0]
    assert [part.tolist() for part in rounded(np.empty(0), 1.0)] == [[], []]
