"""text-dedup: its own command; shingles and sketches in Python processes, components of buckets, a dataset written."""

from __future__ import annotations

import subprocess
import sys

import datasets

from benchmarks.peers.job import BANDS, NGRAM, PERMUTATIONS, ROWS, Job

job = Job()
options = {
    "path": "json",
    "data_files": job.corpus,
    "split": "train",
    "cache_dir": job.work / "cache",
    "output": job.work / "kept",
    "column": "text",
    "ngram": NGRAM,
    "num_perm": PERMUTATIONS,
    "b": BANDS,
    "r": ROWS,
    "hash_func": "xxh3",
    "num_proc": job.threads,
}
command = [sys.executable, "-m", "text_dedup.minhash", *(f"--{name}={value}" for name, value in options.items())]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
job.lap("job")
kept = set(datasets.load_from_disk(str(job.work / "kept"))["id"])
with open(job.corpus, "rb") as file:
    documents = sum(1 for _ in file)
job.report("text-dedup", set(range(documents)) - kept, compared=0)
