"""What is explained of a pair is what a run does with it: figures, verdicts, meeting, fates, sentences."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import numpy as np
import oracle
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field
from test_law import STAGES, config, confirmed, corpora

import cascade
from cascade import Accepted, ConfigError, InputError, Keys, Predicate, Shingler, Stage, StageError, dedupe
from cascade.evaluate.explain import explain
from cascade.text.shingle import Word

HERE = __name__
LIMITS = st.sampled_from([None, 1, 2])
chosen_stages = st.lists(st.sampled_from(sorted(STAGES)), min_size=1, max_size=3, unique=True)


def two(data, corpus):
    a = data.draw(st.integers(0, len(corpus) - 1))
    return a, data.draw(st.integers(0, len(corpus) - 1).filter(lambda b: b != a))


@given(
    data=st.data(), corpus=corpora.filter(lambda c: len(c) > 1), chosen=chosen_stages, exact=st.booleans(),
    clusters=st.sampled_from(["star", "components"]), limit=LIMITS,
    keep=st.sampled_from(["first", "last", "longest"]),
)  # fmt: skip
@settings(deadline=None, max_examples=150)
def test_what_is_explained_is_what_the_run_did(data, corpus, chosen, exact, clusters, limit, keep):
    settings_ = {**config(chosen, pairs="all", clusters=clusters, max_bucket=limit, keep=keep), "exact": exact}
    result = dedupe(corpus, settings_, workers=1)
    pairs, stands_for = confirmed(result), result.outcome.stands_for.tolist()
    decisions = {d.row: d for d in result.removed}
    a, b = two(data, corpus)
    found = explain(settings_, corpus, a, b, by="row", workers=1)
    seen = tuple(sorted((stands_for[a], stands_for[b])))
    # Pairs of the run are those that met and that every stage accepted; max_bucket and all.
    assert found.confirmed == (seen in pairs or seen[0] == seen[1])
    if seen in pairs:
        assert tuple(v.score for v in sorted(found.stages, key=lambda v: v.name)) == pairs[seen]
    for row, side in ((a, found.a), (b, found.b)):
        fate, decision = side.fate, decisions.get(row)
        assert (side.id, side.row, side.text) == (row, row, corpus[row])
        assert fate.kept == (decision is None)
        assert fate.twin_of == (None if fate.kept or stands_for[row] == row else stands_for[row])
        if decision:
            assert (fate.kept_id, fate.reason, fate.scores) == (decision.kept_id, decision.reason, decision.scores)
            assert fate.path[0] == row
            assert fate.path[-1] == decision.kept_row == fate.kept_row
            for one, other in zip(fate.path, fate.path[1:], strict=False):
                step = tuple(sorted((stands_for[one], stands_for[other])))
                assert step in pairs or step[0] == step[1]
            if clusters == "star":
                assert len(fate.path) == 2
        else:
            assert fate.path == ()


@given(data=st.data(), corpus=corpora.filter(lambda c: len(c) > 1), chosen=chosen_stages)
@settings(deadline=None, max_examples=80)
def test_the_figures_are_those_of_the_sets(data, corpus, chosen):
    a, b = two(data, corpus)
    found = explain(config(chosen), corpus, a, b, by="row", workers=1)
    shingler = Word(n=2)
    sets = [set(shingler.shingle_texts(cascade.normalize(corpus[row]))) for row in (a, b)]
    assert found.jaccard == oracle.jaccard(*sets)
    if all(sets) or not any(sets):
        assert found.containment == oracle.containment(*sets)
    hashes = [cascade.shingle_hashes(corpus[row], shingler, seed=7) for row in (a, b)]
    assert found.hamming == cascade.hamming(*map(cascade.fingerprint, hashes))
    assert found.edit_similarity == cascade.edit_similarity(*(cascade.normalize(corpus[row]) for row in (a, b)))
    assert found.common == len(sets[0] & sets[1])
    assert (found.a.shingles, found.b.shingles) == tuple(map(len, sets))
    # A shingle that is in common is told once, as the first text has it.
    assert len(found.shingles.common) == found.common
    assert {text.replace(" ", "") for text in found.shingles.common} == {"".join(s) for s in sets[0] & sets[1]}
    assert {text.replace(" ", "") for text in found.shingles.only_a} == {"".join(s) for s in sets[0] - sets[1]}
    assert {text.replace(" ", "") for text in found.shingles.only_b} == {"".join(s) for s in sets[1] - sets[0]}
    for verdict in found.stages:
        if verdict.use == "jaccard" and all(sets):
            own = oracle.jaccard(*sets) if verdict.name != "jaccard_chars" else verdict.jaccard
            assert verdict.score == own
            assert verdict.accepted == (own >= verdict.thresholds["min_jaccard"] - 1e-9)
        if verdict.use == "minhash" and verdict.accepted:
            assert len(verdict.keys.shared) == verdict.score


@given(data=st.data(), corpus=corpora.filter(lambda c: len(c) > 1), chosen=chosen_stages)
@settings(deadline=None, max_examples=40)
def test_the_order_of_the_two_does_not_matter(data, corpus, chosen):
    a, b = two(data, corpus)
    one, other = (explain(config(chosen), corpus, *rows, by="row", workers=1) for rows in ((a, b), (b, a)))
    assert (one.a, one.b, one.stages, one.candidate, one.confirmed) == (
        other.b, other.a, other.stages, other.candidate, other.confirmed,
    )  # fmt: skip
    assert set(one.shingles.only_a) == set(other.shingles.only_b)


def test_auto_and_weights_are_settled_by_the_whole_corpus():
    corpus = [f"red blue green own{i}" for i in range(300)]
    corpus += ["zebra yak xerus red blue green one", "zebra yak xerus red blue green two"]
    settings_ = {
        "shingle": {"by": "word", "n": 1},
        "stages": [
            {"use": "simhash", "weights": "idf", "max_hamming": 64},
            {"use": "minhash", "bands": "auto", "rows_per_band": "auto"},
            {"use": "jaccard", "min_jaccard": 0.7},
        ],
        "resolve": {"pairs": "all"},
    }
    result = dedupe(corpus, settings_, workers=1)
    (at,) = np.flatnonzero(result.pairs.left == 300)
    whole, alone = explain(settings_, corpus, 300, 301, by="row"), explain(settings_, corpus[300:])
    assert {v.name: v.score for v in whole.stages} == {name: s[at] for name, s in result.pairs.scores.items()}
    assert whole.notes == ()
    planned = cascade.make_plan(result.config, len(corpus)).stages[0]
    assert whole.stages[1].does == planned.predicate.describe()
    # Three rare words that both have outweigh the others in the corpus, and weigh nothing in two texts.
    assert whole.stages[0].score < alone.stages[0].score
    options = cascade.make_plan(result.config, 1_000_000).stages[0].predicate.options
    assert alone.notes == (
        f"minhash: bands: auto is {options.bands} for 1,000,000 documents; in your corpus it may be another",
        f"minhash: rows_per_band: auto is {options.rows_per_band} for 1,000,000 documents; in your corpus it may be "
        "another",
        "simhash goes by a first pass over the corpus, here over these two texts alone",
    )


A = "the quick brown fox jumps over the lazy dog and runs away from the farm"
B = "the quick brown fox jumps over the lazy dog and runs away from the barn"
FAR = "nothing of the kind is written in this one at all"
BOUND = {"shingle": {"by": "word", "n": 1}, "stages": [{"use": "jaccard", "min_jaccard": 0.8}]}


def said(corpus, a=0, b=1, settings_=BOUND):
    return explain(settings_, corpus, a, b, workers=1).sentence


def test_sentences_of_removals():
    assert said([A, B]) == "1 was removed for 0: every stage accepts the pair (jaccard 0.8571)."
    assert said([A, B], 1, 0) == said([A, B])
    assert said([A, A.upper()]) == "1 was removed for 0: their normalised texts are equal."
    assert said([A, B, A], 2, 1) == (
        "Both were removed for 0: 2 whose normalised text is the same, 1 by jaccard 0.8571; "
        "every stage accepts their own pair (jaccard 0.8571), but a removed document removes nobody."
    )
    assert said([A, B, B], 1, 2) == (
        "1 and 2 have equal normalised texts and were judged as one; both were removed for 0, by jaccard 0.8571."
    )


def test_sentences_of_pairs_that_stayed():
    assert said([A, FAR]) == (
        "Both were kept: the pair was no candidate, jaccard finds that a document can have no partner; "
        "jaccard refuses it too, 0.0435 < min_jaccard 0.8."
    )
    never = {**BOUND, "stages": [{"use": "minhash", "bands": 1, "rows_per_band": 60}, *BOUND["stages"]]}
    missed = explain(never, [A, B], 0, 1, workers=1)
    assert missed.sentence == (
        "Both were kept: the pair was no candidate, minhash: no shared band of 1 (probability of one at Jaccard 0.857: "
        "under 0.01 %); all other stages would have accepted it."
    )
    assert not missed.candidate.met
    assert missed.stages[0].predicted_recall == pytest.approx(missed.jaccard**60)
    near = {**BOUND, "stages": [{"use": "jaccard", "min_jaccard": 0.87, "prune": False}]}
    assert said([A, B], settings_=near) == "Both were kept: jaccard refuses the pair, 0.857 < min_jaccard 0.87."
    both = {**near, "stages": [*near["stages"], {"use": "simhash", "max_hamming": 0}]}
    assert said([A, B], settings_=both) == (
        "Both were kept: the pair was no candidate, simhash: no shared key of 1 (probability of one at Jaccard 0.857: "
        "0.0185 %); jaccard refuses it too, 0.857 < min_jaccard 0.87; simhash refuses it too, 4 > max_hamming 0."
    )


def chain(*edits):
    """Texts each of which differs from the one before in one word more."""
    texts = [f"w{i}" for i in range(20)]
    out = [" ".join(texts)]
    for at in edits:
        texts[at] = f"x{at}"
        out.append(" ".join(texts))
    return out


def test_sentences_of_chains():
    corpus = chain(0, 1, 2, 3)  # 18 of 22 words in common are 0.9, then 0.81, 0.74
    assert said(corpus, 0, 3) == (
        "Both were kept: the pair was no candidate, jaccard: no shared key; "
        "jaccard refuses it too, 0.739 < min_jaccard 0.8."
    )
    linked = {**BOUND, "resolve": {"clusters": "components"}}
    assert said(corpus, 0, 4, linked) == (
        "4 was removed for 0 through a chain of confirmed pairs (4 - 2 - 0): the pair was no candidate, "
        "jaccard: no shared key; jaccard refuses it too, 0.667 < min_jaccard 0.8."
    )
    assert said(corpus, 3, 4, linked) == (
        "Both were removed for 0: 3 by jaccard 0.8182 through 1, 4 by jaccard 0.8182 through 2; "
        "every stage accepts their own pair (jaccard 0.9048)."
    )


def test_sentences_of_third_parties():
    other = A.replace("fox", "cat")
    # B is nearer to both than they are to each other; the first in keep order wins.
    corpus = [A, other.replace("farm", "hill"), A.replace("farm", "hill")]
    assert said(corpus, 1, 2) == (
        "2 was removed for 0 (by jaccard 0.8571), not for 1, which was kept; "
        "every stage accepts their own pair (jaccard 0.8571), but 0 comes first in keep order."
    )
    far = [*corpus[:1], FAR, corpus[2]]
    assert said(far, 1, 2).startswith("2 was removed for 0 (by jaccard 0.8571), not for 1, which was kept; their own ")
    two_keepers = [A, FAR, B, FAR + " indeed"]
    assert said(two_keepers, 2, 3).startswith("2 was removed for 0 (by jaccard 0.8571), and 3 removed for 1 (by ")


def test_two_texts_alone():
    found = explain("default", (A, A.upper()))
    assert found.sentence == "These are duplicates: their normalised texts are equal."
    assert (found.a.id, found.a.fate, found.confirmed) == (None, None, True)
    assert explain(BOUND, (A, B)).sentence == "These are duplicates: every stage accepts the pair (jaccard 0.8571)."
    assert explain(BOUND, [A, FAR]).sentence.startswith("These are no duplicates: ")
    assert explain("default", ["", ""]).sentence.startswith("These are no duplicates: the pair was no candidate, ")
    # More documents are assumed than all pairs are tried of, unless no stage offers keys.
    assert explain({"stages": ["edit_distance"]}, [A, B]).candidate.how == "all pairs are tried"
    for wrong in (A, [A], [A, B, A], [A, 3]):
        with pytest.raises(InputError, match="give two texts"):
            explain("default", wrong)
    with pytest.raises(InputError, match="the ids of two documents"):
        explain("default", [A, B], 1)


def test_what_a_refused_pair_scores():
    stages = [
        {"use": "jaccard", "min_jaccard": 0.99},
        {"use": "containment", "min_containment": 0.99},
        {"use": "simhash", "max_hamming": 0},
        {"use": "edit_distance", "min_similarity": 0.999},
    ]
    found = explain({"shingle": {"by": "word", "n": 1}, "stages": stages}, [A, B])
    assert not any(v.accepted for v in found.stages)
    assert [v.score for v in found.stages] == [
        found.jaccard, found.containment, found.hamming, pytest.approx(found.edit_similarity),
    ]  # fmt: skip


def test_long_texts_are_not_compared_letter_by_letter(monkeypatch):
    monkeypatch.setattr("cascade.evaluate.judge.MOST_EDITS", 100)
    found = explain({"stages": ["edit_distance"]}, [A, FAR])
    assert (found.edit_similarity, found.stages[0].score, found.stages[0].accepted) == (None, None, False)
    assert "edit_distance refuses the pair" in found.sentence


class SameEnd(Stage):
    """A third party's: keys, columns, a threshold, a fault."""

    max_apart: int = Field(0, ge=0, le=1000)
    fault: str = ""

    def bind(self, facts):
        return Ends(self)


class Ends(Predicate):
    keys_per_document = 1

    def __init__(self, options):
        self.options = options

    def columns(self, batch):
        if self.options.fault == "columns":
            raise ValueError("no columns today")
        return {"end": np.array([ord(text[-1:] or " ") for text in batch.texts.to_list()], np.uint64)}

    def keys(self, columns):
        return Keys(columns["end"][:, None] // np.uint64(2), np.ones(len(columns["end"]), bool))

    def filter(self, pairs, columns, corpus):
        end = columns["end"].astype(np.int64)
        apart = np.abs(end[pairs.left] - end[pairs.right]).astype(float)
        return Accepted.where(apart <= self.options.max_apart, apart)


class Lines(Shingler):
    """A third party's shingler, which cannot tell its shingles."""

    def shingle(self, texts, seed):
        return Word(n=1).shingle(texts, seed)


def test_stages_and_shinglers_of_others():
    ends = {"stages": [{"use": f"{HERE}:SameEnd", "name": "ends"}], "shingle": {"by": f"{HERE}:Lines"}}
    found = explain(ends, ["ab", "cb", "dc", "x"], 0, 1)
    assert found.sentence == "1 was removed for 0: every stage accepts the pair (ends 0)."
    assert found.candidate.how == "ends: 1 of 1 keys shared, in buckets of up to 3 documents"
    assert found.shingles is None
    far = explain(ends, ["ab", "cc"])
    assert far.sentence == "These are no duplicates: ends refuses the pair, 1 > max_apart 0."
    assert far.stages[0].thresholds == {"max_apart": 0}
    with pytest.raises(StageError, match="stage ends: its columns failed: ValueError: no columns today"):
        explain(ends, ["ab", "cb"], set="stages.ends.fault=columns")


def test_ids_from_python():
    rows = [{"id": i, "text": f"text number {n}"} for n, i in enumerate([3, "3", "x", "x", 2**70, 1.5, None])]
    assert explain("default", rows, 3, "3").b.row == 1
    assert explain("default", rows, 2**70, 1.5).a.row == 4
    assert explain("default", rows, np.int64(3), np.float64(1.5)).a.id == 3
    key = uuid.uuid4()
    assert explain("default", [{"id": key, "text": "a"}, {"id": 1, "text": "b"}], key, 1).a.id == str(key)
    with pytest.raises(InputError, match=r'^the id "x" is not the only one of its kind: row 2 and row 3 have it; '
                       r'name the row by its position, with by="row"$'):  # fmt: skip
        explain("default", rows, "x", 3)
    assert explain("default", rows, 2, 3, by="row").a.id == "x"
    with pytest.raises(InputError, match="both ids mean the same document, 3; give two"):
        explain("default", rows, 3, 3)
    for wrong, hint in (("31", 'did you mean 3 or "3"?'), ("zzz", "ids look like 3"), (7, "ids look like 3")):
        with pytest.raises(InputError) as caught:
            explain("default", rows, wrong, 3)
        assert str(caught.value) == f"no document has the id {json.dumps(wrong)}; {hint}"
    with pytest.raises(InputError, match="row 9 is no document; rows count from 0, and 7 hold a text"):
        explain("default", rows, 9, 3, by="row")
    with pytest.raises(ConfigError, match="defualt"):
        explain("defualt", rows, 3, "3")


def test_rows_without_a_text_are_no_documents():
    rows = ["a b", None, "a c"]
    assert explain("default", rows, 0, 2, by="row").b.text == "a c"
    with pytest.raises(InputError, match="row 1 is no document"):
        explain("default", rows, 0, 1, by="row")


TABLE = pa.table({"id": ["a", "b", "c"], "text": ["One  Two", "one two three", "x"]})


@pytest.mark.parametrize(
    "data",
    [
        ["One  Two", "one two three", "x"],
        [{"text": t} for t in ("One  Two", "one two three", "x")],
        TABLE, TABLE.to_pandas(), TABLE.to_pandas().set_index(pandas.Index([7, 8, 9])), polars.from_arrow(TABLE),
    ],
    ids=["texts", "mappings", "arrow", "pandas", "pandas-index", "polars"],
)  # fmt: skip
def test_texts_as_they_came(data):
    found = explain("default", data, 1, 0, by="row")
    assert [found.a.text, found.b.text] == ["one two three", "One  Two"]
    assert [found.a.normalized, found.b.normalized] == ["one two three", "one two"]


def test_texts_of_files(tmp_path):
    lines = [{"id": 1, "body": {"text": "One  Two"}}, {"id": 2}, {"id": 3, "body": {"text": "one two three"}}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = explain("default", tmp_path / "a.jsonl", 3, 1, set="input.text=body.text")
    assert (found.a.text, found.b.text, found.a.row) == ("one two three", "One  Two", 1)
    pyarrow.parquet.write_table(TABLE, tmp_path / "b.parquet")
    assert explain("default", Path(tmp_path / "b.parquet"), "a", "b").a.text == "One  Two"


def test_huge_texts_are_explained_too():
    text = " ".join(f"w{i}" for i in range(60_000))
    found = explain("default", [text, text.replace("w7 ", "x7 ")])
    assert found.edit_similarity is None
    assert found.confirmed
    assert [part for kind, part in found.difference.parts if kind != "same"] == ["w7", "x7"]
