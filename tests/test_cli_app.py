"""The command as people meet it: output, exit codes, messages instead of tracebacks."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cascade.cli.app import app
from cascade.config.presets import preset_bytes, preset_names

COMMAND = [sys.executable, "-c", "from cascade.cli import main; main()"]
ROWS = [
    {"id": 1, "text": "the quick brown fox jumps over the lazy dog"},
    {"id": 2, "text": "The quick brown fox jumps over the lazy dog"},
    {"id": 3, "text": "something else altogether is written in this row"},
]


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder with an input a.jsonl, as the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def cascade(*arguments):
    """Runs the command in this process: (exit code, stdout, stderr)."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="cascade")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_run(work):
    code, out, err = cascade("run", "default", "a.jsonl", "-o", "out")
    assert code == 0
    assert Path("out/kept.jsonl").read_text() == "".join(json.dumps(ROWS[i]) + "\n" for i in (0, 2))
    assert out.splitlines()[:4] == [
        "read      3",
        "kept      2",
        "removed   1  1 exact, 0 near-duplicates",
        "rejected  0",
    ]
    assert "minhash  enumerates" in out
    assert "results in out (" in out
    assert "reading: 3 documents in" in err


def test_run_quiet_says_nothing_but_warnings(work):
    assert cascade("run", "tutorial", "a.jsonl", "-o", "out", "--quiet") == (0, "", "")
    code, out, err = cascade("run", "nemo", "a.jsonl", "-o", "out", "--quiet", "--overwrite")
    assert (code, out) == (0, "")
    assert "warning: no stage confirms: " in err


def test_the_filled_config_gives_the_same_bytes(work):
    assert cascade("run", "default", "a.jsonl", "-o", "one", "--set", "shingle.n=2", "--set", "seed=7")[0] == 0
    assert cascade("run", "one/config.yaml", "a.jsonl", "-o", "two", "--workers", 2)[0] == 0
    names = ["kept.jsonl", "removed.jsonl", "rejected.jsonl", "clusters.jsonl", "config.yaml"]
    assert [(work / "one" / n).read_bytes() for n in names] == [(work / "two" / n).read_bytes() for n in names]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "default", "nope.jsonl", "-o", "out"], 1, "error: nope.jsonl: there is no such file\n"),
        (["run", "defualt", "a.jsonl", "-o", "out"], 2,
         "defualt: no such file, and no preset of that name; did you mean default?\n"),
        (["run", "default", "a.jsonl", "-o", "out", "--set", "stages.minhash.bandz=3"], 2,
         "--set stages.minhash.bandz=3: stages[1].bandz: unknown option; did you mean bands?\n"),
        (["run", "default", "a.jsonl", "-o", "a.jsonl"], 1, "error: "),
        (["run", "default", "a.jsonl"], 2, "Usage: "),
        (["run", "default", "-o", "out"], 2, "Usage: "),
        (["run", "default", "a.jsonl", "-o", "out", "--workers", "0"], 2, "Usage: "),
        (["run", "default", "a.jsonl", "-o", "out", "--nonsense"], 2, "Usage: "),
        (["plan", "default", "a.jsonl", "--documents", "3"], 2, "Usage: "),
        (["plan", "default", "--documents", "-3"], 2, "Usage: "),
        (["plan", "default", "nope.jsonl"], 1, "error: nope.jsonl: there is no such file\n"),
        (["nonsense"], 2, "Usage: "),
    ],
)  # fmt: skip
def test_mistakes(work, arguments, code, message):
    got, out, err = cascade(*arguments)
    assert (got, out) == (code, "")
    assert err.startswith(message)
    assert not Path("out").exists()


def test_a_full_output_is_refused_without_overwrite(work):
    Path("out").mkdir()
    Path("out/precious").write_text("x")
    code, _, err = cascade("run", "default", "a.jsonl", "-o", "out")
    assert code == 1
    assert "--overwrite" in err
    assert Path("out/precious").exists()
    assert cascade("run", "default", "a.jsonl", "-o", "out", "--overwrite")[0] == 0
    assert not Path("out/precious").exists()


def test_strict_stops_and_otherwise_rows_are_set_aside(work):
    with Path("a.jsonl").open("a") as file:
        file.write("{broken\n")
    code, out, _ = cascade("run", "default", "a.jsonl", "-o", "out")
    assert code == 0
    assert "rejected  1  rows that could not be used: see rejected.jsonl" in out
    code, _, err = cascade("run", "default", "a.jsonl", "-o", "strict", "--strict")
    assert code == 1
    assert "a.jsonl:4" in err
    assert not Path("strict").exists()


def test_check_tells_every_problem(work):
    Path("c.yaml").write_text("stages:\n  - {use: minhash, bandz: 3}\n  - {use: jaccard, min_jaccard: 80}\nsede: 1\n")
    assert cascade("check", "c.yaml") == (
        2,
        "",
        "c.yaml:2: stages[0].bandz: unknown option; did you mean bands?\n"
        "c.yaml:3: stages[1].min_jaccard: 80 is not in 0..1\n"
        "c.yaml:4: sede: unknown option; did you mean seed?\n",
    )


def test_check_shows_the_plan_and_warns(work):
    code, out, err = cascade("check", "simhash_first")
    assert (code, err) == (0, "")
    assert out.startswith("simhash_first is valid. The number of documents is not known; for 1,000,000 the plan is:\n")
    assert "1. enumerates  simhash" in out
    assert "warning: simhash: max_hamming 3 keeps only 0.853 % of pairs with Jaccard 0.8\n" in out


def test_check_of_a_plan_for_small_corpora_only(work):
    Path("c.yaml").write_text("stages: [edit_distance]\n")
    code, out, _ = cascade("check", "c.yaml")
    assert code == 0
    assert "for 20,000 the plan is:" in out
    assert "warning: with 1,000,000 documents: no stage offers blocking keys" in out


@pytest.mark.parametrize("command", ["check", "plan", "run"])
def test_an_auto_that_nothing_settles_is_told_before_anything_is_read(work, command):
    Path("c.yaml").write_text("stages:\n  - {use: minhash, bands: auto}\n  - edit_distance\n")
    more = ["no-such-file.jsonl", "-o", "out"] if command == "run" else []
    code, out, err = cascade(command, "c.yaml", *more)
    assert (code, out) == (2, "")
    assert err == (
        "c.yaml:2: stages[0].bands: auto needs the Jaccard similarity at which recall counts, and no stage confirms "
        "one; state at_jaccard, or give numbers for bands and rows_per_band\n"
    )


@pytest.mark.parametrize("command", ["plan", "run"])
def test_too_many_documents_for_a_plan_is_a_failure_of_the_run(work, command, monkeypatch):
    monkeypatch.setattr("cascade.plan.SCAN_LIMIT", 2)
    Path("c.yaml").write_text("stages: [edit_distance]\n")
    more = ["-o", "out"] if command == "run" else []
    code, _, err = cascade(command, "c.yaml", "a.jsonl", *more, "--set", "exact=false")
    assert code == 1
    assert "error: no stage offers blocking keys" in err


def test_numbers_out_of_all_bounds_are_no_crash(work):
    Path("c.yaml").write_text("stages: [minhash, jaccard]\n")
    for option, value, bounds in (("bands", 10**22, "1..10000 (or auto)"), ("num_perm", 100_001, "1..100000")):
        change = f"stages.minhash.{option}={value}"
        said = f"--set {change}: stages[0].{option}: {value} is not in {bounds}\n"
        assert cascade("check", "c.yaml", "--set", change) == (2, "", said)
    for block in ("rows_per_band: auto, at_jaccard: 1e-6", "at_jaccard: 5e-324, recall: 0.9999999999999999"):
        Path("c.yaml").write_text(f"stages: [{{use: minhash, bands: auto, {block}}}]\n")
        code, _, err = cascade("check", "c.yaml")
        assert (code, err.startswith("c.yaml:1: stages[0].bands: no choice of bands")) == (2, True)


def test_plan(work):
    assert cascade("plan", "default", "a.jsonl")[1].startswith("plan for 3 documents\n")
    assert cascade("plan", "default", "--documents", "5000")[1].startswith("plan for 5,000 documents\n")
    code, out, _ = cascade("plan", "default", "--set", "stages.simhash=off")
    assert code == 0
    assert out.splitlines()[1] == "plan for 1,000,000 documents"
    assert "simhash" not in out
    Path("c.yaml").write_text("stages: [jaccard, edit_distance]\n")
    code, _, err = cascade("plan", "c.yaml", "--documents", "100000000")
    if code:  # unless jaccard offers keys
        assert (code, err.startswith("error: no stage offers")) == (1, True)


def test_stages_presets_schema_version():
    _, out, _ = cascade("stages")
    assert "      max_hamming  int 0..64 | auto" in out
    assert re.search(r"^      n  int 1\.\.\d+  default 5  tokens in a shingle$", out, re.M)
    _, out, _ = cascade("presets")
    assert "fineweb        FineWeb's recipe" in out
    _, out, _ = cascade("schema")
    assert json.loads(out)["title"] == "cascade config"
    code, out, _ = cascade("--version")
    assert (code, out.split()[0]) == (0, "cascade")
    code, out, _ = cascade("--help")
    assert (code, out.splitlines()[0]) == (0, "Usage: cascade [OPTIONS] COMMAND [ARGS]...")
    assert "..." not in out.partition("Commands:")[2], "the summaries fit"


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_printed_to_be_copied(name, work):
    code, out, err = cascade("presets", name)
    assert (code, out.encode(), err) == (0, preset_bytes(name), "")


def test_a_preset_that_is_none(work):
    code, out, err = cascade("presets", "defualt")
    assert (code, out) == (2, "")
    assert "there is no preset 'defualt'; there are: cascade3, cjk, code, default" in err


def test_names_that_are_no_unicode_are_shown(work):
    code, _, err = cascade("run", "default", os.fsdecode(b"\xff\xfe.jsonl"), "-o", "out")
    assert code == 1
    assert ".jsonl: there is no such file" in err


def test_help_imports_nothing_heavy():
    script = (
        "import sys\nfrom cascade.cli import main\nsys.argv = ['cascade', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted(set(sys.modules) & {'numpy', 'numba', 'pyarrow', 'pydantic', 'rich', 'yaml', 'jieba'}))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_a_closed_pipe_is_quiet():
    process = subprocess.Popen([*COMMAND, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout_is_an_error():
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*COMMAND, "presets"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == "error: [Errno 28] No space left on device\n"


def test_a_terminal_that_knows_ascii_only():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = subprocess.run([*COMMAND, "check", "défaut"], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("d\\xe9faut: no such file")


@pytest.mark.parametrize(
    ("by", "code", "said"),
    [
        (signal.SIGINT, 130, "interrupted; nothing was written\n"),
        (signal.SIGTERM, 143, "stopped by SIGTERM\n"),
        (signal.SIGHUP, 129, "stopped by SIGHUP\n"),
    ],
)
def test_interrupted_leaves_nothing(work, by, code, said):
    rows = (json.dumps({"id": i, "text": f"row {i} " + "word " * 50}) + "\n" for i in range(200_000))
    Path("big.jsonl").write_text("".join(rows))
    process = subprocess.Popen(
        [*COMMAND, "run", "default", "big.jsonl", "-o", "out"], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while not list(work.glob(".out*/result")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(by)
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == code, err
    assert err.endswith(said)
    assert "Traceback" not in err
    assert sorted(os.listdir()) == ["a.jsonl", "big.jsonl"]


def test_a_bug_is_not_hidden(work, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("cascade.run.run_files", broken)
    with pytest.raises(ZeroDivisionError):
        cascade("run", "default", "a.jsonl", "-o", "out")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted; nothing was written\n"),
        (MemoryError(), 1, "error: out of memory; fewer documents at once, or a machine with more, would do\n"),
        (PermissionError(13, "Permission denied", "x"), 1, "error: [Errno 13] Permission denied: 'x'\n"),
    ],
)
def test_how_a_command_ends(work, monkeypatch, error, code, message):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("cascade.run.run_files", fails)
    assert cascade("run", "default", "a.jsonl", "-o", "out", "--quiet") == (code, "", message)
