"""Who enumerates, who filters, in what order: the plan as people read it."""

from __future__ import annotations

import pytest

from cascade import StageError, load_config, make_plan
from cascade.kernels.chance import at_most


def config(*stages, **more):
    return load_config({"stages": list(stages), **more})


MINHASH = {"use": "minhash", "bands": 20, "rows_per_band": 6}
JACCARD = {"use": "jaccard", "min_jaccard": 0.8}
UNPRUNED = {**JACCARD, "prune": False}
SIMHASH = {"use": "simhash", "max_hamming": 20}
NEAR = {"use": "simhash", "max_hamming": 3}
EDIT = {"use": "edit_distance"}


def order(plan):
    return [(s.stage.name, s.role) for s in plan.stages]


def test_the_first_stage_that_offers_keys_enumerates_and_the_others_filter_cheapest_first():
    assert order(make_plan(config(EDIT, SIMHASH, MINHASH, JACCARD), 1000)) == [
        ("minhash", "enumerates"), ("simhash", "filters"), ("jaccard", "filters"), ("edit_distance", "filters"),
    ]  # fmt: skip
    assert order(make_plan(config(EDIT, JACCARD, SIMHASH, MINHASH), 1000)) == [
        ("jaccard", "enumerates"), ("simhash", "filters"), ("minhash", "filters"), ("edit_distance", "filters"),
    ]  # fmt: skip
    assert order(make_plan(config(NEAR, MINHASH, JACCARD), 1000))[0] == ("simhash", "enumerates")
    assert order(make_plan(config(MINHASH, NEAR, JACCARD), 1000))[0] == ("minhash", "enumerates")


def test_predicted_recall_is_the_product_of_the_stages():
    plan = make_plan(config(SIMHASH, MINHASH, JACCARD), 1000)
    recall = {s.stage.name: plan.predicted_recall(s) for s in plan.stages}
    assert recall["minhash"] == pytest.approx(0.9977121251546806)
    assert recall["jaccard"] == 1.0
    assert plan.recall == pytest.approx(recall["minhash"] * recall["simhash"])
    assert 0.9996 < recall["simhash"] < 0.9998
    assert at_most(64, 64, 0.15) == 1


def test_without_a_jaccard_threshold_recall_is_predicted_where_a_stage_states_one():
    silent = make_plan(config(MINHASH, EDIT), 1000)
    assert silent.recall_at is None
    assert "recall is not predictable: no stage confirms a Jaccard threshold" in str(silent)
    stated = make_plan(config({**MINHASH, "at_jaccard": 0.5}, EDIT), 1000)
    assert stated.recall_at == 0.5
    assert stated.predicted_recall(stated.stages[0]) == pytest.approx(1 - (1 - 0.5**6) ** 20)
    assert stated.recall is None, "the edit distance stage says nothing of Jaccard"


def test_all_pairs_up_to_a_limit():
    assert make_plan(config(UNPRUNED), 20_000).scan
    assert make_plan(config(SIMHASH, UNPRUNED), 200_000).scan
    assert not make_plan(config(JACCARD), 10**9).scan
    with pytest.raises(StageError, match=r"up to 20,000 documents, there are 20,001; .*minhash .*simhash"):
        make_plan(config(EDIT), 20_001)
    with pytest.raises(StageError, match=r"up to 200,000 documents, there are 200,001; .*minhash"):
        make_plan(config(SIMHASH, EDIT), 200_001)


def test_auto_depends_on_the_corpus_and_is_shown_resolved():
    auto = config({"use": "minhash", "bands": "auto", "rows_per_band": "auto"}, JACCARD)
    small, large = (make_plan(auto, n) for n in (1000, 10**9))
    rows = [plan.stages[0].predicate.rows_per_band for plan in (small, large)]
    assert rows[0] < rows[1]
    assert all(plan.recall >= 0.999 for plan in (small, large))
    assert "auto" not in str(small)
    assert f"of {small.stages[0].predicate.bands} × {rows[0]}" in str(small)


def test_the_plan_as_text():
    text = str(make_plan(config(SIMHASH, {**MINHASH, "name": "bands"}, JACCARD), 50_000))
    assert text.splitlines() == [
        "plan for 50,000 documents",
        "  equal normalised texts are collapsed first",
        "  1. enumerates  bands (minhash): a shared band of 20 × 6 (120 permutations, affine32)",
        "                  20 keys per document, recall at Jaccard 0.8: 0.99771, 161 bytes per document",
        "  2. filters     simhash: at most 20 of 64 fingerprint bits differ (weights: set)",
        "                  recall at Jaccard 0.8: 0.99967, 9 bytes per document",
        "  3. filters     jaccard: exact Jaccard >= 0.8, length bound first",
        "                  recall at Jaccard 0.8: 1.00000, 4 bytes per document",
        "  predicted recall at Jaccard 0.8: 0.99739",
        "  clusters: star, keep: first, pairs: needed",
        "  174 bytes per document beside its text",
    ]
    assert str(make_plan(config(), 3)).splitlines()[2] == "  only equal texts are removed"
    assert "all 45 pairs are tried" in str(make_plan(config(EDIT), 10))
    assert "the rarest 20% of a document's shingles as keys, or fewer" in str(make_plan(config(JACCARD), 10))
