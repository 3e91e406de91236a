"""Warnings: what is legal and foolish, with figures."""

import pytest

from cascade.config import Config, load_config, preset_names, warnings
from cascade.config.advice import percent, recall_by_stage
from cascade.plan import make_plan
from cascade.registry import STAGES, installed, stage_class

UNCONFIRMED = (
    "no stage confirms: pairs are removed on the word of a sketch; "
    "end with jaccard, containment or edit_distance to check them"
)


def of(*stages):
    return warnings(load_config({"stages": list(stages)}))


def test_a_sound_plan_draws_none():
    assert of({"use": "simhash", "max_hamming": 20}, "minhash", "jaccard") == []
    assert of("jaccard") == []
    assert of() == []


def test_low_recall_at_the_threshold():
    assert of({"use": "minhash", "bands": 16, "rows_per_band": 8}, {"use": "jaccard", "min_jaccard": 0.5}) == [
        "predicted recall at Jaccard 0.5 is 6.07 % (minhash 6.07 %, jaccard 100 %): "
        "more bands or fewer rows_per_band would find more"
    ]
    assert of({"use": "simhash", "max_hamming": 12}, "minhash", "jaccard")[1].endswith(
        ": more bands or fewer rows_per_band or a greater max_hamming would find more"
    )
    assert of({"use": "simhash", "max_hamming": 12}, "jaccard")[1].endswith(": a greater max_hamming would find more")
    assert of({"use": "minhash", "min_estimate": 0.8}, "jaccard")[0].endswith(
        ": more bands or fewer rows_per_band or a lower min_estimate would find more"
    )


def test_the_greatest_threshold_counts():
    stages = [{"use": "jaccard", "min_jaccard": 0.5}, {"use": "jaccard", "name": "b", "min_jaccard": 0.9}]
    assert of({"use": "minhash", "bands": 14, "rows_per_band": 8}, *stages) == []


def test_permutations_that_serve_nothing():
    minhash = {"use": "minhash", "bands": 20, "rows_per_band": 6, "num_perm": 128}
    assert of(minhash, "jaccard") == [
        "minhash: 8 of num_perm 128 permutations serve nothing, since 20 bands of 6 rows take 120; "
        "set min_estimate, or leave num_perm out"
    ]
    assert of({**minhash, "min_estimate": 0.6}, "jaccard") == []
    assert of({**minhash, "num_perm": 120}, "jaccard") == []


def test_a_tight_hamming_distance():
    found = of({"use": "simhash", "max_hamming": 12}, "minhash", "jaccard")
    assert found[0].startswith("simhash: max_hamming 12 keeps only 83.7")
    assert found[1].startswith("predicted recall at Jaccard 0.8 is 83.7")


def test_a_sketch_alone():
    assert of("minhash") == [UNCONFIRMED]
    assert of("minhash", "containment") != [UNCONFIRMED]


@pytest.mark.parametrize("confirming", ["edit_distance", "containment"])
def test_recall_that_cannot_be_predicted(confirming):
    assert of("minhash", confirming) == [
        f"recall is not predictable: {confirming} does not test Jaccard; "
        "state at_jaccard on minhash, the least Jaccard that such a pair may have"
    ]
    assert of({"use": "minhash", "bands": 52, "rows_per_band": 3, "at_jaccard": 0.5}, confirming) == []
    (line,) = of({"use": "minhash", "at_jaccard": 0.5}, confirming)
    assert line.startswith("predicted recall at Jaccard 0.5 is 53.3 % (minhash 53.3 %): ")


def test_an_auto_that_nothing_settles_has_no_recall():
    stages = stage_class("minhash")(bands="auto"), stage_class("edit_distance")()
    config = Config(stages=stages)  # load_config would refuse it
    assert recall_by_stage(config, 100, 0.8) == {"minhash": None, "edit_distance": None}
    assert warnings(config)[0].startswith("recall is not predictable")


def test_recall_is_predicted_where_the_plan_predicts_it():
    at = {"use": "minhash", "at_jaccard": 0.5}
    for stages, expected in (
        ([at, "jaccard", {"use": "jaccard", "name": "low", "min_jaccard": 0.3}], 0.8),
        ([at, {"use": "simhash", "at_jaccard": 0.6}, "edit_distance"], 0.6),
        (["minhash", "edit_distance"], None),
    ):
        config = load_config({"stages": stages})
        assert config.recall_at == make_plan(config, 1000).recall_at == expected


def test_a_third_partys_sketch_can_say_that_it_is_one():
    assert of("minhash", "fakes_config:Colour") != [UNCONFIRMED]
    assert of("minhash", "fakes_config:Guess") == [UNCONFIRMED]
    assert {name: stage_class(name).confirms for name in installed(STAGES)} == {
        "containment": True, "edit_distance": True, "jaccard": True, "minhash": False, "simhash": False,
    }  # fmt: skip


def test_percent_rounds_to_three_digits_and_never_up_to_all():
    assert [percent(share) for share in (1, 0.99999, 0.9996, 0.5, 0.00853, 0)] == [
        "100 %", "more than 99.9 %", "more than 99.9 %", "50 %", "0.853 %", "0 %",
    ]  # fmt: skip


@pytest.mark.parametrize("name", preset_names())
def test_presets_are_warned_of_only_where_their_recipe_is_so(name):
    recipes = {"fineweb", "gpt3", "nemo", "roots_simhash", "the_stack"}
    found = warnings(load_config(name), 50_000)
    if name in recipes:
        assert found == [UNCONFIRMED]
    elif name == "simhash_first":
        assert found == [
            "simhash: max_hamming 3 keeps only 0.853 % of pairs with Jaccard 0.8",
            "predicted recall at Jaccard 0.8 is 0.853 % (simhash 0.853 %, jaccard 100 %): "
            "a greater max_hamming would find more",
        ]
    else:
        assert found == []
