"""`python -m benchmarks.features`: how fast texts become features, by shingler and language, and where the time goes.

The feature pass is what a run does to every document: normalising, then the columns of the default config's stages
(shingles, distinct ones, MinHash signatures and band keys, SimHash fingerprints), batch by batch, in threads. It runs
in this process, on a corpus in memory: no reading, no pairs, no writing.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from benchmarks.corpus import Spec, texts
from benchmarks.environment import machine
from benchmarks.job import read_texts
from benchmarks.page import put
from benchmarks.programs import ROOT
from benchmarks.table import markdown
from cascade.columns import ColumnStore
from cascade.config import load_config
from cascade.config.model import Config
from cascade.corpus import TextStore
from cascade.first_pass import observe
from cascade.kernels import minhash, simhash
from cascade.parallel import ordered_map
from cascade.plan import make_plan
from cascade.progress import Silent
from cascade.text.buffer import TextBuffer
from cascade.text.normalize import normalize_texts
from cascade.text.shingle import distinct
from cascade.view import CorpusView

RESULT = ROOT / "benchmarks" / "results" / "features.json"
SHINGLERS = {
    "english": ("whitespace", "word", "char", "cjk"),
    "chinese": ("word", "char", "cjk", "jieba"),
}
PARTS = ("normalise", "shingle", "distinct", "minhash", "keys", "simhash")
BATCH = 1 << 20
"""Bytes that are normalised at a time, about as many as the reader hands on."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    corpora = {name: _generated(name, options.megabytes) for name in SHINGLERS} if not options.corpus else {
        path.stem: TextBuffer.from_strings(read_texts(path)) for path in options.corpus
    }  # fmt: skip
    measured = [
        {
            "corpus": name,
            "bytes": buffer.size,
            "documents": len(buffer),
            "by": by,
            **measure(buffer, by, options.rounds),
        }
        for name, buffer in corpora.items()
        for by in SHINGLERS.get(name, ("word", "char", "cjk", "jieba"))
    ]
    text = features_table(measured)
    print(text, end="")
    if not options.corpus and not options.quick:
        result = {"machine": machine(), "measured": measured}
        RESULT.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
        if options.page:
            put("features", text)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.features", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=20.0, help="text to generate in each language")
    parser.add_argument("--corpus", type=Path, nargs="+", help="JSONL files with a field `text`, instead of generated")
    parser.add_argument("--rounds", type=int, default=5, help="the fastest counts")
    parser.add_argument("--page", action="store_true", help="put the table into docs/performance.md")
    parser.add_argument("--quick", action="store_true", help="a megabyte, one round, nothing written")
    options = parser.parse_args(arguments)
    if options.quick:
        options.megabytes, options.rounds = 1.0, 1
    return options


def _generated(language: Any, megabytes: float) -> TextBuffer:
    return TextBuffer.from_strings(texts(Spec(max(1, int(megabytes * 450)), language)))


# -- measuring ---------------------------------------------------------------------------------------------------------


def measure(raw: TextBuffer, by: str, rounds: int) -> dict[str, Any]:
    """Seconds of the whole pass: of the processor on one thread, of the clock on one and on two; and of its parts.

    Each is the fastest of some rounds, in which all of them take turns.
    """
    config = load_config("default", [f"shingle={{by: {by}}}"])
    feature_pass(raw.part(0, min(len(raw), 50)), config, 1)  # compiles, or loads what was compiled
    one, two, parts = [], [], []
    for _ in range(rounds):
        one.append(feature_pass(raw, config, 1))
        two.append(feature_pass(raw, config, 2))
        parts.append(pass_in_parts(raw, config))
    return {
        "cpu": min(cpu for _, cpu in one),
        "one_thread": min(seconds for seconds, _ in one),
        "two_threads": min(seconds for seconds, _ in two),
        "parts": min(parts, key=lambda part: sum(part.values())),
    }


def pieces(raw: TextBuffer) -> list[TextBuffer]:
    """The texts in parts of about BATCH bytes."""
    ends = np.arange(raw.offsets[0], raw.offsets[-1], BATCH)
    borders = np.unique([*np.searchsorted(raw.offsets, ends).tolist(), len(raw)]).tolist()
    return [raw.part(start, stop) for start, stop in pairwise(borders)]


def joined(parts: Sequence[TextBuffer]) -> TextBuffer:
    """One buffer of all texts of several."""
    store = TextStore(sum(part.size for part in parts))
    for part in parts:
        store.append(part)
    return store.finish()


def feature_pass(raw: TextBuffer, config: Config, workers: int) -> tuple[float, float]:
    """Seconds, of the clock and of the processor, of normalising and of the pipeline's passes over all documents."""
    start, used = time.perf_counter(), time.process_time()
    normal = list(ordered_map(lambda part: normalize_texts(part, config.normalize), pieces(raw), workers))
    seconds, cpu = time.perf_counter() - start, time.process_time() - used
    buffer = joined(normal)
    start, used = time.perf_counter(), time.process_time()
    view = CorpusView(buffer, np.arange(len(buffer)), config.shingle, config.seed, workers)
    summaries = observe(view, make_plan(config, len(view), workers=workers), workers, Silent())
    plan = make_plan(config, len(view), summaries=summaries, workers=workers)
    ColumnStore(view, plan, workers).compute(Silent())
    return seconds + time.perf_counter() - start, cpu + time.process_time() - used


def pass_in_parts(raw: TextBuffer, config: Config) -> dict[str, float]:
    """Processor seconds of each part of the pass, on one thread, with the default config's options."""
    clock = dict.fromkeys(PARTS, 0.0)

    def timed(part: str, function: Callable[[], Any]) -> Any:
        start = time.thread_time()
        found = function()
        clock[part] += time.thread_time() - start
        return found

    normal = joined([timed("normalise", lambda p=part: normalize_texts(p, config.normalize)) for part in pieces(raw)])
    view = CorpusView(normal, np.arange(len(normal)), config.shingle, config.seed)
    for batch in view.batches():
        all_of_them = timed("shingle", lambda b=batch: config.shingle.shingle(b.texts, 0))
        sets = timed("distinct", lambda s=all_of_them: distinct(s))
        signatures = timed("minhash", lambda s=sets: minhash.signatures(s.hashes, s.indptr, 120, "affine32", 0))
        keys, prints = np.empty((len(sets), 24), np.uint64), np.empty(len(sets), np.uint64)
        timed("keys", lambda s=signatures, k=keys: minhash.band_keys(s, 24, 5, np.uint64(0), k))
        timed("simhash", lambda s=sets, p=prints: simhash.fingerprints(s.hashes, s.indptr, p))
    return clock


def features_table(measured: Sequence[Mapping[str, Any]]) -> str:
    """Megabytes of UTF-8 a second of one processor, the gain of a second thread, each part's share in percent."""
    rows = [["corpus, shingles", "MB/s", "two threads", *PARTS]]
    for row in measured:
        whole = sum(row["parts"].values())
        shares = [f"{100 * row['parts'][part] / whole:.0f}" for part in PARTS]
        gain = f"× {row['one_thread'] / row['two_threads']:.2f}"
        rows.append([f"{row['corpus']}, {row['by']}", f"{row['bytes'] / 1e6 / row['cpu']:.1f}", gain, *shares])
    return f"{markdown(rows)}\n"


if __name__ == "__main__":
    sys.exit(main())
