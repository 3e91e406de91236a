"""`cascade explain` as people meet it: what it prints, colours on a terminal only, mistakes without tracebacks."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest
from test_cli_app import cascade

from cascade.cli import styled
from cascade.cli.explained import lines
from cascade.evaluate.explain import explain

A = "the quick brown fox jumps over the lazy dog and runs away from the farm"
B = "the quick brown fox jumps over the lazy dog and runs away from the barn"
ROWS = [
    {"id": 3, "text": A}, {"id": "3", "text": B}, {"id": "x y", "text": "nothing of the kind is written here"},
    {"id": "twice", "text": "one of two"}, {"id": "twice", "text": "two of two"}, {"id": 5, "text": A.upper()},
]  # fmt: skip
WORDS = ("--set", "shingle.n=1")


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def sentence(*arguments):
    code, out, err = cascade("explain", "default", *arguments, *WORDS)
    assert (code, err) == (0, "")
    return out.splitlines()[0]


def test_what_is_shown(work):
    code, out, err = cascade("explain", "default", "a.jsonl", "3", '"3"', *WORDS)
    assert (code, err) == (0, "")
    shown = out.splitlines()
    assert shown[0].startswith('"3" was removed for 3: every stage accepts the pair (simhash ')
    assert shown[2] == "a  3  kept; 13 shingles"
    assert shown[3].startswith('b  "3"  removed for 3: near, simhash ')
    assert "Jaccard          0.8571  12 of 14 shingles are in both" in shown
    assert [line.split()[:3] for line in shown if line.startswith(("simhash ", "minhash ", "jaccard "))] == [
        ["simhash", "filters", "accepts"], ["minhash", "enumerates", "accepts"], ["jaccard", "filters", "accepts"],
    ]  # fmt: skip
    assert f"a as it came: {A}" in shown
    assert "the quick brown fox jumps over the lazy dog and runs away from the [-farm-]{+barn+}" in shown
    at = shown.index("shingles in common: 12")
    assert shown[at + 1 : at + 10] == [*(f"  = {w}" for w in [*A.split()[:6], "lazy", "dog"]), "  = … and 4 more"]
    assert shown[at + 10 :] == ["shingles only in a: 1", "  - farm", "shingles only in b: 1", "  + barn"]


@pytest.mark.parametrize(
    ("given", "starts"),
    [
        (("a.jsonl", "3", "5"), "5 was removed for 3: their normalised texts are equal."),
        (("a.jsonl", "x y", "3"), "Both were kept: "),
        (("a.jsonl", '"x y"', "a.jsonl:1"), "Both were kept: "),
        (("a.jsonl", "a.jsonl:4", "a.jsonl:5"), "Both were kept: "),
        (("--texts", A, A.title()), "These are duplicates: their normalised texts are equal."),
        (("--files", "one.txt", "two.txt"), "These are no duplicates: "),
    ],
)
def test_ways_to_name_the_two(work, given, starts):
    Path("one.txt").write_text("\ufeff" + A, "utf-8")
    Path("two.txt").write_text("汉字", "utf-8")
    assert sentence(*given).startswith(starts)


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["a.jsonl", "3", "4"], 1, "error: no document has the id 4; ids look like 3\n"),
        (["a.jsonl", "xy", "3"], 1, 'error: no document has the id "xy"; did you mean "x y"?\n'),
        (["a.jsonl", "3", "a.jsonl:9"], 1, 'error: no document has the id "a.jsonl:9"; ids look like 3\n'),
        (["a.jsonl", "3", "twice"], 1, 'error: the id "twice" is not the only one of its kind: a.jsonl:4 and a.jsonl:5 '
         "have it; name the row as FILE:LINE instead\n"),
        (["a.jsonl", "3", "3"], 1, "error: both ids mean the same document, 3; give two\n"),
        (["none.jsonl", "3", "5"], 1, "error: none.jsonl: there is no such file\n"),
        (["--files", "a.jsonl", "none.txt"], 1, "error: none.txt: cannot be read: No such file or directory\n"),
        (["--files", "a.jsonl", "latin.txt"], 1,
         "error: latin.txt: not UTF-8: byte 0xe9 at byte 4; a text in UTF-8 is expected\n"),
        ([], 2, "give INPUT and two ids, or --files A B, or --texts A B"),
        (["a.jsonl", "3"], 2, "give INPUT and two ids: cascade explain CONFIG INPUT ID_A ID_B"),
        (["a.jsonl", "3", "5", "--texts", "a", "b"], 2, "give INPUT and two ids, or --files"),
        (["--texts", "a", "b", "--set", "stages.minhash.bandz=1"], 2, "unknown option; did you mean bands?"),
    ],
)  # fmt: skip
def test_mistakes(work, given, code, message):
    Path("latin.txt").write_bytes(b"caf\xe9")
    found, out, err = cascade("explain", "default", *given)
    assert (found, out) == (code, "")
    assert " ".join(message.split()) in " ".join(err.replace("│", " ").split())


def test_json(work):
    code, out, _ = cascade("explain", "cjk", "--texts", "用小火慢慢熬八个小时", "用小火慢慢熬六个小时", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["shingles"]["only_a"] == ["慢熬八", "熬八个", "八个小"]
    assert found["difference"] == [
        {"kind": "same", "text": "用小火慢慢熬"}, {"kind": "left", "text": "八"}, {"kind": "right", "text": "六"},
        {"kind": "same", "text": "个小时"},
    ]  # fmt: skip
    assert set(found) == {
        "a", "b", "sentence", "jaccard", "containment", "edit_similarity", "hamming", "common", "shingles", "candidate",
        "stages", "confirmed", "notes", "difference",
    }  # fmt: skip
    assert {stage["name"] for stage in found["stages"]} == {"simhash", "minhash", "jaccard"}


def test_all_leaves_nothing_out(work):
    long = " ".join(f"w{i}" for i in range(400))
    short = cascade("explain", "default", "--texts", long, long + " end")[1]
    whole = cascade("explain", "default", "--texts", long, long + " end", "--all")[1]
    assert "characters)…" in short
    assert "more" in short
    assert f"{long}{{+ end+}}" in whole
    assert "more" not in whole


HOSTILE = "a \x1b[31mred\x1b[0m \u202eright-to-left \x07 [bold]markup[/bold] :smile: \u200b\n\tend"


def test_nothing_that_a_terminal_obeys_is_printed(work):
    Path("b.jsonl").write_text("".join(json.dumps({"id": HOSTILE + i, "text": HOSTILE + i}) + "\n" for i in "12"))
    for arguments in (["b.jsonl", HOSTILE + "1", HOSTILE + "2"], ["--texts", HOSTILE, HOSTILE + "x"]):
        code, out, _ = cascade("explain", "default", *arguments, "--set", "normalize.whitespace=keep", "--all")
        assert code == 0
        assert all(line.isprintable() for line in out.splitlines())
        assert "\\x1b[31mred" in out
        assert "[bold]markup[/bold] :smile:" in out


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_colours_on_a_terminal_only(monkeypatch):
    found = explain("default", [A, B])
    plain, terminal = io.StringIO(), Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for stream in (plain, terminal):
        monkeypatch.setattr(sys, "stdout", stream)
        styled.show(lines(found))
    monkeypatch.undo()
    assert "\x1b" not in plain.getvalue()
    assert "\x1b[31m[-farm-]\x1b[0m\x1b[32m{+barn+}\x1b[0m" in terminal.getvalue()
    bare = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert [line.rstrip() for line in bare.splitlines()] == plain.getvalue().splitlines()


def test_the_page_shows_what_is_printed(work):
    page = (Path(__file__).parent.parent / "docs/explaining.md").read_text("utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)
    command = re.findall(r"^cascade (.* --texts .*)$", page, re.M)[0]
    assert cascade(*command.split()) == (0, shown, "")
