"""`python -m benchmarks.choose FILE ...`: what the default config should hold, over many corpora.

Runs a lone `jaccard` stage, which is an exact join, and configs that are candidates for the default, over the given
JSONL files (field `text`), generated English and Chinese documents, pages of templates, and the functions of this
Python's own library. A corpus is read once, which is the same for all of them; what counts is the work from there to
the decisions, on one thread of this process, all configs taking turns. For each: pairs at every step, seconds, and the
removals of the exact join that it does not make.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from benchmarks.corpus import Spec, texts
from benchmarks.environment import machine
from benchmarks.job import Given, read_texts, write_rows
from benchmarks.page import put
from benchmarks.programs import ROOT
from benchmarks.table import markdown, number
from cascade.config import load_config
from cascade.corpus import Corpus
from cascade.errors import CascadeError
from cascade.io.read import find_inputs
from cascade.pipeline import deduplicate
from cascade.result import Outcome
from cascade.run import read_corpus

WORK = ROOT / "benchmarks" / "work" / "choose"
RESULT = ROOT / "benchmarks" / "results" / "choose.json"
EXACT = "exact join"
LEAST_LINES = 5
"""Of a function that is a document."""


def candidates() -> dict[str, Given]:
    """The configs, by their names in the table; the exact join and the default come first."""
    found: dict[str, Given] = {EXACT: _stages(None, None), "default": "default", "no simhash": _stages(None, (24, 5))}
    found |= {f"simhash {distance}": _stages(distance, (24, 5)) for distance in (16, 24)}
    found |= {f"minhash {bands} × {rows}": _stages(20, (bands, rows)) for bands, rows in ((20, 6), (16, 8))}
    found["minhash auto"] = _stages(20, ("auto", "auto"))
    for simhash, name in ((20, "simhash"), (None, "no simhash")):
        for prune in (True, False):
            found[f"{'' if prune else 'no '}prune, {name}"] = _stages(simhash, (24, 5), prune=prune)
    return found


def _stages(distance: int | None, bands: tuple[int | str, int | str] | None, **jaccard: object) -> dict[str, Any]:
    stages: list[dict[str, object]] = [{"use": "jaccard", "min_jaccard": 0.8, **jaccard}]
    if bands is not None:
        stages.insert(0, {"use": "minhash", "bands": bands[0], "rows_per_band": bands[1]})
    if distance is not None:
        stages.insert(0, {"use": "simhash", "max_hamming": distance})
    return {"stages": stages}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    WORK.mkdir(parents=True, exist_ok=True)
    configs = {name: given for name, given in candidates().items() if name in options.config}
    measured = []
    for name, documents in corpora(options).items():
        path = write_rows(documents, WORK / "corpus.jsonl")
        corpus, _ = read_corpus(find_inputs([path]), load_config("default"))
        trials = try_in_turns(corpus, configs, options.rounds)
        result = {"corpus": name, "documents": len(corpus), "bytes": path.stat().st_size, "configs": compared(trials)}
        path.unlink()
        print(f"\n{name}, {result['bytes'] / 1e6:.1f} MB\n\n{corpus_table(result)}", end="", flush=True)
        measured.append(result)
    text = page_text(measured)
    print(f"\n{text}", end="")
    if not options.quick:
        RESULT.write_bytes(
            orjson.dumps({"machine": machine(), "measured": measured}, option=orjson.OPT_INDENT_2) + b"\n"
        )
        if options.page:
            put("choose", text)
    return int(any(row["failure"] for result in measured for row in result["configs"]))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = list(candidates())
    parser = argparse.ArgumentParser(prog="python -m benchmarks.choose", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="JSONL files with a field `text`")
    parser.add_argument("--documents", type=int, default=20_000, help="of each generated corpus")
    parser.add_argument("--config", nargs="+", choices=names, default=names, metavar="CONFIG", help=", ".join(names))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--page", action="store_true", help="put the tables into docs/performance.md")
    parser.add_argument("--quick", action="store_true", help="500 documents, one round, nothing written")
    options = parser.parse_args(arguments)
    if options.quick:
        options.documents, options.rounds = 500, 1
    return options


# -- corpora -----------------------------------------------------------------------------------------------------------


def corpora(options: argparse.Namespace) -> dict[str, Iterator[str]]:
    """The texts of each corpus, by its name."""
    given = {path.stem: read_texts(path) for path in options.files}
    return {
        **given,
        "english": texts(Spec(options.documents, "english")),
        "chinese": texts(Spec(options.documents, "chinese")),
        "templates": pages(options.documents),
        "functions": functions(Path(sysconfig.get_paths()["stdlib"]), options.documents),
    }


def pages(count: int) -> Iterator[str]:
    """Pages of templates, 100 of each, mixed: words of the template and, at the end, 5 to 50 % of the page's own."""
    random = np.random.default_rng(0)
    templates = -(-count // 100)
    own = random.uniform(0.05, 0.5, templates)
    common = random.integers(0, 30_000, (templates, 300))
    for row in random.permutation(count).tolist():
        words = common[row % templates].copy()
        words[round(300 * (1 - own[row % templates])) :] = random.integers(0, 30_000, 300)[
            : round(300 * own[row % templates])
        ]
        yield " ".join(f"w{word}" for word in words.tolist())


def functions(folder: Path, most: int) -> Iterator[str]:
    """The source of every function of some length below a folder, other people's packages and tests left out."""
    found = 0
    for path in sorted(folder.rglob("*.py")):
        if {"site-packages", "test", "tests"} & set(path.parts):
            continue
        try:
            source = path.read_text("utf-8")
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        lines = source.splitlines()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= LEAST_LINES - 1:
                if found == most:
                    return
                found += 1
                yield "\n".join(lines[node.lineno - 1 : node.end_lineno])


# -- comparing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """One run of a config over a corpus: seconds of the processor and of the clock, and what was decided."""

    cpu: float
    seconds: float
    outcome: Outcome | None
    failure: str = ""


def try_in_turns(corpus: Corpus, configs: Mapping[str, Given], rounds: int) -> dict[str, list[Trial]]:
    """Runs every config once in each round, after a first time that does not count. One that fails is not run again."""
    trials: dict[str, list[Trial]] = {name: [] for name in configs}
    for turn in range(rounds + 1):
        for name in list(configs)[:: 1 if turn % 2 == 0 else -1]:
            if not any(trial.failure for trial in trials[name]):
                trial = try_once(corpus, configs[name])
                if turn or trial.failure:
                    trials[name].append(trial)
    return trials


def try_once(corpus: Corpus, given: Given) -> Trial:
    """From the documents to the decisions, on this thread."""
    try:
        config = load_config(given)
        start, used = time.perf_counter(), time.thread_time()
        outcome = deduplicate(corpus, config, workers=1)
    except CascadeError as error:
        return Trial(0, 0, None, str(error))
    return Trial(time.thread_time() - used, time.perf_counter() - start, outcome)


def compared(trials: Mapping[str, Sequence[Trial]]) -> list[dict[str, Any]]:
    """What each config did on one corpus. `times_default` is the median over the rounds, in each of which both ran."""
    exact = trials[EXACT][-1].outcome if EXACT in trials else None
    rows = []
    for config, done in trials.items():
        row: dict[str, Any] = {"config": config, "failure": done[-1].failure}
        outcome = done[-1].outcome
        if outcome is not None:
            ours = trials.get("default", [])
            row |= {
                "seconds": statistics.median(trial.seconds for trial in done),
                "cpu": statistics.median(trial.cpu for trial in done),
                "times_default": statistics.median(a.cpu / b.cpu for a, b in zip(done, ours, strict=False))
                if ours
                else None,
                "stages": [asdict(stage) for stage in outcome.stages],
                "removed": int((~outcome.kept).sum()),
                "lost": None if exact is None else int((outcome.kept & ~exact.kept).sum()),
                "more": None if exact is None else int((~outcome.kept & exact.kept).sum()),
            }
        rows.append(row)
    return rows


def survivors(row: Mapping[str, Any]) -> list[int]:
    """Candidate pairs, those that come to `jaccard`, those whose sets it compares, and those that it confirms."""
    last = next(stage for stage in row["stages"] if stage["use"] == "jaccard")
    return [row["stages"][0]["pairs_in"], last["pairs_in"], last["counts"].get("compared", 0), last["pairs_out"]]


def corpus_table(result: Mapping[str, Any]) -> str:
    """All configs on one corpus."""
    head = [
        "config",
        "candidates",
        "to jaccard",
        "compared",
        "confirmed",
        "CPU s",
        "× default",
        "removed",
        "lost",
        "more",
    ]
    rows = [head]
    for row in result["configs"]:
        if row["failure"]:
            rows.append([row["config"], row["failure"], *[""] * (len(head) - 2)])
            continue
        took = [f"{row['cpu']:.3f}", number(row["times_default"], ".2f")]
        against = [number(row[key], ",") for key in ("removed", "lost", "more")]
        rows.append([row["config"], *(f"{count:,}" for count in survivors(row)), *took, *against])
    return f"{markdown(rows)}\n"


def page_text(measured: Sequence[Mapping[str, Any]]) -> str:
    """The tables of docs/performance.md: the corpora, then the processor time and the losses of each config."""
    return (
        f"{corpora_table(measured)}\nProcessor time from the documents to the decisions, the default's being 1:\n\n"
        f"{configs_table(measured, 'times_default', '.2f')}"
        f"\nRemovals of the exact join that are not made:\n\n{configs_table(measured, 'lost', ',')}"
    )


def corpora_table(measured: Sequence[Mapping[str, Any]]) -> str:
    """What the corpora are, and what becomes of the pairs under the default config."""
    rows = [["corpus", "documents", "MB", "removed", "candidates", "to jaccard", "compared", "confirmed", "CPU s"]]
    for result in measured:
        ours = next((row for row in result["configs"] if row["config"] == "default" and not row["failure"]), None)
        if ours is not None:
            size, counts = (
                f"{result['bytes'] / 1e6:.1f}",
                [f"{count:,}" for count in (ours["removed"], *survivors(ours))],
            )
            rows.append([result["corpus"], f"{result['documents']:,}", size, *counts, f"{ours['cpu']:.2f}"])
    return f"{markdown(rows)}\n"


def configs_table(measured: Sequence[Mapping[str, Any]], key: str, form: str) -> str:
    """One figure of each config on each corpus."""
    rows = [["config", *(result["corpus"].partition("_")[0] for result in measured)]]
    for place, name in enumerate(row["config"] for row in measured[0]["configs"]):
        found = [result["configs"][place] for result in measured]
        rows.append([name, *("failed" if row["failure"] else number(row[key], form) for row in found)])
    return f"{markdown(rows)}\n"


if __name__ == "__main__":
    sys.exit(main())
