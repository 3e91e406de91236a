"""compare, held against dedupe, exact truth and explain; its notes, its names and its errors."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pytest
from corpora import mixed, write

from cascade import ConfigError, InputError, compare, dedupe, truth
from cascade.evaluate.compare import kept_for_long, named
from cascade.evaluate.intervals import mcnemar
from cascade.evaluate.metrics import BANDS
from cascade.evaluate.plots import svg

TEXTS = mixed(150, seed=7)
WORDS = {"shingle": {"n": 2}, "stages": [{"use": "minhash"}, {"use": "jaccard", "min_jaccard": 0.6}]}
BLIND = {
    "shingle": {"n": 2},
    "stages": [{"use": "minhash", "bands": 3, "rows_per_band": 4}],
    "resolve": {"clusters": "components"},
}


@pytest.fixture(scope="module")
def found():
    return compare({"words": WORDS, "blind": BLIND}, TEXTS, "exact:0.6", rounds=0)


def test_what_each_config_does(found):
    assert found.documents == len(TEXTS)
    assert found.characters == sum(map(len, TEXTS))
    for name, config in (("words", WORDS), ("blind", BLIND)):
        mine = found[name]
        alone = dedupe(TEXTS, config)
        removed = [d.row for d in alone.removed]
        assert mine.counts == alone.counts
        assert mine.removed == len(removed)
        assert mine.characters_removed == sum(len(TEXTS[row]) for row in removed)
        sizes = Counter(d.kept_row for d in alone.removed)
        assert mine.largest_cluster == 1 + max(sizes.values())
        assert mine.config == alone.config
        assert mine.measured is None
    with pytest.raises(KeyError):
        found["neither"]
    assert found["words"].chained == 0
    assert found["words"].unmodelled == ()


def plain_pairs(config):
    """Confirmed pairs and groups of equal texts of a run."""
    result = dedupe(TEXTS, {**config, "resolve": {**config.get("resolve", {}), "pairs": "all"}})
    return set(zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True)), result.outcome.stands_for


def test_precision_and_recall_against_the_exact_truth(found):
    exact = truth(TEXTS, WORDS, min_jaccard=0.6).truth
    true = set(zip(exact.left.tolist(), exact.right.tolist(), strict=True))
    assert found.truth.pairs == len(true) > 10
    assert found.truth.twins == len(TEXTS) - len(exact.rows)
    for name, config in (("words", WORDS), ("blind", BLIND)):
        pairs, _ = plain_pairs(config)
        figures = found[name].pairs
        assert (figures.true, figures.missed, figures.wrong) == (
            len(pairs & true),
            len(true - pairs),
            len(pairs - true),
        )
    assert found["blind"].pairs.missed > 0


def test_recall_by_band_beside_what_the_models_expect(found):
    exact = truth(TEXTS, WORDS, min_jaccard=0.6).truth
    for name, config in (("words", WORDS), ("blind", BLIND)):
        pairs, _ = plain_pairs(config)
        assert [(band.low, band.high) for band in found[name].bands] == list(pairwise(BANDS))
        for band in found[name].bands:
            inside = (exact.similarity >= band.low) & ((exact.similarity < band.high) | (band.high == 1.0))
            mine = list(zip(exact.left[inside].tolist(), exact.right[inside].tolist(), strict=True))
            assert (band.recall.hits, band.recall.total) == (sum(p in pairs for p in mine), len(mine))
            if not mine:
                assert band.predicted is None
                continue
            j = exact.similarity[inside]
            model = 1 - (1 - j**5) ** 24 if name == "words" else 1 - (1 - j**4) ** 3
            assert band.predicted == pytest.approx(model.mean(), abs=1e-5)


def test_two_configs_side_by_side(found):
    (versus,) = found.versus
    assert (versus.a, versus.b) == ("words", "blind")
    gone = [{d.row for d in dedupe(TEXTS, config).removed} for config in (WORDS, BLIND)]
    both, only_a, only_b = len(gone[0] & gone[1]), len(gone[0] - gone[1]), len(gone[1] - gone[0])
    assert (versus.removed_by_both, versus.removed_only_by_a, versus.removed_only_by_b) == (both, only_a, only_b)
    assert versus.removals == mcnemar(only_a, only_b)
    exact = truth(TEXTS, WORDS, min_jaccard=0.6).truth
    true = set(zip(exact.left.tolist(), exact.right.tolist(), strict=True))
    (mine, groups), (theirs, _) = plain_pairs(WORDS), plain_pairs(BLIND)
    assert versus.found == mcnemar(len(true & mine - theirs), len(true & theirs - mine))
    twins = int((groups != np.arange(len(groups))).sum())
    assert versus.pairs_of_both == len(mine & theirs) + twins
    assert (versus.pairs_only_of_a, versus.pairs_only_of_b) == (len(mine - theirs), len(theirs - mine))
    assert {pair.rows for pair in versus.disagreements} == mine ^ theirs
    for pair in versus.disagreements:
        assert pair.duplicate == (pair.rows in true)


def test_everything_is_plain_for_json_and_can_be_drawn(found):
    plain = json.loads(orjson.dumps(found.as_mapping(), option=orjson.OPT_SERIALIZE_NUMPY))
    assert plain["configs"][0]["name"] == "words"
    assert plain["configs"][1]["pairs"]["recall"]["value"] == found["blind"].pairs.recall.value
    assert plain["timing"] == "Nothing was timed. The funnel is that of runs with pairs: all."
    shown = plain["versus"][0]["disagreements"][0]
    assert shown["texts"] == list(found.versus[0].disagreements[0].texts)
    assert {kind for kind, _ in shown["difference"]} <= {"same", "left", "right", "skipped"}
    assert svg(found.plot()).startswith("<?xml")


def test_timed_runs_give_the_funnel_as_the_config_is_written():
    texts = ["a b c d e f g h"] * 2 + [f"a b c d e f g h {i}" for i in range(9)]
    config = {"shingle": {"n": 1}, "stages": [{"use": "jaccard", "min_jaccard": 0.8}]}
    found = compare([config], texts, None, rounds=1, workers=1)
    (mine,) = found.configs
    assert mine.measured is not None
    assert len(mine.measured.runs) == 1
    assert mine.name == "A"
    assert mine.confirmed == 9 + 36  # every pair
    assert [stage.pairs_out for stage in mine.stages] == [s.pairs_out for s in mine.measured.runs[0].stages]
    assert mine.stages[0].seconds == mine.measured.stages["jaccard"]
    assert mine.stages[0].column_bytes > 0
    assert (mine.pairs, mine.clusters, mine.bands, found.truth, found.versus) == (None, None, (), None, ())
    assert "medians of 1" in found.timing
    assert svg(found.plot()).count("seconds by step") == 1


def test_files_and_a_file_of_labels(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", ["a b c", "a b c d", "x y z", "x y"])
    (tmp_path / "labels.csv").write_text("a,b,label\n0,1,duplicate\n2,3,not\n0,2,unsure\n")
    config = {"shingle": {"n": 1}, "stages": [{"use": "jaccard", "min_jaccard": 0.6}]}
    found = compare([config], path, tmp_path / "labels.csv", rounds=0)
    figures = found["A"].pairs
    assert (figures.true, figures.missed, figures.wrong) == (1, 0, 1)
    assert found["A"].clusters is None
    with pytest.raises(ConfigError, match="sample is for a truth that is computed"):
        compare([config], path, str(tmp_path / "labels.csv"), rounds=0, sample=2)


def test_a_sampled_truth_and_one_that_was_computed():
    config = {"shingle": {"n": 2}, "stages": [{"use": "jaccard", "min_jaccard": 0.7}]}
    found = compare([config, config], TEXTS, "exact:0.7", sample=40, seed=3, rounds=0, set="seed=1")
    assert found.truth.sampled == 40
    assert found["A"].pairs.recall.value == 1
    assert found["A"].clusters is None
    assert [band.predicted for band in found["A"].bands if band.recall.total] == [1.0] * sum(
        bool(band.recall.total) for band in found["A"].bands
    )
    assert "40 documents against all" in found.notes[0]
    assert found.versus[0].pairs_only_of_a == found.versus[0].pairs_only_of_b == 0
    assert found.versus[0].disagreements == ()
    whole = truth(TEXTS, config, min_jaccard=0.7)
    for given in (whole, whole.truth):
        assert compare([config], TEXTS, given, rounds=0)["A"].pairs.missed == 0
    with pytest.raises(InputError, match=r"the truth is of 150 documents, and there are 149"):
        compare([config], TEXTS[1:], whole, rounds=0)


def test_edit_similarity_as_truth():
    texts = ["one long sentence", "one long sentense", "another one"]
    config = {"stages": [{"use": "edit_distance", "min_similarity": 0.9}]}
    found = compare([config], texts, "similarity:0.9", rounds=0)
    assert (found["A"].pairs.true, found["A"].pairs.missed) == (1, 0)
    assert found["A"].unmodelled == ("edit_distance",)


def test_notes_tell_what_makes_figures_hard_to_compare():
    other = {"shingle": {"n": 1}, "stages": [{"use": "jaccard"}], "resolve": {"keep": "longest"}}
    found = compare({"words": WORDS, "other": other}, ["a b", "a b c"], "exact:0.5", rounds=0)
    assert found.notes == (
        "the truth is by the normalising and shingles of words; other has others, and is held against that",
        "keep differs (words: first, other: longest), so that other documents of the same clusters go",
    )


@pytest.mark.parametrize("texts", [[], ["only one"], ["", "…"], ["same", "same"]])
def test_next_to_nothing(texts):
    found = compare([WORDS, BLIND, "default"], texts, "exact:0.5", rounds=0)
    assert found.documents == len(texts)
    assert len(found.versus) == 3
    orjson.dumps(found.as_mapping(), option=orjson.OPT_SERIALIZE_NUMPY)


def test_names(tmp_path: Path):
    (tmp_path / "mine.yaml").write_text("stages: []\n")
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "mine.yaml").write_text("stages: []\n")
    given = [tmp_path / "mine.yaml", "default", WORDS, str(tmp_path / "again" / "mine.yaml"), "default", "default"]
    assert list(named(given)) == ["mine", "default", "C", "mine (2)", "default (2)", "default (3)"]
    assert list(named({"x": "default"})) == ["x"]
    assert list(named(WORDS)) == ["A"]
    assert list(named("default")) == ["default"]


def test_what_is_refused():
    with pytest.raises(ConfigError, match="no config to compare"):
        compare([], TEXTS)
    with pytest.raises(ConfigError, match="default reads the fields text, id and B body, id"):
        compare(["default", {"stages": [], "input": {"text": "body"}}], TEXTS)
    with pytest.raises(ConfigError, match="expected a number behind the colon"):
        compare([WORDS], TEXTS, "exact:much", rounds=0)
    with pytest.raises(InputError, match="exact"):
        compare([WORDS], TEXTS, "exact", rounds=0)
    with pytest.raises(ConfigError, match="min_jaccard is 2"):
        compare([WORDS], TEXTS, "exact:2", rounds=0)


def test_data_that_can_be_read_only_once():
    assert kept_for_long(iter(["a", "b"])) == ["a", "b"]
    table = pa.table({"text": ["a"]})
    assert kept_for_long(table) is table
    assert kept_for_long(table.to_reader()) == table
    assert kept_for_long("a.jsonl") == "a.jsonl"
    found = compare([WORDS, BLIND], (text for text in ["a b c", "a b c"]), "none", rounds=0)
    assert [each.removed for each in found.configs] == [1, 1]
