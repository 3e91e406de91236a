"""The page of a run: what is gathered agrees with plain loops over the files, and the page tells it."""

from __future__ import annotations

import json
import os
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import mixed
from test_report_page import HOSTILE, read

import cascade
from cascade.config import load_config
from cascade.errors import ConfigError, InputError
from cascade.report.decisions import Document, read_decisions
from cascade.report.originals import Group, is_named, read_originals
from cascade.report.run import read_run, similarity_scores
from cascade.report.run_page import cut, group_rows, id_shown, report_page, size_rows, write_report_page
from cascade.report.similarity import Measure, measure_of, steps
from cascade.run import run_files

CONFIG = {"shingle": {"by": "word", "n": 2}, "stages": [{"use": "jaccard", "min_jaccard": 0.5}]}
STAR, COMPONENTS = {"clusters": "star"}, {"clusters": "components"}


def rows_of(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def write_rows(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def write_corpus(folder, seed=0, documents=240):
    """Two files of rows with ids of several kinds, and fields."""
    rng = random.Random(seed)
    rows = []
    for i, text in enumerate(mixed(documents, seed)):
        row = {"text": text, "source": rng.choice(["a", "b"]), "year": 2000 + i % 9, "meta": {"lang": f"l{i % 2}"}}
        if i % 7:
            row["id"] = rng.choice([i, str(i), f"é{i}", [i, "x"], i + 2**70])
        rows.append(row)
    half = documents // 2
    write_rows(folder / "a.jsonl", rows[:half])
    write_rows(folder / "b.jsonl", rows[half:])
    return [folder / "a.jsonl", folder / "b.jsonl"]


def run(tmp_path, resolve=None, config=None, inputs=None):
    """A finished run in tmp_path/out."""
    loaded = load_config({**(config or CONFIG), "resolve": {**(resolve or STAR)}})
    run_files(loaded, inputs or write_corpus(tmp_path), tmp_path / "out", overwrite=True)
    return tmp_path / "out"


def names_of(out):
    return [told["source"] for told in json.loads((out / "report.json").read_text())["inputs"]]


@pytest.mark.parametrize("resolve", [STAR, COMPONENTS], ids=["star", "components"])
def test_clusters_are_those_of_clusters_jsonl(tmp_path, resolve):
    out = run(tmp_path, resolve)
    members = defaultdict(list)
    for row in rows_of(out / "clusters.jsonl"):
        members[row["cluster"]].append(row["id"])
    decisions = read_decisions(out / "removed.jsonl", names_of(out))
    sizes, _, _ = decisions.sizes()
    assert sorted(sizes.tolist()) == sorted(map(len, members.values()))
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)
    largest = decisions.largest(4, 3)
    expected = sorted(members.values(), key=len, reverse=True)[:4]
    for cluster, ids in zip(largest, expected, strict=True):
        assert json.loads(cluster.kept.id) == ids[0]
        assert cluster.size == len(ids)
        assert [json.loads(each.id) for each in cluster.removed] == ids[1:4]


@pytest.mark.parametrize("resolve", [STAR, COMPONENTS], ids=["star", "components"])
def test_the_closest_pairs_are_confirmed_pairs_by_their_scores(tmp_path, resolve):
    out = run(tmp_path, {**resolve, "pairs": "all"})
    confirmed = {}
    for row in rows_of(out / "pairs.jsonl"):
        confirmed[frozenset(map(json.dumps, (row["a"], row["b"])))] = row["scores"]["jaccard"]
    measure = measure_of(load_config(out / "config.yaml"))
    decisions = read_decisions(out / "removed.jsonl", names_of(out))
    pairs = decisions.pairs(decisions.closest(measure, None))
    near = [row for row in rows_of(out / "removed.jsonl") if row["reason"] == "near" and "twin_source" not in row]
    assert len(pairs) == len(near) > 10
    scores = [pair.scores["jaccard"] for pair in pairs]
    assert scores == sorted(scores)
    assert sorted(scores) == sorted(row["scores"]["jaccard"] for row in near)
    for pair in pairs:
        ids = frozenset(json.dumps(json.loads(document.id)) for document in (pair.left, pair.right))
        assert confirmed[ids] == pair.scores["jaccard"]
    # Each stands where it is said to stand.
    texts = read_originals(
        json.loads((out / "report.json").read_text())["inputs"], load_config(out / "config.yaml"),
        [document for pair in pairs for document in (pair.left, pair.right)],
    )  # fmt: skip
    assert texts.problems == ()
    for pair in pairs:
        assert {pair.left.at, pair.right.at} <= set(texts.texts)


def test_of_many_close_calls_some_are_drawn_always_the_same(tmp_path):
    out = run(tmp_path)
    measure = measure_of(load_config(out / "config.yaml"))
    decisions = read_decisions(out / "removed.jsonl", names_of(out))
    wide = Measure(measure.stage, measure.label, 1.0, True)  # within reach of which all are
    rows = decisions.closest(measure, 5)
    assert len(rows) == 5
    assert rows.tolist() == decisions.closest(measure, 5).tolist()
    every = decisions.closest(measure, None)
    inside = measure.margin(decisions.scores["jaccard"][every]) <= measure.near
    if inside.sum() <= 5:
        assert rows.tolist() == every[:5].tolist()
    drawn = {tuple(decisions.closest(wide, 5, seed=seed).tolist()) for seed in range(8)}
    assert len(drawn) > 1
    for some in drawn:
        assert len(set(some)) == 5
        assert set(some) <= set(every.tolist())


def test_a_run_without_removals(tmp_path):
    write_rows(tmp_path / "one.jsonl", [{"id": 1, "text": "just this one"}])
    out = run(tmp_path, inputs=[tmp_path / "one.jsonl"])
    decisions = read_decisions(out / "removed.jsonl", names_of(out))
    assert len(decisions) == 0
    assert decisions.largest(3, 3) == []
    assert decisions.pairs(decisions.closest(measure_of(load_config(CONFIG)), 3)) == []
    shown = "".join(read(report_page(read_run(out))).text)
    assert "There is no cluster of two documents or more." in shown
    assert "No near-duplicate was removed." in shown


def short_by_loop(texts, config):
    n = config.shingle.n
    return sum(len(cascade.word_tokens(cascade.normalize(text, config.normalize))) < n for text in texts)


@pytest.mark.parametrize("kind", ["jsonl", "gz", "parquet"])
def test_fields_and_short_documents_are_counted_as_by_a_loop(tmp_path, kind):
    rows = [row for path in write_corpus(tmp_path, seed=3) for row in rows_of(path)]
    for i, row in enumerate(rows):
        row["id"] = f"r{i}"
    path = tmp_path / "all.jsonl"
    write_rows(path, rows)
    if kind == "gz":
        import gzip

        (tmp_path / "all.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / "all.jsonl.gz"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "all.parquet")
        path = tmp_path / "all.parquet"
    out = run(tmp_path, config={**CONFIG, "shingle": {"by": "word", "n": 6}}, inputs=[path])
    config = load_config(out / "config.yaml")
    found = read_run(out, by=["year"]).originals
    assert found.problems == ()
    assert found.documents == len(rows)
    assert found.short == short_by_loop([row["text"] for row in rows], config)
    gone = {row["id"] for row in rows_of(out / "removed.jsonl")}
    for name, value_of in (("source", lambda r: r["source"]), ("meta.lang", lambda r: r["meta"]["lang"]),
                           ("year", lambda r: str(r["year"]))):  # fmt: skip
        every = Counter(map(value_of, rows))
        removed = Counter(value_of(row) for row in rows if row["id"] in gone)
        assert {(g.value, g.documents, g.removed) for g in found.fields[name]} == {
            (value, count, removed[value]) for value, count in every.items()
        }
    assert set(found.fields) == {"source", "meta.lang", "year"}


def test_which_fields_are_source_like(tmp_path):
    rows = [
        {"id": i, "text": f"text {i}", "domain": f"d{i}.example", "kind": "xyz"[i % 3], "one": "same", "note": f"n{i}",
         "year": i % 4, "long": "x" * (300 + i % 2), "flag": i % 2 == 0, "Lang": "en" if i % 2 else "zh"}
        for i in range(120)
    ]  # fmt: skip
    write_rows(tmp_path / "f.jsonl", rows)
    out = run(tmp_path, inputs=[tmp_path / "f.jsonl"])
    assert set(read_run(out).originals.fields) == {"domain", "kind", "Lang"}
    assert set(read_run(out, by=["note"]).originals.fields) == {"domain", "kind", "Lang", "note"}
    assert is_named("meta.Source")
    assert not is_named("sources")


def test_inputs_that_are_gone_or_changed_are_told_of(tmp_path):
    a, b = write_corpus(tmp_path)
    out = run(tmp_path, inputs=[a, b])
    run_of = read_run(out)
    assert run_of.originals.problems == ()
    whole = len(run_of.originals.texts)
    lines = a.read_text("utf-8").splitlines(keepends=True)

    a.write_text("".join(lines[:-1]), "utf-8")
    run_of = read_run(out)
    assert len(run_of.originals.problems) == 1
    assert "a.jsonl: has changed since the run: 119 documents now, 120 then" in run_of.originals.problems[0]
    assert 0 < len(run_of.originals.texts) < whole
    assert {source for source, _ in run_of.originals.texts} == {1}

    a.write_text("".join([*lines[1:], lines[0]]), "utf-8")
    (problem,) = read_run(out).originals.problems
    assert "a.jsonl: has changed since the run: line " in problem
    assert problem.endswith(" has another id")

    a.unlink()
    run_of = read_run(out)
    assert run_of.originals.problems == (f"{a}: there is no such file",)
    shown = "".join(read(report_page(run_of)).text)
    assert f"{a}: there is no such file" in shown
    b.unlink()
    run_of = read_run(out)
    assert len(run_of.originals.problems) == 2
    assert run_of.originals.texts == {}
    assert "texts not there" in report_page(run_of)

    a.write_text("".join(lines), "utf-8")
    os.utime(a, (2e9, 2e9))
    assert any("was written to after the run" in problem for problem in read_run(out).originals.problems)


def test_a_document_that_is_no_document_any_more(tmp_path):
    write_rows(tmp_path / "f.jsonl", [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}])
    told = [{"source": str(tmp_path / "f.jsonl"), "documents": 2}]
    config = load_config(CONFIG)
    assert read_originals(told, config, [Document(b"2", (0, 2))]).texts == {(0, 2): "b"}
    (problem,) = read_originals(told, config, [Document(b"2", (0, 5))]).problems
    assert problem.endswith("f.jsonl: has changed since the run: there is no document in line 5")


def test_ids_are_looked_for_digit_for_digit(tmp_path):
    (tmp_path / "f.jsonl").write_text('{"id": 3, "text": "n"}\n{"id": "3", "text": "s"}\n{"id": 3.0, "text": "f"}\n')
    told = [{"source": str(tmp_path / "f.jsonl"), "documents": 3}]
    found = read_originals(told, load_config(CONFIG), ids=[b"3", b'"3"', b"4"]).found
    assert {id_: [(place, text) for place, text in each] for id_, each in found.items()} == {
        b"3": [((0, 1), "n")],
        b'"3"': [((0, 2), "s")],
    }


def test_the_measure_of_a_config():
    def measure(*stages):
        return measure_of(load_config({"stages": list(stages)}))

    minhash, simhash = {"use": "minhash"}, {"use": "simhash", "max_hamming": 7}
    jaccard, edit = {"use": "jaccard", "min_jaccard": 0.7}, {"use": "edit_distance", "min_similarity": 0.9}
    assert (measure(minhash, jaccard, edit).stage, measure(jaccard).threshold) == ("jaccard", 0.7)
    assert (measure(minhash, edit).stage, measure(edit).threshold, measure(edit).similarity) == (
        "edit_distance", 0.9, True,
    )  # fmt: skip
    assert measure({"use": "containment", "min_containment": 0.6}).label == "containment"
    bits = measure(minhash, simhash)
    assert (bits.stage, bits.threshold, bits.similarity) == ("simhash", 7, False)
    assert bits.margin(np.array([7.0, 3.0])).tolist() == [0, 4]
    assert measure(minhash).margin(np.array([1.0, 3.0])).tolist() == [0, 2]
    assert measure() is None
    assert measure(jaccard).told(0.8) == "Jaccard similarity 0.800"
    assert bits.told(3.0) == "bits that differ: 3"


def test_the_histogram_counts_every_score():
    measure = measure_of(load_config(CONFIG))
    scores = np.array([k / 100 for k in range(50, 101)] + [np.nan, 0.5799])
    found = steps(measure, scores)
    assert sum(count for _, _, count in found) == 52
    assert [round(low * 100) for low, _, _ in found] == list(range(50, 100))
    assert [count for low, _, count in found if round(low * 100) == 99] == [2]  # 0.99 and 1
    assert [count for low, _, count in found if round(low * 100) == 57] == [2]
    assert steps(measure, np.array([np.nan])) == []
    assert steps(measure_of(load_config({"stages": ["minhash"]})), np.array([3.0, 1.0, 3.0])) == [
        (1, 2, 1), (2, 3, 0), (3, 4, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("pairs", ["needed", "all"])
def test_the_similarities_are_those_of_the_confirmed_pairs(tmp_path, pairs):
    out = run(tmp_path, {"pairs": pairs})
    if pairs == "all":
        expected = [row["scores"]["jaccard"] for row in rows_of(out / "pairs.jsonl")]
    else:
        near = [row for row in rows_of(out / "removed.jsonl") if row["scores"] and "twin_source" not in row]
        expected = [row["scores"]["jaccard"] for row in near]
    assert sorted(similarity_scores(read_run(out)).tolist()) == sorted(expected) != []


def test_sizes_ids_groups_and_cut():
    told = size_rows(np.array([250_000, 120, 30, 7, 5, 3, 2, 2]))
    assert [(row[0], row[2], row[3]) for row in told] == [
        ("2", "2", "4"), ("3", "1", "3"), ("5 to 9", "2", "12"), ("20 to 49", "1", "30"), ("100 to 999", "1", "120"),
        ("100,000 or more", "1", "250,000"),
    ]  # fmt: skip
    assert size_rows(np.array([], np.int64)) == []
    assert [id_shown(id_) for id_ in (b'"a<"', b"3", b'["x",1]', b'"3"')] == ["a<", "3", '["x",1]', "3"]
    assert id_shown(json.dumps("x" * 500).encode()) == "x" * 120 + "…"
    rows, more = group_rows([Group("few", 2, 2), Group("b", 10, 5), Group("a", 100, 90), Group("c", 20, 10)])
    assert [row[0] for row in rows] == ["a", "c", "b", "few"]
    assert more == 0
    assert group_rows([Group(str(i), 10, i % 7) for i in range(40)])[1] == 25
    parts = [("same", "abc"), ("skipped", "x" * 50), ("only", "defg"), ("same", "hi")]
    assert cut(parts, 100) == parts
    assert cut(parts, 5) == [("same", "abc"), ("skipped", "x" * 50), ("only", "de"), ("skipped", "fghi")]
    assert "".join(text for _, text in cut(parts, 1)) == "".join(text for _, text in parts)


def test_the_page_tells_what_the_run_found(tmp_path):
    out = run(tmp_path, {"pairs": "all"})
    path = write_report_page(out, by=["year"])
    assert path == out / "report.html"
    found = read(path.read_text("utf-8"))
    shown = " ".join("".join(found.text).split())
    report = json.loads((out / "report.json").read_text())
    for name in ("read", "kept"):
        assert f"{report['counts'][name]:,}" in shown
    assert f"clusters{len({r['cluster'] for r in rows_of(out / 'clusters.jsonl')})} of two or more" in shown
    for warning in report["warnings"]:
        assert warning in shown
    tags = [tag for tag, _ in found.tags]
    assert tags.count("h1") == 1
    assert tags.count("main") == 1
    charts = [a for tag, a in found.tags if tag == "svg" and a.get("class") == "chart"]
    assert len(charts) == 2
    assert all(chart["role"] == "img" and chart["aria-label"] for chart in charts)
    assert tags.count("mark") > 3
    assert (out / "config.yaml").read_text().split("\n")[0] in shown
    assert "input file" in shown or "year" in shown


def test_hostile_texts_ids_names_fields_and_values_stay_text(tmp_path):
    folder = tmp_path / "<img src=x onerror=alert(2)>"
    folder.mkdir()
    bad = HOSTILE.replace("\ud800", "")
    rows = [
        {"id": f"{bad}{i}", "text": f"{bad} the same words in a row, again and again {'x' * (i % 3)}",
         "source": bad, f"meta{bad}": {"lang": f"<b>{i % 2}"}}
        for i in range(30)
    ]  # fmt: skip
    write_rows(folder / "'\"><script>alert(3)<.jsonl", rows)
    (source,) = folder.iterdir()
    out = run(tmp_path, inputs=[source])
    found = read(write_report_page(out, by=[f"meta{bad}.lang"]).read_text("utf-8"))
    shown = "".join(found.text)
    assert shown.count("<img src=x onerror=alert(1)>") > 20
    assert "<b>1" in shown
    source.unlink()
    shown = "".join(read(write_report_page(out).read_text("utf-8")).text)
    assert "<script>alert(3)<.jsonl: there is no such file" in shown


def test_measured_recall_stands_on_the_curve(tmp_path):
    from cascade.report.measured import recall_of_run

    out = run(tmp_path)
    measured = recall_of_run(out, "exact:0.5")
    known = [band for band in measured if band.recall.value is not None]
    assert known
    assert all(band.recall.value == 1 for band in known)
    html = report_page(read_run(out), measured, "exact:0.5")
    assert html.count("<circle") == len(known)
    assert "measured against exact:0.5" in "".join(read(html).text)
    assert "<circle" not in report_page(read_run(out))


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(InputError) as raised:
        write_report_page(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path}: is no result of a run: there is no config.yaml; name the folder OUT of cascade run"
    )
    out = run(tmp_path)
    with pytest.raises(InputError, match="no document of the inputs has the field 'nothing'; name another to count by"):
        write_report_page(out, by=["source", "nothing"])
    report = json.loads((out / "report.json").read_text())
    del report["stages"]
    (out / "report.json").write_text(json.dumps(report))
    with pytest.raises(InputError, match="is no report of a run: there is no stages"):
        write_report_page(out)
    (out / "config.yaml").write_text("stages: [{use: nothing}]\n")
    with pytest.raises((ConfigError, InputError)):
        write_report_page(out)
    assert not (out / "report.html").exists()


@pytest.mark.parametrize(
    "config", [{"stages": []}, {"stages": ["minhash"]}, {"stages": [{"use": "simhash", "max_hamming": 3}]}]
)
def test_configs_that_confirm_nothing_have_a_page_too(tmp_path, config):
    out = run(tmp_path, config=config)
    shown = "".join(read(report_page(read_run(out))).text)
    assert "so there is no threshold to be close to" in shown
