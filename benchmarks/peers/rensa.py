"""rensa: shingles cut in Python, sketches and tables in Rust, pairs checked by their sketches; writes nothing."""

from __future__ import annotations

from rensa import RMinHash, RMinHashLSH

from benchmarks.peers.job import BANDS, PERMUTATIONS, THRESHOLD, Job, candidates, star


def sketch(shingles: list[list[str]]) -> list[RMinHash]:
    return RMinHash.from_token_sets(shingles, num_perm=PERMUTATIONS, seed=42)


job = Job()
sketches = job.sketches(sketch)
tables = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=BANDS)
tables.insert_pairs(enumerate(sketches))
near = candidates(tables.query_all(sketches))
pairs = [(row, other) for row, other in near if sketches[row].jaccard(sketches[other]) >= THRESHOLD]
job.lap("match")
job.report("rensa", star(pairs), len(pairs), len(near))
