"""A sweep's grid, its front against a loop, its points against compare."""

from __future__ import annotations

import json

import orjson
import pytest
from corpora import mixed
from hypothesis import given
from hypothesis import strategies as st

from cascade import ConfigError, compare, load_config, sweep
from cascade.evaluate.plots import svg
from cascade.evaluate.sweep import combinations, pareto

TEXTS = mixed(120, seed=5)
BASE = {
    "shingle": {"n": 2},
    "stages": [{"use": "simhash", "max_hamming": 20}, {"use": "minhash"}, {"use": "jaccard", "min_jaccard": 0.5}],
}


def told(grid):
    return [(dict(settings), [stage.name for stage in config.stages]) for settings, config in grid]


def test_the_grid_in_its_order_and_without_repeats():
    vary = {"stages.minhash.rows_per_band": [4, 6], "stages.simhash.max_hamming": [8, "off"]}
    grid = list(combinations(BASE, vary, ["seed=3"]))
    assert [settings for settings, _ in grid] == [
        {"stages.minhash.rows_per_band": rows, "stages.simhash.max_hamming": bits}
        for rows in (4, 6)
        for bits in (8, "off")
    ]
    for settings, config in grid:
        assert config.seed == 3
        by_name = {stage.name: stage for stage in config.stages}
        assert by_name["minhash"].rows_per_band == settings["stages.minhash.rows_per_band"]
        if settings["stages.simhash.max_hamming"] == "off":
            assert list(by_name) == ["minhash", "jaccard"]
        else:
            assert by_name["simhash"].max_hamming == 8


def test_a_stage_that_is_off_leaves_its_other_options_out():
    vary = {"stages.simhash.max_hamming": [8, "off"], "stages.simhash.weights": ["set", "count"]}
    assert told(combinations(BASE, vary)) == [
        ({"stages.simhash.max_hamming": 8, "stages.simhash.weights": "set"}, ["simhash", "minhash", "jaccard"]),
        ({"stages.simhash.max_hamming": 8, "stages.simhash.weights": "count"}, ["simhash", "minhash", "jaccard"]),
        ({"stages.simhash.max_hamming": "off"}, ["minhash", "jaccard"]),
    ]


def test_stages_by_position_and_whole_stages_go_as_well():
    vary = {"stages[0].max_hamming": ["off"], "stages[1].bands": ["off"], "stages.jaccard": [{"use": "jaccard"}]}
    assert told(combinations(BASE, vary)) == [
        (dict(zip(vary, ("off", "off", {"use": "jaccard"}), strict=True)), ["jaccard"])
    ]
    (gone,) = told(combinations(BASE, {"stages.simhash": ["off"]}))
    assert gone == ({"stages.simhash": "off"}, ["minhash", "jaccard"])
    ten = {"stages": [{"use": "jaccard", "name": f"j{i}"} for i in range(11)]}
    off = {f"stages[{i}].min_jaccard": ["off"] for i in (2, 10, 9)}
    assert told(combinations(ten, off))[0][1] == [f"j{i}" for i in (0, 1, 3, 4, 5, 6, 7, 8)]


def test_a_name_may_hold_dots(tmp_path, monkeypatch):
    (tmp_path / "dotted").mkdir()
    (tmp_path / "dotted" / "own.py").write_text(
        "from cascade.stages.jaccard import Jaccard\nclass Own(Jaccard): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    base = {"stages": ["minhash", {"use": "dotted.own:Own", "min_jaccard": 0.5}]}
    path = "stages.dotted.own:Own.min_jaccard"
    (on, off) = combinations(base, {path: [0.7, "off"]})
    assert on[1].stages[1].min_jaccard == 0.7
    assert told([off]) == [({path: "off"}, ["minhash"])]


def test_texts_are_yaml_and_equal_configs_are_one():
    vary = {"stages.minhash.bands": ["24", 24, "auto"], "resolve.keep": ["max:score"]}
    grid = list(combinations(BASE, vary))
    assert [config.stages[1].bands for _, config in grid] == [24, "auto"]
    assert {config.resolve.keep for _, config in grid} == {"max:score"}


def test_what_a_grid_refuses():
    with pytest.raises(ConfigError, match="nothing varies"):
        list(combinations(BASE, {}))
    for values in ("4,6", []):
        with pytest.raises(ConfigError, match=r"stages\.minhash\.bands: expected a list of values"):
            list(combinations(BASE, {"stages.minhash.bands": values}))
    with pytest.raises(ConfigError, match="no stage is named minhsh; did you mean minhash"):
        list(combinations(BASE, {"stages.minhsh.bands": [4]}))
    with pytest.raises(ConfigError, match="a sweep needs a truth"):
        sweep(BASE, TEXTS, {"seed": [0, 1]}, None, rounds=0)


gains = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 0.9, 1.0]))


@given(st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0]), gains), max_size=8))
def test_the_front_against_a_loop(points):
    expected = []
    for cost, gain in points:
        beaten = gain is None
        for other_cost, other in points:
            if gain is not None and other is not None:
                no_worse = other_cost <= cost and other >= gain
                beaten |= no_worse and (other_cost, other) != (cost, gain)
        expected.append(not beaten)
    assert pareto(points) == expected
    assert any(expected) == any(gain is not None for _, gain in points)


def test_points_are_what_compare_says_of_their_configs():
    vary = {"stages.minhash.rows_per_band": [2, 12], "stages.simhash.max_hamming": [6, "off"]}
    found = sweep(BASE, TEXTS, vary, "exact:0.5", rounds=0)
    names = [f"{i}" for i in range(4)]
    compared = compare(dict(zip(names, (p.config for p in found.points), strict=True)), TEXTS, "exact:0.5", rounds=0)
    for point, each in zip(found.points, compared.configs, strict=True):
        assert (point.recall, point.precision, point.f1) == (each.pairs.recall, each.pairs.precision, each.pairs.f1)
        assert (point.confirmed, point.removed) == (each.confirmed, each.removed)
        assert point.candidates == each.stages[0].pairs_in
        assert (point.seconds, point.cost) == (None, point.candidates)
    assert found.truth == compared.truth
    assert len({point.recall.value for point in found.points}) > 1
    assert found.points[0].predicted_recall == pytest.approx(
        compared.configs[0].stages[0].predicted_recall * compared.configs[0].stages[1].predicted_recall
    )
    marks = pareto([(point.cost, point.recall.value) for point in found.points])
    assert [point.on_front for point in found.points] == marks
    assert list(found.front) == sorted((p for p in found.points if p.on_front), key=lambda p: p.candidates)
    plain = json.loads(orjson.dumps(found.as_mapping(), option=orjson.OPT_SERIALIZE_NUMPY))
    assert plain["points"][1]["settings"] == {"stages.minhash.rows_per_band": 2, "stages.simhash.max_hamming": "off"}
    assert load_config(plain["points"][1]["config"]) == found.points[1].config
    drawn = svg(found.plot())
    assert "candidate pairs" in drawn
    assert drawn == svg(found.plot())


def test_seconds_are_the_cost_where_there_are_any():
    found = sweep(
        "tutorial", ["red blue green", "red blue green yellow"], {"seed": [0]}, "exact:0.5", rounds=1, workers=1
    )
    (point,) = found.points
    assert point.cost == point.seconds > 0
    assert point.peak_bytes > 10_000_000
    assert point.on_front
    assert found.cost_name == "seconds"
    assert "medians of 1" in found.timing
    assert svg(found.plot()).count("seconds") >= 1
