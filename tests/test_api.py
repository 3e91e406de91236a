"""`dedupe` on everything that it takes, and what its result gives back."""

from __future__ import annotations

import gzip
import json
from collections import OrderedDict
from pathlib import Path
from uuid import UUID

import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest

import cascade
from cascade import ConfigError, Decision, InputError, dedupe, load_config

TEXTS = ["one text here", "another text", "One  text here", "第三篇文章", "", None, "another text"]
IDS = ["a", "b", "c", "d", "e", "f", "g"]
EXACT = {"stages": []}
KEPT = [0, 1, 3, 4]


def rows():
    return [{"id": i, "text": t, "n": n} for n, (i, t) in enumerate(zip(IDS, TEXTS, strict=True))]


def test_a_list_of_texts():
    result = dedupe([t for t in TEXTS if t is not None], EXACT)
    assert result.kept == ["one text here", "another text", "第三篇文章", ""]
    assert result.kept_rows == KEPT
    assert result.removed == [
        Decision(id=2, kept_id=0, reason="exact", scores={}, row=2, kept_row=0),
        Decision(id=5, kept_id=1, reason="exact", scores={}, row=5, kept_row=1),
    ]
    assert result.counts == {"read": 6, "kept": 4, "removed_exact": 2, "removed_near": 0, "rejected": 0}


def test_a_generator_and_ordered_mappings():
    result = dedupe((OrderedDict(r) for r in rows()), EXACT)
    assert [r["id"] for r in result.kept] == ["a", "b", "d", "e"]
    assert [(d.id, d.kept_id) for d in result.removed] == [("c", "a"), ("g", "b")]
    assert [(r.line, r.error) for r in result.rejected] == [(5, "the text is NoneType, not a string")]


@pytest.mark.parametrize("make", [pa.Table.from_pylist, pandas.DataFrame, polars.DataFrame])
def test_tables_and_frames_come_back_as_they_are(make):
    data = make(rows())
    result = dedupe(data, EXACT)
    assert type(result.kept) is type(data)
    assert list(map(str, result.kept["id"])) == ["a", "b", "d", "e"]
    assert [(d.id, d.kept_id, d.row) for d in result.removed] == [("c", "a", 2), ("g", "b", 6)]
    assert len(result.rejected) == 1
    other = dedupe(data, {**EXACT, "input": {"text": "id"}})
    assert other.kept_rows == list(range(7))
    with pytest.raises(InputError, match="there is no column 'body'; columns are: id, text, n"):
        dedupe(data, {**EXACT, "input": {"text": "body"}})


def test_large_tables_in_several_chunks():
    table = pa.concat_tables([pa.table({"text": [f"text {i % 900}" for i in range(1000)]})] * 30)
    result = dedupe(table, EXACT)
    assert result.kept.num_rows == 900
    assert result.kept_rows == list(range(900))


def test_paths(tmp_path: Path):
    lines = "".join(json.dumps(r) + "\n" for r in rows())
    (tmp_path / "a.jsonl").write_text(lines, "utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows()), tmp_path / "c.parquet")
    one = dedupe(tmp_path / "a.jsonl", EXACT)
    assert one.kept == [rows()[i] for i in KEPT]
    assert [(r.source, r.line) for r in one.rejected] == [(str(tmp_path / "a.jsonl"), 6)]
    assert dedupe(str(tmp_path / "a.jsonl"), EXACT).kept == one.kept
    every = dedupe([tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz", tmp_path / "c.parquet"], EXACT)
    assert [r for r in every.kept if r["text"]] == [rows()[i] for i in KEPT if TEXTS[i]]
    assert len(every.kept) == 6  # an empty text is nobody's duplicate
    assert every.counts["read"] == 21
    with pytest.raises(InputError, match="no such file"):
        dedupe(tmp_path / "none.jsonl")


def test_ids_of_any_kind_come_back():
    ids = [3, "3", 2**70, None, True, 1.5, UUID(int=7)]
    result = dedupe([{"id": i, "text": "same"} for i in ids], EXACT)
    assert [d.id for d in result.removed] == ["3", 2**70, None, True, 1.5, str(UUID(int=7))]
    assert {d.kept_id for d in result.removed} == {3}


def test_config_as_path_mapping_preset_and_config(tmp_path: Path):
    (tmp_path / "c.yaml").write_text("shingle: {n: 2}\nstages: [{use: jaccard, min_jaccard: 0.6}]\n")
    texts = ["red blue green", "red blue green yellow"]
    mapping = {"shingle": {"n": 2}, "stages": [{"use": "jaccard", "min_jaccard": 0.6}]}
    for config in (tmp_path / "c.yaml", str(tmp_path / "c.yaml"), mapping, load_config(mapping)):
        assert dedupe(texts, config).kept_rows == [0]
    assert dedupe(texts, "tutorial").kept_rows == [0, 1]
    assert dedupe(texts, mapping, set=["stages.jaccard.min_jaccard=0.7"]).kept_rows == [0, 1]
    with pytest.raises(ConfigError, match="min_jacard"):
        dedupe(texts, {"stages": [{"use": "jaccard", "min_jacard": 0.6}]})


def test_table_of_decisions_and_pairs():
    texts = ["a b c d e f", "a b c d e f g", "x y z", "A B C D E F"]
    result = dedupe(texts, {"shingle": {"n": 1}, "stages": [{"use": "jaccard", "min_jaccard": 0.8}]})
    table = result.to_table().to_pylist()
    assert [r["kept"] for r in table] == [True, False, True, False]
    assert [r["kept_id"] for r in table] == [None, "0", None, "0"]
    assert [r["reason"] for r in table] == [None, "near", None, "exact"]
    assert table[1]["jaccard"] == pytest.approx(6 / 7)
    assert table[0]["jaccard"] is table[3]["jaccard"] is None
    assert (result.pairs.left.tolist(), result.pairs.right.tolist()) == ([0], [1])
    assert [(s.name, s.pairs_out) for s in result.stages] == [("jaccard", 1)]


def test_lone_surrogates_are_no_problem():
    assert dedupe(["a \ud800 b", "a \ufffd b"], EXACT).kept_rows == [0]


def test_a_stage_of_ones_own_by_module_and_class():
    with pytest.raises(ConfigError, match="nowhere"):
        dedupe(["a"], {"stages": [{"use": "nowhere:Nothing"}]})


def test_shingle_hashes_are_what_the_stages_see():
    a, b = (cascade.shingle_hashes(text) for text in ("One two three four five six", "one two three four five seven"))
    assert len(a) == len(b) == 2
    assert cascade.jaccard(a, b) == pytest.approx(1 / 3)
    assert cascade.shingle_hashes("…").tolist() == []
    assert set(cascade.shingle_hashes("a b c", seed=1)).isdisjoint(cascade.shingle_hashes("a b c", seed=2))


def test_a_list_of_file_names_is_not_taken_for_texts(tmp_path: Path):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path in paths:
        path.write_text('{"text": "a"}\n')
    with pytest.raises(InputError, match=r"names of files .*; give pathlib\.Path"):
        dedupe([str(p) for p in paths])
    assert dedupe([str(paths[0]), "a text"], EXACT).kept_rows == [0, 1]
    assert dedupe(paths, EXACT).kept == [{"text": "a"}]


def test_a_result_shows_its_counts_and_no_text():
    assert repr(dedupe(["a", "a", "b"], EXACT)) == "Result(read=3, kept=2, removed_exact=1, removed_near=0, rejected=0)"


def test_one_override_may_be_a_plain_string():
    assert dedupe(["a"], EXACT, set="seed=3").config.seed == 3


def test_a_stage_named_like_a_column_has_its_score_beside_it():
    stage = {"use": "jaccard", "name": "id", "min_jaccard": 0.5}
    table = dedupe(["a b c", "a b c d"], {"shingle": {"n": 1}, "stages": [stage]}).to_table()
    assert table["id"].to_pylist() == ["0", "1"]
    assert table["id_score"].to_pylist() == [None, 0.75]


def test_dotted_paths_lead_into_mappings():
    rows = [{"meta": {"text": "a", "id": 7}}, {"meta": {"text": "a", "id": 8}}, {"meta": "a"}, {"meta.text": "b"}]
    result = dedupe(rows, {**EXACT, "input": {"text": "meta.text", "id": "meta.id"}})
    assert result.kept == [rows[0], rows[3]]
    assert [(d.id, d.kept_id) for d in result.removed] == [(8, 7)]
    assert [r.error for r in result.rejected] == ["row 2 has no field 'meta.text'; it has: meta"]
