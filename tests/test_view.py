"""The corpus as stages see it: batches, shingle sets from an arena of bounded size, overlaps however they are cut."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import view as module
from cascade.corpus import Corpus, CorpusBuilder, TextStore, digests
from cascade.keep import collapse
from cascade.parallel import ordered_map
from cascade.stage import Shingler
from cascade.text import buffer
from cascade.text.buffer import Shingles, TextBuffer
from cascade.text.shingle import Char, Word
from cascade.view import CorpusView

TEXTS = ["a b c d", "", "b c d e", "数据 清洗", "x", "a b c d e f g", "ไก่ จิก", "!"]
texts = st.lists(st.text(st.sampled_from("ab c 数据é\u0301"), max_size=12), max_size=20)


def view_of(items, order=None, **options):
    order = np.arange(len(items), dtype=np.int64) if order is None else np.array(order, np.int64)
    return CorpusView(TextBuffer.from_strings(items), order, Word(n=2), seed=1, **options)


@given(batches=st.lists(texts, max_size=5))
@settings(deadline=None)
def test_a_store_gives_back_what_was_appended(batches):
    store = TextStore()
    for batch in batches:
        whole = TextBuffer.from_strings(["left out", *batch])
        store.append(whole.part(1, len(whole)))  # offsets that do not start at zero
    assert store.finish().to_list() == [text for batch in batches for text in batch]


def test_a_store_grows_beyond_its_first_block():
    store = TextStore()
    items = ["x" * 70_000, "y" * 300_000, "", "z"]
    for item in items:
        store.append(TextBuffer.from_strings([item]))
    assert store.finish().to_list() == items


@given(items=texts, data=st.data())
@settings(deadline=None)
def test_taking_texts(items, data):
    rows = data.draw(st.lists(st.integers(0, len(items) - 1), max_size=20)) if items else []
    taken = TextBuffer.from_strings(items).take(np.array(rows, np.int64))
    assert taken.to_list() == [items[r] for r in rows]


def test_batches_cover_every_row_once_in_order(monkeypatch):
    monkeypatch.setattr(buffer, "BATCH_BYTES", 8)
    monkeypatch.setattr(buffer, "BATCH_DOCUMENTS", 3)
    view = view_of(TEXTS, order=[7, 5, 0, 1, 2, 3, 4, 6])
    batches = list(view.batches())
    assert np.concatenate([b.rows for b in batches]).tolist() == list(range(8))
    assert [t for b in batches for t in b.texts.to_list()] == [TEXTS[i] for i in (7, 5, 0, 1, 2, 3, 4, 6)]
    assert all(len(b.rows) <= 3 and (len(b.rows) == 1 or b.texts.size <= 8) for b in batches)


class Counting(Shingler):
    """Counts its calls."""

    calls: ClassVar[list[int]] = []

    def shingle(self, texts, seed):
        self.calls.append(len(texts))
        return Word(n=1).shingle(texts, seed)


def test_a_batch_is_shingled_once_by_each_shingler():
    counting = Counting()
    (batch,) = CorpusView(TextBuffer.from_strings(["a b a"]), np.array([0]), counting, seed=0).batches()
    assert batch.used() == {}
    first = batch.shingles()
    assert batch.shingles() is first is batch.shingles(counting)
    assert len(counting.calls) == 1
    assert batch.used() == {counting: first}
    assert first.lengths.tolist() == [2]
    assert first.counts.tolist() == [2, 1]
    assert batch.shingles(Char(n=1)) is not first


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("room", [0, 5, 1 << 20])
@given(items=texts.filter(lambda items: len(items) > 1), data=st.data())
@settings(deadline=None, max_examples=25)
def test_overlaps_are_counted_whatever_the_arena_holds(items, data, room, workers):
    row = st.integers(0, len(items) - 1)
    calls = data.draw(st.lists(st.lists(st.tuples(row, row), max_size=6), max_size=4))
    before = module.ARENA_HASHES, module.SLICE_BYTES
    module.ARENA_HASHES, module.SLICE_BYTES = room, 20
    try:
        view = view_of(items, workers=workers)
        sets = [set(Word(n=2).shingle_texts(item)) for item in items]
        for pairs in calls:
            left, right = (np.array([p[side] for p in pairs], np.int64) for side in (0, 1))
            found = view.overlaps(left, right, np.zeros(len(pairs), np.int64))
            assert found.tolist() == [len(sets[a] & sets[b]) for a, b in pairs]
    finally:
        module.ARENA_HASHES, module.SLICE_BYTES = before


def test_the_arena_keeps_each_shingler_apart():
    view = view_of(["ab ab", "ab cd"])
    one, other = np.array([0]), np.array([1])
    least = np.array([0])
    assert view.overlaps(one, other, least).tolist() == [0]
    assert view.overlaps(one, other, least, Word(n=1)).tolist() == [1]
    assert view.overlaps(one, other, least, Char(n=2)).tolist() == [2]


@given(items=texts)
@settings(deadline=None)
def test_sets_are_ascending_and_distinct(items):
    found = view_of(items).sets(np.arange(len(items), dtype=np.int64))
    assert len(found) == len(items)
    for i, item in enumerate(items):
        row = found.row(i).tolist()
        assert row == sorted(set(row))
        assert len(row) == len(set(Word(n=2).shingle_texts(item)))


def corpus_of(items, same_digest=False) -> Corpus:
    buffer = TextBuffer.from_strings(items)
    digest = np.zeros((len(items), 2), np.uint64) if same_digest else digests(buffer, 0)
    zeros = np.zeros(len(items), np.int64)
    return Corpus(buffer, digest, buffer, zeros, zeros, zeros, zeros, zeros, {})


@pytest.mark.parametrize("same_digest", [False, True])
@given(items=st.lists(st.sampled_from(["", "a", "b", "ab", "数据", "数", "c c"]), max_size=14), data=st.data())
@settings(deadline=None, max_examples=100)
def test_equal_texts_collapse_to_the_first_in_keep_order(items, data, same_digest):
    """Also when every digest is the same: texts are compared byte for byte."""
    order = np.array(data.draw(st.permutations(range(len(items)))), np.int64)
    left, twin_of = collapse(corpus_of(items, same_digest), order)
    first: dict[str, int] = {}
    expected = []
    for row in order.tolist():
        if items[row] and items[row] in first:
            assert twin_of[row] == first[items[row]]
        else:
            first[items[row]] = row
            expected.append(row)
            assert twin_of[row] == row
    assert left.tolist() == expected


def test_an_empty_builder_gives_an_empty_corpus():
    corpus = CorpusBuilder().finish()
    assert len(corpus) == 0
    assert corpus.digest.shape == (0, 2)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_ordered_map_keeps_the_order_and_stops_at_the_first_failure(workers):
    assert list(ordered_map(lambda x: x * x, range(100), workers)) == [x * x for x in range(100)]
    assert list(ordered_map(str, [], workers)) == []
    seen = []

    def fail(x):
        seen.append(x)
        if x == 3:
            raise ValueError("three")
        return x

    with pytest.raises(ValueError, match="three"):
        list(ordered_map(fail, range(1000), workers))
    assert len(seen) < 100, "items after the failure are not begun"


def test_ordered_map_draws_few_items_ahead():
    drawn = 0

    def items():
        nonlocal drawn
        for i in range(1000):
            drawn += 1
            yield i

    results = ordered_map(lambda x: x, items(), 2)
    assert next(results) == 0
    assert drawn <= 5
    results.close()


def test_join_of_shingles():
    parts = [
        Shingles(np.array(h, np.uint64), np.array(p, np.int64)) for h, p in (([1, 2], [0, 1, 2]), ([3], [0, 0, 1]))
    ]
    joined = module.join_shingles(parts)
    assert joined.hashes.tolist() == [1, 2, 3]
    assert joined.indptr.tolist() == [0, 1, 2, 2, 3]
    assert len(module.join_shingles([])) == 0
    assert oracle.jaccard(set(joined.row(0).tolist()), {1}) == 1
