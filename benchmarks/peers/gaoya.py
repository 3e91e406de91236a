"""gaoya: everything in Rust, pairs checked by their sketches; writes nothing."""

from __future__ import annotations

from gaoya.minhash import MinHashStringIndex

from benchmarks.peers.job import BANDS, NGRAM, PERMUTATIONS, ROWS, THRESHOLD, Job, candidates, star

job = Job()
texts = job.texts()
index = MinHashStringIndex(
    hash_size=32,
    jaccard_threshold=THRESHOLD,
    num_bands=BANDS,
    band_size=ROWS,
    num_hashes=PERMUTATIONS,
    analyzer="char" if job.language == "chinese" else "word",
    lowercase=True,
    ngram_range=(NGRAM, NGRAM),
    id_container="vec",
)
index.par_bulk_insert_docs(list(range(len(texts))), texts)
job.lap("insert")
pairs = candidates(index.par_bulk_query(texts))
job.lap("match")
job.report("gaoya", star(pairs), len(pairs))
