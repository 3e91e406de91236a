"""YAML files as people, editors and enemies write them."""

import time
from math import isnan
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cascade.config import load_config
from cascade.config.tree import MAX_BYTES, Problems, plain, read_bytes, reads_as_text
from cascade.errors import ConfigError

BOMB = (
    "stages: []\na: &a [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "seed: *i\n"
)
MERGE_BOMB = "stages: []\na0: &a0 {k: 1}\n" + "".join(
    f"a{i + 1}: &a{i + 1} {{<<: [{', '.join([f'*a{i}'] * 9)}], k{i}: 1}}\n" for i in range(12)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "c.yaml: empty; a config needs at least `stages:`"),
        ("# nothing\n", "c.yaml: empty; a config needs at least `stages:`"),
        (b"\xef\xbb\xbf", "c.yaml: empty; a config needs at least `stages:`"),
        ("- use: jaccard\n", "c.yaml:1: a config is a mapping with `stages:` and more, found a list"),
        ("jaccard", "c.yaml:1: a config is a mapping with `stages:` and more, found text 'jaccard'"),
        ("null", "c.yaml:1: a config is a mapping with `stages:` and more, found nothing"),
        ("stages: []\n---\nstages: []\n", "c.yaml:2:1: a second document starts here; a config is one document"),
        (
            "stages:\n\t- use: jaccard\n",
            "c.yaml:2:1: not valid YAML: while scanning for the next token, found character '\\t' that cannot start "
            "any token; indent with spaces, not with tabs",
        ),
        ("stages: [\n", "c.yaml:2:1: not valid YAML: while parsing a flow node, expected the node content, but found "
                        "'<stream end>'"),
        ("stages: []\nseed: a: b\n", "c.yaml:2:8: not valid YAML: mapping values are not allowed here"),
        ("stages: *unknown\n", "c.yaml:1:9: not valid YAML: found undefined alias 'unknown'"),
        (b"stages: []\n\nseed: \xff\n", "c.yaml:3: not UTF-8 (byte 0xff); save it as UTF-8"),
        ("stages: []\n".encode("utf-16"), "c.yaml:1: not UTF-8 (byte 0xff); save it as UTF-8"),
        ("stages: []\nseed: \x00\n", "c.yaml:2: character U+0000 is not allowed here"),
        ("# " + "x" * MAX_BYTES, f"c.yaml: {MAX_BYTES + 2:,} bytes are too many for a config; is it a data file?"),
        ("[" * 2000, "c.yaml: nested more than 30 deep"),
        ("stages: &a [*a]\n", "c.yaml:1: nested more than 30 deep, or an alias that holds itself"),
        ("stages: []\nseed: &a {<<: *a}\n", "c.yaml:2: nested more than 30 deep, or an alias that holds itself"),
        (BOMB, "c.yaml: expands to more than 10,000 values; are aliases nested?"),
        (MERGE_BOMB, "c.yaml: expands to more than 10,000 values; are aliases nested?"),
        (
            "stages: !!python/object/apply:os.system ['echo broken into']\n",
            "c.yaml:1: stages: tag !!python/object/apply:os.system is not allowed\n"
            "c.yaml:1: stages: expected a list of stages, found nothing",
        ),
        (
            "stages: []\nseed: !!python/name:os.getcwd ''\n",
            "c.yaml:2: seed: tag !!python/name:os.getcwd is not allowed; write plain YAML values\n"
            "c.yaml:2: seed: expected a whole number (at least 0), found nothing",
        ),
        ("stages: []\n? [a]\n: 1\n", "c.yaml:2: a key must be text, not a list or a mapping"),
        ("stages: []\nno: 1\n", "c.yaml:2: no: unknown option; known are exact, input, memory, normalize, resolve, "
                                "seed, shingle, stages"),
        ("stages: []\nstages: []\n", "c.yaml:2: stages: repeated key stages; it stands in line 1 already"),
        (
            "stages:\n - use: jaccard\n   min_jaccard: 0.9\n   min_jaccard: 0.5\n",
            "c.yaml:4: stages[0].min_jaccard: repeated key min_jaccard; it stands in line 3 already",
        ),
        ('{"stages": [], "stages": []}', "c.yaml:1: stages: repeated key stages; it stands in line 1 already"),
        (
            "stages: [&j {use: jaccard}, {<<: *j, name: k, <<: *j}]\n",
            "c.yaml:1: stages[1].<<: repeated key <<; it stands in line 1 already",
        ),
        ("stages: [{<<: 3, use: jaccard}]\n", "c.yaml:1: stages[0]: << merges mappings, and this is none"),
    ],
)  # fmt: skip
def test_refused_with_line_and_reason(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    start = time.monotonic()
    with pytest.raises(ConfigError) as caught:
        load_config("c.yaml")
    assert str(caught.value) == message
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "text",
    [
        "stages:\n  - {use: jaccard, min_jaccard: 0.7}\n  - {use: jaccard, min_jaccard: 0.6, name: second}\n",
        "stages:\n  - &j {use: jaccard, min_jaccard: 0.7}\n  - {<<: *j, min_jaccard: 0.6, name: second}\n",
        "stages:\n  - &j {use: jaccard, min_jaccard: 7e-1}\n  - {name: second, <<: [{min_jaccard: .6}, *j]}\n",
        '{"stages": [{"use": "jaccard", "min_jaccard": 7e-1},\n'
        ' {"use": "jaccard", "min_jaccard": 0.6, "name": "second"}]}',
        "\ufeff%YAML 1.2\n---\r\nstages:\r\n- {use: jaccard, min_jaccard: 0.7}\r\n"
        "- {use: jaccard, min_jaccard: !!float '0.6', name: !!str second}\r\n...\r\n",
    ],
)
def test_one_config_spelled_in_several_ways(text, tmp_path):
    path = tmp_path / "c.yaml"
    path.write_bytes(text.encode())
    config = load_config(path)
    assert [(s.name, s.min_jaccard) for s in config.stages] == [("jaccard", 0.7), ("second", 0.6)]


def test_an_alias_stands_for_the_same_block_twice(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("shingle: &s {by: char, n: 9}\nstages: [{use: minhash, shingle: *s}]\n")
    config = load_config(path)
    assert config.stages[0].shingle == config.shingle
    path.write_text("shingle: &s {by: char, m: 9}\nstages: [{use: minhash, shingle: *s}]\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert [p.partition("c.yaml")[2] for p in caught.value.problems] == [
        ":1: shingle.m: unknown option; known are by, n",
        ":1: stages[0].shingle.m: unknown option; known are by, n",
    ]


def test_an_escaped_pair_of_surrogates_is_one_character(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text('{"stages": [], "input": {"text": "\\ud83d\\ude00", "id": "\\ud83d"}}')
    assert load_config(path).input.model_dump() == {"text": "😀", "id": "\ufffd"}


@pytest.mark.parametrize(
    "text", ["0o7", "010", "0x", "0b_", "_1", "0b12", "1:30", "2001-01-01", "=", "y", "n", "e5", ".", "+"]
)
def test_what_other_readers_take_for_something_else_is_text(text):
    assert reads_as_text(text)
    assert plain(read_bytes(f"a: {text}\n".encode(), "c", Problems())) == {"a": text}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1_000", 1000),
        ("0x1F", 31),
        ("-0x1_0", -16),
        ("0b10", 2),
        ("+7", 7),
        ("1_0.2_5", 10.25),
        ("1_0e1", 100),
        (".5", 0.5),
    ],
)
def test_numbers_as_yaml_1_1_spells_them(text, number):
    assert not reads_as_text(text)
    assert plain(read_bytes(f"a: {text}\n".encode(), "c", Problems())) == {"a": number}


scalars = st.none() | st.booleans() | st.integers() | st.floats(-1e300, 1e300) | st.text(max_size=8)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5), trees, max_size=4))
def test_plain_data_written_as_json_reads_back(tree):
    import json

    text = json.dumps(tree)
    tree = json.loads(json.dumps(tree).encode("utf-8", "replace"))
    problems = Problems()
    assert plain(read_bytes(text.encode(), "c", problems)) == tree
    assert not problems.found


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=200)
@given(st.binary(max_size=60) | st.text(alphabet="stages: []{}&*<!-\n\t'\"#|>?,e1.", max_size=60).map(str.encode))
def test_no_bytes_crash_the_reader(data):
    path = Path("fuzz.yaml")
    problems = Problems()
    lines = ()
    try:
        read_bytes(data, str(path), problems)
        problems.raise_any()
    except ConfigError as error:
        lines = error.problems
    assert all(line.startswith("fuzz.yaml") for line in lines)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="0123456789eE.+-_:xonyesfalru~<= ", max_size=6))
def test_numbers_agree_with_yaml_where_both_take_them_for_numbers(text):
    """PyYAML as a witness: what it and we read as a decimal number is the same number."""
    try:
        other = yaml.safe_load(f"a: {text}")["a"]
    except (yaml.YAMLError, ValueError, TypeError):
        return
    problems = Problems()
    ours = plain(read_bytes(f"a: {text}\n".encode(), "c", problems))["a"]
    if isinstance(ours, float | int) and isinstance(other, float | int) and not isnan(other):
        assert ours == other
