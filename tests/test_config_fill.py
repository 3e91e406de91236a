"""The filled config: complete, and equal to the one it came from."""

import pytest
import yaml
from fakes_config import Colour, Letters
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.config import Config, Input, KeepPreferred, Prefer, Resolve, load_config, preset_names
from cascade.config.fill import as_mapping
from cascade.registry import shingler_class, stage_class

minhash, simhash, jaccard, edit = map(stage_class, ("minhash", "simhash", "jaccard", "edit_distance"))


def reloaded(config, tmp_path):
    path = tmp_path / "filled.yaml"
    path.write_text(config.filled(), "utf-8")
    return load_config(path)


@pytest.mark.parametrize("name", preset_names())
def test_a_filled_preset_is_that_preset(name, tmp_path):
    config = load_config(name)
    again = reloaded(config, tmp_path)
    assert again == config
    assert again.filled() == config.filled()


def test_every_option_is_written():
    data = as_mapping(load_config({"stages": ["minhash", "jaccard"]}))
    assert list(data) == ["normalize", "shingle", "exact", "stages", "resolve", "input", "seed", "memory"]
    assert set(data["stages"][0]) == set(minhash.model_fields) - {"shingle"}
    assert data["shingle"] == {"by": "word", "n": 5}
    assert yaml.safe_load(load_config({"stages": ["jaccard"]}).filled())["stages"] == [
        {"use": "jaccard", "name": "jaccard", "min_jaccard": 0.8, "prune": "auto"}
    ]


def test_an_auto_stays_one(tmp_path):
    config = load_config({"stages": [{"use": "minhash", "bands": "auto"}, "jaccard"]})
    assert reloaded(config, tmp_path).stages[0].bands == "auto"


def test_third_parties_are_found_again(tmp_path):
    config = Config(stages=(Colour(tones=("a", "no", "1e3"), shingle=Letters(size=2)),), shingle=Letters())
    assert reloaded(config, tmp_path) == config
    assert "use: fakes_config:Colour" in config.filled()


words = st.text(min_size=1, max_size=8).filter(lambda t: t == t.encode("utf-8", "replace").decode())
tricky = st.sampled_from(
    ["no", "off", "1e3", ".8", "010", "null", "~", "<<", "=", "a: b", "# x", "y", "2001-01-01", " a "]
)
numbers = st.floats(0, 1)
stages = st.lists(
    st.one_of(
        st.builds(jaccard, min_jaccard=numbers),
        st.builds(edit, min_similarity=numbers),
        st.builds(simhash, max_hamming=st.integers(0, 64) | st.just("auto"), at_jaccard=st.just(0.7)),
        st.builds(minhash, bands=st.integers(1, 99), rows_per_band=st.integers(1, 20), at_jaccard=st.none()),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda stage: stage.use,
).map(tuple)


configs = st.builds(
    Config,
    stages=stages,
    shingle=st.builds(shingler_class("cjk"), n=st.integers(1, 9), word_n=st.integers(1, 9)),
    exact=st.booleans(),
    input=st.builds(Input, text=words | tricky, id=words | tricky),
    resolve=st.builds(
        Prefer,
        field=tricky | words,
        order=st.lists(words | tricky | st.integers() | st.booleans(), min_size=1, unique_by=lambda v: (type(v), v)),
    ).map(lambda prefer: Resolve(keep=KeepPreferred(prefer=prefer))),
    seed=st.integers(0, 2**70),
)


@settings(deadline=None)
@given(config=configs)
def test_any_config_survives_its_own_text(tmp_path_factory, config):
    again = reloaded(config, tmp_path_factory.getbasetemp())
    assert again == config
    assert list(map(type, again.resolve.keep.prefer.order)) == list(map(type, config.resolve.keep.prefer.order))
    assert load_config(as_mapping(config)) == config
