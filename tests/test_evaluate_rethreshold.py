"""Decisions under a higher threshold from stored pairs: file for file those of a fresh run, or refused with reasons."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cli_app import cascade
from test_law import WORDS

from cascade import ConfigError, InputError, OutputError, load_config, rethreshold, run_files

SAME = ("removed.jsonl", "clusters.jsonl", "pairs.jsonl", "config.yaml")
POLICIES = [
    "first", "last", "longest", "shortest", "max:score", "min:score", "max:meta.score",
    {"prefer": {"field": "score", "order": ["web", 2, True, 1.5]}},
]  # fmt: skip
values = st.one_of(
    st.integers(-3, 3), st.sampled_from([2**70, -(2**70), 1.5, 2.0, float("inf"), float("-inf"), float("nan"), 1e300]),
    st.sampled_from(["web", "wiki", "", "\ud800", "é"]), st.booleans(), st.none(), st.just([1]),
)  # fmt: skip
ids = st.one_of(
    st.integers(0, 5), st.text(max_size=3), st.sampled_from([2**80, 1.5, None, "1", [1, {"a": 2}], "\ud800"])
)
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@st.composite
def corpora(draw):
    """Rows of a few texts, each repeated as it is or with a word more, and some rows without one."""
    some = draw(st.lists(texts, min_size=1, max_size=4))
    text = st.builds("{}{}".format, st.sampled_from(some), st.sampled_from(["", "", " red", " 猫"]))
    row = st.fixed_dictionaries(
        {"id": ids, "text": text, "score": values, "meta": st.fixed_dictionaries({"score": values})}
    )
    return draw(st.lists(st.one_of(row, row, row, row, st.just({"id": 1})), min_size=2, max_size=20))


JACCARD = {"use": "jaccard", "min_jaccard": 0.3}
STAGES = {
    "join": [JACCARD],
    "bands": [{"use": "minhash", "bands": 12, "rows_per_band": 1}, JACCARD],
    "three": [{"use": "simhash", "max_hamming": 30}, {"use": "minhash", "bands": 6, "rows_per_band": 1}, JACCARD],
}


def write(folder, corpus, files):
    paths = [folder / f"{name}.jsonl" for name in "abc"[:files]]
    for i, path in enumerate(paths):
        path.write_text("".join(json.dumps(row) + "\n" for row in corpus[i::files]) or "\n")
    return paths


def run(folder, paths, name, config):
    return run_files(load_config(config), paths, folder / name, workers=1)


def rows_of(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]  # of text, U+0085 would be a line end too


@given(
    corpus=corpora(), files=st.integers(1, 3), stages=st.sampled_from(sorted(STAGES)), keep=st.sampled_from(POLICIES),
    clusters=st.sampled_from(["star", "components"]), exact=st.booleans(), limit=st.sampled_from([None, None, 1, 2]),
    threshold=st.sampled_from([0.3, 0.5, 0.56, 2 / 3, 0.8, 1.0]), n=st.sampled_from([1, 2]),
)  # fmt: skip
@settings(deadline=None, max_examples=150)
def test_the_files_are_those_of_a_fresh_run(corpus, files, stages, keep, clusters, exact, limit, threshold, n):
    if not any("text" in row for row in corpus):
        return
    # The keys of an exact join go by its threshold, and so do the first of each bucket.
    limit = None if stages == "join" else limit
    # What a first pass leaves out goes by the threshold too, and with it the first of a bucket that is cut.
    jaccard = JACCARD if limit is None else {**JACCARD, "prune": False}
    before = STAGES[stages][:-1]
    config = {
        "shingle": {"by": "word", "n": n}, "stages": [*before, jaccard], "exact": exact, "seed": 5,
        "resolve": {"keep": keep, "clusters": clusters, "pairs": "all", "max_bucket": limit},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write(folder, corpus, files)
        run(folder, paths, "low", config)
        high = {**config, "stages": [*before, {**jaccard, "min_jaccard": threshold}]}
        fresh = run(folder, paths, "high", high)
        done = rethreshold(folder / "low", threshold, folder / "new")
        for file in SAME:
            assert (folder / "new" / file).read_bytes() == (folder / "high" / file).read_bytes(), file
        assert done.counts == fresh.counts
        reports = [json.loads((folder / name / "report.json").read_bytes()) for name in ("new", "high", "low")]
        for field in ("counts", "inputs", "distinct_texts", "without_shingles", "seed"):
            assert reports[0][field] == reports[1][field]
        places = [{(r["source"], r["line"]) for r in rows_of(folder / f / "removed.jsonl")} for f in ("low", "high")]
        assert (done.kept_again, done.removed_anew) == (len(places[0] - places[1]), len(places[1] - places[0]))
        kept = {(r["source"], r["line"]): r["was"] for r in rows_of(folder / "new" / "kept_ids.jsonl")}
        assert not set(kept) & places[1]
        assert {place for place, was in kept.items() if was == "removed"} == places[0] - places[1]
        assert {(r["kept_source"], r["kept_line"]) for r in rows_of(folder / "new" / "removed.jsonl")} <= set(kept)
        # And from there on upwards.
        run(folder, paths, "top", {**config, "stages": [*before, {**jaccard, "min_jaccard": 1.0}]})
        rethreshold(folder / "new", 1.0, folder / "again")
        for file in SAME:
            assert (folder / "again" / file).read_bytes() == (folder / "top" / file).read_bytes(), file


CHAIN = [
    {"id": "a", "text": "one two three four five six seven eight nine ten"},
    {"id": "b", "text": "one two three four five six seven eight nine zehn"},
    {"id": "c", "text": "one two three four five six seven eight neun zehn"},
    {"id": "d", "text": "One two three four five six seven eight neun zehn"},
    {"id": "e", "text": "one two three four five six seven acht neun zehn"},
]
LOW = {
    "shingle": {"by": "word", "n": 1},
    "stages": [{"use": "jaccard", "min_jaccard": 0.6}],
    "resolve": {"pairs": "all"},
}


@pytest.fixture
def low(tmp_path, monkeypatch):
    """A run of CHAIN in the folder `low`, which is beside the working directory's input."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, CHAIN, 1)
    run(tmp_path, [Path("a.jsonl")], "low", LOW)
    return Path("low")


def test_what_a_higher_threshold_changes(low):
    """At 0.6 a takes b, c and d. At 0.8 only b; c is kept again, and takes d and e, which was kept before."""
    assert [(r["id"], r["kept_id"]) for r in rows_of(low / "removed.jsonl")] == [
        ("b", "a"), ("c", "a"), ("d", "a"),
    ]  # fmt: skip
    done = rethreshold(low, 0.8, "new")
    assert [(r["id"], r["kept_id"], r["reason"]) for r in rows_of(Path("new/removed.jsonl"))] == [
        ("b", "a", "near"), ("d", "c", "exact"), ("e", "c", "near"),
    ]  # fmt: skip
    assert [tuple(r.values()) for r in rows_of(Path("new/kept_ids.jsonl"))] == [
        ("a", "a.jsonl", 1, "kept"), ("c", "a.jsonl", 3, "removed"),
    ]  # fmt: skip
    report = json.loads(Path("new/report.json").read_bytes())
    assert report["derived"] == {
        "from": "low", "stage": "jaccard", "min_jaccard": {"before": 0.6, "after": 0.8},
        "pairs": {"before": done.pairs[0], "after": done.pairs[1]},
        "kept_again": done.kept_again, "removed_anew": done.removed_anew,
    }  # fmt: skip
    assert sorted(p.name for p in Path("new").iterdir()) == [
        "clusters.jsonl", "config.yaml", "kept_ids.jsonl", "pairs.jsonl", "removed.jsonl", "report.json",
    ]  # fmt: skip
    assert load_config("new/config.yaml").stages[0].min_jaccard == 0.8


def test_the_texts_are_not_needed(low):
    Path("a.jsonl").unlink()
    (low / "kept.jsonl").unlink()
    assert rethreshold(low, 0.9, "new").counts["read"] == 5


def broken(low, name, change):
    path = low / name
    path.write_text(change(path.read_text()))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("pairs.jsonl", lambda t: t.replace('"a_line"', '"line"', 1),
         "low/pairs.jsonl:1: there is no a_line; a run of this version writes one, so run again"),
        ("pairs.jsonl", lambda t: t.replace('"scores":{', '"scores":[{', 1), "low/pairs.jsonl:1: not JSON: "),
        ("pairs.jsonl", lambda t: "[]\n" + t, "low/pairs.jsonl:1: not a JSON object but an array"),
        ("pairs.jsonl", lambda t: t.replace('"b_line":2', '"b_line":"2"', 1), "low/pairs.jsonl:1: b_line is a string"),
        ("pairs.jsonl", lambda t: "", 'low: "b" was removed as a near-duplicate, and pairs.jsonl has no pair of it'),
        ("pairs.jsonl", lambda t: t.replace('"a_line":1', '"a_line":9', 1),
         "low: pairs.jsonl: a does not stand before b"),
        ("removed.jsonl", lambda t: t.split("\n", 1)[1],
         "low: removed.jsonl has 2 rows and report.json counts 3 removed"),
        ("removed.jsonl", lambda t: t.replace("a.jsonl", "x.jsonl", 1),
         "low/removed.jsonl:1: source is 'x.jsonl', which is none of the inputs in report.json"),
        ("report.json", lambda t: "{}", "low/report.json: is no report of a run"),
        ("report.json", lambda t: "{", "low/report.json: is no report"),
        ("config.yaml", lambda t: t.replace("pairs: all", "pairs: needed"), "low: does not hold every confirmed pair"),
        ("config.yaml", lambda t: t.replace("use: jaccard", "use: containment").replace("  prune: auto\n", "").replace(
            "min_jaccard", "min_containment"), "low: no stage of its config.yaml has a min_jaccard"),
    ],
)  # fmt: skip
def test_what_does_not_suffice_is_refused(low, name, change, message):
    broken(low, name, change)
    with pytest.raises(InputError) as caught:
        rethreshold(low, 0.8, "new")
    assert str(caught.value).startswith(message)
    assert not Path("new").exists()


def test_a_twin_without_its_place_is_refused(low):
    """What a run wrote before twins were named."""
    broken(low, "removed.jsonl", lambda t: t.replace('"twin_source"', '"was"'))
    with pytest.raises(
        InputError, match=r'^low: "d" was removed as a near-duplicate, and pairs.jsonl has no pair of it'
    ):
        rethreshold(low, 0.8, "new")


def test_only_upward(low):
    with pytest.raises(ConfigError, match=r"^min_jaccard: 0.5 is lower than the 0.6 of this run, and pairs below"):
        rethreshold(low, 0.5, "new")
    with pytest.raises(ConfigError, match=r"min_jaccard=1\.5"):
        rethreshold(low, 1.5, "new")
    assert rethreshold(low, 0.6, "new").pairs == (5, 5)


def test_a_run_is_not_replaced_by_itself(low):
    with pytest.raises(OutputError, match="holds the input"):
        rethreshold(low, 0.8, low, overwrite=True)
    rethreshold(low, 0.8, "new")
    with pytest.raises(OutputError, match="is not empty"):
        rethreshold(low, 0.8, "new")
    rethreshold(low, 0.9, "new", overwrite=True)


def test_two_stages_with_a_threshold(low):
    shutil.rmtree(low)
    chars = {"use": "jaccard", "name": "chars", "min_jaccard": 0.5, "shingle": {"by": "char", "n": 3}}
    config = {**LOW, "stages": [*LOW["stages"], chars]}
    run(Path(), [Path("a.jsonl")], "low", config)
    with pytest.raises(ConfigError, match="several stages have a min_jaccard: jaccard, chars; name the one"):
        rethreshold(low, 0.8, "new")
    with pytest.raises(ConfigError, match="no stage named words has a min_jaccard; there is: jaccard, chars"):
        rethreshold(low, 0.8, "new", stage="words")
    assert rethreshold(low, 0.8, "new", stage="chars").stage == "chars"
    run(Path(), [Path("a.jsonl")], "fresh", {**LOW, "stages": [*LOW["stages"], {**chars, "min_jaccard": 0.8}]})
    assert Path("new/removed.jsonl").read_bytes() == Path("fresh/removed.jsonl").read_bytes()


def test_auto_is_warned_of(low):
    shutil.rmtree(low)
    minhash = {"use": "minhash", "bands": "auto", "rows_per_band": "auto"}
    run(Path(), [Path("a.jsonl")], "low", {**LOW, "stages": [minhash, *LOW["stages"]]})
    (warning,) = rethreshold(low, 0.8, "new").warnings
    assert warning.startswith("minhash: bands, rows_per_band: auto may be settled otherwise for the new one; ")


def test_cut_buckets_are_warned_of(low):
    assert rethreshold(low, 0.8, "new").warnings == ()
    shutil.rmtree(low)
    run(Path(), [Path("a.jsonl")], "low", {**LOW, "resolve": {"pairs": "all", "max_bucket": 1}})
    (warning,) = rethreshold(low, 0.8, "other").warnings
    assert warning.startswith("resolve.max_bucket has acted, and may cut buckets otherwise for the new threshold; ")


def test_the_command(low):
    code, out, err = cascade("rethreshold", "low", "--min-jaccard", "0.8", "-o", "new")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "jaccard: min_jaccard 0.6 -> 0.8"
    assert out.splitlines()[-1] == "results in new"
    assert cascade("rethreshold", "low", "--min-jaccard", "0.9", "-o", "new", "--overwrite", "-q") == (0, "", "")
    code, out, err = cascade("rethreshold", "low", "--min-jaccard", "0.1", "-o", "other")
    assert (code, out) == (2, "")
    assert err.startswith("min_jaccard: 0.1 is lower than the 0.6 of this run")
    code, out, err = cascade("rethreshold", "none", "--min-jaccard", "0.9", "-o", "other")
    assert (code, out) == (1, "")
    assert err == ("error: none: is no result of a run: there is no config.yaml; name the folder OUT of cascade run\n")
