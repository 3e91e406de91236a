"""Summary, listing and progress: the text itself."""

import io
import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from cascade import registry
from cascade.cli import progress as shown
from cascade.cli.listing import stage_lines
from cascade.cli.progress import Bars, Lines, progress_for
from cascade.cli.summary import funnel_lines, summary_lines
from cascade.progress import Silent
from cascade.result import RunReport, StageReport

STAGES = (
    StageReport("minhash", "minhash", "enumerates", 1234567, 1234567, 1.239, 0.99993),
    StageReport("final", "edit_distance", "filters", 1234567, 89, 12.0, None),
)


def report(warnings=(), **counts):
    usual = {"read": 12000, "kept": 11000, "removed_exact": 600, "removed_near": 397, "rejected": 3}
    return RunReport(Path("out"), {**usual, **counts}, STAGES, 2.0, warnings)


def test_summary():
    assert summary_lines(report(["mind the gap"])) == [
        "read      12,000",
        "kept      11,000",
        "removed      997  600 exact, 397 near-duplicates",
        "rejected       3  rows that could not be used: see rejected.jsonl",
        "",
        "stage    role         pairs in  pairs out  seconds  predicted recall",
        "minhash  enumerates  1,234,567  1,234,567     1.24           0.99993",
        "final    filters     1,234,567         89    12.00         not known",
        "",
        "warning: mind the gap",
        "",
        "results in out (2.0 s, 6,000 documents/s)",
    ]


def test_summary_of_nothing():
    nothing = RunReport(
        Path("o"), dict.fromkeys(["read", "kept", "removed_exact", "removed_near", "rejected"], 0), (), 0.0
    )
    assert summary_lines(nothing) == [
        "read      0", "kept      0", "removed   0", "rejected  0", "", "results in o (0.0 s, 0 documents/s)",
    ]  # fmt: skip
    assert funnel_lines(())[0].startswith("stage")


@pytest.fixture
def third_parties(monkeypatch):
    real = registry.installed
    more = {
        "cascade.stages": {
            "colour": EntryPoint("colour", "fakes_config:Colour", "cascade.stages"),
            "gone": EntryPoint("gone", "no_such_module:Gone", "cascade.stages"),
            "odd": EntryPoint("odd", "json:dumps", "cascade.stages"),
        },
        "cascade.shinglers": {},
    }
    together = {group: {**real(group), **more[group]} for group in more}
    monkeypatch.setattr(registry, "installed", lambda group: together[group])
    monkeypatch.setattr("cascade.cli.listing.installed", lambda group: together[group])


def test_third_parties_are_listed_and_broken_ones_say_why(third_parties):
    lines = stage_lines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  colour: "))
    assert (
        lines[at] == "  colour: A stage with lists, a nested block, two bounds that must agree, and no literal `use`."
    )
    assert lines[at + 1].split() == ["tones", "list", "default", "('green',)"]
    assert "  gone: broken: cannot load stage 'gone' (no_such_module:Gone): No module named 'no_such_module'" in lines
    assert "  odd: broken: 'odd' is not a subclass of cascade.Stage" in lines


def test_every_option_is_one_line_with_type_default_and_meaning():
    for line in stage_lines():
        if line.startswith("      "):
            assert "  default " in line or "  required" in line, line
            assert len(line.split("  ", 1)) == 2


class Terminal(io.StringIO):
    def isatty(self):
        return True


def drive(progress):
    progress.start("read", None)
    progress.advance("read", 1000)
    progress.expect("read", 1600)
    progress.advance("read", 500)
    progress.finish("read")
    progress.start("columns", 1500)
    progress.advance("columns", 1500)
    progress.finish("columns")
    progress.start("pairs", None)
    progress.finish("pairs")


def test_plain_lines(monkeypatch, capsys):
    clock = iter(range(100))
    monkeypatch.setattr(shown, "monotonic", lambda: next(clock))
    drive(Lines())
    assert capsys.readouterr() == (
        "",
        "reading: 1,500 documents in 3.0 s\n"
        "computing sketches: 1,500 documents in 2.0 s\n"
        "comparing pairs: 0 pairs in 1.0 s\n",
    )


def test_plain_lines_of_a_long_step(monkeypatch, capsys):
    clock = iter([0, 1, 6, 7, 20, 21])
    monkeypatch.setattr(shown, "monotonic", lambda: next(clock))
    lines = Lines()
    lines.start("columns", 1000)
    for _ in range(4):
        lines.advance("columns", 100)
        lines.expect("columns", 900)
    lines.finish("columns")
    assert capsys.readouterr().err.splitlines() == [
        "computing sketches: 200 of 900 documents, 33/s, 21 s left",
        "computing sketches: 400 of 900 documents, 20/s, 25 s left",
        "computing sketches: 400 documents in 21.0 s",
    ]


def test_bars_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    terminal = Terminal()
    with progress_for(terminal) as progress:
        assert isinstance(progress, Bars)
        drive(progress)
    text = terminal.getvalue()
    for word in ("reading", "computing sketches", "comparing pairs", "1,500 documents", "0 pairs", "/s"):
        assert word in text


@pytest.mark.parametrize("number", [0, 7, 30_000, 12_345_678])
def test_a_bar_is_one_line_of_a_common_terminal(monkeypatch, number):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    terminal = Terminal()
    steps = ["read", "observe", "columns", "pairs"]
    with progress_for(terminal) as progress:
        for step in steps:
            progress.start(step, None)
            progress.advance(step, number)
            progress.finish(step)
    lines = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line) for line in re.split(r"[\r\n]", terminal.getvalue())]
    lines = [line for line in lines if line.strip()]
    assert len(lines) >= len(steps)
    for line in lines:
        assert len(line) <= 80
        assert [word for step, word in shown.WORDS.items() if step in steps and f" {word} " in line], line
        assert f" {number:,} " in line or " 0 " in line
        assert "…" not in line


@pytest.mark.parametrize(("stream", "term", "quiet", "kind"), [
    (Terminal(), "xterm", True, Silent),
    (Terminal(), "dumb", False, Lines),
    (io.StringIO(), "xterm", False, Lines),
    (None, "xterm", False, Silent),
])  # fmt: skip
def test_which_progress(stream, term, quiet, kind, monkeypatch):
    monkeypatch.setenv("TERM", term)
    with progress_for(stream, quiet) as progress:
        assert type(progress) is kind


def test_a_closed_stderr_stops_nothing(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Closed())
    drive(Lines())
