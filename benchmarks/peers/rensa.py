"""rensa: shingles cut in Python, sketches and tables in Rust, pairs checked by their sketches; writes nothing."""

from __future__ import annotations

from rensa import RMinHash, RMinHashLSH

from benchmarks.peers.job import BANDS, PERMUTATIONS, THRESHOLD, Job, star

job = Job()
shingles = [job.shingles(text) for text in job.texts()]
job.lap("shingle")
sketches = RMinHash.from_token_sets(shingles, num_perm=PERMUTATIONS, seed=42)
job.lap("sketch")
tables = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS)
tables.insert_pairs(enumerate(sketches))
pairs = [
    (row, other)
    for row, others in enumerate(tables.query_all(sketches))
    for other in others
    if row < other and sketches[row].jaccard(sketches[other]) >= THRESHOLD
]
job.lap("match")
job.report("rensa", star(pairs), len(pairs))
