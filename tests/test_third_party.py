"""Stages of other people: what the pipeline asks of them, and how it tells when they do not give it."""

from __future__ import annotations

import numpy as np
import pytest

from cascade import Accepted, Keys, Pairs, Predicate, Stage, StageError, TokenShingler, dedupe

HERE = __name__
TEXTS = ["a b c", "a b c d", "a b", "x y"]
ASKED: list[tuple[int, int]] = []
SEEN: list[int] = []


class Everything(Stage):
    """Accepts every pair; its options choose how it misbehaves."""

    fault: str = ""
    dead: tuple[int, ...] = ()
    keyed: bool = False

    def bind(self, facts):
        return Bound(self)


class Bound(Predicate):
    def __init__(self, options):
        self.options = options
        self.keys_per_document = 1 if options.keyed else None

    def columns(self, batch):
        if self.options.fault == "columns":
            raise ValueError("no columns today")
        if self.options.fault == "short":
            return {"x": np.zeros(len(batch.rows) + 1)}
        return {"alive": np.array([row not in self.options.dead for row in batch.rows])}

    def keys(self, columns):
        if self.options.fault == "none":
            return None
        n = len(columns["alive"])
        return Keys(np.zeros((n, 1), np.uint64), np.ones(n, bool))

    def filter(self, pairs: Pairs, columns, corpus):
        ASKED.extend(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
        everything = np.ones(len(pairs), bool)
        match self.options.fault:
            case "raise":
                raise KeyError("lost")
            case "nothing":
                return None
            case "mask":
                return Accepted.where(everything[:1], np.ones(1))
            case "scores":
                return Accepted(np.arange(2), np.ones(1))
            case "positions":
                return Accepted(np.array([len(pairs)]), np.ones(1))
            case "order":
                return Accepted(np.array([1, 0]), np.ones(2))
        return Accepted.where(everything, np.ones(len(pairs)))


class Late(Everything):
    """As a filter its columns are computed for documents in pairs only."""

    def bind(self, facts):
        return LateBound(self)


class LateBound(Bound):
    late = True

    def columns(self, batch):
        SEEN.extend(batch.rows.tolist())
        return {"seen": np.ones(len(batch.rows), bool)}

    def filter(self, pairs, columns, corpus):
        assert columns["seen"][pairs.left].all()
        assert columns["seen"][pairs.right].all()
        return Accepted.where(np.ones(len(pairs), bool), np.ones(len(pairs)))


class Pruning(Everything):
    """Its `alive` spares other stages their columns."""

    def bind(self, facts):
        bound = Bound(self)
        bound.prunes = True
        return bound


class Seeing(Everything):
    """Notes whose columns are computed, with what shingles; keys of its own, batch by batch, if it is keyed."""

    def bind(self, facts):
        return SeeingBound(self)


class SeeingBound(Bound):
    def columns(self, batch):
        SEEN.extend(batch.rows.tolist())
        lengths = batch.shingles().lengths
        assert lengths.tolist() == [len(text.split()) for text in batch.texts.to_list()]
        return {"length": lengths}

    def batch_keys(self, batch):
        n = len(batch.rows)
        if self.options.fault == "fixed":
            return Keys(np.zeros((n, 1), np.uint64), np.ones(n, bool))
        return Keys(np.zeros(n, np.uint64), np.ones(n, bool), np.arange(n + 1, dtype=np.int64))


class Sick(TokenShingler):
    def tokens(self, text):
        raise RuntimeError("no tokens")


def run(*stages, **more):
    ASKED.clear()
    return dedupe(TEXTS, {"stages": [{"use": f"{HERE}:Everything", "name": "mine", **s} for s in stages], **more})


FAULTS = [
    ("columns", "its columns failed: ValueError: no columns today"),
    ("short", "its column 'x' failed: ValueError: "),
    ("raise", "its filter failed: KeyError: 'lost'"),
    ("nothing", "its filter failed: AttributeError: "),
    ("mask", "its filter failed: ValueError: it answered for 1 pairs and was asked about 6"),
    ("scores", "its filter failed: ValueError: it accepted 2 pairs and gave 1 scores"),
    ("positions", "its filter failed: ValueError: the positions of accepted pairs must ascend within 0 … 5"),
    ("order", "its filter failed: ValueError: the positions of accepted pairs must ascend within 0 … 5"),
]


@pytest.mark.parametrize(("fault", "message"), FAULTS)
def test_a_fault_names_the_stage(fault, message):
    with pytest.raises(StageError) as caught:
        run({"fault": fault})
    assert str(caught.value).startswith(f"stage mine: {message}")
    assert caught.value.__cause__ is not None


def test_a_stage_that_announces_keys_must_give_them():
    with pytest.raises(StageError, match="stage mine announced blocking keys and gave none"):
        run({"fault": "none", "keyed": True})


def test_a_mask_and_scores_of_different_length_are_refused():
    with pytest.raises(ValueError, match="the mask has 2 entries and the scores have 3"):
        Accepted.where(np.ones(2, bool), np.ones(3))


def test_a_shingler_that_fails_is_a_stage_error_too():
    for stage, what in (("minhash", "columns"), ("jaccard", "first pass")):
        with pytest.raises(StageError, match=f"stage {stage}: its {what} failed: RuntimeError: no tokens"):
            dedupe(TEXTS, {"shingle": {"by": f"{HERE}:Sick"}, "stages": [{"use": stage}]})


@pytest.mark.parametrize("keyed", [False, True])
def test_documents_that_are_not_alive_come_in_no_pair(keyed):
    result = run({"dead": (0, 3), "keyed": keyed})
    assert ASKED == [(1, 2)]
    assert result.kept_rows == [0, 1, 3]


def test_a_late_filter_computes_columns_for_documents_in_pairs_only():
    texts = ["a b c d e f g h", "a b c d e f g h i", "a b c d e f g h i j", "x y", "z"]
    SEEN.clear()
    stages = [{"use": "minhash"}, {"use": "jaccard", "min_jaccard": 0.5}, {"use": f"{HERE}:Late", "name": "late"}]
    result = dedupe(texts, {"shingle": {"n": 1}, "stages": stages}, workers=1)
    assert result.kept_rows == [0, 3, 4]
    assert sorted(SEEN) == [0, 1, 2]


@pytest.mark.parametrize("dead", [(0, 3), (0, 1, 2, 3), ()])
@pytest.mark.parametrize("keyed", [False, True])
def test_documents_that_are_pruned_cost_other_stages_nothing(dead, keyed):
    SEEN.clear()
    ASKED.clear()
    stages = [{"use": f"{HERE}:Seeing", "name": "seeing", "keyed": keyed}]
    stages += [{"use": f"{HERE}:Pruning", "name": "pruning", "dead": dead}]
    result = dedupe(TEXTS, {"shingle": {"n": 1}, "stages": stages}, workers=1)
    alive = [row for row in range(len(TEXTS)) if row not in dead]
    assert alive == SEEN
    assert {row for pair in ASKED for row in pair} == set(alive)
    assert result.kept_rows == sorted({*dead, *alive[:1]})
    pruning = next(s for s in result.stages if s.name == "pruning")
    assert pruning.counts["documents_alive"] == len(alive)


def test_keys_of_a_batch_that_are_not_ragged_are_refused():
    with pytest.raises(StageError, match="indptr needs one place more than documents"):
        dedupe(TEXTS, {"stages": [{"use": f"{HERE}:Seeing", "keyed": True, "fault": "fixed"}], "shingle": {"n": 1}})


def test_scores_stand_in_the_order_of_the_config():
    stages = [{"use": f"{HERE}:Everything", "name": "mine"}, {"use": "jaccard", "min_jaccard": 0.1}, {"use": "minhash"}]
    result = dedupe(TEXTS, {"shingle": {"n": 1}, "stages": stages})
    assert list(result.removed[0].scores) == ["mine", "jaccard", "minhash"]
