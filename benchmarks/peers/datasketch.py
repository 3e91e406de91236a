"""datasketch: shingles cut in Python, sketches in bulk, pairs checked by their sketches; writes nothing."""

from __future__ import annotations

from datasketch import MinHash, MinHashLSH

from benchmarks.peers.job import BANDS, PERMUTATIONS, ROWS, THRESHOLD, Job, star

job = Job()
shingles = [{shingle.encode() for shingle in job.shingles(text)} for text in job.texts()]
job.lap("shingle")
tables = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, ROWS))
sketches = list(MinHash.generator(shingles, num_perm=PERMUTATIONS))
job.lap("sketch")
for row, sketch in enumerate(sketches):
    tables.insert(row, sketch, check_duplication=False)
pairs = [
    (row, other)
    for row, sketch in enumerate(sketches)
    for other in tables.query(sketch)
    if row < other and sketch.jaccard(sketches[other]) >= THRESHOLD
]
job.lap("match")
job.report("datasketch", star(pairs), len(pairs))
