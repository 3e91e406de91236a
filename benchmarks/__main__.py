"""`python -m benchmarks`: ours, the limit and the peers side by side in one run, on one thread and on more.

Prints a table for each number of threads, writes it as JSON with a plot beside it, and puts the tables into README.md.
Programs that take minutes are compared on a smaller corpus, with the fast ones beside them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from benchmarks.compare import WORK, Corpus, compare
from benchmarks.corpus import Spec, corpus
from benchmarks.environment import make_ours, make_peers
from benchmarks.job import read_texts
from benchmarks.plot import plot_programs
from benchmarks.programs import ROOT, Program, programs
from benchmarks.readme import write_section
from benchmarks.table import reading, table

RESULTS = ROOT / "benchmarks" / "results"
OURS_AND_LIMIT = ("cascade", "cascade-oph", "cascade3", "limit")
QUICK = ("cascade", "limit", "daft", "rensa", "gaoya")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    chosen = [p for p in programs() if p.name in options.only and options.language in p.languages]
    if any(program.name not in OURS_AND_LIMIT for program in chosen):
        for failure in make_peers():
            print(f"not installed: {failure}")
    make_ours()
    # A quick run shows that everything works; it is no result to keep.
    folder = WORK if options.quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    targets, failed = [], False
    for documents, part in _parts(chosen, options.documents, options.slow_documents):
        source = _corpus(options, documents)
        results = []
        for threads in options.threads:
            result = compare(part, source, threads, options.rounds, options.timeout, options.truth_up_to)
            results.append(result)
            print(f"{table(result)}\n{reading(result)}")
            targets.append(folder / f"{source.path.stem}-t{threads}.json")
            targets[-1].write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
            plot_programs(result, targets[-1].with_suffix(".svg"))
            print(f"written: {targets[-1].relative_to(ROOT)}, .svg\n", flush=True)
        differing = differing_bytes(results)
        for name in differing:
            print(f"{name}: other bytes with another number of threads")
        failed |= bool(differing) or any(program["failure"] for result in results for program in result["programs"])
    if options.readme:
        write_section(targets)
    return int(failed)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [program.name for program in programs()]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--documents", type=int, default=50_000, help="documents to generate (50000: about 111 MB)")
    parser.add_argument(
        "--slow-documents", type=int, default=10_000, help="documents for the programs that take minutes, and ours"
    )
    parser.add_argument("--language", choices=("english", "chinese"), default="english")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path, help="JSONL file with a field `text`, instead of a generated corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="one result for each number of threads")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="PROGRAM", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="2,000 documents, one round, the fast programs")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds after which a program is stopped")
    parser.add_argument(
        "--truth-up-to", type=int, default=500_000, help="documents up to which exact truth is computed"
    )
    parser.add_argument("--readme", action="store_true", help="put the tables into README.md")
    options = parser.parse_args(arguments)
    if options.quick:
        options.documents, options.rounds = 2_000, 1
        options.only = [name for name in options.only if name in QUICK]
    return options


def _parts(chosen: Sequence[Program], documents: int, slow_documents: int) -> list[tuple[int, Sequence[Program]]]:
    """How many documents for which programs: all of them together, or the slow ones apart with cascade and the limit
    beside them."""
    slow = [program for program in chosen if program.slow]
    if not slow or slow_documents >= documents:
        return [(documents, chosen)]
    fast = [program for program in chosen if not program.slow]
    beside = [program for program in fast if program.name in ("cascade", "limit")]
    parts: list[tuple[int, Sequence[Program]]] = [(documents, fast), (slow_documents, beside + slow)]
    return parts if fast else parts[1:]


def _corpus(options: argparse.Namespace, documents: int) -> Corpus:
    """The file that every program reads, whatever it came from; of a given one the first `documents` if it is the
    smaller corpus."""
    if options.corpus is None:
        spec = Spec(documents, options.language, options.seed)
        return Corpus(corpus(spec, WORK), documents, options.language, {"generated": spec.as_dict()})
    most = documents if documents == options.slow_documents else None
    WORK.mkdir(exist_ok=True)
    unfinished, count, hashed = WORK / "given.part", 0, blake2b(digest_size=4)
    with unfinished.open("wb") as file:
        for text in islice(read_texts(options.corpus), most):
            row = orjson.dumps({"id": count, "text": text}) + b"\n"
            hashed.update(row)
            file.write(row)
            count += 1
    # Named by its content, so that truth that lies beside it is of this corpus.
    path = unfinished.rename(WORK / f"{options.corpus.stem}-{hashed.hexdigest()}.jsonl")
    return Corpus(path, count, options.language, {"file": options.corpus.name})


def differing_bytes(results: Sequence[dict[str, Any]]) -> list[str]:
    """Programs that wrote other bytes in one result than in another."""
    digests: dict[str, set[str]] = {}
    for result in results:
        for program in result["programs"]:
            if program["digest"]:
                digests.setdefault(program["name"], set()).add(program["digest"])
    return sorted(name for name, found in digests.items() if len(found) > 1)


if __name__ == "__main__":
    sys.exit(main())
