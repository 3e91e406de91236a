"""`python -m benchmarks.labelled DOCS TRUTH --config NAME ...`: presets against duplicates that people have labelled.

DOCS is what `cascade run` reads; TRUTH is JSONL with the ids `a` and `b` of each duplicate pair, every other pair being
none. A program's pairs are those within its clusters, so that copies of copies count whichever way they were found.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import orjson

Pair = frozenset[str]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labelled", description=__doc__)
    parser.add_argument("docs", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--config", nargs="+", default=["default", "short_text"], help="presets or YAML files")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="passed on to every run")
    options = parser.parse_args(arguments)
    truth = {_pair(row["a"], row["b"]) for row in _rows(options.truth)}
    print(f"{options.docs.name}: {len(truth)} labelled pairs")
    print("| config | found | right | precision | recall | F1 | seconds |\n|---|---|---|---|---|---|---|")
    failures = 0
    for config in options.config:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            command = [Path(sys.executable).with_name("cascade"), "run", config, options.docs, "-o", out]
            command += [part for value in options.set for part in ("--set", value)]
            result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
            seconds = time.perf_counter() - start
            if result.returncode:
                failures += 1
                print(f"| {config} | failed: {(result.stderr.strip() or 'no message').splitlines()[-1]} ||||||")
                continue
            found = clustered_pairs(_rows(out / "clusters.jsonl"))
        right = len(found & truth)
        precision, recall, f1 = scores(len(found), right, len(truth))
        print(f"| {config} | {len(found)} | {right} | {precision:.4f} | {recall:.4f} | {f1:.4f} | {seconds:.2f} |")
    return int(failures > 0)


def clustered_pairs(rows: Sequence[dict[str, Any]]) -> set[Pair]:
    """All pairs of ids that are in one cluster."""
    members = defaultdict(list)
    for row in rows:
        members[row["cluster"]].append(row["id"])
    return {_pair(a, b) for ids in members.values() for a, b in combinations(ids, 2)}


def scores(found: int, right: int, true: int) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean; 1 where there is nothing to be wrong about."""
    precision = right / found if found else 1.0
    recall = right / true if true else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _pair(a: object, b: object) -> Pair:
    # As JSON, so that the ids 3 and "3" stay apart.
    return frozenset((orjson.dumps(a).decode(), orjson.dumps(b).decode()))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


if __name__ == "__main__":
    sys.exit(main())
