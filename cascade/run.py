"""The whole job on files: read, decide, write. What is decided comes from the pipeline, how files look from io."""

from __future__ import annotations

import json
import platform
import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from cascade.config import warnings as advice
from cascade.config.model import Config, Input
from cascade.corpus import Arrival, Corpus, CorpusBuilder, digests
from cascade.early import EarlyColumns, Part, early_columns
from cascade.evidence import cluster_rows, pair_rows, removed_rows
from cascade.io.again import TextsAgain
from cascade.io.documents import DocumentBatch, InputFields, Rejected, Source
from cascade.io.place import output_folder
from cascade.io.read import earlier_results, find_inputs, read_all
from cascade.io.report import write_report
from cascade.io.write import kept_path, write_jsonl, write_kept, write_text
from cascade.memory import Memory, memory_for
from cascade.parallel import available_workers, ordered_map
from cascade.pipeline import deduplicate
from cascade.progress import Progress, Silent
from cascade.result import Outcome, RunReport
from cascade.text.normalize import normalize_texts

PACKAGES = ("cascade-dedup", "numpy", "numba", "pyarrow", "rapidfuzz", "xxhash", "jieba", "rjieba")

HELD, HELD_EACH = 1 << 25, 1 << 20
"""Bytes of all inputs, and of an input on average, up to which texts are held though they could be read again."""
HELD_SHARE = 0.25
"""Texts that are less of their rows than this, judged by the first rows, are held: the rest would be read with them."""


def run_files(
    config: Config,
    inputs: Sequence[str | Path],
    out: str | Path,
    *,
    workers: int | None = None,
    overwrite: bool = False,
    strict: bool = False,
    progress: Progress | None = None,
    config_path: Path | None = None,
    memory: int | str | None = None,
    work_dir: str | Path | None = None,
    keep_work: bool = False,
) -> RunReport:
    """Cleans files into the folder `out`, which appears whole or not at all.

    `config_path` is the file that the config came from, if it came from one: an `out` that holds it is refused.
    `memory` stands in for the config's budget. What exceeds it goes to files in `work_dir` (default: beside `out`),
    gone when the run ends, or with `keep_work` stay in a folder of their own there.
    Raises InputError, OutputError, StageError, ConfigError; with `strict`, InputError at the first row that cannot be
    used. The files written, report.json apart, do not depend on `workers` and `memory`.
    """
    start = perf_counter()
    out = Path(out)
    progress = progress or Silent()
    arrays = memory_for(config.memory if memory is None else memory, work_dir, keep_work)
    workers = arrays.threads(workers or available_workers())
    sources = find_inputs(inputs, outside=out)
    needed = [s.path for s in sources]
    if config_path is not None and config_path.resolve() != (out / "config.yaml").resolve():
        needed.append(config_path)  # an earlier run's own config.yaml is written again, and need not be spared
    with output_folder(out, overwrite, needed) as work:
        if work_dir is None:
            arrays.folder = out.resolve().parent if keep_work else work.parent
        early = early_columns(config, arrays)
        corpus, rejected = read_corpus(
            sources, config, arrays, early, strict=strict, workers=workers, progress=progress
        )
        reading = perf_counter() - start
        outcome = deduplicate(corpus, config, workers=workers, progress=progress, memory=arrays, early=early)
        writing = perf_counter()
        write_result(work, sources, corpus, outcome, rejected, config, progress, arrays, workers)
        counts = outcome.counts(len(rejected))
        warnings = (
            *earlier_results(sources),
            *unused_sources(sources, corpus, rejected),
            *advice(config, len(corpus)),
            *outcome.warnings,
            *missing_ids(corpus, sources, config),
            *repeated_ids(corpus, arrays),
        )
        ended = perf_counter()
        seconds = {"read": reading, **outcome.seconds, "write": ended - writing, "total": ended - start}
        report = RunReport(out, counts, outcome.stages, seconds["total"], warnings, arrays.kept)
        write_report(work / "report.json", describe(report, sources, corpus, outcome, config, seconds, workers, arrays))
    return report


def read_corpus(
    sources: Sequence[Source],
    config: Config,
    memory: Memory | None = None,
    early: EarlyColumns | None = None,
    *,
    strict: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
) -> tuple[Corpus, list[Rejected]]:
    """All documents of the sources, normalised, and the rows that could not be used.

    Where `early` takes what is to be computed of them, texts that can be read again are not held.
    """
    progress = progress or Silent()
    field = config.resolve.keep_field
    wanted = InputFields(config.input.text, config.input.id, (field,) if field else (), strict)
    normalize = partial(normalize_texts, options=config.normalize)
    plain = all(s.plain for s in sources)
    before = np.cumsum([0, *(s.size for s in sources)])
    again = None
    if early and plain and before[-1] > HELD and before[-1] > HELD_EACH * len(sources):
        again = partial(TextsAgain, sources, InputFields(config.input.text, config.input.id), normalize)
    builder: CorpusBuilder | None = None
    rejected: list[Rejected] = []
    documents = 0
    progress.start("read", None)

    def arrive(batch: DocumentBatch) -> tuple[Arrival, Part | None, list[Rejected]]:
        arrived = arrival(batch, config)
        return arrived, early.compute(arrived.texts, arrived.digest) if early else None, batch.rejected

    for arrived, part, refused in read_all(sources, wanted, arrive, workers):
        if builder is None:
            held = arrived.texts.size < HELD_SHARE * int((arrived.stop - arrived.start).sum())
            builder = CorpusBuilder(int(before[-1]) if plain else 0, memory, None if held else again)
        builder.add(arrived)
        if early and part:
            early.add(part)
        rejected += refused
        documents += len(arrived.texts)
        progress.advance("read", len(arrived.texts))
        if plain and len(arrived.stop):
            share = (before[arrived.source] + int(arrived.stop[-1])) / before[-1]
            progress.expect("read", round(documents / share))
    progress.finish("read")
    return (builder or CorpusBuilder(0, memory)).finish(), rejected


def arrival(batch: DocumentBatch, config: Config) -> Arrival:
    """A batch of raw documents, normalised and digested."""
    texts = normalize_texts(batch.texts, config.normalize)
    return Arrival(
        texts=texts,
        digest=digests(texts, config.seed),
        ids=batch.ids,
        source=batch.source.index,
        line=batch.line,
        start=batch.start,
        stop=batch.stop,
        characters=batch.characters,
        fields=batch.fields,
    )


def unused_sources(sources: Sequence[Source], corpus: Corpus, rejected: Sequence[Rejected]) -> list[str]:
    """A warning for each file of which no row could be used."""
    used = set(np.unique(corpus.source).tolist())
    first: dict[str, Rejected] = {}
    for refused in rejected:
        first.setdefault(refused.source, refused)
    return [
        f"{s.name}: no row could be used; line {first[s.name].line}: {first[s.name].error}"
        for s in sources
        if s.index not in used and s.name in first
    ]


def missing_ids(corpus: Corpus, sources: Sequence[Source], config: Config) -> list[str]:
    """A warning if an id field was named and the first rows have none: their ids then read FILE:LINE."""
    rows = range(min(len(corpus), 1000))
    if config.input.id == Input().id or not rows:
        return []
    for row in rows:
        name = sources[int(corpus.source[row])].name
        if corpus.ids[row] != json.dumps(f"{name}:{int(corpus.line[row])}", ensure_ascii=False):
            return []
    return [f"no row has the id field {config.input.id!r}; ids read FILE:LINE"]


def repeated_ids(corpus: Corpus, memory: Memory) -> list[str]:
    """A warning if ids occur more than once. Decisions are about rows, so nothing else follows from it."""
    from cascade.kernels.buffers import hash_texts, repeats

    hashes = memory.empty(len(corpus), np.uint64)
    hash_texts(corpus.ids.data, corpus.ids.offsets, np.uint64(0), hashes)
    count, first = repeats(hashes, memory.slots(len(corpus)))
    if not count:
        return []
    return [
        f"{count:,} rows repeat the id of another row, {corpus.ids[first]} for example; rows are decided about, not ids"
    ]


def write_result(
    work: Path,
    sources: Sequence[Source],
    corpus: Corpus,
    outcome: Outcome,
    rejected: Sequence[Rejected],
    config: Config,
    progress: Progress,
    memory: Memory,
    workers: int = 1,
) -> None:
    """Writes everything but the report into the folder `work`, several files at a time."""
    progress.start("write", len(corpus))
    kept = outcome.kept
    borders = np.searchsorted(corpus.source, np.arange(len(sources) + 1))
    names = [s.name for s in sources]

    def kept_rows(source: Source, path: Path) -> int:
        rows = slice(int(borders[source.index]), int(borders[source.index + 1]))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_kept(source, kept[rows], corpus.start[rows], corpus.stop[rows], path)
        return rows.stop - rows.start

    def evidence() -> int:
        write_jsonl(work / "removed.jsonl", removed_rows(corpus, outcome, config, names))
        write_jsonl(work / "rejected.jsonl", (asdict(r) for r in rejected))
        write_jsonl(work / "clusters.jsonl", cluster_rows(corpus, outcome, memory))
        if config.resolve.pairs == "all":
            write_jsonl(work / "pairs.jsonl", pair_rows(corpus, outcome))
        write_text(work / "config.yaml", config.filled())
        return 0

    copies = (partial(kept_rows, *place) for place in zip(sources, kept_path(work, sources), strict=True))
    tasks: Iterable[Callable[[], int]] = chain(copies, [evidence])
    for rows in ordered_map(lambda task: task(), tasks, workers):
        progress.advance("write", rows)
    progress.finish("write")


def describe(
    report: RunReport,
    sources: Sequence[Source],
    corpus: Corpus,
    outcome: Outcome,
    config: Config,
    seconds: dict[str, float],
    workers: int,
    memory: Memory,
) -> dict[str, Any]:
    """What report.json holds."""
    read = np.bincount(corpus.source, minlength=len(sources))
    kept = np.bincount(corpus.source[outcome.kept], minlength=len(sources))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "counts": dict(report.counts),
        "distinct_texts": int((outcome.stands_for == np.arange(len(corpus))).sum()),
        "without_shingles": outcome.without_shingles,
        "inputs": [{"source": s.name, "documents": int(read[i]), "kept": int(kept[i])} for i, s in enumerate(sources)],
        "stages": [asdict(s) for s in report.stages],
        "plan": list(outcome.plan),
        "warnings": list(report.warnings),
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "peak_memory_bytes": peak * (1 if sys.platform == "darwin" else 1024),
        "large_buckets": outcome.large_buckets,
        "memory": {"budget_bytes": memory.budget, "mapped_bytes": memory.mapped},
        "seed": config.seed,
        "workers": workers,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    }
