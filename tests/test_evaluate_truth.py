"""Exact truth against plain loops over all pairs of texts; samples against the whole; what is written reads back."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import corpora
import numpy as np
import oracle
import oracle_text
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import cascade
from cascade import ConfigError, InputError, StageError
from cascade.corpus import Corpus
from cascade.evaluate import sample as sampling
from cascade.evaluate.labelled import labelled_truth
from cascade.evaluate.sample import drawn
from cascade.evaluate.truth import Truth, exact_truth, truth_rows, twin_groups
from cascade.io.write import write_jsonl
from cascade.text.normalize import Normalize

WORDS = st.lists(st.sampled_from(["a", "B", "b", "數據", "नमस्ते", "ß", "x-y", "…"]), max_size=9).map(" ".join)


def plain_twins(texts):
    """The first row with the same normalised text; an empty text has no twin."""
    first, out = {}, []
    for row, text in enumerate(texts):
        out.append(first.setdefault(text, row) if text else row)
    return out


def plain_jaccard(texts, n, least):
    """All pairs of different texts, by sets of tuples."""
    sets = [set(oracle_text.ngrams(oracle_text.word_tokens(t), n)) for t in texts]
    firsts = [row for row, first in enumerate(plain_twins(texts)) if row == first]
    scores = {(i, j): oracle.jaccard(sets[i], sets[j]) for i, j in combinations(firsts, 2) if sets[i] and sets[j]}
    return {pair: score for pair, score in scores.items() if score >= least - 1e-9}


def plain_edits(texts, least):
    firsts = [row for row, first in enumerate(plain_twins(texts)) if row == first and texts[row]]
    out = {}
    for i, j in combinations(firsts, 2):
        longer = max(len(texts[i]), len(texts[j]))
        if (similarity := (longer - levenshtein(texts[i], texts[j])) / longer) >= least - 1e-9:
            out[i, j] = similarity
    return out


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def found_in(truth):
    pairs = zip(truth.left.tolist(), truth.right.tolist(), strict=True)
    return dict(zip(pairs, truth.similarity.tolist(), strict=True))


def check(truth, texts, expected):
    assert truth.documents == len(texts)
    assert truth.twin_of.tolist() == plain_twins(texts)
    assert found_in(truth) == pytest.approx(expected)
    assert list(found_in(truth)) == sorted(expected)
    assert (truth.left < truth.right).all()
    assert truth.refuted is None


def normalized(texts):
    return [oracle_text.normalize(t, Normalize()) for t in texts]


@settings(deadline=None, max_examples=60)
@given(st.lists(WORDS, max_size=12), st.sampled_from([0.1, 0.5, 0.56, 2 / 3, 0.8, 1.0]), st.sampled_from([1, 2]))
def test_jaccard_against_a_loop(texts, least, n):
    found = exact_truth(texts, min_jaccard=least, set=f"shingle.n={n}")
    plain = normalized(texts)
    check(found.truth, plain, plain_jaccard(plain, n, least))


@settings(deadline=None, max_examples=60)
@given(st.lists(WORDS, max_size=12), st.sampled_from([0.1, 0.5, 0.8, 1.0]))
def test_edits_against_a_loop(texts, least):
    plain = normalized(texts)
    check(exact_truth(texts, min_similarity=least).truth, plain, plain_edits(plain, least))


@pytest.mark.parametrize("least", [0.3, 0.8])
def test_a_corpus_in_three_scripts(least):
    texts = corpora.mixed(400, seed=1)
    found = exact_truth(texts, min_jaccard=least, workers=2)
    check(found.truth, normalized(texts), plain_jaccard(normalized(texts), 5, least))
    assert found.truth.source == f"exact:{least}"
    assert found.truth.sampled is None
    assert len(found.truth.left) > 20


def test_only_normalize_shingle_input_and_seed_of_a_config_matter():
    rows = [{"id": i, "body": t} for i, t in enumerate(corpora.mixed(200, seed=2))]
    config = {
        "input": {"text": "body"},
        "shingle": {"by": "char", "n": 3},
        "normalize": {"case": "keep"},
        "exact": False,
        "resolve": {"keep": "last", "clusters": "components", "max_bucket": 1},
        "stages": [{"use": "jaccard", "min_jaccard": 0.99}, {"use": "edit_distance"}],
    }
    mine = exact_truth(rows, config, min_jaccard=0.6).truth
    only = {name: config[name] for name in ("input", "shingle", "normalize")}
    other = exact_truth(rows, {**only, "stages": []}, min_jaccard=0.6).truth
    assert found_in(mine) == found_in(other)
    assert (mine.twin_of == other.twin_of).all()
    assert found_in(exact_truth(rows, {**only, "stages": [], "seed": 9}, min_jaccard=0.6).truth) == found_in(mine)
    assert found_in(exact_truth(rows, {"input": {"text": "body"}, "stages": []}, min_jaccard=0.6).truth) != found_in(
        mine
    )


@pytest.mark.parametrize("measure", ["min_jaccard", "min_similarity"])
@pytest.mark.parametrize("size", [1, 7, 60])
@pytest.mark.parametrize("at_once", [1 << 20, 100])
def test_a_sample_has_just_the_pairs_of_its_documents(measure, size, at_once, monkeypatch):
    monkeypatch.setattr(sampling, "PAIRS_AT_ONCE", at_once)
    texts = corpora.mixed(150, seed=3)
    whole = exact_truth(texts, **{measure: 0.5}).truth
    for seed in (0, 1, 2):
        part = exact_truth(texts, **{measure: 0.5}, sample=size, seed=seed).truth
        assert len(part.sampled) == size
        assert (whole.twin_of[part.sampled] == part.sampled).all()
        ends = set(part.sampled.tolist())
        assert found_in(part) == {pair: s for pair, s in found_in(whole).items() if ends & set(pair)}
        assert (part.twin_of == whole.twin_of).all()
        again = exact_truth(texts, **{measure: 0.5}, sample=size, seed=seed, workers=2).truth
        assert (again.sampled == part.sampled).all()
    assert not np.array_equal(part.sampled, exact_truth(texts, **{measure: 0.5}, sample=size, seed=3).truth.sampled)


def test_a_sample_spares_the_candidates_of_all_others():
    common = " ".join(f"w{i}" for i in range(30))
    texts = [f"{common} {i}" for i in range(300)]
    pairs_in = [exact_truth(texts, min_jaccard=0.9, sample=n).result.stages[0].pairs_in for n in (None, 3)]
    assert pairs_in[1] <= 3 * 299 < 300 * 299 // 2 <= pairs_in[0]


def test_a_sample_of_all_there_are_is_none():
    texts = ["a b c", "a b c d", "a b c", "x"]
    for size in (3, 4, 1000):
        truth = exact_truth(texts, min_jaccard=0.3, sample=size, set="shingle.n=1").truth
        assert truth.sampled is None
        assert found_in(truth) == {(0, 1): 0.75}
    assert len(exact_truth(texts, min_jaccard=0.3, sample=2).truth.sampled) == 2


def test_the_estimate_of_all_pairs_has_no_bias():
    whole = exact_truth(corpora.mixed(80, seed=4), min_jaccard=0.3, set="shingle.n=2").truth
    estimates = []
    for chosen in whole.rows:
        mine = (whole.left == chosen) | (whole.right == chosen)
        part = Truth("", 80, whole.twin_of, whole.left[mine], whole.right[mine], sampled=np.array([chosen]))
        estimates.append(part.pairs_in_all)
    assert len(whole.left) > 5
    assert np.mean(estimates) == pytest.approx(len(whole.left))
    assert whole.pairs_in_all == len(whole.left)


def test_every_document_is_as_likely_to_be_drawn():
    counts = np.zeros(20)
    for seed in range(3000):
        chosen = drawn(5, seed, 20)
        assert len(np.unique(chosen)) == 5
        assert (np.diff(chosen) > 0).all()
        counts[chosen] += 1
    # Draws without replacement vary a little less than a multinomial; so the test is on the safe side.
    assert stats.chisquare(counts).pvalue > 0.01
    assert drawn(5, 0, 3).tolist() == [0, 1, 2]
    assert drawn(1, 0, 0).tolist() == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "give min_jaccard or min_similarity, one of the two: neither is given"),
        ({"min_jaccard": 0.8, "min_similarity": 0.8},
         "give min_jaccard or min_similarity, one of the two: both are given"),
        ({"min_jaccard": 0}, "min_jaccard is 0: every two documents would be a pair; give a number above 0, up to 1"),
        ({"min_similarity": 0.0},
         "min_similarity is 0: every two documents would be a pair; give a number above 0, up to 1"),
        ({"min_jaccard": 1.5}, "min_jaccard is 1.5; give a number above 0, up to 1"),
        ({"min_jaccard": -1}, "min_jaccard is -1; give a number above 0, up to 1"),
        ({"min_jaccard": float("nan")}, "min_jaccard is nan; give a number above 0, up to 1"),
        ({"min_jaccard": 0.8, "sample": 0}, "sample is 0; give how many documents to draw, 1 or more"),
        ({"min_jaccard": 0.8, "seed": -1}, "seed is -1; give a whole number, 0 or more"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(asked, message):
    with pytest.raises(ConfigError) as caught:
        exact_truth(["a"], **asked)
    assert str(caught.value) == message


def test_edits_have_a_limit(monkeypatch):
    monkeypatch.setattr(sampling, "SCAN_LIMIT", 3)
    monkeypatch.setattr(sampling, "CHEAP_SCAN_LIMIT", 4)
    texts = ["a b", "a c", "a b", "a d"]
    assert len(exact_truth(texts, min_similarity=0.5).truth.left) == 3
    with pytest.raises(StageError) as caught:
        exact_truth([*texts, "x"], min_similarity=0.5)
    assert str(caught.value) == (
        "an edit similarity is looked for in all pairs, possible up to 3 texts; there are 4. "
        "Take min_jaccard, which has no limit, or a sample, up to 4 texts"
    )
    assert exact_truth([*texts, "x"], min_similarity=0.5, sample=1).truth.documents == 5
    with pytest.raises(StageError) as caught:
        exact_truth([*texts, "x", "y"], min_similarity=0.5, sample=1)
    assert str(caught.value) == (
        "an edit similarity is looked for in all pairs, possible with a sample up to 4 texts; there are 5. "
        "Take min_jaccard, which has no limit"
    )
    assert exact_truth([*texts, "x", "y"], min_jaccard=0.5, set="shingle.n=1").truth.documents == 6


def test_the_real_limits_are_those_of_a_plan():
    assert (sampling.SCAN_LIMIT, sampling.CHEAP_SCAN_LIMIT) == (20_000, 200_000)
    texts = [str(i) for i in range(20_001)]
    with pytest.raises(StageError, match="possible up to 20,000 texts; there are 20,001"):
        exact_truth(texts, min_similarity=0.9)
    assert len(exact_truth(texts, min_similarity=0.9, sample=2).truth.sampled) == 2


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["only one"], ["…", "?!"]])
@pytest.mark.parametrize("asked", [{"min_jaccard": 0.1}, {"min_jaccard": 0.1, "sample": 1}, {"min_similarity": 0.1}])
def test_nothing_to_be_found(texts, asked):
    found = exact_truth(texts, **asked)
    assert found.truth.documents == len(texts)
    assert found_in(found.truth) == {}
    assert found.pairs == []
    assert found.twins == []
    assert len(list(found.rows())) == (found.truth.sampled is not None)


def test_what_a_user_gets(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    rows = [(3, "a b c d e"), ("3", "a b c d e f"), ("x", "A b c d e"), ("y", None), ("z", "q")]
    path.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in rows))
    found = cascade.truth(path, min_jaccard=0.8, set=["shingle.n=1"])
    assert found.pairs == [(3, "3", pytest.approx(5 / 6))]
    assert found.twins == [[3, "x"]]
    assert repr(found) == "TruthResult(exact:0.8, documents=4, pairs=1)"
    assert [r.line for r in found.result.rejected] == [4]
    assert repr(cascade.truth(path, min_jaccard=0.8, sample=2)).endswith("pairs=0, sampled=2)")
    with pytest.raises(InputError, match="no such file"):
        cascade.truth(tmp_path / "none.jsonl", min_jaccard=0.8)
    with pytest.raises(ConfigError, match="shingle"):
        cascade.truth(path, min_jaccard=0.8, set=["shingle.m=1"])


IDS = st.one_of(st.integers(-(2**70), 2**70), st.text(max_size=5), st.floats(allow_nan=False, allow_infinity=False))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_what_is_written_reads_back(tmp_path_factory, data):
    ids = data.draw(st.lists(IDS, min_size=1, max_size=12, unique_by=json.dumps))
    texts = [data.draw(WORDS) for _ in ids]
    asked = data.draw(st.sampled_from([{"min_jaccard": 0.3}, {"min_similarity": 0.4}]))
    sample = data.draw(st.sampled_from([None, 1, 3]))
    rows = [{"id": i, "text": t} for i, t in zip(ids, texts, strict=True)]
    found = exact_truth(rows, set="shingle.n=1", sample=sample, **asked)
    path = tmp_path_factory.mktemp("truth") / "pairs.jsonl"
    write_jsonl(path, found.rows())
    same(labelled_truth(path, found.result.corpus), found.truth)


def same(back, truth):
    assert back.documents == truth.documents
    for name in ("twin_of", "left", "right"):
        assert getattr(back, name).tolist() == getattr(truth, name).tolist(), name
    if len(truth.left):
        assert back.similarity.tolist() == truth.similarity.tolist()
    assert (back.sampled is None) == (truth.sampled is None)
    if truth.sampled is not None:
        assert back.sampled.tolist() == truth.sampled.tolist()
    assert back.refuted is None


def test_rows_in_full():
    rows = [{"id": i, "text": t} for i, t in ((1, "a b c"), ("1", "A b c"), ("ü", "a b c d"), (None, "a b c"))]
    found = exact_truth(rows, min_jaccard=0.5, set="shingle.n=1")
    assert written(found.truth, found.result.corpus) == ['{"twins":[1,"1",null]}', '{"a":1,"b":"ü","jaccard":0.75}']
    edits = exact_truth(rows, min_similarity=0.5)
    assert written(edits.truth, edits.result.corpus)[1] == '{"a":1,"b":"ü","similarity":0.7142857142857143}'
    drawn_one = exact_truth(rows, min_jaccard=0.5, set="shingle.n=1", sample=1)
    assert written(drawn_one.truth, drawn_one.result.corpus)[0] in ('{"sampled":[1]}', '{"sampled":["ü"]}')
    bare = Truth("labels", 4, np.array([0, 0, 2, 0]), np.array([0]), np.array([2]))
    assert written(bare, found.result.corpus)[1] == '{"a":1,"b":"ü"}'
    assert [group.tolist() for group in twin_groups(bare)] == [[0, 1, 3]]


def written(truth: Truth, corpus: Corpus) -> list[str]:
    import orjson

    return [orjson.dumps(row).decode() for row in truth_rows(truth, corpus)]
