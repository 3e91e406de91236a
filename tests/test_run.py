"""What a run on files warns of and spares: unused files, earlier results, missing ids, the config itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cascade import OutputError, load_config, run_files

EXACT = {"stages": []}


def write(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(tmp_path: Path, *inputs: Path, out: str = "out", config=None, **options):
    return run_files(load_config(config or EXACT), list(inputs), tmp_path / out, **options)


def test_a_file_of_which_no_row_could_be_used_is_warned_of(tmp_path):
    good = write(tmp_path / "good.jsonl", [{"text": "a"}])
    bad = write(tmp_path / "bad.jsonl", [{"body": "b"}, {"body": "c"}])
    empty = write(tmp_path / "empty.jsonl", [])
    report = run(tmp_path, good, bad, empty)
    assert report.counts["rejected"] == 2
    (warning,) = report.warnings
    assert warning.startswith(f"{bad}: no row could be used; line 1: there is no field 'text'")


def test_earlier_results_among_the_input_are_warned_of(tmp_path):
    write(tmp_path / "data" / "a.jsonl", [{"id": 1, "text": "a"}, {"id": 2, "text": "a"}])
    run(tmp_path, tmp_path / "data", out="data/one")
    report = run(tmp_path, tmp_path / "data", out="data/two")
    expected = f"{tmp_path / 'data' / 'one'}: holds the result of an earlier run, and its files were read as input"
    assert expected in report.warnings
    again = run(tmp_path, tmp_path / "data" / "a.jsonl", out="data/three")
    assert not again.warnings


def test_an_id_field_that_no_row_has_is_warned_of_where_it_was_named(tmp_path):
    source = write(tmp_path / "a.jsonl", [{"text": "a"}, {"text": "b", "key": None}])
    assert not run(tmp_path, source, out="default").warnings
    named = {**EXACT, "input": {"id": "key"}}
    assert run(tmp_path, source, out="named", config=named).warnings == (
        "no row has the id field 'key'; ids read FILE:LINE",
    )
    some = write(tmp_path / "b.jsonl", [{"text": "a"}, {"text": "b", "key": 7}])
    assert not run(tmp_path, some, out="some", config=named).warnings


def test_repeated_ids_are_warned_of_with_an_example(tmp_path):
    rows = [{"id": i, "text": str(n)} for n, i in enumerate([1, "1", 1, 2, 2, 2])]
    assert run(tmp_path, write(tmp_path / "a.jsonl", rows)).warnings == (
        "3 rows repeat the id of another row, 1 for example; rows are decided about, not ids",
    )


def test_an_output_that_holds_the_config_is_refused(tmp_path):
    source = write(tmp_path / "a.jsonl", [{"text": "a"}])
    mine = tmp_path / "project" / "mine.yaml"
    mine.parent.mkdir()
    mine.write_text("stages: []\n")
    with pytest.raises(OutputError, match=r"mine\.yaml"):
        run(tmp_path, source, out="project", overwrite=True, config_path=mine)
    assert mine.read_text() == "stages: []\n"


def test_the_config_that_a_run_has_written_is_written_again(tmp_path):
    source = write(tmp_path / "a.jsonl", [{"text": "a"}])
    run(tmp_path, source)
    filled = tmp_path / "out" / "config.yaml"
    before = filled.read_bytes()
    run_files(load_config(filled), [source], tmp_path / "out", overwrite=True, config_path=filled)
    assert filled.read_bytes() == before


def test_the_report_counts_distinct_texts_and_those_without_shingles(tmp_path):
    texts = ["one two three", "ONE two three", "!!!", "???", "", "four five"]
    source = write(tmp_path / "a.jsonl", [{"text": t} for t in texts])
    own = {"use": "jaccard", "shingle": {"by": "word", "n": 2}}
    for out, stages in (("a", [{"use": "jaccard"}]), ("b", [own])):
        report = run(tmp_path, source, out=out, config={"stages": stages})
        written = json.loads((tmp_path / out / "report.json").read_text())
        assert written["distinct_texts"] == 5
        assert written["without_shingles"] == 3
        assert any("3 documents have no shingle" in w for w in report.warnings)
        assert written["plan"][0] == "plan for 5 documents"
