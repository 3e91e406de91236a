"""Writing: kept rows byte for byte, where they go, rows of our own, the report."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cascade.errors import InputError, OutputError
from cascade.io import jsonl
from cascade.io.documents import Source
from cascade.io.read import InputFields, find_inputs, read_documents
from cascade.io.report import read_report, write_report
from cascade.io.write import RawJson, kept_path, write_jsonl, write_kept

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def unpack(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            return bytes(stream.read())
    return data


def keep_rows(source: Source, path: Path, keep: Callable[[int], bool]) -> list[int]:
    """Writes the rows that `keep` says, by line; returns the lines of all documents."""
    found = list(read_documents(source, InputFields()))
    line, start, stop = (
        np.concatenate([getattr(b, name) for b in found]) if found else np.empty(0, np.int64)
        for name in ("line", "start", "stop")
    )
    write_kept(source, np.array([keep(n) for n in line.tolist()], bool), start, stop, path)
    return [int(n) for n in line]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"")),
            st.text(max_size=30).map(lambda t: json.dumps({"text": t}, ensure_ascii=False).encode()),
            st.text(max_size=30).map(lambda t: b" " + json.dumps({"x": t, "text": t}).encode() + b"\r"),
        ),
        max_size=15,
    ),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", ".gz", ".zst"]),
    st.integers(1, 200),
    st.randoms(use_true_random=False),
)
def test_kept_rows_are_the_very_bytes_of_the_chosen_lines(
    tmp_path: Path, lines: list[bytes], bom: bool, ends: bool, suffix: str, batch: int, random: object
) -> None:
    content = b"\xef\xbb\xbf" * bom + b"\n".join(lines) + b"\n" * (ends and bool(lines))
    path = tmp_path / ("in.jsonl" + suffix)
    path.write_bytes(PACK[suffix](content))
    (source,) = find_inputs([path])
    chosen = {n for n in range(1, len(lines) + 1) if random.random() < 0.5}  # type: ignore[attr-defined]
    out = tmp_path / ("kept.jsonl" + suffix)
    out.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "BATCH", batch)
        documents = keep_rows(source, out, chosen.__contains__)
    rows = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    assert unpack(out) == b"".join(rows[n - 1] + b"\n" for n in documents if n in chosen)


@pytest.mark.parametrize("suffix", PACK)
def test_compressed_output_depends_on_the_rows_alone(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ("in.jsonl" + suffix)
    path.write_bytes(PACK[suffix](b"".join(b'{"text":"%d"}\n' % (i * i) for i in range(30_000))))
    (source,) = find_inputs([path])
    written = []
    for i, batch in enumerate((1 << 21, 999, 1 << 16)):
        monkeypatch.setattr(jsonl, "BATCH", batch)
        keep_rows(source, tmp_path / f"kept{i}.jsonl{suffix}", lambda n: n % 3 > 0)
        written.append((tmp_path / f"kept{i}.jsonl{suffix}").read_bytes())
    assert written[0] == written[1] == written[2]
    if suffix == ".gz":
        assert written[0][3] == 0  # no name
        assert written[0][4:8] == bytes(4)  # no time


def test_a_row_of_many_blocks_is_copied_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "BATCH", 1 << 10)
    path = tmp_path / "in.jsonl"
    long = json.dumps({"text": "x" * 100_000}).encode()
    path.write_bytes(b'{"text":"a"}\n' + long + b"\n" + b'{"text":"b"}\n' + long)
    (source,) = find_inputs([path])
    keep_rows(source, tmp_path / "kept.jsonl", lambda n: n != 3)
    assert (tmp_path / "kept.jsonl").read_bytes() == b'{"text":"a"}\n' + long + b"\n" + long + b"\n"


def test_a_source_that_is_shorter_now_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"text":"a"}\n')
    place = np.array([0]), np.array([99])
    with pytest.raises(InputError, match=r"in.jsonl: is shorter"):
        write_kept(Source(path, "jsonl", "", 0), np.array([True]), *place, tmp_path / "kept.jsonl")
    source = find_inputs([path])[0]
    path.write_bytes(b'{"text":"bcd"}\n')
    with pytest.raises(InputError, match=r"in.jsonl: changed"):
        write_kept(source, np.array([True]), np.array([0]), np.array([13]), tmp_path / "kept2.jsonl")


# Where kept rows go


def source_at(path: str | Path) -> Source:
    return Source(Path(path), "jsonl", "", 0)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a.jsonl", "kept.jsonl"),
        ("a.b.ndjson.gz", "kept.ndjson.gz"),
        ("x/A.JSONL.ZST", "kept.JSONL.ZST"),
        ("../a.parquet", "kept.parquet"),
    ],
)
def test_one_input_is_kept_under_its_suffixes(name: str, kept: str) -> None:
    assert kept_path(Path("out"), [source_at(name)]) == [Path("out") / kept]


def test_several_inputs_keep_their_paths_below_the_common_parent(tmp_path: Path) -> None:
    names = ["a/x.jsonl", "a/b/x.jsonl", "c/x.jsonl", "c/y.jsonl.gz"]
    assert kept_path(Path("out"), [source_at(tmp_path / n) for n in names]) == [Path("out/kept") / n for n in names]
    two = [source_at(tmp_path / "a/b/x.jsonl"), source_at(tmp_path / "a/b/y.jsonl")]
    assert kept_path(Path("out"), two) == [Path("out/kept/x.jsonl"), Path("out/kept/y.jsonl")]


def test_paths_with_dots_and_links_stay_inside_and_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link").symlink_to(tmp_path / "real" / "deep")
    monkeypatch.chdir(tmp_path / "work")
    # `link/../x` is real/x for the system, though it reads like ./x.
    names = ["x.jsonl", "link/../x.jsonl", "../x.jsonl", "link/x.jsonl"]
    places = kept_path(Path("out"), [source_at(n) for n in names])
    assert places == [Path("out/kept") / n for n in ("work/x.jsonl", "real/x.jsonl", "x.jsonl", "work/link/x.jsonl")]
    assert ".." not in {part for place in places for part in place.parts}


# Rows of our own


def test_rows_with_ids_of_all_kinds(tmp_path: Path) -> None:
    identities = [b"3", b'"3"', b"9" * 5000, b'"\\ud800"', '"标识"'.encode()]
    rows = ({"id": RawJson(i), "scores": {"jaccard": np.float64(0.5)}, "line": np.int64(7)} for i in identities)
    assert write_jsonl(tmp_path / "sub" / "removed.jsonl", rows) == 5
    expected = [b'{"id":%s,"scores":{"jaccard":0.5},"line":7}\n' % i for i in identities]
    assert (tmp_path / "sub" / "removed.jsonl").read_bytes() == b"".join(expected)


@pytest.mark.parametrize("count", [0, 1, 4095, 4096, 4097, 10_000])
def test_every_row_is_written_once(tmp_path: Path, count: int) -> None:
    path = tmp_path / "rows.jsonl"
    assert write_jsonl(path, ({"n": i} for i in range(count))) == count
    assert [json.loads(line)["n"] for line in path.read_bytes().splitlines()] == list(range(count))


def test_the_report_keeps_its_order(tmp_path: Path) -> None:
    write_report(tmp_path / "report.json", {"z": 1, "a": {"seconds": 0.5, "nan": float("nan")}, "字": np.int64(3)})
    assert (tmp_path / "report.json").read_text("utf-8") == textwrap.dedent(
        """\
        {
          "z": 1,
          "a": {
            "seconds": 0.5,
            "nan": null
          },
          "字": 3
        }
        """
    )


def test_ids_and_texts_of_all_kinds_are_written_and_read_again(tmp_path: Path) -> None:
    report = {
        "ids": ["\ud800", 2**80, (-(2**70),)],
        "\udfff": np.float64(0.5),
        "table": np.arange(3),
        "nan": [np.float64("nan"), float("inf")],
    }
    write_report(tmp_path / "report.json", report)
    assert read_report(tmp_path / "report.json") == {
        "ids": ["\ud800", 2**80, [-(2**70)]],
        "\udfff": 0.5,
        "table": [0, 1, 2],
        "nan": [None, None],
    }
    assert (tmp_path / "report.json").read_bytes().startswith(b'{\n  "ids": [\n    "\\ud800",\n')


@pytest.mark.parametrize("text", [b"", b"{", b'{"a": "\xff"}', b"[]", b"null"])
def test_what_is_no_report_is_told(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "report.json").write_bytes(text)
    with pytest.raises(InputError, match="is no report"):
        read_report(tmp_path / "report.json")


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match=r"file/removed.jsonl: cannot be written"):
        write_jsonl(tmp_path / "file" / "removed.jsonl", [])
    with pytest.raises(OutputError, match="file: cannot be written: File exists"):
        write_report(tmp_path / "file", {})


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_a_full_disk_is_an_output_error(tmp_path: Path, suffix: str) -> None:
    script = f"""
        import random, resource, sys
        from pathlib import Path
        import numpy as np, pyarrow as pa, pyarrow.parquet as pq
        from cascade.errors import OutputError
        from cascade.io.read import *
        from cascade.io.write import *
        folder, suffix = Path(sys.argv[1]), {suffix!r}
        random.seed(0)
        texts = [random.randbytes(400).hex() for _ in range(2000)]
        path = folder / ("in" + suffix)
        if suffix == ".parquet":
            pq.write_table(pa.table({{"text": texts}}), path, row_group_size=300)
        else:
            plain = folder / "plain.jsonl"
            write_jsonl(plain, ({{"text": t}} for t in texts))
            data = plain.read_bytes()
            if suffix.endswith("gz"):
                import gzip
                data = gzip.compress(data)
            if suffix.endswith("zst"):
                data = pa.compress(data, "zstd", asbytes=True)
            path.write_bytes(data)
        source, = find_inputs([path])
        found = list(read_documents(source, InputFields()))
        start, stop = (np.concatenate([getattr(b, n) for b in found]) for n in ("start", "stop"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            write_kept(source, np.ones(len(start), bool), start, stop, folder / ("kept" + suffix))
        except OutputError as error:
            print(error)
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stdout == f"{tmp_path}/kept{suffix}: cannot be written: File too large\n"
    assert (ended.returncode, ended.stderr) == (0, "")
