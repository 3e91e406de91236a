"""`cascade compare`, `sweep` and `tune` as people meet them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from corpora import mixed, write
from typer.testing import CliRunner

import cascade as package
from cascade.cli.app import app
from cascade.errors import BackendUnavailable

TEXTS = [*mixed(60, seed=7), "a b c d e f g h i", "a b c d e f g h i j"]
HOSTILE = "</script><img src=x onerror=alert(1)> \x1b[31m a b c d e f g h i"


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("a.jsonl"), TEXTS)
    Path("loose.yaml").write_text("shingle: {n: 1}\nstages: [{use: jaccard, min_jaccard: 0.5}]\n")
    Path("bands.yaml").write_text("shingle: {n: 1}\nstages: [{use: minhash, bands: 4, rows_per_band: 6}]\n")
    return tmp_path


def cascade(*arguments):
    """Runs the command in this process: (exit code, stdout, stderr)."""
    result = CliRunner().invoke(app, list(map(str, arguments)), prog_name="cascade")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def report(name):
    return json.loads(Path(name).read_text("utf-8"))


def test_compare_tells_and_writes():
    configs = ("loose.yaml", "bands.yaml")
    code, out, err = cascade("compare", *configs, "a.jsonl", "--truth", "exact:0.5", "-o", "out", "--rounds", 0)
    assert code == 0
    assert "running configs: 2 configs in" in err
    found = package.compare(configs, "a.jsonl", "exact:0.5", rounds=0)
    size = f"62 documents, {sum(map(len, TEXTS)):,} characters"
    assert out.startswith(f"{size}; truth exact:0.5: {found.truth.pairs} pairs\n")
    for each in found.configs:
        assert f"{each.pairs.recall}" in out
        assert f"{each.removed:,}" in out
    assert "loose and bands" in out
    assert "McNemar's test" in out
    assert out.endswith("results in out\n")
    assert sorted(p.name for p in Path("out").iterdir()) == ["compare.html", "compare.json"]
    plain = report("out/compare.json")
    assert [each["name"] for each in plain["configs"]] == ["loose", "bands"]
    assert plain["configs"][0]["pairs"]["recall"]["value"] == found["loose"].pairs.recall.value
    assert "loose and bands" in Path("out/compare.html").read_text("utf-8")


def test_compare_takes_several_inputs_and_times_runs():
    write(Path("b.jsonl"), ["a b c d e f g h i j k"], first_id=100)
    arguments = ("--input", "a.jsonl", "--input", "b.jsonl", "--truth", "none", "--rounds", 1, "--workers", 1)
    code, out, err = cascade("compare", "loose.yaml", *arguments, "-o", "out", "--pairs", 0)
    assert code == 0
    assert "measuring, each run by itself: 2 runs in" in err
    assert out.startswith("63 documents")
    assert "no truth" in out
    plain = report("out/compare.json")
    assert plain["configs"][0]["measured"]["steps"]["write"] >= 0
    assert len(plain["configs"][0]["measured"]["runs"]) == 1
    assert "medians of 1 after" in " ".join(out.split())
    assert list(Path().glob(".out*")) == []


def test_compare_changes_every_config_and_is_quiet():
    code, out, _ = cascade(
        "compare", "loose.yaml", "bands.yaml", "a.jsonl", "-o", "out", "--rounds", 0, "-q", "--set", "seed=7"
    )
    assert (code, out) == (0, "")
    assert [each["config"]["seed"] for each in report("out/compare.json")["configs"]] == [7, 7]


def test_hostile_texts_and_ids_stay_texts():
    Path("h.jsonl").write_text(
        "".join(json.dumps({"id": HOSTILE + str(i), "text": f"{HOSTILE} {i}"}) + "\n" for i in (1, 2))
    )
    Path("strict.yaml").write_text("shingle: {n: 1}\nstages: [{use: jaccard, min_jaccard: 0.99}]\n")
    code, out, _ = cascade("compare", "loose.yaml", "strict.yaml", "h.jsonl", "-o", "out", "--overwrite", "--rounds", 0)
    assert code == 0
    assert "\x1b" not in out
    assert "onerror" in out
    html = Path("out/compare.html").read_text("utf-8")
    assert "<img" not in html
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in html


def test_out_is_there_whole_or_not_at_all(monkeypatch):
    Path("out").mkdir()
    Path("out/keep").write_text("x")
    assert cascade("compare", "loose.yaml", "a.jsonl", "-o", "out", "--rounds", 0)[0] == 1
    assert cascade("compare", "loose.yaml", "a.jsonl", "-o", "new", "--rounds", 0, "--truth", "nothing.jsonl")[0] == 1
    assert not Path("new").exists()
    Path("conf").mkdir()
    Path("conf/c.yaml").write_text("stages: []\n")
    code, _, err = cascade("compare", "conf/c.yaml", "a.jsonl", "-o", "conf", "--overwrite", "--rounds", 0)
    assert (code, "holds the input" in err) == (1, True)
    assert Path("out/keep").read_text() == "x"

    def missing(*_):
        raise BackendUnavailable("pages need jinja2")

    monkeypatch.setattr("cascade.report.comparison.comparison_page", missing)
    code, out, _ = cascade("compare", "loose.yaml", "a.jsonl", "-o", "plain", "--rounds", 0)
    assert code == 0
    assert "no compare.html: pages need jinja2" in out
    assert [p.name for p in Path("plain").iterdir()] == ["compare.json"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("compare", "a.jsonl", "-o", "out"), 2, "give at least one CONFIG and an INPUT"),
        (("compare", "defualt", "a.jsonl", "-o", "out"), 2, "did you mean default"),
        (("compare", "default", "none.jsonl", "-o", "out"), 1, "there is no such file"),
        (("compare", "default", "a.jsonl", "-o", "out", "--truth", "exact:x"), 2, "expected a number behind the colon"),
        (("compare", "default", "a.jsonl", "-o", "out", "--rounds", "-1"), 2, "--rounds"),
        (("sweep", "default", "a.jsonl", "-o", "out", "--vary", "seed"), 2, "expected PATH=V,V,V"),
        (("sweep", "default", "a.jsonl", "-o", "out", "--vary", "seed=1,,2"), 2, "expected PATH=V,V,V"),
        (("sweep", "default", "a.jsonl", "-o", "out", "--vary", "seed=1", "--vary", "seed=2"), 2, "option twice"),
        (("sweep", "default", "a.jsonl", "-o", "out", "--vary", "seed=x"), 2, "seed"),
        (("sweep", "default", "a.jsonl", "-o", "out", "--vary", "seed=1", "--truth", "none"), 2, "needs a truth"),
        (("tune", "a.jsonl", "-o", "t.yaml", "--recall", "2"), 2, "recall is 2"),
        (("tune", "none.jsonl", "-o", "t.yaml"), 1, "there is no such file"),
        (("tune", "a.jsonl", "-o", "loose.yaml"), 1, "is there already"),
        (("tune", "a.jsonl", "-o", "loose.yaml", "--config", "loose.yaml", "--overwrite"), 1, "is an input"),
    ],
)  # fmt: skip
def test_mistakes_are_told_without_a_traceback(arguments, code, message):
    found, out, err = cascade(*arguments)
    assert found == code
    assert message in " ".join((out + err).replace("│", " ").split())
    assert not Path("out").exists()
    assert not Path("t.yaml").exists()


def test_sweep_tells_and_writes():
    vary = ("--vary", "stages.minhash.rows_per_band=2,12", "--vary", "stages.simhash.max_hamming=8, off")
    code, out, _ = cascade("sweep", "default", "a.jsonl", *vary, "--truth", "exact:0.5", "-o", "out", "--rounds", 0,
                           "--set", "shingle.n=1")  # fmt: skip
    assert code == 0
    assert sorted(p.name for p in Path("out").iterdir()) == ["sweep.json", "sweep.svg"]
    points = report("out/sweep.json")["points"]
    assert [list(point["settings"].values()) for point in points] == [
        ["2", "8"],
        ["2", "off"],
        ["12", "8"],
        ["12", "off"],
    ]
    rows = [line.split() for line in out.splitlines() if "[" in line]
    assert [row[0] == "*" for row in rows] == [point["on_front"] for point in points]
    assert "minhash.rows_per_band" in out
    assert "no other setting finds as much for less candidate pairs" in out
    assert Path("out/sweep.svg").read_text("utf-8").rstrip().endswith("</svg>")


def test_sweep_cuts_values_outside_of_brackets_and_quotes():
    from cascade.cli.sweep import _values

    assert _values("a.b=1,2") == ("a.b", ["1", "2"])
    assert _values("shingle={by: char, n: 3},word") == ("shingle", ["{by: char, n: 3}", "word"])
    assert _values("""x='a,b',"c,d",[1,2]""") == ("x", ["'a,b'", '"c,d"', "[1,2]"])


def test_sweep_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, _ = cascade("sweep", "loose.yaml", "a.jsonl", "--vary", "seed=0,1", "-o", "out", "--rounds", 0)
    assert code == 0
    assert "no sweep.svg: plots need matplotlib" in out
    assert [p.name for p in Path("out").iterdir()] == ["sweep.json"]


def test_tune_writes_a_config_that_check_accepts():
    arguments = ("--min-jaccard", 0.5, "--recall", 0.9, "--rounds", 1, "--workers", 1, "--set", "shingle.n=1")
    code, out, _ = cascade("tune", "a.jsonl", *arguments, "-o", "tuned.yaml")
    assert code == 0
    assert "exact join" in out
    assert "recall of the held-out pairs reached: found" in out
    assert out.endswith("written to tuned.yaml\n")
    assert out.count("\n* ") == 1
    assert cascade("check", "tuned.yaml")[0] == 0
    text = Path("tuned.yaml").read_text("utf-8")
    assert text.startswith("# Tuned for 90 % of the pairs")
    assert "shingle: {by: word, n: 1}" in text
    code, out, err = cascade("tune", "a.jsonl", *arguments, "-o", "tuned.yaml", "--overwrite", "-q")
    assert (code, out, err) == (0, "", "")


def test_tune_warns_where_nothing_was_measured():
    write(Path("few.jsonl"), ["a b c d e f", "u v w x y z"])
    code, _, err = cascade("tune", "few.jsonl", "-o", "t.yaml", "--rounds", 0, "-q")
    assert code == 0
    assert err.startswith("warning: recall of the held-out pairs: the held-out documents have no such pair")


def test_help_is_quick_and_complete():
    code = (
        "import sys; from cascade.cli.app import app\n"
        "try: app([sys.argv[1], '--help'], prog_name='cascade')\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'pyarrow', 'matplotlib', 'jinja2'} & {name.partition('.')[0] for name in sys.modules}\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    for name, option in (("compare", "--truth"), ("sweep", "--vary"), ("tune", "--recall")):
        done = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert option in done.stdout
