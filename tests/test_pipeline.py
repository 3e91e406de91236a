"""The whole job: known answers, the same bytes whatever the workers, the same decisions however the input is cut."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import corpora
import oracle
import pytest

from cascade import ConfigError, InputError, StageError, dedupe, load_config, run_files, word_tokens
from cascade.config.presets import preset_names
from cascade.progress import Silent

FILES = ("removed.jsonl", "rejected.jsonl", "clusters.jsonl", "config.yaml")
TUTORIAL = ["red blue green", "red blue green yellow", "black white", "RED BLUE GREEN"]


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def result_bytes(out: Path) -> dict[str, bytes]:
    """Everything a run has written but report.json, by relative path."""
    return {
        str(p.relative_to(out)): p.read_bytes()
        for p in sorted(out.rglob("*"))
        if p.is_file() and p.name != "report.json"
    }


def test_tutorial():
    removed = {d.row: d.kept_row for d in dedupe(TUTORIAL, "tutorial").removed}
    assert removed == {3: 0}
    at_06 = dedupe(TUTORIAL, "tutorial", set=["stages.jaccard.min_jaccard=0.6"])
    assert {d.row: d.kept_row for d in at_06.removed} == {1: 0, 3: 0}
    assert at_06.removed[0].scores["jaccard"] == pytest.approx(2 / 3)
    assert dedupe(TUTORIAL, "tutorial", set=["normalize.case=keep"]).kept == TUTORIAL


def test_decisions_are_those_of_all_pairs_by_the_definition():
    texts = corpora.mixed(300, seed=1)
    result = dedupe(texts, "default", workers=1)
    tokens = [word_tokens(text.casefold()) for text in texts]
    sets = [{tuple(t[i : i + 5]) for i in range(max(1, len(t) - 4))} if t else set() for t in tokens]
    near = oracle.near_pairs(sets, oracle.jaccard, 0.8)
    keeper = oracle.star(len(texts), near)
    expected = {row: kept for row, kept in enumerate(keeper) if kept >= 0}
    for row, text in enumerate(texts):  # texts without a token are twins at most
        if not tokens[row] and text.strip():
            first = next(i for i, other in enumerate(texts) if other.strip() == text.strip())
            if first < row:
                expected[row] = first
    assert {d.row: d.kept_row for d in result.removed} == expected


def test_the_same_bytes_for_any_number_of_workers_and_hash_seed(tmp_path):
    source = corpora.write(tmp_path / "in.jsonl", corpora.mixed(3000, seed=2))
    answers = []
    for workers in (1, 2, 8):
        out = tmp_path / f"out{workers}"
        run_files(load_config("default"), [source], out, workers=workers)
        answers.append(result_bytes(out))
    assert set(answers[0]) == {*FILES, "kept.jsonl"}
    for seed in ("0", "1", "2"):
        out = tmp_path / f"seed{seed}"
        code = "import sys; from cascade import *; run_files(load_config('default'), [sys.argv[1]], sys.argv[2])"
        env = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(source), str(out)], check=True, env=env)
        answers.append(result_bytes(out))
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("clusters", ["star", "components"])
def test_the_same_decisions_for_one_file_or_seven(tmp_path, clusters):
    texts = corpora.mixed(700, seed=3)
    config = load_config("default", [f"resolve.clusters={clusters}"])
    run_files(config, [corpora.write(tmp_path / "all.jsonl", texts)], tmp_path / "one")
    (tmp_path / "parts").mkdir()
    for part in range(7):
        corpora.write(tmp_path / "parts" / f"p{part}.jsonl", texts[part * 100 : part * 100 + 100], part * 100)
    run_files(config, [tmp_path / "parts"], tmp_path / "seven")
    kept = b"".join((tmp_path / "seven" / "kept" / f"p{part}.jsonl").read_bytes() for part in range(7))
    assert kept == (tmp_path / "one" / "kept.jsonl").read_bytes()
    fields = ("id", "kept_id", "reason", "scores", "via")
    one, seven = (
        [{k: row.get(k) for k in fields} for row in lines(tmp_path / out / "removed.jsonl")] for out in ("one", "seven")
    )
    assert one == seven


def test_the_filled_config_reproduces_the_run(tmp_path):
    source = corpora.write(tmp_path / "in.jsonl", corpora.mixed(400, seed=4))
    config = load_config("default", ["stages.minhash.bands=auto", "resolve.keep=longest", "seed=5"])
    run_files(config, [source], tmp_path / "first")
    run_files(load_config(tmp_path / "first" / "config.yaml"), [source], tmp_path / "again")
    assert result_bytes(tmp_path / "first") == result_bytes(tmp_path / "again")


@pytest.mark.parametrize("preset", sorted(preset_names()))
def test_every_preset_runs(tmp_path, preset):
    texts = [
        *corpora.mixed(120, seed=6),
        "Where is the station?",
        "Where is the station ?",
        "今天天气很好，我们去公园吧。",
    ]
    source = corpora.write(tmp_path / "in.jsonl", texts)
    report = run_files(load_config(preset), [source], tmp_path / "out")
    assert report.counts["read"] == len(texts)
    assert report.counts["kept"] < len(texts)
    check_evidence(tmp_path / "out", report)


def check_evidence(out: Path, report) -> None:
    """Counts add up, a kept_id is always kept, nothing is both kept and removed."""
    counts = report.counts
    assert counts["read"] == counts["kept"] + counts["removed_exact"] + counts["removed_near"] + counts["rejected"]
    kept = {row["id"] for row in lines(out / "kept.jsonl")}
    removed = lines(out / "removed.jsonl")
    assert len(kept) == counts["kept"]
    assert len(removed) == counts["removed_exact"] + counts["removed_near"]
    assert all(row["kept_id"] in kept and row["id"] not in kept for row in removed)
    members = [row["id"] for row in lines(out / "clusters.jsonl")]
    assert sorted(members) == sorted({row["id"] for row in removed} | {row["kept_id"] for row in removed})
    written = json.loads((out / "report.json").read_text())
    assert written["counts"] == counts
    for stage in written["stages"]:
        assert stage["pairs_in"] >= stage["pairs_out"] >= 0


class Listening(Silent):
    def __init__(self):
        self.expected = []
        self.seen = {}

    def advance(self, step, documents):
        self.seen[step] = self.seen.get(step, 0) + documents

    def expect(self, step, total):
        self.expected.append((step, total))


def test_progress_expects_about_as_many_documents_as_come(tmp_path):
    paths = [corpora.write(tmp_path / f"{i}.jsonl", [f"a text of some length, number {i}"] * 40_000) for i in range(2)]
    listening = Listening()
    report = run_files(load_config("default"), paths, tmp_path / "out", progress=listening)
    assert listening.expected[-1] == ("read", 80_000)
    assert all(abs(total - 80_000) < 4_000 for _, total in listening.expected)
    assert listening.seen["read"] == listening.seen["write"] == 80_000
    assert listening.seen["columns"] == report.counts["kept"] == 2


def test_warnings_of_the_config_are_in_the_report(tmp_path):
    source = corpora.write(tmp_path / "in.jsonl", ["a b c", "d e f"])
    report = run_files(load_config("default", ["stages.minhash.bands=2"]), [source], tmp_path / "out")
    assert any("recall" in warning for warning in report.warnings)
    assert json.loads((tmp_path / "out" / "report.json").read_text())["warnings"] == list(report.warnings)


def test_twins_of_a_removed_text_share_its_keeper():
    base = "one two three four five six seven eight nine ten eleven twelve"
    near = base + " thirteen"
    result = dedupe([base, near, near.upper(), base.title()], {"stages": [{"use": "jaccard", "min_jaccard": 0.8}]})
    decisions = {d.row: (d.kept_row, d.reason, dict(d.scores)) for d in result.removed}
    score = {"jaccard": pytest.approx(8 / 9)}
    assert decisions == {1: (0, "near", score), 2: (0, "near", score), 3: (0, "exact", {})}


def test_components_name_the_pair_that_joined():
    chain = [" ".join(f"t{k}" for k in range(i, i + 20)) for i in range(4)]
    config = {"shingle": {"by": "word", "n": 1}, "stages": [{"use": "jaccard", "min_jaccard": 0.9}],
              "resolve": {"clusters": "components"}}  # fmt: skip
    rows = [{"id": f"d{i}", "text": text} for i, text in enumerate(chain)]
    result = dedupe([*rows, {"id": "twin", "text": chain[3].upper()}], config)
    assert [(d.id, d.kept_id, d.via) for d in result.removed] == [
        ("d1", "d0", ("d0", "d1")),
        ("d2", "d0", ("d1", "d2")),
        ("d3", "d0", ("d2", "d3")),
        ("twin", "d0", ("d2", "twin")),
    ]


KEEP = [
    ("first", [0, 3]),
    ("last", [2, 4]),
    ("longest", [1, 4]),
    ("shortest", [0, 3]),
    ("max:n", [1, 3]),
    ("min:n", [0, 4]),
    ({"prefer": {"field": "s", "order": ["b", "a"]}}, [1, 3]),
]


@pytest.mark.parametrize(("policy", "kept"), KEEP)
def test_keep_policies(policy, kept):
    rows = [
        {"text": "a b c d", "n": 2, "s": "a"},
        {"text": "a  b  c  d", "n": 10**30, "s": "b"},
        {"text": "A b c d", "n": 10**30 - 1, "s": "b"},
        {"text": "x y z", "n": "7"},
        {"text": "x y z!", "n": 3.5},
    ]
    if policy in ("max:n", "min:n"):
        rows[3]["n"] = 4 if policy == "max:n" else "1"  # a text ranks after every number
    result = dedupe(
        rows, {"shingle": {"n": 2}, "stages": [{"use": "jaccard", "min_jaccard": 0.9}], "resolve": {"keep": policy}}
    )
    assert result.kept_rows == kept


@pytest.mark.parametrize("policy", ["max:n", "min:n"])
def test_values_that_cannot_be_compared_rank_last_and_are_counted(policy):
    values = [None, float("nan"), True, [1], {}, "text", 5]
    rows = [{"text": "same words here", "n": value} for value in values]
    result = dedupe([*rows, {"text": "same words here"}], {"stages": [], "resolve": {"keep": policy}})
    assert result.kept_rows == [6]
    assert "6 documents have no usable value" in result.warnings[0]
    texts_only = dedupe(rows[:6], {"stages": [], "resolve": {"keep": policy}})
    assert texts_only.kept_rows == [5]


def test_too_many_documents_for_all_pairs():
    texts = [f"document number {i}" for i in range(20_001)]
    with pytest.raises(StageError, match=r"up to 20,000 documents, there are 20,001; add a stage that offers keys"):
        dedupe(texts, {"stages": [{"use": "edit_distance", "min_similarity": 0.9}]})
    unkeyed = {"use": "jaccard", "min_jaccard": 0.9, "prune": False}
    with pytest.raises(StageError, match="no stage offers blocking keys"):
        dedupe(texts, {"stages": [unkeyed]})
    for stages in ([{"use": "simhash", "max_hamming": 20}, unkeyed], [{"use": "jaccard", "min_jaccard": 0.9}]):
        found = dedupe([*texts, texts[0] + "!"], {"stages": stages})
        assert [d.row for d in found.removed] == [20_001]


def test_seeds_change_keys_and_not_confirmed_answers():
    texts = corpora.mixed(400, seed=8)
    answers = [dedupe(texts, "default", set=[f"seed={seed}"]).kept_rows for seed in (0, 1, 2**70)]
    assert answers[0] == answers[1] == answers[2]


def test_documents_with_few_tokens_are_warned_of():
    texts = ["one two", "three four", "five", "six seven eight", "", "???"]
    warnings = dedupe(texts, "default").warnings
    assert any("2 documents have no shingle" in w for w in warnings)
    assert any("4 documents have a single shingle (67% of all)" in w for w in warnings)


def test_rows_that_hold_no_text_are_told():
    result = dedupe([{"text": "a"}, {"body": "b"}, {"text": None}, {"text": 7}, "plain"], {"stages": []})
    assert result.kept == [{"text": "a"}, "plain"]
    assert [r.line for r in result.rejected] == [1, 2, 3]
    assert "has no field 'text'; it has: body" in result.rejected[0].error
    with pytest.raises(InputError, match="none of the 1 rows"):
        dedupe([{"body": "b"}], {"stages": []})
    with pytest.raises(InputError, match="cannot read documents from int"):
        dedupe(3)
    with pytest.raises(ConfigError):
        dedupe([], {"stages": [], "exact": False})


def test_nothing_given_nothing_found():
    result = dedupe([])
    assert result.kept == [] == result.removed
    assert result.to_table().num_rows == 0
    assert dedupe([""]).kept == [""]
