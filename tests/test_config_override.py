"""--set: what it changes, and what it refuses."""

import pytest

from cascade.config import load_config
from cascade.errors import ConfigError
from cascade.registry import shingler_class

BASE = {"shingle": {"by": "word", "n": 5}, "stages": ["minhash", {"use": "jaccard", "name": "final"}]}


def refusals(*overrides, base=BASE):
    with pytest.raises(ConfigError) as caught:
        load_config(base, overrides)
    return list(caught.value.problems)


def test_by_name_by_position_and_at_the_top():
    config = load_config(
        BASE,
        [
            "stages.minhash.bands=30",
            "stages[0].rows_per_band = 4",
            "stages.final.min_jaccard=7e-1",
            "shingle.n=3",
            "exact=no",
            "resolve.keep=max:score",
            "normalize={case: keep}",
            "normalize.digits=zero",
            "stages[1].shingle={by: char, n: 9}",
            "stages.final.shingle.n=8",
            "input.text=",
            "input.text=body",
        ],
    )
    minhash, final = config.stages
    assert (minhash.bands, minhash.rows_per_band, final.min_jaccard) == (30, 4, 0.7)
    assert (config.shingle.n, config.exact, config.resolve.keep) == (3, False, "max:score")
    assert (config.normalize.case, config.normalize.digits) == ("keep", "zero")
    assert (final.shingle.n, config.input.text) == (8, "body")


def test_the_source_is_left_as_it_was():
    before = load_config(BASE)
    assert load_config(BASE, ["shingle.n=2"]) != before
    assert load_config(BASE) == before
    assert load_config(before, ["seed=7"]).seed == 7
    assert before.seed == 0


def test_another_shingler_keeps_n_or_takes_its_defaults():
    assert load_config(BASE, ["shingle.by=cjk"]).shingle == shingler_class("cjk")(n=5)
    assert load_config(BASE, ["shingle=cjk"]).shingle == shingler_class("cjk")(n=2)


@pytest.mark.parametrize("word", ["off", "false", "no"])
@pytest.mark.parametrize("path", ["stages.minhash", "stages[0]"])
def test_a_stage_can_be_taken_out(path, word):
    assert [stage.name for stage in load_config(BASE, [f"{path}={word}"]).stages] == ["final"]


def test_shorthands_grow_into_blocks():
    config = load_config({"shingle": "char", "stages": ["minhash"]}, ["shingle.n=9", "stages.minhash.bands=3"])
    assert (config.shingle.by, config.shingle.n, config.stages[0].bands) == ("char", 9, 3)


def test_a_stage_can_be_replaced():
    (stage, _) = load_config(BASE, ["stages[0]={use: simhash, max_hamming: 3}"]).stages
    assert (stage.use, stage.max_hamming) == ("simhash", 3)


def test_names_with_dots_are_found():
    base = {"stages": ["fakes_config:Colour", {"use": "minhash", "name": "x"}]}
    assert load_config(base, ["stages.fakes_config:Colour.high=12"]).stages[0].high == 12
    base = {"stages": [{"use": "os.path:Colour"}, "jaccard"]}
    assert [s.name for s in load_config(base, ["stages.os.path:Colour=off"]).stages] == ["jaccard"]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("shingle.m=3", "--set shingle.m=3: shingle.m: unknown option; known are by, n"),
        ("shingel.n=3", "--set shingel.n=3: shingel: unknown option; did you mean shingle?"),
        ("stages.minhsh.bands=3", "--set stages.minhsh.bands=3: no stage is named minhsh; did you mean minhash?"),
        ("stages.jaccard.bands=3", "--set stages.jaccard.bands=3: no stage is named jaccard; known are final, minhash"),
        (
            "stages.minhash.bandz=3",
            "--set stages.minhash.bandz=3: stages[0].bandz: unknown option; did you mean bands?",
        ),
        (
            "stages.final.min_jaccard=80",
            "--set stages.final.min_jaccard=80: stages[1].min_jaccard: 80 is not in 0..1",
        ),
        ("stages[2].bands=3", "--set stages[2].bands=3: stages: there is no position [2]; it has 2"),
        ("stages[x].bands=3", "--set stages[x].bands=3: cannot read this path; write names"),
        ("shingle.n.m=3", "--set shingle.n.m=3: shingle.n: is 5, so it has no m"),
        ("shingle[0]=3", "--set shingle[0]=3: shingle: is a mapping, no list"),
        ("shingle.n", "--set shingle.n: expected PATH=VALUE, for example shingle.n=3"),
        ("=3", "--set =3: expected PATH=VALUE, for example shingle.n=3"),
        ("", "--set : expected PATH=VALUE, for example shingle.n=3"),
        (
            "shingle={by: word, by: char}",
            "--set shingle={by: word, by: char}: by: repeated key by",
        ),
        (
            "resolve.keep=off",
            "--set resolve.keep=off: resolve.keep: expected one of first, last, longest, shortest or max:FIELD or "
            "min:FIELD or {prefer: {field: FIELD, order: [VALUE, …]}}, found false (YAML reads `off` so; in quotes it "
            "is text)",
        ),
        ("seed=!!python/name:os.x y", "--set seed=!!python/name:os.x y: tag !!python/name:os.x is not allowed"),
    ],
)  # fmt: skip
def test_refusals(argument, message):
    assert refusals(argument)[0].startswith(message)


def test_broken_yaml_in_a_value():
    (line,) = refusals("seed=[")
    assert line.startswith("--set seed=[: not valid YAML: ")


def test_all_faults_are_told_file_first(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("stages: [{use: minhash, bandz: 2}]\nsede: 3\n")
    lines = refusals("stages.minhash.bands=x", "shingle.m=1", base=path)
    assert [line.rpartition(f"{path}")[2].split(": ")[0] for line in lines] == [
        ":1",
        ":2",
        "--set stages.minhash.bands=x",
        "--set shingle.m=1",
    ]
