"""`python -m benchmarks.readme RESULT...`: the speed section of README.md, written from result files and by no hand.

Results on the same corpus with different numbers of threads share a table.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from benchmarks.page import put
from benchmarks.programs import ROOT
from benchmarks.table import LIMIT, OURS, markdown, number

WIDTH = 119

Result = Mapping[str, Any]


def section(results: Mapping[str, Result]) -> str:
    """Markdown of results by name: what was measured, on what, and a table for each corpus."""
    machine = next(iter(results.values()))["machine"]
    about = next(iter(results.values()))["corpus"]
    runs = max(len(program["seconds"]) for program in next(iter(results.values()))["programs"])
    intro = (
        f"Whole processes, medians of {runs} runs (one where a program takes over a minute), by `make bench`; "
        f"{machine['processor']}, {machine['date'][:10]}. × is a program's time divided by that of `{OURS}` in the "
        f"same run: so many times faster is `{OURS}`. MB/s, memory, pairs, recall and precision are of the run with "
        f"{_threads(next(iter(results.values())))}. Recall and precision are held against all pairs with an exact "
        f"Jaccard similarity of {about['threshold']} or more (word 5-grams), the very criterion that `{OURS}` confirms."
        f" The peers take 16 bands of 8 rows, `{OURS}` 24 of 5; daft, rensa, gaoya and datasketch confirm nothing "
        f"exactly and write nothing. `{LIMIT}` only parses rows, hashes texts and writes the rows, on one thread; "
        f"`{OURS}-oph` makes signatures by one-permutation hashing, `{OURS}3` confirms by edit distance. More in "
        "[benchmarks](benchmarks/README.md), and every figure in the files named below."
    )
    groups: dict[str, dict[str, Result]] = {}
    for name, result in results.items():
        groups.setdefault(re.sub(r"-t\d+$", "", name), {})[name] = result
    parts = [_filled(intro)]
    parts += [_group(sorted(group.items(), key=lambda item: item[1]["corpus"]["threads"])) for group in groups.values()]
    return "\n\n".join(parts) + "\n"


def _group(named: Sequence[tuple[str, Result]]) -> str:
    """One corpus: a sentence and a table with the times of each number of threads."""
    results = [result for _, result in named]
    about = results[0]["corpus"]
    kind = f"{'generated ' if 'generated' in about else ''}{about['language'].capitalize()} documents"
    limits = [f"{_of(r, OURS)['times_limit']:.2f} ({_threads(r)})" for r in results if _of(r, OURS).get("times_limit")]
    files = ", ".join(f"`benchmarks/results/{name}.json`" for name, _ in named)
    sentence = f"{about['documents']:,} {kind}, {about['bytes'] / 1e6:.0f} MB of JSON lines ({files})"
    sentence += f"; `{OURS}` takes {' and '.join(limits)} times as long as `{LIMIT}`:" if limits else ":"
    head = ["program"]
    for result in results:
        head += [f"s, {_threads(result)}", "×"]
    rows = [[*head, "MB/s", "peak MB", "pairs compared", "recall", "precision"]]
    for program in results[0]["programs"]:
        cells = [program["name"]]
        for result in results:
            found = _of(result, program["name"])
            cells += [number(found.get("median"), ".2f") or "failed", number(found.get("times_cascade"), ".2f")]
        cells += [
            number(program["mb_per_second"], ".1f"),
            f"{program['peak_bytes'] / 1e6:.0f}" if program["peak_bytes"] else "",
            number(program["pairs_compared"], ","),
            number(program["recall"], ".4f"),
            number(program["precision"], ".4f"),
        ]
        rows.append(cells)
    return f"{_filled(sentence)}\n\n{markdown(rows, aligned=False)}"


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def _of(result: Result, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next((program for program in result["programs"] if program["name"] == name), {})
    return found


def _threads(result: Result) -> str:
    return "one thread" if result["corpus"]["threads"] == 1 else f"{result['corpus']['threads']} threads"


def write_section(paths: Sequence[Path], readme: Path = ROOT / "README.md") -> None:
    """Puts the section of result files into README.md."""
    put("speed", section({path.stem: orjson.loads(path.read_bytes()) for path in paths}), readme)


if __name__ == "__main__":
    write_section(list(map(Path, sys.argv[1:])))
