"""What becomes of measurements: results, tables, the section of the README, plots, and which program runs when."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import orjson
import pytest

from benchmarks.__main__ import _corpus, _options, _parts, differing_bytes
from benchmarks.compare import Corpus, compare
from benchmarks.corpus import Spec, corpus
from benchmarks.large import faults, size
from benchmarks.large import main as large
from benchmarks.large import table as large_table
from benchmarks.plot import plot_growth, plot_programs
from benchmarks.programs import Answer, Program, Task, digest, programs
from benchmarks.readme import write_section
from benchmarks.table import reading, table


def program(name: str, **given: Any) -> dict[str, Any]:
    """A program as a result file has it."""
    usual = {
        "does": "something",
        "failure": "",
        "seconds": [1.9, 2.0, 2.2],
        "median": 2.0,
        "times_cascade": 1.0,
        "times_limit": 4.0,
        "mb_per_second": 55.5,
        "cpu_seconds": [2.0],
        "peak_bytes": 300_000_000,
        "removed": 7,
        "recall": 1.0,
        "precision": 1,
        "pairs_compared": 12_345,
        "digest": "ab",
    }
    return {"name": name, **usual, **given}


BROKEN = {
    "failure": "status 1: no such thing",
    "seconds": [],
    "cpu_seconds": [],
    "digest": None,
    **dict.fromkeys(
        ("median", "times_cascade", "times_limit", "mb_per_second", "peak_bytes", "removed", "recall", "precision")
    ),
    "pairs_compared": None,
}


@pytest.fixture
def result() -> Callable[..., dict[str, Any]]:
    def make(threads: int, documents: int = 200_000) -> dict[str, Any]:
        return {
            "machine": {"processor": "a processor", "date": "2026-11-30T00:00:00"},
            "corpus": {
                "generated": {},
                "language": "english",
                "documents": documents,
                "bytes": 111_000_000,
                "threads": threads,
                "threshold": 0.8,
            },
            "programs": [
                program("cascade", median=2.0 / threads),
                program("limit", median=0.5, times_cascade=0.25, recall=None, precision=None, pairs_compared=None),
                program("other", median=7.0, times_cascade=3.5, recall=0.98765),
                program("broken", **BROKEN),
            ],
        }

    return make


def test_the_table_tells_all_of_each_program(result: Callable[..., dict[str, Any]]) -> None:
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table(result(1)).splitlines()]
    rows = {line[0]: dict(zip(lines[0], line, strict=True)) for line in lines[2:]}
    assert rows["cascade"]["× limit"] == "4.00"
    assert rows["other"]["× cascade"] == "3.50"
    assert rows["other"]["pairs compared"] == "12,345"
    assert rows["other"]["recall"] == "0.9877"
    assert rows["other"]["peak MB"] == "300"
    assert rows["broken"]["seconds"] == "failed"
    assert rows["broken"]["what it does"] == "status 1: no such thing"


def test_ratios_are_read_aloud(result: Callable[..., dict[str, Any]]) -> None:
    expected = "cascade is 3.50 times faster than other, takes 4.00 times as long as the limit."
    assert reading(result(1)) == expected
    assert reading({"programs": [program("cascade", times_limit=None)]}) == ""


def test_the_speed_section_of_the_readme_is_written_from_results(
    result: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    results = {"big-t2": result(2), "big-t1": result(1), "small-t1": result(1, 10_000)}
    for name, content in results.items():
        (tmp_path / f"{name}.json").write_bytes(orjson.dumps(content))
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- speed -->\nold\n<!-- /speed -->\nafter\n")
    for _ in range(2):
        write_section([tmp_path / f"{name}.json" for name in results], readme)
    text = readme.read_text()
    assert text.startswith("before\n<!-- speed -->\nWhole processes, medians")
    assert text.endswith("|\n<!-- /speed -->\nafter\n")
    assert "a processor, 2026-11-30" in text
    assert max(map(len, text.splitlines())) <= 120
    plain = [" ".join(line.split()) for line in text.splitlines()]
    assert (
        "| program | s, one thread | × | s, 2 threads | × | MB/s | peak MB | pairs compared | recall | precision |"
        in plain
    )
    assert "| cascade | 2.00 | 1.00 | 1.00 | 1.00 | 55.5 | 300 | 12,345 | 1.0000 | 1.0000 |" in plain
    assert "| other | 7.00 | 3.50 | 7.00 | 3.50 | 55.5 | 300 | 12,345 | 0.9877 | 1.0000 |" in plain
    assert "| broken | failed | | failed | | | | | | |" in plain
    assert "| program | s, one thread | × | MB/s | peak MB | pairs compared | recall | precision |" in plain
    assert "200,000 generated English documents, 111 MB" in text
    assert "10,000 generated English documents" in text
    assert "4.00 (one thread) and 4.00 (2 threads) times as long as `limit`" in " ".join(text.split())


def test_plots_show_each_program_and_each_kind_of_corpus(result: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    def words(path: Path) -> str:
        ElementTree.parse(path)
        return path.read_text("utf-8")

    for name in ("a.svg", "b.svg"):
        plot_programs(result(1), tmp_path / name)
    assert words(tmp_path / "a.svg") == words(tmp_path / "b.svg")
    for text in (
        "cascade",
        "other",
        "7.00 s, recall 0.9877, precision 1.0000",
        "200,000 documents, 111 MB, one thread",
    ):
        assert f"<!-- {text}" in words(tmp_path / "a.svg") or text in words(tmp_path / "a.svg")
    assert "broken" not in words(tmp_path / "a.svg")
    row = {"shape": "short", "memory": "2GB", "documents": 10, "seconds": 2.0, "peak_bytes": 9e8, "private_bytes": 8e8}
    rows = [row, {**row, "documents": 100, "seconds": 21.0}, {**row, "memory": "auto", "seconds": None}]
    plot_growth({"runs": rows}, tmp_path / "growth.svg")
    assert "short, memory: 2GB" in words(tmp_path / "growth.svg")
    assert "memory: auto" not in words(tmp_path / "growth.svg")


def test_slow_programs_run_on_a_smaller_corpus_with_cascade_beside_them() -> None:
    def names(parts: list[tuple[int, Any]]) -> list[tuple[int, list[str]]]:
        return [(documents, [p.name for p in part]) for documents, part in parts]

    everybody = [p for p in programs() if p.name in ("cascade", "limit", "rensa", "datatrove")]
    apart = [(200_000, ["cascade", "limit", "rensa"]), (10_000, ["cascade", "limit", "datatrove"])]
    assert names(_parts(everybody, 200_000, 10_000)) == apart
    assert names(_parts(everybody, 9_000, 10_000)) == [(9_000, ["cascade", "limit", "rensa", "datatrove"])]
    assert names(_parts(everybody[:3], 200_000, 10_000)) == apart[:1]
    assert names(_parts(everybody[3:], 200_000, 10_000)) == [(10_000, ["datatrove"])]


def test_a_given_corpus_is_numbered_and_named_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.__main__.WORK", tmp_path / "work")
    given = tmp_path / "mine.jsonl"
    given.write_text('{"text": "一"}\n\n{"name": 7, "text": "b"}\n{"text": "c"}\n', "utf-8")
    options = _options(["--corpus", str(given), "--slow-documents", "2", "--language", "chinese"])
    whole, part, again = (_corpus(options, documents) for documents in (50_000, 2, 50_000))
    rows = [orjson.loads(line) for line in whole.path.read_bytes().splitlines()]
    assert rows == [{"id": 0, "text": "一"}, {"id": 1, "text": "b"}, {"id": 2, "text": "c"}]
    assert (whole.documents, part.documents) == (3, 2)
    assert part.path.read_bytes() == b"".join(whole.path.read_bytes().splitlines(keepends=True)[:2])
    assert whole == again
    assert whole.path != part.path
    assert whole.about == {"file": "mine.jsonl"}
    assert whole.language == "chinese"


def test_other_bytes_with_more_threads_are_told(result: Callable[..., dict[str, Any]]) -> None:
    one, two = result(1), result(2)
    assert differing_bytes([one, two]) == []
    two["programs"][0]["digest"] = "cd"
    assert differing_bytes([one, two]) == ["cascade"]


def test_the_digest_of_a_folder_leaves_out_the_report_alone(tmp_path: Path) -> None:
    for name in ("kept.jsonl", "report.json", "config.yaml"):
        (tmp_path / name).write_text("a")
    first = digest(tmp_path)
    (tmp_path / "report.json").write_text("b")
    assert digest(tmp_path) == first
    (tmp_path / "kept.jsonl").write_text("b")
    assert digest(tmp_path) != first


def test_a_comparison_measures_and_holds_answers_against_the_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.compare.WORK", tmp_path / "work")
    installed = str(Path(sys.executable).with_name("cascade"))
    ours, *_, limit = [p for p in programs() if p.name in ("cascade", "limit")]
    ours = replace(ours, command=lambda task, command=ours.command: [installed, *command(task)[1:]], warm_up=False)
    broken = Program("broken", "", lambda task: [sys.executable, "-c", "1 / 0"], lambda task, output: Answer([]))
    idle = Program("idle", "", lambda task: [sys.executable, "-c", ""], lambda task, output: Answer([0], compared=0))
    path = corpus(Spec(300), tmp_path)
    source = Corpus(path, 300, "english", {"generated": Spec(300).as_dict()})
    result = compare([ours, limit, broken, idle], source, 1, 1, 60, 1_000)
    found = {p["name"]: p for p in orjson.loads(orjson.dumps(result))["programs"]}
    assert found["cascade"]["config"]["stages"][1]["bands"] == 24
    assert found["cascade"]["config"]["seed"] == 0
    assert found["cascade"]["recall"] == found["cascade"]["precision"] == 1.0
    assert found["cascade"]["pairs_compared"] > 0
    assert found["cascade"]["times_cascade"] == 1.0
    assert found["cascade"]["times_limit"] == found["cascade"]["median"] / found["limit"]["median"]
    assert len(found["cascade"]["digest"]) == 32
    assert found["broken"]["failure"] == "status 1: ZeroDivisionError: division by zero"
    assert found["broken"]["median"] is None
    assert (found["idle"]["recall"], found["idle"]["pairs_compared"]) == (0.0, 0)
    assert found["idle"]["precision"] < 1
    assert result["corpus"]["true_pairs"] > 0
    assert result["corpus"]["generated"]["seed"] == 0
    assert str(tmp_path) not in str(result)
    assert "× cascade" in table(result)


def test_each_program_is_called_with_the_corpus_and_its_threads() -> None:
    task = Task(Path("in.jsonl"), Path("work"), 2, "english")
    for called in programs():
        words = called.command(task)
        assert "in.jsonl" in words
        assert called.name == "limit" or "2" in words


def test_growth_is_the_time_of_a_document_against_the_smallest_corpus() -> None:
    row = {
        "shape": "documents",
        "memory": "2GB",
        "bytes": 10**6,
        "failure": "",
        "digest": "ab",
        "peak_bytes": 3 * 10**8,
        "private_bytes": 2 * 10**8,
        "counts": {"removed_exact": 1_000, "removed_near": 234},
    }
    rows = [{**row, "documents": 1_000, "seconds": 2.0}, {**row, "documents": 10_000, "seconds": 30.0}]
    rows.append({**row, "documents": 10_000, "memory": "auto", "seconds": 25.0, "digest": "cd"})
    nothing = dict.fromkeys(("seconds", "peak_bytes", "private_bytes", "digest"))
    rows.append({**row, "documents": 20_000, **nothing, "counts": {}, "failure": "status 1: out of memory"})
    plain = [" ".join(line.split()) for line in large_table(rows).splitlines()]
    assert plain[3] == "| documents | 10,000 | 1 | 2GB | 30.00 | 3000.0 | 1.50 | 300 | 200 | 1,234 |"
    assert plain[4] == "| documents | 10,000 | 1 | auto | 25.00 | 2500.0 | 1.00 | 300 | 200 | 1,234 |"
    assert plain[5] == "| documents | 20,000 | 1 | 2GB | failed | | | | | |"
    assert faults(rows) == [
        "10,000 documents, memory auto: other bytes than with other memory",
        "20,000 documents, memory 2GB: status 1: out of memory",
    ]


def test_sizes_are_read_as_cascade_reads_them() -> None:
    assert (size("2GB"), size("1.5 GB"), size("500MB")) == (2_000_000_000, 1_500_000_000, 500_000_000)
    with pytest.raises(ValueError, match="'2 gigs' is no size"):
        size("2 gigs")


def test_small_corpora_go_through_the_large_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.large.WORK", tmp_path / "work")
    monkeypatch.setattr("benchmarks.large.OURS_PYTHON", Path(sys.executable))
    monkeypatch.setattr("benchmarks.large.make_ours", lambda: None)
    output = tmp_path / "results" / "large.json"
    sizes = ["--documents", "--short", "300", "--rounds", "1", "--remove"]
    assert large([*sizes, "--memory", "1GB", "--output", str(output)]) == 0
    result = orjson.loads(output.read_bytes())
    kinds = [(run["shape"], run["documents"], run["memory"]) for run in result["runs"]]
    assert kinds == [("short", 300, "auto"), ("short", 300, "1GB")]
    assert all(run["counts"]["read"] == 300 for run in result["runs"])
    assert result["faults"] == []
    assert output.with_suffix(".svg").exists()
    assert [path.stem for path in (tmp_path / "work").glob("*.jsonl")] == [Spec(200).name]
