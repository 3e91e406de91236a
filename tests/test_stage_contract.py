"""What every registered stage must hold to, third-party ones too: run on all that are installed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cascade.pairs import Pairs
from cascade.registry import STAGES, installed, stage_class
from cascade.stage import Facts, Keys, Predicate, Stage
from cascade.text.buffer import TextBuffer
from cascade.text.shingle import Word
from cascade.view import CorpusView, DocumentBatch

TEXTS = [
    "the quick brown fox jumps over the lazy dog",
    "the quick brown fox jumps over the lazy dog",
    "the quick brown fox jumped over the lazy dog",
    "他每天早上沿着河边跑五公里，然后去图书馆看书。",
    "他每天早上沿着河边跑五公里，然后去图书馆看书。",
    "",
    "",
    "!!! ???",
    "!!! ???",
    "word",
    "word",
    "ไก่จิกเด็กตายบนปากโอ่ง",
    "ไก่จิกเด็กตายบนปากโอ่ง",
]
names = pytest.mark.parametrize("name", sorted(installed(STAGES)))


def bound(name: str, texts=TEXTS, **options) -> tuple[Stage, Predicate, dict, CorpusView]:
    stage = stage_class(name)(**options)
    view = CorpusView(
        TextBuffer.from_strings(texts), np.arange(len(texts), dtype=np.int64), Word(n=2), seed=3, workers=1
    )
    facts = Facts(len(texts), 3, 0.8, enumerates=True, text_bytes=view.text_bytes())
    summary = stage.observe(facts)
    if summary is not None:
        for batch in view.batches():
            summary.add(batch)
    predicate = stage.bind(Facts(len(texts), 3, 0.8, summary))
    parts = [predicate.columns(batch) for batch in view.batches()]
    return stage, predicate, parts[0] if parts else {}, view


def keys_of(predicate: Predicate, view: CorpusView, columns: dict) -> Keys | None:
    """The keys of all documents, as the pipeline asks for them."""
    parts = [predicate.batch_keys(batch) for batch in view.batches()]
    return predicate.keys(columns) if not parts or parts[0] is None else parts[0]


def every_pair(documents: int) -> Pairs:
    right, left = np.tril_indices(documents, -1)
    return Pairs(left.astype(np.int64), right.astype(np.int64))


def test_the_built_in_stages_are_there():
    assert set(installed(STAGES)) >= {"simhash", "minhash", "jaccard", "containment", "edit_distance"}


@names
def test_defaults_are_valid_frozen_and_cheap(name):
    stage = stage_class(name)()
    with pytest.raises(ValueError, match="frozen"):
        stage.use = "other"
    assert stage == pickle.loads(pickle.dumps(stage))
    for field, info in type(stage).model_fields.items():
        assert info.description or field == "use", f"option {field} of {name} has no description"
    assert type(stage).__doc__


@names
def test_pairs_of_equal_texts_are_accepted_unless_there_is_nothing_to_look_at(name):
    stage, predicate, columns, view = bound(name)
    pairs = every_pair(len(TEXTS))
    accepted = predicate.filter(pairs, columns, view)
    found = {(int(pairs.left[i]), int(pairs.right[i])) for i in accepted.index}
    assert {(0, 1), (3, 4), (9, 10), (11, 12)} <= found
    assert (5, 6) not in found, "two empty texts"
    if stage.uses_shingles:
        assert (7, 8) not in found, "two texts without a shingle"


@names
def test_filter_gives_ascending_positions_and_finite_scores(name):
    _, predicate, columns, view = bound(name)
    pairs = every_pair(len(TEXTS))
    accepted = predicate.filter(pairs, columns, view)
    assert accepted.index.dtype == np.int64
    assert accepted.score.dtype == np.float64
    assert (np.diff(accepted.index) > 0).all()
    assert len(accepted.score) == len(accepted.index)
    assert np.isfinite(accepted.score).all()
    none = predicate.filter(Pairs.empty(), columns, view)
    assert len(none.index) == len(none.score) == 0


@names
def test_a_verdict_depends_on_the_pair_alone(name):
    """Whatever else is asked in the same call, in whatever order, a pair gets the same answer and score."""
    _, predicate, columns, view = bound(name)
    pairs = every_pair(len(TEXTS))
    together = predicate.filter(pairs, columns, view)
    scores = dict(zip(together.index.tolist(), together.score.tolist(), strict=True))
    for i in range(len(pairs)):
        alone = predicate.filter(pairs.take(np.array([i])), columns, view)
        assert dict.fromkeys(alone.index.tolist(), scores.get(i)) == dict.fromkeys(
            [0] if i in scores else [], scores.get(i)
        )
        assert alone.score.tolist() == ([scores[i]] if i in scores else [])


@names
def test_columns_do_not_depend_on_the_batch(name):
    """Each document by itself and all together give the same columns, whose first axis is documents."""
    _, predicate, columns, view = bound(name)
    for values in columns.values():
        assert len(values) == len(TEXTS)
    for row in range(len(TEXTS)):
        (batch,) = view.batches(np.array([row]))
        for column, values in predicate.columns(batch).items():
            assert np.array_equal(values[0], columns[column][row]), (column, row)


@names
def test_keys_are_shared_by_every_accepted_pair(name):
    _, predicate, columns, view = bound(name)
    if predicate.keys_per_document is None:
        assert keys_of(predicate, view, columns) is None
        return
    keys = keys_of(predicate, view, columns)
    assert keys.values.dtype == np.uint64
    pairs = every_pair(len(TEXTS))
    accepted = predicate.filter(pairs, columns, view)
    for i in accepted.index.tolist():
        left, right = pairs.left[i], pairs.right[i]
        assert keys.alive[left]
        assert keys.alive[right]
        if keys.indptr is None:
            assert (keys.values[left] == keys.values[right]).any()
        else:
            rows = [set(keys.values[keys.indptr[r] : keys.indptr[r + 1]].tolist()) for r in (left, right)]
            assert rows[0] & rows[1]
            if keys.core is not None:
                own = [slice(keys.indptr[r], keys.indptr[r + 1]) for r in (left, right)]
                assert rows[0] & rows[1] & {k for part in own for k in keys.values[part][keys.core[part]].tolist()}


@names
def test_summaries_do_not_depend_on_how_documents_are_shared_out(name):
    """All in one summary, or each in one of its own, merged forwards or backwards: the same columns."""
    stage, _, columns, view = bound(name)
    facts = Facts(len(TEXTS), 3, 0.8, enumerates=True, text_bytes=view.text_bytes())
    if stage.observe(facts) is None:
        return
    for direction in (1, -1):
        parts = []
        for row in range(len(TEXTS))[::direction]:
            parts.append(stage.observe(facts))
            for batch in view.batches(np.array([row])):
                parts[-1].add(batch)
        summary = parts[0]
        for part in parts[1:]:
            summary = summary.merge(part) if direction == 1 else part.merge(summary)
        (batch,) = view.batches()
        again = stage.bind(Facts(len(TEXTS), 3, 0.8, summary)).columns(batch)
        assert all(np.array_equal(again[column], values) for column, values in columns.items())


@names
def test_an_empty_corpus_is_no_problem(name):
    _, predicate, parts, view = bound(name, texts=[])
    assert parts == {}, "no batch comes of no document"
    none = np.empty(0, np.int64)
    columns = predicate.columns(DocumentBatch(none, view.texts(none), view.shingler, view.seed))
    full = bound(name)[2]
    assert {column: (values.dtype, values.ndim) for column, values in columns.items()} == {
        column: (values.dtype, values.ndim) for column, values in full.items()
    }
    assert all(len(values) == 0 for values in columns.values())
    batch = DocumentBatch(none, view.texts(none), view.shingler, view.seed)
    keys = predicate.batch_keys(batch) or predicate.keys(columns)
    assert (keys is None) == (predicate.keys_per_document is None)
    if keys is not None:
        assert (keys.values.dtype, keys.values.size, len(keys.alive)) == (np.uint64, 0, 0)
        assert keys.indptr is None or keys.indptr.tolist() == [0]
    accepted = predicate.filter(Pairs.empty(), columns, view)
    assert len(accepted.index) == len(accepted.score) == 0
    assert predicate.describe()


def test_simhash_with_idf_holds_to_the_contract_too():
    _, predicate, columns, view = bound("simhash", weights="idf")
    pairs = every_pair(len(TEXTS))
    found = predicate.filter(pairs, columns, view)
    assert {(0, 1), (3, 4)} <= {(int(pairs.left[i]), int(pairs.right[i])) for i in found.index}


def test_simhash_keys_find_all_that_its_filter_accepts():
    for distance in (0, 3, 7):
        _, predicate, columns, view = bound("simhash", max_hamming=distance)
        keys = predicate.keys(columns)
        pairs = every_pair(len(TEXTS))
        for i in predicate.filter(pairs, columns, view).index.tolist():
            assert (keys.values[pairs.left[i]] == keys.values[pairs.right[i]]).any()
