"""gaoya: everything in Rust, pairs checked by their sketches; writes nothing."""

from __future__ import annotations

from gaoya.minhash import MinHashStringIndex

from benchmarks.peers.job import BANDS, NGRAM, PERMUTATIONS, ROWS, THRESHOLD, Job, star

job = Job()
texts = job.texts()
index = MinHashStringIndex(
    hash_size=32,
    jaccard_threshold=THRESHOLD,
    num_bands=BANDS,
    band_size=ROWS,
    num_hashes=PERMUTATIONS,
    analyzer="word",
    lowercase=True,
    ngram_range=(NGRAM, NGRAM),
)
index.par_bulk_insert_docs(list(range(len(texts))), texts)
job.lap("insert")
pairs = [(row, other) for row, others in enumerate(index.par_bulk_query(texts)) for other in others if row < other]
job.lap("match")
job.report("gaoya", star(pairs), len(pairs))
