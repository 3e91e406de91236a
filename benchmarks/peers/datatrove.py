"""datatrove: its four steps in local processes, components of buckets, kept rows written."""

from __future__ import annotations

import gzip

import orjson
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.typeshelper import Languages

from benchmarks.peers.job import BANDS, NGRAM, ROWS, Job


def main() -> None:
    job = Job()
    folder, tasks = str(job.work), job.threads
    shards = job.work / "in"
    shards.mkdir()
    with open(job.corpus, "rb") as file:
        lines = file.readlines()
    for k in range(tasks):
        (shards / f"{k}.jsonl").write_bytes(b"".join(lines[k::tasks]))
    job.lap("shards")
    config = MinhashConfig(
        n_grams=NGRAM, num_buckets=BANDS, hashes_per_bucket=ROWS, hash_config=HashConfig(precision=64)
    )

    def run(name: str, steps: list[object], tasks: int, workers: int) -> None:
        LocalPipelineExecutor(steps, tasks=tasks, workers=workers, logging_dir=f"{folder}/log-{name}").run()
        job.lap(name)

    sign = MinhashDedupSignature(f"{folder}/signatures", config=config, language=Languages.english)
    run("sign", [JsonlReader(str(shards)), sign], tasks, tasks)
    run("buckets", [MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)], BANDS, tasks)
    run("cluster", [MinhashDedupCluster(f"{folder}/buckets", f"{folder}/remove", config=config)], 1, 1)
    keep = [JsonlReader(str(shards)), MinhashDedupFilter(f"{folder}/remove"), JsonlWriter(f"{folder}/out")]
    run("filter", keep, tasks, tasks)
    kept: set[int] = set()
    for path in (job.work / "out").iterdir():
        with gzip.open(path) as rows:
            kept.update(int(orjson.loads(row).get("id", 0)) for row in rows)  # the writer leaves out what is falsy
    job.report("datatrove", set(range(len(lines))) - kept, compared=0)


if __name__ == "__main__":
    main()
