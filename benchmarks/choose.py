"""`python -m benchmarks.choose FILE ...`: what the default config should hold, over many corpora.

Runs a lone `jaccard` stage, which is an exact join, and configs that are candidates for the default, over the given
JSONL files (field `text`), generated English and Chinese documents, pages of templates, and the functions of this
Python's own library. For each: pairs at every step, seconds, and the removals of the exact join that it does not make.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from benchmarks.corpus import Spec, texts
from benchmarks.environment import machine
from benchmarks.job import Given, Job, clean, start_up, write_rows
from benchmarks.page import put
from benchmarks.programs import ROOT
from benchmarks.table import markdown
from cascade.registry import stage_class

WORK = ROOT / "benchmarks" / "work" / "choose"
RESULT = ROOT / "benchmarks" / "results" / "choose.json"
EXACT = "exact join"
LEAST_LINES = 5
"""Of a function that is a document."""


def candidates() -> dict[str, Given]:
    """The configs, by their names in the table; the exact join and the default come first."""
    found: dict[str, Given] = {EXACT: _stages(None, None), "default": "default", "no simhash": _stages(None, (24, 5))}
    found |= {f"simhash {distance}": _stages(distance, (24, 5)) for distance in (16, 24)}
    for bands, rows in ((20, 6), (16, 8), ("auto", "auto")):
        name = "minhash auto" if bands == "auto" else f"minhash {bands} × {rows}"
        found[name] = _stages(20, (bands, rows))
    if "prune" in stage_class("jaccard").model_fields:
        found["prune"] = _stages(20, (24, 5), prune=True)
        found["no prune"] = _stages(20, (24, 5), prune=False)
        found["prune, no simhash"] = _stages(None, (24, 5), prune=True)
        found["neither"] = _stages(None, (24, 5), prune=False)
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
    bases = {name: start_up(given, WORK, options.threads) for name, given in configs.items()}
    measured = []
    for name, documents in corpora(options).items():
        path = write_rows(documents, WORK / "corpus.jsonl")
        jobs: dict[str, list[Job]] = {config: [] for config in configs}
        for number in range(options.rounds):
            for config in list(configs)[:: 1 if number % 2 == 0 else -1]:
                if not any(job.failure for job in jobs[config]):
                    jobs[config].append(clean(configs[config], path, WORK, options.threads, options.timeout))
        result = {"corpus": name, "bytes": path.stat().st_size, "configs": compared(jobs, bases)}
        print(f"\n{name}, {result['bytes'] / 1e6:.1f} MB\n\n{corpus_table(result)}", end="", flush=True)
        measured.append(result)
    text = page_text(measured)
    print(f"\n{text}", end="")
    if not options.quick:
        result = {"machine": machine(), "threads": options.threads, "measured": measured}
        RESULT.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
        if options.page:
            put("choose", text)
    return int(any(row["failure"] for result in measured for row in result["configs"]))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = list(candidates())
    parser = argparse.ArgumentParser(prog="python -m benchmarks.choose", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="JSONL files with a field `text`")
    parser.add_argument("--documents", type=int, default=20_000, help="of each generated corpus")
    parser.add_argument("--config", nargs="+", choices=names, default=names, metavar="CONFIG", help=", ".join(names))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600, help="seconds after which a run is stopped")
    parser.add_argument("--page", action="store_true", help="put the tables into docs/performance.md")
    parser.add_argument("--quick", action="store_true", help="500 documents, one round, nothing written")
    options = parser.parse_args(arguments)
    if options.quick:
        options.documents, options.rounds = 500, 1
    return options


# -- corpora -----------------------------------------------------------------------------------------------------------


def corpora(options: argparse.Namespace) -> dict[str, Iterator[str]]:
    """The texts of each corpus, by its name."""
    given = {path.stem: _read(path) for path in options.files}
    return {
        **given,
        "english": texts(Spec(options.documents, "english")),
        "chinese": texts(Spec(options.documents, "chinese")),
        "templates": pages(options.documents),
        "functions": functions(Path(sysconfig.get_paths()["stdlib"]), options.documents),
    }


def _read(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                yield orjson.loads(line)["text"]


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


def compared(jobs: Mapping[str, Sequence[Job]], bases: Mapping[str, float]) -> list[dict[str, Any]]:
    """What each config did on one corpus; `cpu` is beyond that of a run over a few documents."""
    exact = jobs[EXACT][-1] if jobs.get(EXACT) and not jobs[EXACT][-1].failure else None
    rows = []
    for config, done in jobs.items():
        last = done[-1]
        row: dict[str, Any] = {"config": config, "failure": last.failure}
        if not last.failure:
            row |= {
                "documents": last.report["counts"]["read"],
                "seconds": statistics.median(job.run.seconds for job in done),
                "cpu": max(0.0, statistics.median(job.run.cpu for job in done) - bases[config]),
                "peak_bytes": max(job.run.peak for job in done),
                "stages": last.report["stages"],
                "removed": len(last.removed),
                "lost": None if exact is None else len(exact.removed.keys() - last.removed.keys()),
                "more": None if exact is None else len(last.removed.keys() - exact.removed.keys()),
            }
        rows.append(row)
    return rows


def survivors(row: Mapping[str, Any]) -> tuple[int, int, int]:
    """Candidate pairs, pairs that come to the exact comparison, and pairs that it confirms."""
    by_use = {stage["use"]: stage for stage in row["stages"]}
    return row["stages"][0]["pairs_in"], by_use["jaccard"]["pairs_in"], by_use["jaccard"]["pairs_out"]


def corpus_table(result: Mapping[str, Any]) -> str:
    """All configs on one corpus."""
    head = ["config", "candidates", "to jaccard", "confirmed", "CPU s", "seconds", "peak MB", "removed", "lost", "more"]
    rows = [head]
    for row in result["configs"]:
        if row["failure"]:
            rows.append([row["config"], row["failure"], *[""] * (len(head) - 2)])
            continue
        pairs = [f"{count:,}" for count in survivors(row)]
        took = [f"{row['cpu']:.2f}", f"{row['seconds']:.2f}", f"{row['peak_bytes'] / 1e6:.0f}"]
        against = ["" if row[key] is None else f"{row[key]:,}" for key in ("lost", "more")]
        rows.append([row["config"], *pairs, *took, f"{row['removed']:,}", *against])
    return f"{markdown(rows)}\n"


def page_text(measured: Sequence[Mapping[str, Any]]) -> str:
    """The tables of docs/performance.md: the corpora, then the processor time and the losses of each config."""
    times = configs_table(measured, lambda row, ours: f"{row['cpu'] / ours['cpu']:.2f}" if ours["cpu"] else "")
    losses = configs_table(measured, lambda row, ours: "" if row["lost"] is None else f"{row['lost']:,}")
    return (
        f"{corpora_table(measured)}\nProcessor time beyond start-up, the default's being 1:\n\n{times}"
        f"\nRemovals of the exact join that are not made:\n\n{losses}"
    )


def corpora_table(measured: Sequence[Mapping[str, Any]]) -> str:
    """What the corpora are, and what becomes of the pairs under the default config."""
    rows = [["corpus", "documents", "MB", "exact removals", "candidates", "to jaccard", "confirmed", "CPU s"]]
    for result in measured:
        exact, ours = _row(result, EXACT), _row(result, "default")
        if ours is not None:
            removed = "" if exact is None else f"{exact['removed']:,}"
            size, pairs = f"{result['bytes'] / 1e6:.1f}", [f"{count:,}" for count in survivors(ours)]
            rows.append([result["corpus"], f"{ours['documents']:,}", size, removed, *pairs, f"{ours['cpu']:.2f}"])
    return f"{markdown(rows)}\n"


def configs_table(measured: Sequence[Mapping[str, Any]], cell: Callable[[Any, Any], str]) -> str:
    """Each config on each corpus: what `cell` says of it and of the default."""
    rows = [["config", *(result["corpus"].partition("_")[0] for result in measured)]]
    for name in [row["config"] for row in measured[0]["configs"]]:
        found = [(_row(result, name), _row(result, "default")) for result in measured]
        rows.append([name, *("failed" if row is None else cell(row, ours) if ours else "" for row, ours in found)])
    return f"{markdown(rows)}\n"


def _row(result: Mapping[str, Any], config: str) -> Mapping[str, Any] | None:
    """What a config did on a corpus, if it ran."""
    return next((row for row in result["configs"] if row["config"] == config and not row["failure"]), None)


if __name__ == "__main__":
    sys.exit(main())
