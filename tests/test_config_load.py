"""load_config: what it accepts, and the full text of every refusal."""

import math
from pathlib import Path

import numpy as np
import pytest
from fakes_config import Colour, Letters
from pydantic import ValidationError

from cascade.config import Config, KeepPreferred, load_config
from cascade.errors import ConfigError
from cascade.registry import shingler_class, stage_class

HERE = "fakes_config"


def problems(text, tmp_path, monkeypatch, *overrides):
    """What is wrong with a file c.yaml of this text, its name left out."""
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        load_config("c.yaml", overrides)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return [line.removeprefix("c.yaml") for line in caught.value.problems]


@pytest.fixture
def refused(tmp_path, monkeypatch):
    return lambda text, *overrides: problems(text, tmp_path, monkeypatch, *overrides)


def test_defaults_are_those_of_the_contract():
    config = load_config({"stages": []})
    assert config.normalize.model_dump() == {
        "unicode": "NFKC",
        "case": "fold",
        "whitespace": "collapse",
        "punctuation": "keep",
        "digits": "keep",
    }
    assert config.shingle == shingler_class("word")(n=5)
    assert (config.exact, config.stages, config.seed, config.memory) == (True, (), 0, "auto")
    assert config.resolve.model_dump() == {"clusters": "star", "keep": "first", "pairs": "needed", "max_bucket": None}
    assert config.input.model_dump() == {"text": "text", "id": "id"}


def test_stages_are_instances_of_their_classes():
    config = load_config({"stages": [{"use": "minhash", "bands": 20}, "jaccard"], "shingle": {"by": "char", "n": 7}})
    assert config.stages == (
        stage_class("minhash")(name="minhash", bands=20),
        stage_class("jaccard")(name="jaccard"),
    )
    assert config.shingle == shingler_class("char")(n=7)
    assert config.confirm_jaccard == 0.8


def test_a_third_partys_stage_and_shingler_are_found_by_class_path():
    config = load_config(
        {
            "stages": [{"use": f"{HERE}:Colour", "tones": ["red"], "shingle": {"by": f"{HERE}:Letters", "size": 2}}],
            "shingle": f"{HERE}:Letters",
        }
    )
    (stage,) = config.stages
    assert type(stage) is Colour
    assert (stage.use, stage.name, stage.tones) == (f"{HERE}:Colour", f"{HERE}:Colour", ("red",))
    assert stage.shingle == Letters(size=2)
    assert config.shingle == Letters()
    assert load_config({"stages": [Colour()], "shingle": Letters(size=3)}).shingle == Letters(size=3)


def test_everything_wrong_is_told_at_once_in_the_order_of_the_file(refused):
    text = """\
shingle: {by: wrod, n: 5}
stages:
  - {use: simhash, max_hamming: 80}
  - use: minhash
    bandz: 3
    rows_per_band: "5"
    shingle: {n: 3}
  - use: jacard
  - use: jaccard
    min_jacard: 0.7
    min_jaccard: 1.5
normalize: {case: no, unicde: NFC, digits: zer}
resolve: {clusters: strr, keep: longets}
resolv: 3
input: {text: on}
seed: -1
exact: maybe
"""
    assert refused(text) == [
        ":1: shingle.by: unknown shingler 'wrod'; did you mean word? installed are: char, cjk, jieba, whitespace, "
        "word; or give module:Class",
        ":3: stages[0].max_hamming: 80 is not in 0..64 (or auto)",
        ":5: stages[1].bandz: unknown option; did you mean bands?",
        ":6: stages[1].rows_per_band: expected a whole number in 1..1000 or auto, found text '5'; "
        "write it without quotes",
        ":7: stages[1].shingle.by: missing; name a shingler, for example word",
        ":8: stages[2].use: unknown stage 'jacard'; did you mean jaccard? installed are: containment, edit_distance, "
        "jaccard, minhash, simhash; or give module:Class",
        ":10: stages[3].min_jacard: unknown option; did you mean min_jaccard?",
        ":11: stages[3].min_jaccard: 1.5 is not in 0..1",
        ":12: normalize.case: expected one of fold, lower, keep, found false "
        "(YAML reads `no` so; in quotes it is text)",
        ":12: normalize.unicde: unknown option; did you mean unicode?",
        ":12: normalize.digits: expected one of keep, zero, found text 'zer'; did you mean zero?",
        ":13: resolve.clusters: expected one of star, components, found text 'strr'; did you mean star?",
        ":13: resolve.keep: expected one of first, last, longest, shortest or max:FIELD or min:FIELD or "
        "{prefer: {field: FIELD, order: [VALUE, …]}}, found text 'longets'; did you mean longest?",
        ":14: resolv: unknown option; did you mean resolve?",
        ":15: input.text: expected text, found true (YAML reads `on` so; in quotes it is text)",
        ":16: seed: -1 is not at least 0",
        ":17: exact: expected true or false, found text 'maybe'",
    ]


def test_quoted_numbers_are_told_beside_everything_else(refused):
    number = "expected a whole number in 1..10000 or auto, found text '24'; write it without quotes"
    assert refused('stages: [{use: minhash, bands: "24", rows_per_band: 0}]') == [
        f":1: stages[0].bands: {number}",
        ":1: stages[0].rows_per_band: 0 is not in 1..1000 (or auto)",
    ]
    assert refused('stages: [{use: minhash, bands: "24", num_perm: 10}]\nseed: "7"\nexact: 1\nsede: 1\n') == [
        ":1: stages[0]: num_perm is 10, but 24 bands of 5 rows need 120 permutations; raise num_perm or leave it out",
        f":1: stages[0].bands: {number}",
        ":2: seed: expected a whole number (at least 0), found text '7'; write it without quotes",
        ":3: exact: expected true or false, found 1",
        ":4: sede: unknown option; did you mean seed?",
    ]
    assert refused(
        'stages: [{use: "fakes_config:Colour", low: "9", high: 2, sizes: [1, "2"], inner: {width: "1"}}]'
    ) == [
        ":1: stages[0]: low 9 is greater than high 2",
        ":1: stages[0].low: expected a whole number, found text '9'; write it without quotes",
        ":1: stages[0].sizes[1]: expected a whole number, found text '2'; write it without quotes",
        ":1: stages[0].inner.width: expected a whole number, found text '1'; write it without quotes",
    ]


@pytest.mark.parametrize("spelled", ["0.8", ".8", "8e-1", "8.0E-1", "+.8", "0.80"])
def test_a_number_is_a_number_however_it_is_spelled(spelled, tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(f"stages: [{{use: jaccard, min_jaccard: {spelled}}}]\nseed: 1e3\n")
    config = load_config(path)
    assert config.stages[0].min_jaccard == 0.8
    assert (config.seed, type(config.seed)) == (1000, int)


@pytest.mark.parametrize(
    ("spelled", "found"),
    [
        (".nan", ".nan"),
        (".NaN", ".NaN"),
        (".inf", ".inf"),
        ("-.Inf", "-.Inf"),
        ("nan", "text 'nan'"),
        ("inf", "text 'inf'"),
        ("1e999", "1e999"),
        ("'0.8'", "text '0.8'; write it without quotes"),
        ("high", "text 'high'"),
        ("true", "true"),
        ("yes", "true (YAML reads `yes` so; in quotes it is text)"),
        ("0,8", "text '0,8'"),
        ("80%", "text '80%'"),
        ("010", "text '010'"),
        ("1:30", "text '1:30'"),
        ("", "nothing"),
        ("~", "nothing"),
        ("[0.8]", "a list"),
        ("{a: 1}", "a mapping"),
        ("2001-01-01", "text '2001-01-01'"),
    ],
)
def test_what_is_no_number_is_refused_at_its_path(spelled, found, refused):
    text = f"stages:\n  - use: jaccard\n    min_jaccard: {spelled}\n"
    assert refused(text) == [f":3: stages[0].min_jaccard: expected a number in 0..1, found {found}"]


@pytest.mark.parametrize(("option", "line"), [
    ("bands: 2.5", "expected a whole number in 1..10000 or auto, found 2.5"),
    ("bands: true", "expected a whole number in 1..10000 or auto, found true"),
    ("bands: 0", "0 is not in 1..10000 (or auto)"),
    ("bands: atuo", "expected a whole number in 1..10000 or auto, found text 'atuo'; did you mean auto?"),
])  # fmt: skip
def test_whole_numbers(option, line, refused):
    assert refused(f"stages: [{{use: minhash, {option}}}]") == [f":1: stages[0].bands: {line}"]


@pytest.mark.parametrize(
    ("block", "option"),
    [
        ("use: minhash\n    bands: auto", "bands: auto needs"),
        ("use: minhash\n    rows_per_band: auto", "rows_per_band: auto needs"),
        ("use: minhash\n    rows_per_band: auto\n    name: m", "rows_per_band: auto needs"),
        ("use: simhash\n    max_hamming: auto", "max_hamming: auto needs"),
        ("use: simhash\n    max_hamming: auto\n    at_jaccard: 0.5\n    weights: idf", "max_hamming: auto has a model"),
        ("use: minhash\n    bands: auto\n    at_jaccard: 0.5\n    num_perm: 8", "bands: no choice of bands"),
    ],
)
def test_an_auto_that_nothing_settles_is_a_fault_of_its_line(block, option, refused):
    first, second = refused(f"stages:\n  - {block}\n  - edit_distance\nsede: 1\n")
    assert first.startswith(f":3: stages[0].{option} ")
    assert second.endswith(": sede: unknown option; did you mean seed?")


def test_an_auto_is_a_fault_only_if_no_number_of_documents_settles_it():
    for wanted in (1_000, 1_000_000):
        assert load_config({"stages": [{"use": f"{HERE}:Choosy", "size": "auto", "wanted": wanted}]})
    with pytest.raises(ConfigError) as caught:
        load_config({"stages": [{"use": f"{HERE}:Choosy", "size": "auto", "wanted": 3}]})
    assert caught.value.problems == ("stages[0].size: 1000000 documents are not 3",)
    assert load_config({"stages": [{"use": f"{HERE}:Choosy", "size": 5, "wanted": 3}]}), "no auto, so not tried"
    assert load_config({"stages": [{"use": f"{HERE}:Choosy", "size": "auto"}]}), "other errors are for the run"


def test_whole_floats_are_whole_numbers():
    assert load_config({"stages": [{"use": "minhash", "bands": np.int64(7)}], "seed": np.uint8(3)}).seed == 3


@pytest.mark.parametrize("bad", [math.nan, math.inf, "0.8", True, None, 10**400, {}, [0.8]])
def test_a_mapping_is_held_to_the_same_rules(bad):
    with pytest.raises(ConfigError) as caught:
        load_config({"stages": [{"use": "jaccard", "min_jaccard": bad}]})
    (line,) = caught.value.problems
    assert line.startswith("stages[0].min_jaccard: ")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({}, ["stages: missing; give a list of stages ([] removes exact copies only)"]),
        ({"stages": "minhash"}, ["stages: expected a list of stages, found text 'minhash'"]),
        ({"stages": None}, ["stages: expected a list of stages, found nothing"]),
        ({"stages": [3]}, ["stages[0]: expected a mapping with `use:`, found 3"]),
        ({"stages": [{}]}, ["stages[0].use: missing; name a stage, for example minhash"]),
        ({"stages": [{"use": 3}]}, ["stages[0].use: expected the name of a stage, found 3"]),
        ({"stages": [], "shingle": 5}, ["shingle: expected a mapping with `by:`, found 5"]),
        ({"stages": [], "shingle": {"by": None}}, ["shingle.by: expected the name of a shingler, found nothing"]),
        ({"stages": [], "normalize": "NFC"}, ["normalize: expected a mapping of options, found text 'NFC'"]),
        ({"stages": [], "normalize": {"unicode": "nfc"}},
         ["normalize.unicode: expected one of NFC, NFD, NFKC, NFKD, none, found text 'nfc'"]),
        ({"stages": [], "exact": False}, ["stages: no stages and exact is false: nothing would ever be removed"]),
        ({"stages": [], "resolve": {"keep": "max:"}},
         ["resolve.keep: expected one of first, last, longest, shortest or max:FIELD or min:FIELD or "
          "{prefer: {field: FIELD, order: [VALUE, …]}}, found text 'max:'"]),
        ({"stages": [], "resolve": {"keep": {"prefer": {"field": "a", "order": []}}}},
         ["resolve.keep.prefer.order: tuple should have at least 1 item after validation, not 0"]),
        ({"stages": [], "resolve": {"keep": {"prefer": {"feild": "a", "order": ["b", 1, "b"]}}}},
         ["resolve.keep.prefer.feild: unknown option; did you mean field?",
          "resolve.keep.prefer.field: missing; expected text",
          "resolve.keep.prefer.order: 'b' stands there twice"]),
        ({"stages": [], "zzz": 1},
         ["zzz: unknown option; known are exact, input, memory, normalize, resolve, seed, shingle, stages"]),
        ({"stages": [{"use": "no.such.module:Stage"}]},
         ["stages[0].use: cannot load stage 'no.such.module:Stage': No module named 'no'; "
          "is its folder on PYTHONPATH?"]),
        ({"stages": [{"use": ":Stage"}]}, ["stages[0].use: cannot load stage ':Stage': Empty module name"]),
        ({"stages": [{"use": "json:"}]},
         ["stages[0].use: cannot load stage 'json:': module 'json' has no attribute ''"]),
        ({"stages": [{"use": "fakes_broken:Stage"}]},
         ["stages[0].use: cannot load stage 'fakes_broken:Stage': division by zero"]),
        ({"stages": [{"use": "json:dumps"}]}, ["stages[0].use: 'json:dumps' is not a subclass of cascade.Stage"]),
        ({"stages": ["jaccard", "jaccard"]},
         ["stages[1].name: two stages are named jaccard; give this one another `name:`"]),
        ({"stages": [{"use": "minhash", "name": "jaccard"}, "jaccard"]},
         ["stages[1].name: two stages are named jaccard; give this one another `name:`"]),
        ({"stages": [{"use": "jaccard", "name": "a.b"}]},
         ["stages[0].name: name 'a.b' holds white space or one of . [ ] =, and --set could not mean it"]),
        ({"stages": [{"use": f"{HERE}:Sick"}]}, ["stages[0]: Sick refuses these options: RuntimeError: out of order"]),
        ({"stages": [{"use": f"{HERE}:Unready"}]},
         ["stages[0]: Unready refuses these options: TypeError: Can't instantiate abstract class Unready "
          "with abstract method bind"]),
        ({"stages": [{"use": f"{HERE}:Colour", "tones": "red"}]},
         ["stages[0].tones: expected a list, found text 'red'"]),
        ({"stages": [{"use": f"{HERE}:Colour", "tones": ["red", 1]}]},
         ["stages[0].tones[1]: expected text, found 1"]),
        ({"stages": [{"use": f"{HERE}:Colour", "sizes": [1, True, "3"]}]},
         ["stages[0].sizes[1]: expected a whole number, found true",
          "stages[0].sizes[2]: expected a whole number, found text '3'; write it without quotes"]),
        ({"stages": [{"use": f"{HERE}:Colour", "sizes": [1, 2, 3, 4]}]},
         ["stages[0].sizes: list should have at most 3 items after validation, not 4"]),
        ({"stages": [{"use": f"{HERE}:Colour", "low": 3, "high": 2}]},
         ["stages[0]: low 3 is greater than high 2"]),
        ({"stages": [{"use": f"{HERE}:Colour", "inner": {"wdth": 1, "height": "x"}}]},
         ["stages[0].inner.wdth: unknown option; did you mean width?",
          "stages[0].inner.height: expected a whole number, found text 'x'"]),
    ],
)  # fmt: skip
def test_refusals_of_mappings(source, expected):
    with pytest.raises(ConfigError) as caught:
        load_config(source)
    # Python 3.12 words it differently.
    problems = [
        p.replace("without an implementation for", "with").replace("'bind'", "bind") for p in caught.value.problems
    ]
    assert problems == expected


def test_keep_policies():
    def keep(policy):
        return load_config({"stages": [], "resolve": {"keep": policy}}).resolve

    assert keep("max:score").keep_field == "score"
    assert keep("min:a:b").keep_field == "a:b"
    assert keep("longest").keep_field is None
    preferred = keep({"prefer": {"field": "source", "order": ["wiki", 1, 1.5, True]}})
    assert isinstance(preferred.keep, KeepPreferred)
    assert (preferred.keep_field, preferred.keep.prefer.order) == ("source", ("wiki", 1, 1.5, True))
    assert [type(v) for v in preferred.keep.prefer.order] == [str, int, float, bool]


@pytest.fixture
def dictionary(tmp_path):
    """A folder with a dictionary and a config that names it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "words.txt").write_text("词\n", "utf-8")
    (folder / "c.yaml").write_text(
        "shingle: {by: jieba, segmenter: jieba, user_dict: words.txt}\nstages: [jaccard]\n", "utf-8"
    )
    return folder


def test_a_path_counts_from_the_folder_of_the_config(dictionary, tmp_path, monkeypatch):
    expected = dictionary / "words.txt"
    for folder, source in ((tmp_path, "project/c.yaml"), (dictionary, "c.yaml"), (Path("/"), dictionary / "c.yaml")):
        monkeypatch.chdir(folder)
        assert load_config(source).shingle.user_dict == expected
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.yaml").write_text(load_config("project/c.yaml").filled(), "utf-8")
    monkeypatch.chdir("/")
    assert load_config(tmp_path / "out" / "config.yaml") == load_config(dictionary / "c.yaml")


def test_elsewhere_a_path_counts_from_the_working_folder(dictionary, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.txt").write_text("词\n", "utf-8")
    assert load_config("project/c.yaml", ["shingle.user_dict=more.txt"]).shingle.user_dict == tmp_path / "more.txt"
    shingle = {"by": "jieba", "segmenter": "jieba", "user_dict": Path("more.txt")}
    config = load_config({"shingle": shingle, "stages": ["jaccard"]})
    made = Config(shingle=shingler_class("jieba")(segmenter="jieba", user_dict="more.txt"), stages=config.stages)
    monkeypatch.chdir("/")
    assert config.shingle.user_dict == made.shingle.user_dict == tmp_path / "more.txt"
    assert f"user_dict: {tmp_path / 'more.txt'}\n" in made.filled()


def test_a_dictionary_that_is_not_there_is_named_with_its_folder(refused, tmp_path):
    text = "shingle:\n  by: jieba\n  segmenter: jieba\n  user_dict: {}\nstages: []\n"
    said = "is not a file; give the path of a dictionary with a word a line"
    assert refused(text.format("words.txt")) == [f":1: shingle: user_dict: '{tmp_path / 'words.txt'}' {said}"]
    assert refused(text.format("/no/words.txt")) == [f":1: shingle: user_dict: '/no/words.txt' {said}"]
    assert refused(text.format("3")) == [":4: shingle.user_dict: expected text, found 3"]


def test_an_empty_block_is_its_defaults(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("normalize:\nshingle:\nresolve:\ninput:\nstages: []\n")
    assert load_config(path) == load_config({"stages": []})


def test_where_a_config_comes_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_config("tutorial") == load_config(Path("tutorial"))
    Path("tutorial").mkdir()
    assert load_config("tutorial").shingle.n == 2, "a folder of a preset's name does not hide it"
    Path("fineweb").write_text("stages: []")
    assert load_config("fineweb").stages == (), "a file of a preset's name wins"
    config = load_config("default")
    assert load_config(config) is config


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("finewbe", "finewbe: no such file, and no preset of that name; did you mean fineweb?"),
        (".", ".: a folder or a device, not a config file"),
        ("x" * 5000, "x" * 200 + ": cannot be read: File name too long"),
    ],
)
def test_sources_that_are_none(source, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load_config(source)
    assert str(caught.value) == message


def test_a_nul_in_a_name_is_no_crash():
    with pytest.raises(ConfigError):
        load_config("a\0b")


def test_a_list_is_no_source():
    with pytest.raises(TypeError, match="not list"):
        load_config([])


def test_a_mapping_that_holds_itself_is_refused():
    source = {"stages": []}
    source["normalize"] = source
    with pytest.raises(ConfigError, match="nested more than 30 deep"):
        load_config(source)


def test_a_config_made_in_python_is_checked_too():
    jaccard = stage_class("jaccard")()
    with pytest.raises(ValidationError, match="two stages are named jaccard"):
        Config(stages=(jaccard, jaccard))
    with pytest.raises(ValidationError, match="nothing would ever be removed"):
        Config(stages=(), exact=False)
    made = Config(stages=(jaccard,))
    assert made == load_config({"stages": ["jaccard"]})
    with pytest.raises(ValidationError):
        made.seed = 3
