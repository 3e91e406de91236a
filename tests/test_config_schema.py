"""The JSON Schema that editors get."""

import json
import re
from importlib.metadata import EntryPoint

import jsonschema
import pytest
import yaml

from cascade import registry
from cascade.config import json_schema, load_config, preset_names
from cascade.config.presets import preset_bytes
from cascade.errors import ConfigError


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(json.dumps(json_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", preset_names())
def test_presets_conform_and_so_do_their_filled_texts(name, validator):
    validator.validate(yaml.safe_load(preset_bytes(name)))
    validator.validate(yaml.safe_load(load_config(name).filled()))


@pytest.mark.parametrize(
    "config",
    [
        {"stages": []},
        {"stages": ["minhash", {"use": "my.module:Stage", "depth": 3}]},
        {"stages": [{"use": "minhash", "bands": "auto", "shingle": {"by": "char", "n": 3}}], "shingle": "cjk"},
        {"stages": [], "resolve": {"keep": "max:score"}},
        {"stages": [], "resolve": {"keep": {"prefer": {"field": "a", "order": ["b", 1]}}}},
        {"stages": [], "shingle": {"by": "jieba", "segmenter": "jieba", "hmm": True}, "seed": 2**64},
        {"stages": [], "memory": "2GB"},
        {"stages": [], "memory": "1.5 GiB", "resolve": {"max_bucket": 10}},
        {"stages": [], "memory": 2**40},
    ],
)
def test_what_loads_conforms(config, validator):
    validator.validate(config)


@pytest.mark.parametrize(
    "config",
    [
        {},
        [],
        {"stages": "minhash"},
        {"stages": ["minhahs"]},
        {"stages": [{"use": "minhash", "bandz": 3}]},
        {"stages": [{"use": "minhash", "bands": "3"}]},
        {"stages": [{"use": "minhash", "bands": 0}]},
        {"stages": [{"use": "jaccard", "min_jaccard": 80}]},
        {"stages": [{"bands": 3}]},
        {"stages": [{"use": "minhash", "shingle": {"by": "word", "word_n": 3}}]},
        {"stages": [], "shingle": {"n": 3, "by": "wrod"}},
        {"stages": [], "normalize": {"case": "upper"}},
        {"stages": [], "normalise": {}},
        {"stages": [], "resolve": {"keep": "max:"}},
        {"stages": [], "resolve": {"keep": "best"}},
        {"stages": [], "seed": -1},
        {"stages": [], "memory": "2 gigs"},
        {"stages": [], "memory": 2**20},
        {"stages": [], "memory": 15e8 + 0.5},
        {"stages": [], "resolve": {"max_bucket": 0}},
        {"stages": [], "exact": "yes"},
        {"stages": [], "input": {"text": ""}},
    ],
)
def test_what_does_not_load_does_not_conform(config, validator):
    assert not validator.is_valid(config)
    if isinstance(config, dict):
        with pytest.raises(ConfigError):
            load_config(config)


def test_every_option_is_described(validator):
    definitions = validator.schema["$defs"]
    for name in registry.installed(registry.STAGES):
        options = definitions[f"stage.{name}"]["properties"]
        assert all("description" in option for key, option in options.items() if key != "use"), name


def test_references_resolve(validator):
    text = json.dumps(validator.schema)
    references = set(re.findall(r'"\$ref": "([^"]+)"', text))
    assert "#/$defs/shingle" in references
    assert {reference.removeprefix("#/$defs/") for reference in references} <= set(validator.schema["$defs"])


def test_a_broken_third_party_is_left_out(monkeypatch):
    real = registry.installed
    broken = EntryPoint("gone", "no_such_module:Gone", "cascade.stages")
    monkeypatch.setattr("cascade.config.schema.installed", lambda group: {**real(group), "gone": broken})
    definitions = json_schema()["$defs"]
    assert "stage.gone" not in definitions
    assert "stage.minhash" in definitions
