"""Parquet: texts of every kind of string, ids as JSON, rejected rows; kept rows with values, schema and metadata."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cascade.errors import InputError
from cascade.io import parquet
from cascade.io.read import DocumentBatch, InputFields, find_inputs, read_all, read_documents, read_rows
from cascade.io.write import write_kept

WORDS = ["ein Satz", "", "一句话", "ещё одна\0", None, "😀"]


def put(folder: Path, name: str = "in.parquet", **columns: Any) -> Path:
    pq.write_table(pa.table(columns), folder / name, row_group_size=4)
    return folder / name


def batches(path: Path, **wanted: Any) -> list[DocumentBatch]:
    return list(read_documents(find_inputs([path])[0], InputFields(**wanted)))


def ids(path: Path, **wanted: Any) -> list[str]:
    return [i for b in batches(path, **wanted) for i in b.ids.to_list()]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string()),
        pa.binary(),
        pa.large_binary(),
        pa.binary_view(),
    ],
    ids=str,
)
def test_texts_of_every_kind_of_string(tmp_path: Path, kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    if pa.types.is_dictionary(kind):
        column = pa.array(WORDS, kind.value_type).dictionary_encode().cast(kind)
    else:
        column = pa.array(WORDS, pa.string()).cast(kind)
    path = put(tmp_path, text=column, id=list(range(6)))
    for most in (parquet.MOST_ROWS, 1):
        monkeypatch.setattr(parquet, "MOST_ROWS", most)
        found = batches(path)
        assert [t for b in found for t in b.texts.to_list()] == [w for w in WORDS if w is not None]
        assert [i for b in found for i in b.ids.to_list()] == ["0", "1", "2", "3", "5"]
        for name, expected in (("line", [1, 2, 3, 4, 6]), ("start", [0, 1, 2, 3, 5]), ("stop", [1, 2, 3, 4, 6])):
            assert [n for b in found for n in getattr(b, name).tolist()] == expected
        assert [n for b in found for n in b.characters.tolist()] == [8, 0, 3, 9, 1]
        assert [(r.source, r.line, r.error) for b in found for r in b.rejected] == [
            (str(path), 5, "field 'text' must be a string, is null")
        ]


def test_a_text_that_is_not_utf8_is_rejected(tmp_path: Path) -> None:
    raw = pa.array([b"good", b"b\xffd", None, "好".encode()], pa.binary())
    lying = pa.StringArray.from_buffers(4, raw.buffers()[1], raw.buffers()[2], raw.buffers()[0])
    for column in (raw, lying):
        (batch,) = batches(put(tmp_path, text=column, id=["a", "b", "c", "d"]))
        assert batch.texts.to_list() == ["good", "好"]
        assert batch.ids.to_list() == ['"a"', '"d"']
        assert [(r.line, r.error) for r in batch.rejected] == [
            (2, "field 'text' is not UTF-8: byte 0xff at byte 2 of the text"),
            (3, "field 'text' must be a string, is null"),
        ]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([2**64 - 1, 0], pa.uint64()), ["18446744073709551615", "0"]),
        (pa.array([-(2**63), None], pa.int64()), ["-9223372036854775808", '"FILE:2"']),
        (pa.array(["3", 'a"b\n']), ['"3"', '"a\\"b\\n"']),
        (pa.array([None, "x"]).dictionary_encode(), ['"FILE:1"', '"x"']),
        (pa.array([1.5, float("nan")]), ["1.5", '"nan"']),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([b"ab", b"\xff"]), ['"ab"', '"�"']),
        (
            pa.array([Decimal("10"), Decimal("123456789012345678901")], pa.decimal128(38, 0)),
            ["10", "123456789012345678901"],
        ),
        (
            pa.array([0, 1], pa.timestamp("ns", "UTC")),
            ['"1970-01-01 00:00:00.000000000Z"', '"1970-01-01 00:00:00.000000001Z"'],
        ),
        (pa.array([[1], []]), ['"[1]"', '"[]"']),
        (pa.nulls(2), ['"FILE:1"', '"FILE:2"']),
    ],
    ids=lambda v: str(v.type) if isinstance(v, pa.Array) else "",
)
def test_ids_as_json_text(tmp_path: Path, column: pa.Array, expected: list[str]) -> None:
    path = put(tmp_path, text=["a", "b"], id=column)
    assert ids(path) == [e.replace("FILE", str(path)) for e in expected]
    assert all(json.loads(i) is not None for i in ids(path))


def test_a_file_without_an_id_column(tmp_path: Path) -> None:
    path = put(tmp_path, text=["a", "b"])
    assert ids(path) == [f'"{path}:1"', f'"{path}:2"']


def test_wanted_fields_of_accepted_rows(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        text=["a", None, "c"],
        n=pa.array([2**64 - 1, 5, None], pa.uint64()),
        s=pa.array(["x", "y", "z"], pa.string_view()),
        d=pa.array([Decimal("0.50"), None, Decimal("7.00")]),
    )
    (batch,) = batches(path, fields=("n", "s", "d", "absent"))
    assert batch.fields == {"n": [2**64 - 1, None], "s": ["x", "z"], "d": [0.5, 7], "absent": [None, None]}


def test_dotted_names(tmp_path: Path) -> None:
    meta = [{"text": "deep", "more": {"id": 1}}, None, {"text": None, "more": None}]
    path = put(tmp_path, meta=meta, other=[1, 2, 3])
    (batch,) = batches(path, text="meta.text", id="meta.more.id", fields=("meta.absent",))
    assert (batch.texts.to_list(), batch.ids.to_list(), batch.fields) == (["deep"], ["1"], {"meta.absent": [None]})
    assert [r.line for r in batch.rejected] == [2, 3]
    path = put(tmp_path, **{"meta": meta, "meta.text": ["flat"] * 3})
    assert [t for b in batches(path, text="meta.text") for t in b.texts.to_list()] == ["flat"] * 3


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    table = pa.table([pa.array(["a"]), pa.array(["b"]), pa.array(["c"])], names=["text", "x", "x"])
    pq.write_table(table, tmp_path / "in.parquet")
    (batch,) = batches(tmp_path / "in.parquet")
    write_kept(batch.source, np.array([True]), batch.start, batch.stop, tmp_path / "kept.parquet")
    assert pq.ParquetFile(tmp_path / "kept.parquet").read().equals(table)
    with pytest.raises(InputError, match=r"in.parquet: has more than one column 'x'"):
        batches(tmp_path / "in.parquet", text="x")


def test_strict_stops_at_the_first_bad_row(tmp_path: Path) -> None:
    path = put(tmp_path, text=["a"] * 5 + [None, "b", None])
    with pytest.raises(InputError, match=r"in.parquet:6: field 'text' must be a string, is null"):
        batches(path, strict=True)


def test_no_text_column(tmp_path: Path) -> None:
    path = put(tmp_path, body=["a"], n=[1])
    with pytest.raises(InputError, match="no row has the text field 'text'; fields found: body, n;"):
        list(read_all(find_inputs([path]), InputFields(), lambda batch: batch))
    path = put(tmp_path, text=[1, 2], body=["a", "b"])
    assert [r.error for b in batches(path) for r in b.rejected] == ["field 'text' must be a string, is int64"] * 2
    path = put(tmp_path, text=pa.nulls(1))
    assert [r.error for b in batches(path) for r in b.rejected] == ["field 'text' must be a string, is null"]


@pytest.mark.parametrize("columns", [{"text": pa.array([], pa.string())}, {}])
def test_a_file_without_rows(tmp_path: Path, columns: dict[str, Any]) -> None:
    path = put(tmp_path, **columns)
    assert batches(path) == []
    write_kept(find_inputs([path])[0], np.empty(0, bool), *[np.empty(0, np.int64)] * 2, tmp_path / "kept.parquet")
    assert pq.read_table(tmp_path / "kept.parquet").equals(pq.read_table(path), check_metadata=True)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    whole = put(tmp_path, text=[f"text {i * i}" for i in range(1000)]).read_bytes()
    bad = tmp_path / "bad.parquet"
    pages = bytearray(whole)
    pages[4:200] = bytes(196)
    for content in (b"", b"PAR1", b"no parquet at all", whole[:-1], whole[: len(whole) // 2], whole[9:], bytes(pages)):
        bad.write_bytes(content)
        with pytest.raises(InputError, match=r"bad.parquet: "):
            batches(bad)


# Kept rows


def rich_table(rows: int) -> pa.Table:
    def cycle(values: list[Any], kind: pa.DataType | None = None) -> pa.Array:
        return pa.array([values[i % len(values)] for i in range(rows)], kind)

    table = pa.table(
        {
            "text": cycle(["a", None, "b", "c"]),
            "dictionary": cycle(["x", "y", None]).dictionary_encode(),
            "view": cycle(["q", "w", None], pa.string_view()),
            "large": cycle(["q", "w"], pa.large_string()),
            "struct": cycle([{"a": [1, 2], "b": {"c": "z"}}, None, {"a": [], "b": None}]),
            "map": cycle([[("k", 1)], [], None], pa.map_(pa.string(), pa.int64())),
            "list_view": cycle([[1], [2, 3], None], pa.list_view(pa.int64())),
            "decimal": cycle([Decimal("1.25"), None], pa.decimal128(20, 2)),
            "fixed": cycle([b"ab", b"\xff\0"], pa.binary(2)),
            "time": cycle([1, 2**40, None], pa.timestamp("ns", "Asia/Shanghai")),
            "unsigned": cycle([2**64 - 1, 0], pa.uint64()),
            "null": pa.nulls(rows),
        }
    )
    fields = [f.with_metadata({"unit": "none"}) if f.name == "large" else f for f in table.schema]
    return table.cast(pa.schema(fields, {"who": "someone", "pandas": "{}"}))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.integers(1, 30), st.integers(1, 12), st.integers(1, 9), st.sampled_from([1, 1 << 26]), st.data())
def test_kept_rows_keep_values_schema_and_metadata(
    tmp_path: Path, rows: int, group_size: int, most: int, group_bytes: int, data: st.DataObject
) -> None:
    table = rich_table(rows)
    path, out = tmp_path / "in.parquet", tmp_path / "kept.parquet"
    out.unlink(missing_ok=True)
    codecs = {name: "zstd" if i % 2 else "gzip" for i, name in enumerate(("text", "dictionary", "view", "large"))}
    pq.write_table(table, path, row_group_size=group_size, compression=codecs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "MOST_ROWS", most)
        patch.setattr(parquet, "GROUP", group_bytes)
        found = batches(path)
        start = np.concatenate([b.start for b in found])
        keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(start), max_size=len(start))), bool)
        (source,) = find_inputs([path])
        write_kept(source, keep, start, start + 1, out)
        read_again = list(read_rows(source, start[keep], start[keep] + 1))
    expected = [table.slice(r, 1).to_pylist()[0] for r in start[keep].tolist()]
    kept = pq.read_table(out)
    assert kept.schema.equals(table.schema)
    assert kept.schema.equals(pq.read_table(path).schema, check_metadata=True)
    assert kept.schema.metadata == {b"who": b"someone", b"pandas": b"{}"}
    assert kept.schema.field("large").metadata[b"unit"] == b"none"
    assert kept.to_pylist() == expected == read_again
    meta = pq.ParquetFile(out).metadata
    if meta.num_row_groups:
        group = meta.row_group(0)
        assert [group.column(i).compression for i in range(4)] == ["GZIP", "ZSTD", "GZIP", "ZSTD"]
    if group_bytes > 1:
        assert meta.num_row_groups == len(set((start[keep] // group_size).tolist()))


def test_a_file_that_changes_between_two_passes_is_an_error(tmp_path: Path) -> None:
    path = put(tmp_path, text=["a", "b"])
    (source,) = find_inputs([path])
    put(tmp_path, text=["a", "b", "c"])
    with pytest.raises(InputError, match=r"in.parquet: changed"):
        write_kept(source, np.array([True]), np.array([0]), np.array([1]), tmp_path / "kept.parquet")
