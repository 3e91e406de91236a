"""Columns computed while documents arrive: when they may be, and that nobody can tell from the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal
from unittest import mock

import numpy as np
import pytest
from corpora import mixed, write
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import StageError, corpus, dedupe, early, load_config, run_files
from cascade import run as module
from cascade.early import early_columns
from cascade.memory import Memory
from cascade.pairs import Accepted
from cascade.stage import Predicate, Stage
from cascade.text import buffer

MINHASH = {"use": "minhash", "bands": 24, "rows_per_band": 4}
JACCARD = {"use": "jaccard", "min_jaccard": 0.7}
STAGES = {
    "default": [{"use": "simhash", "max_hamming": 20}, MINHASH, JACCARD],
    "simhash enumerates": [{"use": "simhash", "max_hamming": 6}, MINHASH, JACCARD],
    "estimate": [MINHASH | {"min_estimate": 0.6}, {"use": "containment", "min_containment": 0.8}],
    "edits": [MINHASH | {"scheme": "oph"}, {"use": "edit_distance", "min_similarity": 0.7}],
    "scan": [{"use": "simhash", "max_hamming": 12, "weights": "count"}],
}


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.name != "report.json"}


def counts(folder: Path) -> dict[str, object]:
    report = json.loads((folder / "report.json").read_text())
    stages = [{k: v for k, v in stage.items() if k != "seconds"} for stage in report["stages"]]
    return {"counts": report["counts"], "warnings": report["warnings"], "stages": stages, "plan": report["plan"]}


@pytest.mark.parametrize("keep", ["first", "last", "longest"])
@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES)
def test_the_answer_is_that_of_columns_computed_afterwards(tmp_path, stages, keep):
    texts = [text for text in mixed(500, seed=5) for _ in range(1 + len(text) % 2)]
    source = write(tmp_path / "in.jsonl", texts)
    for exact in (True, False):
        config = load_config({"stages": stages, "exact": exact, "shingle": {"by": "word", "n": 2},
                              "resolve": {"keep": keep, "pairs": "all"}})  # fmt: skip
        with mock.patch.object(module, "early_columns", return_value=None):
            run_files(config, [source], tmp_path / "afterwards", workers=1, overwrite=True)
        for workers, held in [(1, 1 << 30), (1, 0), (3, 0)]:
            with (
                mock.patch.multiple(module, HELD=held, HELD_EACH=0, HELD_SHARE=0),
                mock.patch.multiple(buffer, BATCH_BYTES=5000),
                mock.patch.multiple(early, SEEN=64),
            ):
                run_files(config, [source], tmp_path / "early", workers=workers, overwrite=True)
            assert files(tmp_path / "early") == files(tmp_path / "afterwards")
            assert counts(tmp_path / "early") == counts(tmp_path / "afterwards")


def poor_digests(texts, seed):
    """Digests of which many are the same: the first halves tell lengths apart, the others nothing."""
    return np.column_stack((texts.sizes() % 3, np.ones(len(texts), np.int64))).astype(np.uint64)


@given(texts=st.lists(st.sampled_from(["a b c", "a b d", "x y z", "", "a b c d", "数据 清洗 去", "!"]), max_size=12))
@settings(deadline=None, max_examples=60)
def test_digests_that_mislead_change_no_answer(texts):
    config = {"stages": [MINHASH, {"use": "jaccard", "min_jaccard": 0.5}], "shingle": {"by": "word", "n": 1}}
    expected = dedupe(texts, config)
    with mock.patch.object(corpus, "digests", poor_digests), mock.patch("cascade.given.digests", poor_digests):
        found = dedupe(texts, config)
    assert found.kept_rows == expected.kept_rows
    assert found.removed == expected.removed
    assert found.warnings == expected.warnings


def test_equal_texts_are_looked_at_once():
    config = load_config("default")
    columns = early_columns(config, Memory())
    assert columns is not None
    several = ["one two three four five six", "", "another text of several words", "", "one two three four five six"]
    texts = buffer.TextBuffer.from_strings(several)
    digest = corpus.digests(texts, 0)
    assert columns.compute(texts, digest).fresh.tolist() == [True, True, True, True, False]
    assert columns.compute(texts, digest).fresh.tolist() == [False, True, False, True, False]


class Columnar(Stage):
    use: Literal["columnar"] = "columnar"
    short: int = 0

    @property
    def early(self):
        return True

    def bind(self, facts):
        return Bound(self.short)


class Bound(Predicate):
    def __init__(self, short):
        self.short = short

    def columns(self, batch):
        return {"size": batch.texts.sizes()[self.short :]}

    def filter(self, pairs, columns, corpus):
        return Accepted.where(columns["size"][pairs.left] == columns["size"][pairs.right], pairs.left)


def third_party(**options):
    return {"use": f"{__name__}:Columnar", **options}


def test_a_third_party_may_say_that_its_columns_can_come_early():
    texts = ["abc", "de", "xyz", "uv", "abcd"]
    assert dedupe(texts, {"stages": [third_party()]}).kept_rows == [0, 1, 4]
    with pytest.raises(StageError, match=r"Columnar: its column 'size' failed: ValueError: 4 entries for 5 documents"):
        dedupe(texts, {"stages": [third_party(short=1)]})


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        *((stages, True) for stages in STAGES.values()),
        ([], False),
        ([JACCARD], False),
        ([MINHASH, JACCARD | {"prune": True}], False),
        ([{"use": "minhash", "bands": "auto", "at_jaccard": 0.8}, JACCARD], False),
        ([{"use": "minhash", "rows_per_band": "auto", "at_jaccard": 0.8}, JACCARD], False),
        ([{"use": "simhash", "weights": "idf"}, MINHASH], False),
        ([{"use": "simhash", "max_hamming": 5}, {"use": "minhash", "bands": "auto", "at_jaccard": 0.8}], True),
        ([MINHASH, {"use": "test_third_party:Late"}], True),
        ([MINHASH, {"use": "test_third_party:Everything"}], False),
    ],
)
def test_when_columns_may_come_early(stages, expected):
    assert (early_columns(load_config({"stages": stages}), Memory()) is not None) == expected
