"""Daft: its MinHash expression in Rust, buckets by sorting in numpy; no pair is checked, nothing written."""

from __future__ import annotations

import daft
import numpy as np

from benchmarks.peers.job import BANDS, NGRAM, PERMUTATIONS, ROWS, Job, star

job = Job()
sketch = daft.col("text").lower().minhash(num_hashes=PERMUTATIONS, ngram_size=NGRAM, seed=42, hash_function="xxhash")
table = daft.read_json(job.corpus).with_column("sketch", sketch).select("id", "sketch").to_arrow()
job.lap("sketch")
# Not by to_numpy, which would import pandas first.
rows = np.from_dlpack(table["id"].combine_chunks())
sketches = np.from_dlpack(table["sketch"].combine_chunks().flatten()).reshape(-1, PERMUTATIONS)
odd = np.random.default_rng(0).integers(0, 2**63, ROWS, np.uint64) * np.uint64(2) + np.uint64(1)
pairs: set[tuple[int, int]] = set()
for band in range(BANDS):
    keys = (sketches[:, band * ROWS : (band + 1) * ROWS] * odd).sum(axis=1, dtype=np.uint64)
    _, first, bucket = np.unique(keys, return_index=True, return_inverse=True)
    joined = np.flatnonzero(first[bucket] != np.arange(len(keys)))
    pairs.update(zip(rows[first[bucket[joined]]].tolist(), rows[joined].tolist(), strict=True))
job.lap("match")
job.report("daft", star(pairs), len(pairs), compared=0)
