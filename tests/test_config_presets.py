"""The packaged presets: each loads, says what it is for and where it comes from."""

import re

import pytest

from cascade.config import load_config, preset_names
from cascade.config.presets import preset_bytes, preset_title


def test_all_are_there():
    assert preset_names() == [
        "cascade3", "cjk", "code", "default", "fineweb", "gpt3", "nemo", "news_ocr", "roots_simhash", "short_text",
        "simhash_first", "the_stack", "tutorial",
    ]  # fmt: skip


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_loads_and_quotes_its_source(name):
    text = preset_bytes(name).decode("utf-8")
    assert load_config(name).stages
    assert preset_title(name).endswith((".", ":"))
    assert "Source" in text
    assert max(map(len, text.splitlines())) <= 120
    assert not re.search(r"[ \t]+$", text, re.M)


def options(name, use):
    (stage,) = (stage for stage in load_config(name).stages if stage.use == use)
    return stage


@pytest.mark.parametrize(
    ("name", "shingle", "n", "bands", "rows"),
    [
        ("default", "word", 5, 24, 5),
        ("gpt3", "whitespace", 1, 1, 10),
        ("fineweb", "word", 5, 14, 8),
        ("the_stack", "word", 5, 25, 10),
        ("nemo", "char", 24, 20, 13),
        ("cascade3", "word", 5, 52, 3),
    ],
)  # fmt: skip
def test_the_figures_of_the_recipes(name, shingle, n, bands, rows):
    config = load_config(name)
    minhash = options(name, "minhash")
    assert (config.shingle.by, config.shingle.n, minhash.bands, minhash.rows_per_band) == (shingle, n, bands, rows)


def test_the_default_is_the_plan_of_the_documentation():
    config = load_config("default")
    assert [stage.use for stage in config.stages] == ["simhash", "minhash", "jaccard"]
    assert options("default", "simhash").max_hamming == 20
    assert config.confirm_jaccard == 0.8
    assert config.normalize == load_config({"stages": []}).normalize


def test_cascade3_finds_pairs_of_jaccard_one_half():
    from cascade.config.advice import recall_by_stage

    recall = recall_by_stage(load_config("cascade3"), 1000, 0.5)
    assert recall["simhash"] == pytest.approx(0.9995, abs=2e-4)
    assert recall["minhash"] == pytest.approx(0.9990, abs=1e-4)
    assert recall["edit_distance"] is None
