"""The pages say what is so: their code and commands run, their tables and option lists are those of the code.

A page is run from top to bottom in an empty folder with a small `data/`. In Python blocks `print(…)  # text` must print
that text; a block that begins with `# name.py` or `# name.yaml` is saved under that name instead of being run.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cascade
from cascade.cli.app import app
from cascade.cli.listing import _default
from cascade.config import load_config, preset_names
from cascade.config.expect import option_schemas, short_type
from cascade.config.model import Config, Input, Prefer, Resolve
from cascade.registry import SHINGLERS, STAGES, installed, shingler_class, stage_class
from cascade.stage import Facts, Stage
from cascade.text.shingle import Word

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*PAGES, *sorted((ROOT / "benchmarks").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
names = [str(page.relative_to(ROOT)) for page in PAGES]
each_page = pytest.mark.parametrize("page", PAGES, ids=names)


def blocks(page: Path) -> list[tuple[str, str]]:
    """(language, content) of each fenced block."""
    return BLOCK.findall(page.read_text("utf-8"))


def command(line: str) -> str:
    """What a command prints; fails if it fails."""
    words = [word for word in shlex.split(line) if word != "PYTHONPATH=."]
    assert words[0] == "cascade", line
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data/a.jsonl and data/b.jsonl, from which modules can be imported."""
    (tmp_path / "data").mkdir()
    lines = (files("cascade.sample") / "sample.jsonl").read_text("utf-8").splitlines()[:-2]
    for name, part in (("a", lines[::2]), ("b", lines[1::2])):
        rows = [json.dumps({**json.loads(line), "score": i, "source": name}) for i, line in enumerate(part)]
        (tmp_path / "data" / f"{name}.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@each_page
def test_code_and_commands_run(page: Path, work: Path) -> None:
    saved = []
    for language, content in blocks(page):
        title = re.match(r"# (\w+)\.(py|yaml)\n", content)
        if title:
            (work / f"{title[1]}.{title[2]}").write_text(content, "utf-8")
            saved.append(title[1])
        if language == "python" and not title:
            run_python(content)
        elif language == "yaml":
            assert load_config_text(content, work).stages is not None
        elif language == "sh":
            for line in content.splitlines():
                command(line)
        else:
            assert title or language in ("text", "toml"), f"{page.name}: what is a block of {language!r}?"
    for name in saved:
        sys.modules.pop(name, None)


def run_python(content: str) -> None:
    expected = [line.partition(")  # ")[2] for line in content.splitlines() if line.startswith("print(")]
    assert all(expected), f"a print without its output:\n{content}"
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(content, "<page>", "exec"), {"__name__": "page"})
    assert said.getvalue().splitlines() == expected


def load_config_text(content: str, folder: Path) -> Config:
    path = folder / "page.yaml"
    path.write_text(content, "utf-8")
    return load_config(path)


def masked(text: str) -> list[str]:
    """Lines with the times left out."""
    text = re.sub(r"\(\d+\.\d s, [\d,]+ documents/s\)", "(TIME)", text)
    return re.sub(r"\b\d+\.\d\d\b", "S.SS", text).rstrip("\n").split("\n")


def test_the_readme_shows_what_the_demo_prints(work: Path) -> None:
    (shown,) = [content for language, content in blocks(README) if language == "text"]
    printed = "\n".join(masked(command("cascade demo -o .demo")))
    parts = "\n".join(masked(shown)).split("\n…\n")
    assert len(parts) > 2
    at = 0
    for part in parts:
        found = f"\n{printed}\n".find(f"\n{part}\n", at)
        assert found >= 0, f"`make demo` does not print this any more, or not there:\n{part}"
        at = found + len(part)
    assert printed.startswith(parts[0])
    assert printed.endswith(parts[-1])
    assert "demo -o .demo" in (ROOT / "Makefile").read_text("utf-8")


def test_the_config_of_the_readme_is_the_default(work: Path) -> None:
    first = next(content for language, content in blocks(README) if language == "yaml")
    assert load_config_text(first, work) == load_config("default")
    assert set(re.findall(r"^(\w+):", first, re.M)) == set(Config.model_fields)


def test_the_stage_of_the_readme_is_short_and_lawful(work: Path) -> None:
    (source,) = [content for _, content in blocks(README) if content.startswith("# mine.py")]
    assert len([line for line in source.splitlines() if line.strip()]) <= 20
    (work / "mine.py").write_text(source, "utf-8")
    texts = ["Lamp at 25 euros, white.", "Lamp at 26 euros, white.", "Lamp at 25 euros, white.", "none", "none", ""]
    config: dict[str, Any] = {"exact": False, "stages": [{"use": "mine:SameNumbers", "digits": 2}]}
    config["resolve"] = {"pairs": "all"}
    pairs = cascade.dedupe(texts, config).pairs
    assert sorted(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == [
        (0, 2), (3, 4), (3, 5), (4, 5),
    ]  # fmt: skip
    assert cascade.dedupe(texts[:2], config, set=["stages[0].digits=3"]).kept_rows == [0]
    del sys.modules["mine"]


def tables(page: Path) -> list[list[list[str]]]:
    """The tables of a page as rows of cells, the head first, without the line of dashes."""
    out: list[list[list[str]]] = []
    inside = False
    for line in page.read_text("utf-8").splitlines():
        if line.startswith("|"):
            if not inside:
                out.append([])
            out[-1].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        inside = line.startswith("|")
    return [[table[0], *table[2:]] for table in out]


def table_headed(page: Path, first: str) -> list[list[str]]:
    (found,) = [table for table in tables(page) if table[0][0] == first]
    return found


def test_the_s_curve() -> None:
    head, *rows = table_headed(README, "J")
    assert head[1:] == ["14 × 8", "20 × 6", "24 × 5", "16 × 8", "20 × 13", "1 × 10"]
    assert [row[0] for row in rows] == ["0.50", "0.60", "0.70", "0.75", "0.80", "0.85", "0.90", "0.95"]
    for jaccard, *cells in rows:
        for shape, cell in zip(head[1:], cells, strict=True):
            bands, rows_per_band = map(int, shape.split(" × "))
            assert cell == f"{cascade.predicted_recall(float(jaccard), bands, rows_per_band):.4f}"


def test_the_shares_that_simhash_lets_through() -> None:
    head, *rows = table_headed(ROOT / "docs/choosing.md", "max_hamming")
    for distance, *cells in rows:
        config = load_config({"stages": [{"use": "simhash", "max_hamming": int(distance)}]})
        predicate = config.stages[0].bind(Facts(documents=1000))
        for jaccard, cell in zip(head[1:], cells, strict=True):
            assert cell == f"{predicate.predicted_recall(float(jaccard.removeprefix('J = '))):.3f}"


def test_how_many_words_may_change() -> None:
    words = [f"w{i}" for i in range(100)]

    def similarity(changes: int, n: int) -> float:
        changed = list(words)
        for i in range(changes):
            changed[round((i + 1) * 100 / (changes + 1))] = f"x{i}"
        one, other = (cascade.shingle_hashes(" ".join(text), Word(n=n)) for text in (words, changed))
        return cascade.jaccard(one, other)

    _, *rows = table_headed(ROOT / "docs/choosing.md", "n")
    for n, most in rows:
        assert similarity(int(most), int(n)) >= 0.8 > similarity(int(most) + 1, int(n))


def test_figures_in_the_text() -> None:
    choosing = (ROOT / "docs/choosing.md").read_text("utf-8")
    assert "63 to 65 %" in choosing
    for bands in (12, 20, 50, 1000):
        assert 0.63 < cascade.predicted_recall((1 / bands) ** (1 / 5), bands, 5) < 0.655
    assert "at J = 0.5 half of the pairs" in choosing
    assert round(cascade.predicted_recall(0.5, 24, 5), 1) == 0.5
    decisions = (ROOT / "docs/decisions.md").read_text("utf-8")
    assert "Together 0.9996" in decisions
    assert round(cascade.make_plan(load_config("default"), 1000).recall or 0, 4) == 0.9996


def options_told() -> dict[str, list[list[str]]]:
    """The option tables of docs/config.md by their headings."""
    told: dict[str, list[list[str]]] = {}
    heading = ""
    for line in (ROOT / "docs/config.md").read_text("utf-8").splitlines():
        if line.startswith("##"):
            heading = line.lstrip("# ")
        elif line.startswith("| `"):
            told.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return told


def test_every_option_is_told_and_every_told_option_exists() -> None:
    classes: dict[str, Any] = {"normalize": load_config({"stages": []}).normalize.__class__}
    classes |= {"resolve": Resolve, "prefer": Prefer, "input": Input}
    classes |= {name: shingler_class(name) for name in installed(SHINGLERS)}
    classes |= {name: stage_class(name) for name in installed(STAGES)}
    told = options_told()
    assert set(told) == {*classes, "The whole", "every stage"}
    assert [row[0] for row in told["The whole"]] == [f"`{name}`" for name in Config.model_fields]
    assert [row[0] for row in told["every stage"]] == [f"`{name}`" for name in Stage.model_fields]
    for heading, cls in classes.items():
        schemas = option_schemas(cls)
        passed_over = {"by", *Stage.model_fields}
        own = {name: field for name, field in cls.model_fields.items() if name not in passed_over}
        assert [row[0] for row in told[heading]] == [f"`{name}`" for name in own], heading
        for (name, field), (_, takes, default, meaning) in zip(own.items(), told[heading], strict=True):
            assert takes in (short_type(schemas[name]).replace(" | ", " or "), "see below"), f"{heading}.{name}"
            assert default == _default(field).removeprefix("default "), f"{heading}.{name}"
            assert meaning, f"{heading}.{name}"


def test_every_preset_and_every_file_of_the_output_is_told(work: Path) -> None:
    choosing = (ROOT / "docs/choosing.md").read_text("utf-8")
    assert [name for name in preset_names() if f"`{name}`" not in choosing] == []
    command("cascade run default data/a.jsonl -o out --set resolve.pairs=all")
    page = (ROOT / "docs/output.md").read_text("utf-8")
    headings = re.findall(r"^## (\S+)$", page, re.M)
    assert sorted(p.name.replace("kept.jsonl", "kept") for p in (work / "out").iterdir()) == sorted(headings)
    for name in ("removed", "rejected", "clusters", "pairs"):
        section = page.partition(f"## {name}.jsonl\n")[2].partition("\n## ")[0]
        fields = {
            field for cells in re.findall(r"^\| (`.*?) \|", section, re.M) for field in re.findall(r"`(\w+)`", cells)
        }
        for line in (work / "out" / f"{name}.jsonl").read_text("utf-8").splitlines():
            found = set(json.loads(line)) - {"twin_source", "twin_line"}  # of few rows
            assert found == fields - {"via", "twin_source", "twin_line", "a_keep", "b_keep"}
    section = page.partition("## report.json\n")[2].partition("\n## ")[0]
    fields = {field for cells in re.findall(r"^\| (`.*?) \|", section, re.M) for field in re.findall(r"`(\w+)`", cells)}
    assert set(json.loads((work / "out" / "report.json").read_text("utf-8"))) == fields


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = BLOCK.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKED, ids=[str(page.relative_to(ROOT)) for page in LINKED])
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", page.read_text("utf-8"))):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


@each_page
def test_pages_are_plain(page: Path) -> None:
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        assert len(line) <= 120, f"{page.name}:{number}"
        assert line == line.rstrip(), f"{page.name}:{number}"


def test_the_readme_has_its_place_for_figures() -> None:
    assert len(re.findall(r"^<!-- speed -->\n.*^<!-- /speed -->$", README.read_text("utf-8"), re.M | re.S)) == 1


def test_make_goals_that_are_named_exist() -> None:
    goals = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    for page in LINKED:
        named = set(re.findall(r"(?:^ {4}|`)make ([\w-]+)", page.read_text("utf-8"), re.M))
        assert named <= goals, page.name


def test_decisions_are_dated_and_short() -> None:
    _, *sections = (ROOT / "docs/decisions.md").read_text("utf-8").split("\n## ")
    for section in sections:
        title, *lines = section.strip().splitlines()
        assert re.search(r" \(20\d\d-\d\d-\d\d\)$", title), title
        assert len([line for line in lines if line]) <= 10, title


PRIVATE = re.compile(
    r"(?<![\w.$}-])/(?:work|home|root|Users)/|\b(?:files\.pythonhosted|test\.pypi|pypi|artifactory)\.\w|--index-url"
)


def tracked() -> list[Path]:
    """Files under version control, where there is any."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_paths_of_a_machine_and_no_package_index_in_tracked_files() -> None:
    found = []
    for path in tracked():
        if path != Path(__file__).resolve():
            text = path.read_bytes().decode("utf-8", "replace")
            found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in PRIVATE.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("see /home/someone/x", True),
        ('"/root/.cache"', True),
        ("https://pypi.org/simple", True),
        ("--index-url=x", True),
        ("benchmarks/work/ and .work/home/x", False),
        ("data/home/x", False),
    ],
)
def test_what_counts_as_private(text: str, private: bool) -> None:
    assert bool(PRIVATE.search(text)) is private
