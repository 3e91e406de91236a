"""`python -m benchmarks.quality DOCS TRUTH ...`: what sketches, cascades and the exact join find, and at what cost.

Over labelled sets (JSONL with the fields `id` and `text`; duplicate pairs or clusters in a file that `cascade compare
--truth` takes), and over an English and a Chinese corpus of the generator's, without its pages of templates, in which
copies are known with the share of words that was edited. Copies of copies are duplicates too. All configs take turns on
one thread of this process; what counts is processor time from the documents, read and normalised once, to the
decisions. Pairs are those of other runs, with pairs: all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from benchmarks.choose import try_in_turns
from benchmarks.corpus import Spec, families, texts
from benchmarks.environment import machine
from benchmarks.job import Given, write_rows
from benchmarks.page import put
from benchmarks.programs import ROOT
from benchmarks.quality_page import page_text, readme_text
from cascade.config import load_config
from cascade.corpus import Corpus
from cascade.evaluate.compare import with_every_pair
from cascade.evaluate.labelled import labelled_truth
from cascade.evaluate.metrics import Predicted, cluster_figures, clusters, pair_figures
from cascade.evaluate.truth import Truth
from cascade.io.read import find_inputs
from cascade.pipeline import deduplicate
from cascade.result import Outcome
from cascade.run import read_corpus

WORK = ROOT / "benchmarks" / "work" / "quality"
RESULT = ROOT / "benchmarks" / "results" / "quality.json"
PAGE = ROOT / "docs" / "quality.md"
EXACT = "exact join"
DISTANCES = (3, 8, 12, 16, 20)
SHORT = 500
"""Characters: texts whose median is under this are cut into character 3-grams, others into word 5-grams."""


@dataclass(frozen=True)
class Labelled:
    """A corpus whose duplicates are known."""

    name: str
    corpus: Corpus
    truth: Truth
    short: bool
    rate: npt.NDArray[np.float64] | None = None
    """For each document, the share of its words that was edited; known of generated ones."""


def configs(short: bool) -> dict[str, Given]:
    """What is compared, by its name in the table."""
    jaccard = {"use": "jaccard", "min_jaccard": 0.7 if short else 0.8}
    edits = {"use": "edit_distance", "min_similarity": 0.8 if short else 0.9}
    bands = {"use": "minhash", "bands": 24, "rows_per_band": 5}
    wide = {"use": "minhash", "bands": 52, "rows_per_band": 3}
    stages: dict[str, list[Any]] = {
        "MinHash 14 × 8": [{"use": "minhash", "bands": 14, "rows_per_band": 8}],
        "MinHash 24 × 5": [bands],
        "SimHash 3": [{"use": "simhash", "max_hamming": 3}],
        "MinHash, Jaccard": [bands, jaccard],
        "SimHash 20, MinHash, Jaccard": [{"use": "simhash", "max_hamming": 20}, bands, jaccard],
        "SimHash 29, MinHash 52 × 3, edits": [{"use": "simhash", "max_hamming": 29}, wide, edits],
        EXACT: [jaccard],
    }
    return {name: _config(short, chosen) for name, chosen in stages.items()}


def first_stages(short: bool) -> dict[str, Given]:
    """MinHash and Jaccard behind SimHash at each distance, and without it; the exact join, which knows what is lost."""
    behind = [{"use": "minhash", "bands": 24, "rows_per_band": 5}]
    behind.append({"use": "jaccard", "min_jaccard": 0.7 if short else 0.8})
    found = {"none": _config(short, behind)}
    for distance in DISTANCES:
        found[f"{distance}"] = _config(short, [{"use": "simhash", "max_hamming": distance}, *behind])
    return {**found, EXACT: _config(short, behind[1:])}


def _config(short: bool, stages: Sequence[Mapping[str, Any]]) -> Given:
    return {"shingle": {"by": "char", "n": 3} if short else {"by": "word", "n": 5}, "stages": list(stages)}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    WORK.mkdir(parents=True, exist_ok=True)
    sets = []
    for each in labelled_sets(options):
        sets.append(measured(each, options.rounds))
        print(f"{each.name}: {len(each.corpus):,} documents, {sets[-1]['pairs']:,} pairs", flush=True)
    result = {"machine": machine(), "rounds": options.rounds, "sets": sets}
    print(f"\n{page_text(result)}", end="")
    if not options.quick:
        RESULT.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
        if options.page:
            put("quality", page_text(result), PAGE)
            put("quality", readme_text(result), ROOT / "README.md")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", metavar="DOCS TRUTH", help="labelled sets, two files each")
    parser.add_argument("--documents", type=int, default=10_000, help="of each generated corpus")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--page", action="store_true", help="put the tables into docs/quality.md and README.md")
    parser.add_argument("--quick", action="store_true", help="500 documents, one round, nothing written")
    options = parser.parse_args(arguments)
    if len(options.files) % 2:
        parser.error("each labelled set takes two files: DOCS TRUTH")
    if options.quick:
        options.documents, options.rounds = 500, 1
    return options


# -- sets --------------------------------------------------------------------------------------------------------------


def labelled_sets(options: argparse.Namespace) -> Iterator[Labelled]:
    """The sets that are given, and the two that are made."""
    for docs, truth in zip(options.files[::2], options.files[1::2], strict=True):
        corpus, _ = read_corpus(find_inputs([docs]), load_config("default"))
        known = closed(labelled_truth(truth, corpus))
        yield Labelled(docs.stem, corpus, known, bool(np.median(corpus.characters) < SHORT))
    for language in ("english", "chinese"):
        yield generated(Spec(options.documents, language))


def generated(spec: Spec) -> Labelled:
    """A generated corpus without its pages of templates; copies of one document are duplicates of each other."""
    family, rate = families(spec)
    kept = ~np.isnan(rate)
    path = write_rows(compress(texts(spec), kept.tolist()), WORK / f"{spec.name}.jsonl")
    corpus, _ = read_corpus(find_inputs([path]), load_config("default"))
    path.unlink()
    return Labelled(spec.language, corpus, by_cluster(spec.name, family[kept]), False, rate[kept])


def closed(truth: Truth) -> Truth:
    """The truth in which copies of copies are duplicates too."""
    return by_cluster(truth.source, clusters(truth))


def by_cluster(source: str, cluster: npt.NDArray[np.int64]) -> Truth:
    """The truth in which all documents of one cluster are duplicates, and no others."""
    left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    order = np.argsort(cluster, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1):
        one, other = np.triu_indices(len(group), 1)
        left.append(group[one])
        right.append(group[other])
    pairs = np.concatenate(left), np.concatenate(right)
    by_row = np.lexsort((pairs[1], pairs[0]))
    return Truth(source, len(cluster), np.arange(len(cluster)), pairs[0][by_row], pairs[1][by_row])


# -- measuring ---------------------------------------------------------------------------------------------------------


def measured(each: Labelled, rounds: int) -> dict[str, Any]:
    """Everything about one set."""
    return {
        "set": each.name,
        "documents": len(each.corpus),
        "characters": int(each.corpus.characters.sum()),
        "pairs": len(each.truth.left),
        "short": each.short,
        "configs": _figures(each, configs(each.short), rounds),
        "first_stages": _first_stages(each, rounds),
        "edited": _by_rate(each),
    }


def _figures(each: Labelled, chosen: Mapping[str, Given], rounds: int) -> list[dict[str, Any]]:
    trials = try_in_turns(each.corpus, chosen, rounds)
    rows = []
    for name, given in chosen.items():
        outcome = _every_pair(each.corpus, given)
        pairs = pair_figures(each.truth, outcome.pairs, outcome.stands_for)
        grouped = cluster_figures(each.truth, outcome.keeper)
        rows.append(
            {
                "config": name,
                "pairs": asdict(pairs),
                "clusters": None if grouped is None else asdict(grouped),
                "removed": int((~outcome.kept).sum()),
                "cpu": median(trial.cpu for trial in trials[name]),
                "cpu_of_each_round": [trial.cpu for trial in trials[name]],
            }
        )
    return rows


def _first_stages(each: Labelled, rounds: int) -> list[dict[str, Any]]:
    """What SimHash in front saves and loses, held against the exact join."""
    chosen = first_stages(each.short)
    trials = try_in_turns(each.corpus, chosen, rounds)
    exact = _every_pair(each.corpus, chosen[EXACT])
    known = Truth("exact", len(each.corpus), exact.stands_for, exact.pairs.left, exact.pairs.right)
    gone = ~exact.kept
    rows = []
    for name, given in chosen.items():
        outcome = _every_pair(each.corpus, given)
        last = outcome.stages[-1]
        rows.append(
            {
                "max_hamming": name,
                "enumerates": outcome.stages[0].name,
                "proposed": outcome.stages[0].pairs_in,
                "to_jaccard": last.pairs_in,
                "recall": asdict(pair_figures(known, outcome.pairs, outcome.stands_for).recall),
                "removals_lost": int((gone & outcome.kept).sum()),
                "cpu": median(trial.cpu for trial in trials[name]),
                "times_none": median(
                    mine.cpu / plain.cpu for mine, plain in zip(trials[name], trials["none"], strict=True)
                ),
            }
        )
    return rows


def _by_rate(each: Labelled) -> dict[str, list[dict[str, Any]]]:
    """For each config, the recall of pairs of an original, or its exact copy, and a copy with so many words edited."""
    if each.rate is None:
        return {}
    low = np.minimum(each.rate[each.truth.left], each.rate[each.truth.right])
    high = np.maximum(each.rate[each.truth.left], each.rate[each.truth.right])
    found: dict[str, list[dict[str, Any]]] = {}
    for name, given in configs(each.short).items():
        outcome = _every_pair(each.corpus, given)
        has = Predicted(each.truth, outcome.pairs, outcome.stands_for).has(each.truth.left, each.truth.right)
        found[name] = [
            {"rate": rate, "pairs": int(inside.sum()), "found": int((inside & has).sum())}
            for rate in sorted(set(high[low == 0].tolist()))
            if (inside := (low == 0) & (high == rate)).any()
        ]
    return found


def _every_pair(corpus: Corpus, given: Given) -> Outcome:
    return deduplicate(corpus, with_every_pair(load_config(given)), workers=1)


if __name__ == "__main__":
    sys.exit(main())
