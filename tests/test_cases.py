"""Every case of the case files: a config, an input, and what must come out. One case is one line of JSON.

Input: `docs` (texts), `rows` (objects), `generate` (a Python expression that gives texts) or `raw` (one file or
several, bytes in base64). Config: `config` or, as it is written, `config_yaml`. `command: check` only checks it.
Outcome: `kept` (ids in order), `removed` ({id: kept_id}, all of them), `rejected` (how many rows), `exit` (a code, or
"nonzero"), `stderr_contains`; `any_of` gives several outcomes of which one must hold. `same_as` names variations that
must not change it. `pairs` cases hold arguments and values of a public function instead.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

import cascade
from cascade.cli.app import app

HERE = Path(__file__).parent
COMMAND = [sys.executable, "-c", "from cascade.cli import main; main()"]
Case = dict[str, Any]
Files = list[tuple[str, bytes]]


def load(name: str) -> list[Case]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines() if line]


CASES = [*load("cases.jsonl"), *load("cases_more.jsonl")]


def parameters(of_functions: bool) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in CASES if ("pairs" in case) == of_functions]


def test_names_are_unique() -> None:
    names = [case["name"] for case in CASES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("case", parameters(of_functions=True))
def test_function(case: Case) -> None:
    spec = case["pairs"]
    values = [getattr(cascade, spec["function"])(*arguments) for arguments in spec["args"]]
    assert values == pytest.approx(spec["value"], rel=0, abs=1e-12)


@pytest.mark.parametrize("case", parameters(of_functions=False))
def test_case(case: Case, tmp_path: Path) -> None:
    box = Box(tmp_path, case)
    first = box.run()
    judge(case, first)
    number = 0
    for variation, values in case.get("same_as", {}).items():
        for value in values if isinstance(values, list) else [values]:
            number += 1
            again, same_files = box.vary(variation, value, f"out{number}")
            what = f"{variation} {str(value)[:80]}"
            if same_files:
                judge(case, again)
                assert again.data == first.data, what
            else:
                assert again.exit == 0, what
                assert sorted(again.kept or []) == sorted(first.kept or []), what


@dataclass
class Seen:
    """What a run left behind: its decisions, and `data`, the bytes of all files but the report."""

    exit: int
    said: str
    kept: list[str] | None = None
    removed: list[tuple[str, str]] | None = None
    rejected: int | None = None
    data: dict[str, bytes] | None = None


@dataclass
class Box:
    """A folder with the input of a case, where it is run."""

    folder: Path
    case: Case

    def run(
        self,
        out: str = "out",
        *arguments: str,
        files: Files | None = None,
        change: Case | None = None,
        environment: dict[str, str] | None = None,
        killed_after: float | None = None,
    ) -> Seen:
        """Runs the case; in a process of its own only where there is an environment or somebody kills it."""
        files = inputs(self.case) if files is None else files
        for name, data in files:
            (self.folder / name).write_bytes(data)
        config = self.folder / "config.yaml"
        if "config_yaml" in self.case and change is None:
            config.write_text(self.case["config_yaml"], "utf-8")
        else:
            config.write_text(json.dumps({**self.case["config"], **(change or {})}), "utf-8")
        if self.case.get("command") == "check":
            line = ["check", str(config)]
        else:
            names = [str(self.folder / name) for name, _ in files]
            line = ["run", str(config), *names, "-o", str(self.folder / out), *arguments]
        if killed_after is not None:
            kill_after(killed_after, line)
            return Seen(-signal.SIGKILL, "")
        if environment is not None:
            done = subprocess.run(
                [*COMMAND, *line], capture_output=True, text=True, env=os.environ | environment, check=False
            )
            code, said = done.returncode, done.stdout + done.stderr
        else:
            result = CliRunner().invoke(app, line)
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            code, said = result.exit_code, result.output
        seen = Seen(code, said)
        if code == 0 and line[0] == "run":
            read_output(self.folder / out, files, seen)
        elif line[0] == "run" and "--overwrite" not in arguments:
            assert not (self.folder / out).exists(), "a run that failed has left an output"
        return seen

    def vary(self, variation: str, value: Any, out: str) -> tuple[Seen, bool]:
        """Runs the case in another way. Also: whether its files must then be equal, or its kept ids only."""
        if variation == "workers":
            return self.run(out, "--workers", str(value)), True
        if variation == "PYTHONHASHSEED":
            return self.run(out, environment={variation: str(value)}), True
        if variation == "seed":
            return self.run(out, change={"seed": value}), False
        if variation == "row_order":
            lines = [line for _, data in inputs(self.case) for line in data.splitlines(keepends=True)]
            return self.run(out, files=[("input.jsonl", b"".join(lines[i] for i in value))]), False
        if variation == "split_files":
            return self.run(out, files=split(inputs(self.case), value)), False
        if variation == "killed_after_ms":
            self.run(out, killed_after=value / 1000)
            return self.run(out, *["--overwrite"] * (self.folder / out).exists()), True
        if variation == "previous_run":
            before = Box(self.folder, value)
            assert before.run(out).exit == 0
        elif variation == "stale_out":
            (self.folder / out).mkdir()
            for name, text in value.items():
                (self.folder / out / name).write_text(text, "utf-8")
        else:
            raise ValueError(f"unknown variation {variation}")
        return self.run(out, "--overwrite"), True


def inputs(case: Case) -> Files:
    """Names and bytes of the input files."""
    if "raw" in case:
        raw = case["raw"] if isinstance(case["raw"], list) else [case["raw"]]
        return [(file["filename"], base64.b64decode(file["base64"])) for file in raw]
    texts = eval(case["generate"]) if "generate" in case else case.get("docs", [])  # only our own files are read
    rows = case.get("rows") or [{"id": str(i), "text": text} for i, text in enumerate(texts)]
    return [("input.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())] if rows else []


def split(files: Files, parts: int) -> Files:
    lines = [line for _, data in files for line in data.splitlines(keepends=True)]
    size = -(-len(lines) // parts)
    return [(f"part{i:02d}.jsonl", b"".join(lines[i * size : (i + 1) * size])) for i in range(parts)]


def kill_after(seconds: float, line: list[str]) -> None:
    process = subprocess.Popen([*COMMAND, *line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    process.kill()
    process.wait()


def read_output(out: Path, files: Files, seen: Seen) -> None:
    """Fills `seen` from the output folder, and holds what is true of every run."""
    config = yaml.safe_load((out / "config.yaml").read_text("utf-8"))
    text, key = config["input"]["text"], config["input"]["id"]
    suffixes = "".join(Path(files[0][0]).suffixes[-2:]) if len(files) == 1 else ""
    paths = [out / "kept" / name for name, _ in files] if len(files) > 1 else [out / f"kept{suffixes}"]
    kept = [row for path in paths for row in rows_of(path.name, path.read_bytes())]
    came = [row for name, data in files for row in rows_of(name, data)]
    rest = iter(came)
    assert all(row in rest for row in kept), "the kept rows are not rows of the input in its order"
    if files[0][0].endswith(".parquet"):
        assert pq.read_schema(paths[0]) == pq.read_schema(pa.BufferReader(files[0][1]))
    parsed = [json.loads(row) for row in kept]
    assert all(isinstance(row[text], str) for row in parsed)
    seen.kept = [str(row[key]) if key in row else "" for row in parsed]
    removed = [json.loads(line) for line in (out / "removed.jsonl").read_bytes().splitlines()]
    seen.removed = sorted((str(row["id"]), str(row["kept_id"])) for row in removed)
    seen.rejected = len((out / "rejected.jsonl").read_bytes().splitlines())
    assert {row["reason"] for row in removed} <= {"exact", "near"}
    assert {kept_id for _, kept_id in seen.removed} <= set(seen.kept) or not all(seen.kept)
    counts = json.loads((out / "report.json").read_text("utf-8"))["counts"]
    assert counts["read"] == counts["kept"] + len(removed) + seen.rejected
    assert counts["kept"] == len(kept)
    wrote = [path for path in out.rglob("*") if path.is_file() and path.name != "report.json"]
    seen.data = {str(path.relative_to(out)): path.read_bytes() for path in wrote}
    assert ("pairs.jsonl" in seen.data) == (config["resolve"]["pairs"] == "all")


def rows_of(name: str, data: bytes) -> Iterator[bytes]:
    """The rows of a file, without their ends; those of a Parquet file as JSON."""
    if name.endswith(".parquet"):
        for row in pq.read_table(pa.BufferReader(data)).to_pylist():
            yield json.dumps(row, default=str).encode()
        return
    if name.endswith(".gz"):
        data = gzip.decompress(data)
    elif name.endswith(".zst"):
        data = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    yield from (line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip())


def judge(case: Case, seen: Seen) -> None:
    """Fails where what was seen is not what the case asks for."""
    assert fault(case, seen) is None
    if "any_of" in case:
        assert None in (faults := [fault(group, seen) for group in case["any_of"]]), faults


def fault(asked: Case, seen: Seen) -> str | None:
    """The first thing in which what was seen differs from one outcome."""
    decided = [name for name in ("kept", "removed", "rejected") if name in asked]
    expected = asked.get("exit", 0 if decided else seen.exit)
    if (seen.exit == 0) if expected == "nonzero" else (seen.exit != expected):
        return f"exit {seen.exit}, not {expected}: {seen.said}"
    for part in asked.get("stderr_contains", ()):
        if part not in seen.said:
            return f"{part!r} is not in {seen.said}"
    for name in decided:
        wanted = sorted(asked[name].items()) if name == "removed" else asked[name]
        if getattr(seen, name) != wanted:
            return f"{name} {getattr(seen, name)}, not {wanted}"
    return None
