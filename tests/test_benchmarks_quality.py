"""The quality benchmark: families of generated copies, truth by clusters, and what its tables say."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks import quality
from benchmarks.corpus import Spec, families, texts
from benchmarks.quality import EXACT, by_cluster, closed, configs, first_stages, generated
from benchmarks.quality_page import page_text, readme_text
from cascade import Truth, load_config


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_families_are_those_of_the_corpus(language) -> None:
    spec = Spec(400, language)
    made, (family, rate) = list(texts(spec)), families(spec)
    assert len(family) == len(rate) == len(made) == 400
    copies = dict.fromkeys(set(made), 0)
    for text in made:
        copies[text] += 1
    for text, count in copies.items():
        if count > 1:
            rows = [row for row, other in enumerate(made) if other == text]
            assert len(set(family[rows].tolist())) == 1
    assert {round(float(r), 2) for r in rate[~np.isnan(rate)]} == {0.0, 0.01, 0.02, 0.05, 0.1, 0.2}
    assert int(np.isnan(rate).sum()) == 16

    def likeness(a, b):
        one, other = (set(zip(made[row], made[row][1:], made[row][2:], strict=False)) for row in (a, b))
        return len(one & other) / len(one | other)

    by_family = {}
    for row in np.flatnonzero(~np.isnan(rate)).tolist():
        by_family.setdefault(int(family[row]), []).append(row)
    within = [likeness(a, b) for rows in by_family.values() for a, b in combinations(rows, 2)]
    firsts = [rows[0] for rows in by_family.values()][:40]
    across = [likeness(a, b) for a, b in combinations(firsts, 2)]
    assert np.mean(within) > 0.6
    assert max(across) < 0.5


def test_truth_by_clusters_holds_all_pairs_within() -> None:
    cluster = np.array([3, 0, 3, 7, 0, 3])
    found = by_cluster("x", cluster)
    pairs = [(i, j) for i, j in combinations(range(6), 2) if cluster[i] == cluster[j]]
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == pairs
    chain = Truth("x", 4, np.arange(4), np.array([0, 1]), np.array([1, 2]))
    assert list(zip(closed(chain).left.tolist(), closed(chain).right.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
    assert len(by_cluster("x", np.arange(3)).left) == 0


@pytest.mark.parametrize("short", [True, False])
def test_configs_are_sound_and_the_exact_join_is_one(short) -> None:
    for chosen in (configs(short), first_stages(short)):
        loaded = {name: load_config(given) for name, given in chosen.items()}
        assert [stage.use for stage in loaded[EXACT].stages] == ["jaccard"]
        assert len({config.shingle for config in loaded.values()}) == 1


def test_a_set_is_measured_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "WORK", tmp_path)
    result = {"machine": {"processor": "P", "date": "2026-12-01T00"}, "rounds": 1,
              "sets": [quality.measured(generated(Spec(250)), 1)]}  # fmt: skip
    (each,) = result["sets"]
    assert each["documents"] == 240  # without ten pages
    rows = {row["config"]: row for row in each["configs"]}
    assert rows[EXACT]["pairs"]["recall"] == rows["MinHash, Jaccard"]["pairs"]["recall"]
    first = {row["max_hamming"]: row for row in each["first_stages"]}
    assert first[EXACT]["recall"]["value"] == 1
    assert first["none"]["times_none"] == 1
    assert first["3"]["enumerates"] == "simhash"
    assert first["20"]["to_jaccard"] <= first["none"]["to_jaccard"]
    assert first["3"]["recall"]["value"] <= first["8"]["recall"]["value"] <= first["20"]["recall"]["value"]
    edited = each["edited"][EXACT]
    assert [row["rate"] for row in edited] == [0, 0.01, 0.02, 0.05, 0.1, 0.2]
    assert edited[0]["found"] == edited[0]["pairs"] > 0
    page = page_text(result)
    assert "### english" in page
    assert page.count("| exact join") == 3
    assert "Medians of 1 rounds, on one thread: P, 2026-12-01." in page
    assert readme_text(result).splitlines()[0] == "| config | english |"
    assert all(len(line) <= 120 for line in page.splitlines())
    json.dumps(result, default=str)


def test_labelled_files(tmp_path: Path) -> None:
    docs, truth = tmp_path / "docs.jsonl", tmp_path / "truth.jsonl"
    docs.write_text("".join(json.dumps({"id": i, "text": f"short text {i}"}) + "\n" for i in range(4)))
    truth.write_text('{"a": 0, "b": 1}\n{"a": 1, "b": 2}\n')
    options = quality._options([str(docs), str(truth), "--quick"])
    first = next(quality.labelled_sets(options))
    assert (first.name, first.short, len(first.truth.left)) == ("docs", True, 3)
    with pytest.raises(SystemExit):
        quality._options([str(docs)])
