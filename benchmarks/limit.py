"""The least that any program can do with a corpus: parse each line, touch each byte of text once, write the lines.

Called as `python -m benchmarks.limit CORPUS OUTPUT`; nearly the machine's limit for a cleaner written around Python.
"""

from __future__ import annotations

import sys

import orjson
import xxhash


def main() -> None:
    seen: set[int] = set()
    with open(sys.argv[1], "rb") as corpus, open(sys.argv[2], "wb") as output:
        for line in corpus:
            digest = xxhash.xxh3_64_intdigest(orjson.loads(line)["text"].encode())
            if digest not in seen:
                seen.add(digest)
                output.write(line)


if __name__ == "__main__":
    main()
