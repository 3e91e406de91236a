"""`cascade truth` as people meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cascade import dedupe
from cascade.cli.app import app
from cascade.evaluate import truth as evaluate
from cascade.evaluate.labelled import labelled_truth

TEXTS = ["a b c d e f", "A b c d e f", "a b c d e f g", "x y z u v w", "x y z u v", "…", None]


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = (json.dumps({"id": i, "text": t, "body": "same"}) for i, t in enumerate(TEXTS))
    Path("a.jsonl").write_text("\n".join(rows))
    return tmp_path


def cascade(*arguments):
    """Runs the command in this process: (exit code, stdout, stderr)."""
    result = CliRunner().invoke(app, ["truth", *map(str, arguments)], prog_name="cascade")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def rows_of(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def test_all_pairs():
    code, out, err = cascade("a.jsonl", "--min-jaccard", 0.8, "-o", "p.jsonl", "--set", "shingle.n=1", "--workers", 2)
    assert code == 0
    assert rows_of("p.jsonl") == [
        {"twins": [0, 1]}, {"a": 0, "b": 2, "jaccard": 6 / 7}, {"a": 3, "b": 4, "jaccard": 5 / 6},
    ]  # fmt: skip
    lines = out.splitlines()
    assert lines[:3] == [
        "documents: 6; different texts: 5",
        "rows that could not be used: 1; `cascade run` tells why",
        "pairs with a Jaccard similarity of 0.8 or more: 2",
    ]
    assert lines[3].startswith("warning: 1 document has no shingle")
    assert lines[-1].startswith("written to p.jsonl (")
    assert "reading: 6 documents in" in err
    truth = labelled_truth("p.jsonl", dedupe(Path("a.jsonl"), {"stages": []}).corpus)
    assert (truth.left.tolist(), truth.right.tolist()) == ([0, 3], [2, 4])


def test_edits_and_a_config_of_ones_own():
    Path("c.yaml").write_text("normalize: {case: keep}\nstages: []\n")
    assert cascade("a.jsonl", "--min-similarity", 0.6, "--config", "c.yaml", "-o", "p.jsonl")[0] == 0
    assert rows_of("p.jsonl")[:2] == [{"a": 0, "b": 1, "similarity": 10 / 11}, {"a": 0, "b": 2, "similarity": 11 / 13}]
    code, out, _ = cascade("a.jsonl", "--min-jaccard", 1, "--set", "input.text=body", "-o", "q.jsonl")
    assert (code, rows_of("q.jsonl")) == (0, [{"twins": [0, 1, 2, 3, 4, 5, 6]}])
    assert out.startswith("documents: 7; different texts: 1\npairs with a Jaccard similarity of 1 or more: 0\n")


def test_a_sample():
    code, out, _ = cascade(
        "a.jsonl", "--min-jaccard", 0.8, "--sample", 2, "--seed", 1, "-o", "p.jsonl", "--set", "shingle.n=1"
    )
    assert code == 0
    first, *rest = rows_of("p.jsonl")
    assert len(first["sampled"]) == 2
    pairs = [row for row in rest if "a" in row]
    assert all({row["a"], row["b"]} & set(first["sampled"]) for row in pairs)
    said = f"pairs with a Jaccard similarity of 0.8 or more and an end among the 2 texts drawn: {len(pairs)}\n"
    assert said + "estimated for all texts: " in out
    cascade("a.jsonl", "--min-jaccard", 0.8, "--sample", 2, "--seed", 1, "-o", "q.jsonl", "--set", "shingle.n=1")
    assert Path("p.jsonl").read_bytes() == Path("q.jsonl").read_bytes()


def test_quiet_says_nothing_but_warnings():
    assert cascade("a.jsonl", "--min-similarity", 0.8, "-o", "p.jsonl", "-q") == (0, "", "")
    code, out, err = cascade("a.jsonl", "--min-jaccard", 0.8, "-o", "q.jsonl", "-q")
    assert (code, out) == (0, "")
    assert all(line.startswith("warning: ") for line in err.splitlines())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a.jsonl", "-o", "p.jsonl"], 2, "give min_jaccard or min_similarity, one of the two: neither is given\n"),
        (["a.jsonl", "--min-jaccard", "0", "-o", "p.jsonl"], 2,
         "min_jaccard is 0: every two documents would be a pair; give a number above 0, up to 1\n"),
        (["a.jsonl", "--min-jaccard", "0.8", "--sample", "0", "-o", "p.jsonl"], 2,
         "sample is 0; give how many documents to draw, 1 or more\n"),
        (["a.jsonl", "--min-jaccard", "high", "-o", "p.jsonl"], 2, "Usage: "),
        (["a.jsonl", "--min-jaccard", "0.8"], 2, "Usage: "),
        (["-o", "p.jsonl", "--min-jaccard", "0.8"], 2, "Usage: "),
        (["none.jsonl", "--min-jaccard", "0.8", "-o", "p.jsonl"], 1, "error: none.jsonl: there is no such file\n"),
        (["a.jsonl", "--min-jaccard", "0.8", "-o", "p.csv"], 1,
         "error: p.csv: JSON lines are written; give the file a name that ends in .jsonl\n"),
        (["a.jsonl", "--min-jaccard", "0.8", "-o", "a.jsonl", "--overwrite"], 1,
         "error: a.jsonl: is an input, which would be lost; name another file\n"),
        (["a.jsonl", "--min-jaccard", "0.8", "-o", "p.jsonl", "--set", "shingle.m=1"], 2,
         "--set shingle.m=1: shingle.m: unknown option; known are by, n\n"),
        (["a.jsonl", "--min-jaccard", "0.8", "-o", "p.jsonl", "--config", "defualt"], 2,
         "defualt: no such file, and no preset of that name; did you mean default?\n"),
    ],
)  # fmt: skip
def test_mistakes(work, arguments, code, message):
    found, out, err = cascade(*arguments)
    assert (found, out) == (code, "")
    assert err.startswith(message)
    assert sorted(p.name for p in work.iterdir()) == ["a.jsonl"]


def test_a_file_that_is_there_is_refused_before_anything_is_read(monkeypatch):
    Path("p.jsonl").write_text("mine")
    monkeypatch.setattr(evaluate, "dedupe", lambda *_, **__: pytest.fail("it began"))
    code, _, err = cascade("a.jsonl", "--min-jaccard", 0.8, "-o", "p.jsonl")
    assert (code, err) == (1, "error: p.jsonl: is there already; name another file, or use --overwrite to replace it\n")
    assert Path("p.jsonl").read_text() == "mine"


def test_overwrite():
    Path("p.jsonl").write_text("mine")
    assert cascade("a.jsonl", "--min-jaccard", 0.8, "-o", "p.jsonl", "--overwrite")[0] == 0
    assert rows_of("p.jsonl")[0] == {"twins": [0, 1]}


def test_what_fails_midway_leaves_what_was(work, monkeypatch):
    Path("p.jsonl").write_text("mine")

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate, "dedupe", stop)
    code, _, err = cascade("a.jsonl", "--min-jaccard", 0.8, "-o", "p.jsonl", "--overwrite")
    assert (code, err) == (130, "interrupted; nothing was written\n")
    assert Path("p.jsonl").read_text() == "mine"
    assert sorted(p.name for p in work.iterdir()) == ["a.jsonl", "p.jsonl"]
