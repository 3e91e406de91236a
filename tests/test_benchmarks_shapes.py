"""Corpora of bad shapes, their right answers, and the benchmarks that print tables into docs/performance.md."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import cascade
from benchmarks import features, shapes
from benchmarks.odd import KEPT, Answer, Shape
from benchmarks.odd import shapes as all_shapes
from benchmarks.page import put

SMALL = {"template": 300, "half": 60, "most": 60, "copies": 40, "giant": 1, "tiny": 3000}
each_shape = pytest.mark.parametrize("shape", all_shapes(), ids=lambda shape: shape.name)


@each_shape
def test_the_answer_is_right_by_definition(shape: Shape) -> None:
    size = 400 if shape.name == "tiny" else SMALL[shape.name]
    texts, answer = shape.make(size)
    words = [text.split() for text in texts]
    assert len(words) == len(answer)
    sets = [{tuple(found[i : i + 5]) for i in range(max(1, len(found) - 4))} for found in words]
    kept: list[int] = []
    for row, one in enumerate(sets):
        if len(one) > 100_000:  # the giant, which shares no word with any other
            assert answer[row] == KEPT
            continue
        alike = [k for k in kept if len(one & sets[k]) >= 0.8 * len(one | sets[k])]
        assert answer[row] == (alike[0] if alike else KEPT)
        kept += [] if alike else [row]


def test_blocks_have_the_similarity_that_is_said() -> None:
    for shape, jaccard in ((all_shapes()[1], 0.32), (all_shapes()[2], 0.73)):
        texts, _ = shape.make(5)
        sets = [set(cascade.shingle_hashes(text).tolist()) for text in texts]
        assert {round(len(a & b) / len(a | b), 2) for a, b in combinations(sets, 2)} == {jaccard}


def test_texts_that_share_most_of_their_words_are_no_candidates() -> None:
    """A pair needs a document that could reach the threshold; with one near copy, two of them meet all others."""
    texts = list(all_shapes()[2].make(500)[0])
    result = cascade.dedupe(texts, "default")
    assert [stage.pairs_in for stage in result.stages] == [0, 0, 0]
    assert not result.removed
    texts[400] = texts[100].replace("w3000 ", "other ")
    result = cascade.dedupe(texts, "default")
    assert [(d.row, d.kept_row) for d in result.removed] == [(400, 100)]
    assert 0 < result.stages[0].pairs_in < 2 * 500


@each_shape
def test_cascade_gives_the_right_answer(shape: Shape) -> None:
    texts, answer = shape.make(SMALL[shape.name])
    removed = cascade.dedupe(list(texts), "default").removed
    assert shapes.wrong_rows(answer, {d.row: d.kept_row for d in removed}) == 0


def test_rows_with_another_fate_are_counted() -> None:
    answer: Answer = np.array([KEPT, 0, KEPT, 2, 0])
    assert shapes.wrong_rows(answer, {1: 0, 2: 0, 4: 2}) == 3
    assert shapes.wrong_rows(answer, {}) == 3
    assert shapes.wrong_rows(answer, {1: 0, 3: 2, 4: 0}) == 0


def test_growth_is_an_exponent() -> None:
    def runs(*seconds: float) -> list[dict[str, object]]:
        return [{"size": 10 * 2**i, "cpu": 1 + s, "failure": ""} for i, s in enumerate(seconds)]

    assert shapes.growth(runs(1, 2, 4), 1.0) == pytest.approx(1)
    assert shapes.growth(runs(1, 4, 16), 1.0) == pytest.approx(2)
    assert shapes.growth(runs(0.01, 4, 16), 1.0) is None
    assert shapes.growth([*runs(1, 2), {"size": 40, "cpu": 1, "failure": "stopped"}], 1.0) is None
    assert shapes.growth(runs(), 1.0) is None


def test_the_table_of_shapes() -> None:
    run = {"size": 100, "seconds": 2.0, "peak_bytes": 3e8, "failure": "", "wrong": 0}
    record = {"title": "odd", "config": "default", "runs": [run, {**run, "size": 200}], "growth": 1.04}
    stopped = {**record, "runs": [run, {**run, "failure": "stopped after 9 s"}], "growth": None}
    wrong = {**record, "runs": [run, {**run, "wrong": 7}]}
    rows = shapes.shapes_table([record, stopped, wrong]).splitlines()[2:]
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    assert cells == [
        ["odd", "default", "200", "2.00 / 2.00", "300", "1.04", "right"],
        ["odd", "default", "100", "2.00 / stopped after 9 s", "300", "", "failed"],
        ["odd", "default", "100", "2.00 / 2.00", "300", "1.04", "7 rows wrong"],
    ]


def test_features_are_measured_part_by_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert features.main(["--megabytes", "0.02", "--rounds", "1", "--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + sum(map(len, features.SHINGLERS.values()))
    for line in lines[2:]:
        _, speed, gain, normalise, shingle, distinct, minhash, keys, simhash = line.strip("| ").split("|")
        assert float(speed) > 0
        assert float(gain.removeprefix(" × ")) > 0
        assert 95 <= sum(map(int, (normalise, shingle, distinct, minhash, keys, simhash))) <= 105


def test_pieces_cover_all_texts() -> None:
    raw = features.TextBuffer.from_strings(["a" * 700_000, "b" * 700_000, "", "c" * 3_000_000, "d"])
    parts = features.pieces(raw.part(1, 5))
    assert [text for part in parts for text in part.to_list()] == raw.to_list()[1:]
    assert features.joined(parts).to_list() == raw.to_list()[1:]


def test_tables_are_put_between_their_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- one -->\nold\n<!-- /one -->\nafter\n<!-- two -->\n<!-- /two -->\n", "utf-8")
    made = "| a | b |\n| - | - |\n"
    for _ in range(2):
        put("one", made, page)
    text = page.read_text("utf-8")
    assert text == f"before\n<!-- one -->\n{made}<!-- /one -->\nafter\n<!-- two -->\n<!-- /two -->\n"
    with pytest.raises(ValueError, match="has no place for three"):
        put("three", made, page)
