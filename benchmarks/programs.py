"""The programs that are compared: how each is called, what it does and does not do, how its answer is read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
import yaml

ROOT = Path(__file__).resolve().parent.parent
PEERS_PYTHON = ROOT / "benchmarks" / ".venv-peers" / "bin" / "python"
OURS_PYTHON = ROOT / "benchmarks" / ".venv-ours" / "bin" / "python"


@dataclass(frozen=True)
class Task:
    """One run of a program: its input, an empty folder for whatever it writes, processors, language."""

    corpus: Path
    work: Path
    threads: int
    language: str


@dataclass(frozen=True)
class Answer:
    """What a program found: rows removed, and what it says about itself."""

    removed: list[int] | None
    """None: it removes nothing, so that recall and precision mean nothing."""
    compared: int | None = None
    """Pairs of documents that it compared by more than a bucket; None: it does not tell."""
    config: dict[str, Any] = field(default_factory=dict)
    """Every option, filled in."""
    digest: str | None = None
    """Of all bytes written but the report's, which holds times."""
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    """A line of the table."""

    name: str
    does: str
    command: Callable[[Task], list[str]]
    answer: Callable[[Task, str], Answer]
    """Reads the answer from the work folder or the program's output."""
    languages: tuple[str, ...] = ("english", "chinese")
    warm_up: bool = False
    """Run once before the clock counts, so that compiled kernels are cached."""
    slow: bool = False
    """Takes minutes where others take seconds: compared on a smaller corpus."""


def programs() -> list[Program]:
    """All of them: ours, the limit, the peers."""
    return [
        _ours("cascade", "confirms exactly, writes kept rows and evidence", "default"),
        _ours("cascade-oph", "as cascade, one-permutation hashing", "default", "--set", "stages.minhash.scheme=oph"),
        _ours("cascade3", "confirms by edit distance, not Jaccard; writes all", "cascade3"),
        Program("limit", "parses, hashes and writes lines, one thread", _limit, lambda task, out: Answer(None)),
        _peer("daft", "buckets only, nothing confirmed or written", "english"),
        _peer("rensa", "shingles in Python; sketch check; nothing written", "english", "chinese"),
        _peer("gaoya", "sketch check; nothing written", "english", "chinese"),
        _peer("datasketch", "shingles in Python; sketch check; nothing written", "english", "chinese"),
        _peer("text_dedup", "components of buckets, unconfirmed; writes a dataset", "english", slow=True),
        _peer("datatrove", "components of buckets, unconfirmed; writes rows", "english", slow=True),
    ]


def _ours(name: str, does: str, config: str, *options: str) -> Program:
    def command(task: Task) -> list[str]:
        out = ["-o", str(task.work / "out"), "--workers", str(task.threads)]
        return [str(OURS_PYTHON.with_name("cascade")), "run", config, str(task.corpus), *out, *options]

    def answer(task: Task, output: str) -> Answer:
        out = task.work / "out"
        removed = [orjson.loads(line)["id"] for line in (out / "removed.jsonl").read_bytes().splitlines()]
        report = orjson.loads((out / "report.json").read_bytes())
        config = yaml.safe_load((out / "config.yaml").read_bytes())
        compared = report["stages"][0]["pairs_in"]
        facts = {k: v for k, v in report.items() if k != "inputs"}  # paths of one machine
        return Answer(removed, compared, config, digest(out), {"report": facts})

    return Program(name, does, command, answer, warm_up=True)


def digest(out: Path) -> str:
    """Of the files in a folder that `cascade run` wrote, as far as they must be the same for the same texts."""
    hashed = blake2b(digest_size=16)
    for path in sorted(out.rglob("*")):
        if path.is_file() and path.name not in ("report.json", "config.yaml"):
            hashed.update(f"{path.relative_to(out)}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    hashed.update(block)
    return hashed.hexdigest()


def _limit(task: Task) -> list[str]:
    return [sys.executable, "-m", "benchmarks.limit", str(task.corpus), str(task.work / "kept.jsonl")]


def _peer(name: str, does: str, *languages: str, slow: bool = False) -> Program:
    def command(task: Task) -> list[str]:
        arguments = [str(task.corpus), str(task.work), str(task.threads), task.language]
        return [str(PEERS_PYTHON), "-m", f"benchmarks.peers.{name}", *arguments]

    def answer(task: Task, output: str) -> Answer:
        found = orjson.loads(output.strip().rpartition("\n")[2])
        return Answer(found.pop("removed"), found.pop("compared"), found.pop("config"), None, found)

    return Program(name, does, command, answer, languages, slow=slow)
