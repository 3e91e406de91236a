"""datasketch: shingles cut in Python, sketches in bulk, pairs checked by their sketches; writes nothing."""

from __future__ import annotations

import xxhash
from datasketch import MinHash, MinHashLSH

from benchmarks.peers.job import BANDS, PERMUTATIONS, ROWS, THRESHOLD, Job, candidates, star


def sketch(shingles: list[list[str]]) -> list[MinHash]:
    # Three times as fast as its own choice of hash, SHA-1.
    encoded = [[shingle.encode() for shingle in set(found)] for found in shingles]
    return MinHash.bulk(encoded, num_perm=PERMUTATIONS, hashfunc=xxhash.xxh32_intdigest)


job = Job()
sketches = job.sketches(sketch)
tables = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, ROWS))
for row, made in enumerate(sketches):
    tables.insert(row, made, check_duplication=False)
near = candidates(map(tables.query, sketches))
pairs = [(row, other) for row, other in near if sketches[row].jaccard(sketches[other]) >= THRESHOLD]
job.lap("match")
job.report("datasketch", star(pairs), len(pairs), len(near))
