"""Reading: which files, which rows are documents, which are rejected and why, in every format and compression."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cascade.errors import InputError
from cascade.io import jsonl, streams
from cascade.io.read import DocumentBatch, InputFields, find_inputs, read_all, read_documents, read_rows

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def put(folder: Path, content: bytes, name: str = "in.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def rows(*values: object) -> bytes:
    return b"".join(json.dumps(v).encode() + b"\n" for v in values)


def batches(path: Path, **wanted: Any) -> list[DocumentBatch]:
    return list(read_all(find_inputs([path]), InputFields(**wanted), lambda batch: batch))


def texts(path: Path, **wanted: Any) -> list[str]:
    return [t for b in batches(path, **wanted) for t in b.texts.to_list()]


def ids(path: Path, **wanted: Any) -> list[str]:
    return [t for b in batches(path, **wanted) for t in b.ids.to_list()]


def rejected(path: Path, **wanted: Any) -> list[tuple[int, str]]:
    return [(r.line, r.error) for b in batches(path, **wanted) for r in b.rejected]


# Rows


def test_only_a_line_feed_ends_a_row(tmp_path: Path) -> None:
    text = "红\u2028绿\u2029蓝\x85黄\x0b\x0c"
    row = json.dumps({"id": "ж", "text": text}, ensure_ascii=False).encode()
    path = put(tmp_path, row.replace(b"\\u000b", b"\\u000b") + b"\r\n" + row + b"\n")
    assert texts(path) == [text, text]
    (batch,) = batches(path)
    assert batch.line.tolist() == [1, 2]
    assert batch.start.tolist() == [0, len(row) + 2]
    assert batch.stop.tolist() == [len(row) + 2, 2 * len(row) + 3]
    assert batch.characters.tolist() == [len(text)] * 2


def test_blank_lines_count_as_lines_and_are_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, b'\n  \t\r\n{"text":"a"}\n\n{"text":"b"}\n \r')
    (batch,) = batches(path)
    assert batch.texts.to_list() == ["a", "b"]
    assert batch.line.tolist() == [3, 5]
    assert batch.ids.to_list() == [json.dumps(f"{path}:3"), json.dumps(f"{path}:5")]
    assert batch.rejected == []


@pytest.mark.parametrize("suffix", PACK)
def test_a_byte_order_mark_is_no_part_of_a_row(tmp_path: Path, suffix: str) -> None:
    path = put(tmp_path, PACK[suffix](b'\xef\xbb\xbf{"id":1,"text":"a"}\n{"id":2,"text":"b"}'), "in.jsonl" + suffix)
    (batch,) = batches(path)
    assert batch.ids.to_list() == ["1", "2"]
    assert batch.start.tolist() == [3, 23]
    assert batch.stop.tolist() == [23, 42]


def test_a_byte_order_mark_alone_is_an_empty_file(tmp_path: Path) -> None:
    path = put(tmp_path, b"\xef\xbb\xbf")
    assert (texts(path), rejected(path)) == ([], [])


def test_a_byte_order_mark_over_two_gzip_members(tmp_path: Path) -> None:
    content = gzip.compress(b"\xef") + gzip.compress(b"\xbb") + gzip.compress(b'\xbf{"id":1,"text":"a"}')
    assert texts(put(tmp_path, content, "in.jsonl.gz")) == ["a"]


def test_a_byte_order_mark_further_on_is_a_fault(tmp_path: Path) -> None:
    path = put(tmp_path, b'{"text":"a"}\n\xef\xbb\xbf{"text":"b"}\n')
    assert texts(path) == ["a"]
    assert [line for line, _ in rejected(path)] == [2]


@pytest.mark.parametrize(
    ("row", "error"),
    [
        (b'{"text": "a"', "not JSON: Expecting ',' delimiter at character 13 of the row"),
        (b'{"text": "a"} x', "not JSON: Extra data at character 15 of the row"),
        (b"\x00", "not JSON"),
        (b'{"text": "a\xff"}', "not UTF-8: byte 0xff at byte 12 of the row"),
        (b'{"text": "\xed\xa0\x80"}', "not UTF-8: byte 0xed"),
        (b'{"text": "a\tb"}', "not JSON: Invalid control character"),
        (b'["text"]', "not a JSON object but an array"),
        (b'"text"', "not a JSON object but a string"),
        (b"42", "not a JSON object but a number"),
        (b"1e999", "not a JSON object but a number"),
        (b"null", "not a JSON object but null"),
        (b"true", "not a JSON object but true"),
        (b"NaN", "not a JSON object but a number"),
        (b'{"id": 1}', "there is no field 'text'; the row has id"),
        (rb'{"\ud800\u001b[31m": 1}', r"there is no field 'text'; the row has '\ud800\x1b[31m'"),
        (b'{"' + b"long" * 20 + b'": 1}', "the row has " + "long" * 10 + "…"),
        (
            b"{" + b",".join(b'"%d":0' % i for i in range(12)) + b"}",
            "the row has 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more",
        ),
        (b"{}", "there is no field 'text'; the row has none"),
        (b'{"text": null}', "field 'text' must be a string, is null"),
        (b'{"text": 5}', "field 'text' must be a string, is a number"),
        (b'{"text": 5, "x": NaN}', "field 'text' must be a string, is a number"),
        (b'{"text": ["a"]}', "field 'text' must be a string, is an array"),
        (b'{"text": {"text": "a"}}', "field 'text' must be a string, is an object"),
        (b'{"text": "a", "text": false}', "field 'text' must be a string, is false"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"text": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"text": "a", "id": ' + b"[" * 990 + b"]" * 990 + b"}", "nested too deeply"),
    ],
)
def test_a_row_that_cannot_be_used_is_rejected_and_said_why(tmp_path: Path, row: bytes, error: str) -> None:
    path = put(tmp_path, b'{"id":1,"text":"one"}\n' + row + b'\n{"id":2,"text":"two"}\n')
    assert ids(path) == ["1", "2"]
    ((line, found),) = rejected(path)
    assert line == 2
    assert error in found
    assert found.isprintable()
    with pytest.raises(InputError) as fault:
        texts(path, strict=True)
    assert str(fault.value).startswith(f"{path}:2: {found}")


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (rb'{"text": "a\ud800b"}', "a\ufffdb"),
        (rb'{"text": "\udc00\ud800"}', "\ufffd\ufffd"),
        (rb'{"text": "\ud83d\ude00\u0000"}', "😀\0"),
        (rb'{"text": "a", "score": NaN, "x": [Infinity, -Infinity]}', "a"),
        (rb'{"text": "a", "x": "\udfff"}', "a"),
        (rb'{"t\u0065xt": "a"}', "a"),
        (rb'{"text": null, "text": 3, "text": "last"}', "last"),
        (rb'{"text": ""}', ""),
        (b'{"text": "a", "x": 1' + b"0" * 10_000 + b"}", "a"),
    ],
)
def test_odd_rows_that_can_be_used(tmp_path: Path, row: bytes, text: str) -> None:
    path = put(tmp_path, row)
    assert texts(path, strict=True) == [text]
    (batch,) = batches(path)
    assert batch.characters.tolist() == [len(text)]


@pytest.mark.parametrize(
    "text",
    [
        *("3", '"3"', "0", "-7", "9007199254740993", "18446744073709551616", "-9223372036854775809", "1" * 5000),
        *("1.50", "1E400", "1e2", "true", '""', '"a\\"b\\\\"', '"标识"', '"\\ud800"', "[1,2.50]"),
        '{"a":123456789012345678901}',
    ],
)
@pytest.mark.parametrize("other", ["", ',"x":NaN'])
def test_an_id_keeps_its_type_and_digits(tmp_path: Path, text: str, other: str) -> None:
    path = put(tmp_path, f'{{"text":"a","id":{text}{other}}}\n'.encode())
    assert ids(path) == [text]


def test_a_missing_or_null_id_is_file_and_line(tmp_path: Path) -> None:
    path = put(tmp_path, rows({"text": "a"}, {"text": "b", "id": None}, {"text": "c", "id": 1}))
    assert ids(path) == [json.dumps(f"{path}:1"), json.dumps(f"{path}:2"), "1"]
    path = put(tmp_path, rows({"text": "a"}, {"text": None}, {"text": "b", "id": None}, {"text": "c", "id": 1}))
    assert ids(path) == [json.dumps(f"{path}:1"), json.dumps(f"{path}:3"), "1"]


def test_an_id_without_json_text_becomes_a_string(tmp_path: Path) -> None:
    assert ids(put(tmp_path, b'{"text":"a","id":NaN}')) == ['"nan"']


def test_wanted_fields_are_exact(tmp_path: Path) -> None:
    numbers = [2**53 + 1, -(2**64) - 1, 10**5000, 0.5, 2**63]
    content = rows({"text": "a", "n": 1}) + b"".join(b'{"text":"a","n":%s}\n' % v for v in map(_digits, numbers))
    path = put(tmp_path, content + b'{"text":"b"}\n{"text":"c","n":"x"}\n{"text":"d","n":NaN}\n')
    (batch,) = batches(path, fields=("n", "absent"))
    values = batch.fields["n"]
    assert values[:6] == [1, *numbers]
    assert [type(v) for v in values[:6]] == [int, int, int, int, float, int]
    assert values[6:8] == [None, "x"]
    assert isinstance(values[8], float)
    assert np.isnan(values[8])
    assert batch.fields["absent"] == [None] * 9


def _digits(number: float) -> bytes:
    if abs(number) < 10**4000:
        return repr(number).encode()
    return b"1" + b"0" * 5000


def test_dotted_names_descend_unless_there_is_such_a_key(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        rows(
            {"meta": {"text": "deep", "id": 1, "n": 5}},
            {"meta.text": "flat", "meta": {"text": "deep", "id": {"x": 1}}},
        ),
    )
    (batch,) = batches(path, text="meta.text", id="meta.id", fields=("meta.n",))
    assert batch.texts.to_list() == ["deep", "flat"]
    assert batch.ids.to_list() == ["1", '{"x":1}']
    assert batch.fields == {"meta.n": [5, None]}
    assert [e for _, e in rejected(put(tmp_path, rows({"a": {"b": "x"}}, {"a": 1}, "a.b")), text="a.b")] == [
        "there is no field 'a.b'; the row has a",
        "not a JSON object but a string",
    ]


def test_a_line_longer_than_many_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "BATCH", 1 << 12)
    monkeypatch.setattr(streams, "BLOCK", 1 << 10)
    long = "长" * 100_000
    path = put(tmp_path, rows({"id": 1, "text": "a"}, {"id": 2, "text": long}, {"id": 3, "text": "b"}))
    assert texts(path) == ["a", long, "b"]
    found = [(b.start.tolist(), b.stop.tolist(), b.line.tolist()) for b in batches(path)]
    assert [line for _, _, lines in found for line in lines] == [1, 2, 3]
    starts = [s for a, _, _ in found for s in a]
    assert starts[1:] == [s for _, b, _ in found for s in b][:-1]


def test_no_row_has_the_text_field(tmp_path: Path) -> None:
    one = put(tmp_path, rows({"id": 1, "body": "x"}, 5, {"title": "y"}), "one.jsonl")
    two = put(tmp_path, rows({"body": "z"}), "two.jsonl")
    with pytest.raises(InputError, match=r"no row has the text field 'text'; fields found: id, body, title;.*--set"):
        list(read_all(find_inputs([one, two]), InputFields(), lambda batch: batch))
    put(tmp_path, rows({"text": None}), "two.jsonl")
    assert list(read_all(find_inputs([one, two]), InputFields(), lambda batch: batch))


@pytest.mark.parametrize("suffix", PACK)
def test_a_file_without_rows(tmp_path: Path, suffix: str) -> None:
    assert batches(put(tmp_path, PACK[suffix](b""), "in.jsonl" + suffix)) == []


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"text": st.text(st.characters(exclude_categories=[])), "id": st.one_of(st.integers(), st.text())},
            optional={"n": st.one_of(st.integers(), st.floats(), st.text(), st.none())},
        ),
        max_size=12,
    ),
    st.sampled_from(["", ".gz", ".zst"]),
    st.integers(1, 300),
    st.booleans(),
)
def test_reading_agrees_with_the_json_module(
    tmp_path: Path, values: list[dict[str, Any]], suffix: str, batch: int, ascii_only: bool
) -> None:
    def encode(value: object) -> bytes:
        try:
            return json.dumps(value, ensure_ascii=ascii_only).encode()
        except UnicodeEncodeError:
            return json.dumps(value).encode()

    path = put(tmp_path, PACK[suffix](b"\n".join(map(encode, values))), "in.jsonl" + suffix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "BATCH", batch)
        patch.setattr(streams, "BLOCK", 7)
        found = batches(path, fields=("n",))
    expected = [json.loads(encode(v)) for v in values]
    clean = [v["text"].encode("utf-16", "surrogatepass").decode("utf-16", "replace") for v in expected]
    assert [t for b in found for t in b.texts.to_list()] == clean
    assert [json.loads(i) for b in found for i in b.ids.to_list()] == [v["id"] for v in expected]
    assert repr([n for b in found for n in b.fields["n"]]) == repr([v.get("n") for v in expected])
    assert [int(c) for b in found for c in b.characters] == [len(v["text"]) for v in expected]
    (source,) = find_inputs([path])
    start = np.concatenate([b.start for b in found]) if found else np.empty(0, np.int64)
    stop = np.concatenate([b.stop for b in found]) if found else np.empty(0, np.int64)
    assert repr(list(read_rows(source, start, stop))) == repr(expected)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_give_documents_and_rejections_and_nothing_else(tmp_path: Path, content: bytes, batch: int) -> None:
    path = put(tmp_path, content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "BATCH", batch)
        found = list(read_documents(find_inputs([path])[0], InputFields()))
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    used = sorted([int(n) for b in found for n in b.line] + [r.line for b in found for r in b.rejected])
    assert used == [i for i, line in enumerate(lines, 1) if line.strip()]


# Compressed files


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_all_members_and_frames_are_read(tmp_path: Path, suffix: str) -> None:
    pack = PACK[suffix]
    content = pack(b'{"id":1,"te') + pack(b"") + pack(b'xt":"a"}\n') + pack(b'{"id":2,"text":"b"}')
    assert ids(put(tmp_path, content, "in.jsonl" + suffix)) == ["1", "2"]


@pytest.mark.parametrize("zeros", [1, 512, 3 << 20])
def test_nul_bytes_behind_a_gzip_member_are_padding(tmp_path: Path, zeros: int) -> None:
    member = gzip.compress(rows({"id": 1, "text": "a"}))
    path = put(tmp_path, member + bytes(zeros) + member + bytes(zeros), "in.jsonl.gz")
    assert ids(path) == ["1", "1"]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_cut_file_is_loud_wherever_it_is_cut(tmp_path: Path, suffix: str) -> None:
    whole = PACK[suffix](rows({"id": 1, "text": "a text"}, {"id": 2, "text": "another"}))
    frames = whole + whole
    for size in range(len(frames)):
        if size == len(whole):
            continue  # a cut between two members leaves a whole file
        path = put(tmp_path, frames[:size], "cut.jsonl" + suffix)
        with pytest.raises(InputError, match=r"cut.jsonl.*(ends too early|damaged)"):
            texts(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_garbage_is_loud(tmp_path: Path, suffix: str) -> None:
    whole = PACK[suffix](rows({"id": 1, "text": "a text"}))
    for content in (b"no archive at all", whole + b"garbage"):
        with pytest.raises(InputError, match=r"in.jsonl.*damaged"):
            texts(put(tmp_path, content, "in.jsonl" + suffix))


def test_a_flipped_bit_in_gzip_is_loud(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(rows(*({"id": i, "text": f"text {i * i}"} for i in range(300)))))
    for place in range(40, len(whole), 97):
        whole[place] ^= 16
        with pytest.raises(InputError, match=r"in.jsonl.gz"):
            texts(put(tmp_path, bytes(whole), "in.jsonl.gz"))
        whole[place] ^= 16


# Files


def test_files_come_in_the_order_given_and_folders_sorted(tmp_path: Path) -> None:
    names = ["b.jsonl", "a.ndjson", "sub/z.JSONL.gz", "sub/a.jsonl.zst", "p.parquet"]
    for name in [*names, "notes.txt", ".hidden.jsonl", ".work/x.jsonl", "x.parquet.gz"]:
        put(tmp_path / "d", b"", name)
    other = put(tmp_path, b"", "z.jsonl")
    found = find_inputs([other, tmp_path / "d"])
    assert [str(s.path.relative_to(tmp_path)) for s in found] == ["z.jsonl"] + [f"d/{n}" for n in sorted(names)]
    assert [s.index for s in found] == list(range(6))
    assert [(s.format, s.compression) for s in found[2:]] == [
        ("jsonl", ""),
        ("parquet", ""),
        ("jsonl", "zst"),
        ("jsonl", "gz"),
    ]
    assert [s.path.name for s in find_inputs([str(tmp_path / "d" / "*.*"), other])] == [
        "a.ndjson",
        "b.jsonl",
        "p.parquet",
        "z.jsonl",
    ]
    assert len(find_inputs([str(tmp_path / "**" / "*.jsonl*")])) == 3
    assert len(find_inputs([tmp_path], outside=tmp_path / "d" / "sub")) == 4


def test_a_name_with_glob_characters_is_itself(tmp_path: Path) -> None:
    path = put(tmp_path, b"", "a[1].jsonl")
    put(tmp_path, b"", "a1.jsonl")
    assert [s.path for s in find_inputs([str(path)])] == [path]


@pytest.mark.parametrize(
    ("argument", "error"),
    [
        ("absent.jsonl", "there is no such file"),
        ("a\0b.jsonl", "cannot be read"),
        ("*.jsonl", "no file that matches"),
        ("empty", r"no file in this folder of a known kind: \*.jsonl"),
        ("a.csv", r"unknown kind of file; known are \*.jsonl and \*.ndjson"),
        ("a.json", "unknown kind of file; a JSON array must be turned into JSON lines"),
        ("a.parquet.gz", "unknown kind of file"),
        ("noname", "unknown kind of file"),
        ("dangling.jsonl", "there is no such file"),
        ("pipe.jsonl", "is no regular file"),
        (".", "no file in this folder"),
    ],
)
def test_what_cannot_be_found_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name in ("a.csv", "a.json", "a.parquet.gz", "noname"):
        put(tmp_path, b"[]", name)
    if argument == "dangling.jsonl":
        os.symlink("nowhere", tmp_path / argument)
    if argument == "pipe.jsonl":
        os.mkfifo(tmp_path / argument)
    with pytest.raises(InputError, match=error) as fault:
        find_inputs([argument])
    assert str(fault.value).startswith(argument)


def test_links_that_lead_to_themselves(tmp_path: Path) -> None:
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    for argument in (tmp_path, tmp_path / "loop.jsonl", str(tmp_path / "loop.jsonl")):
        with pytest.raises(InputError, match=r"loop.jsonl: cannot be read: .*symbolic links"):
            find_inputs([argument], outside=tmp_path / "loop.jsonl" / "out")


def test_no_argument_is_an_error() -> None:
    with pytest.raises(InputError, match="no input"):
        find_inputs([])


def test_the_same_file_twice_is_an_error(tmp_path: Path) -> None:
    path = put(tmp_path, b"", "sub/a.jsonl")
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    for arguments in ([path, path], [tmp_path / "sub", path], [path, str(tmp_path / "sub" / ".." / "sub" / "*")]):
        with pytest.raises(InputError, match=r"a.jsonl: is named twice"):
            find_inputs(arguments)
    with pytest.raises(InputError, match=r"link.jsonl: is named twice \(also as .*a.jsonl\)"):
        find_inputs([path, link])


def test_a_file_that_changes_between_two_passes_is_an_error(tmp_path: Path) -> None:
    path = put(tmp_path, rows({"id": 1, "text": "a"}))
    (source,) = find_inputs([path])
    assert len(list(read_documents(source, InputFields()))) == 1
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match=r"in.jsonl: changed while it was being read"):
        list(read_documents(source, InputFields()))
    path.unlink()
    with pytest.raises(InputError, match=r"in.jsonl: cannot be read: No such file"):
        list(read_documents(source, InputFields()))


def test_a_file_that_grows_while_it_is_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "BATCH", 1)
    path = put(tmp_path, rows({"id": 1, "text": "a"}, {"id": 2, "text": "b"}))
    reader = read_documents(find_inputs([path])[0], InputFields())
    next(reader)
    with path.open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(InputError, match="changed"):
        list(reader)


def test_a_name_that_is_no_unicode_can_be_told(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl"))
    path.write_bytes(b'{"text":"a"}\n{"text":"b"}\n')
    assert [json.loads(i) for i in ids(path)] == [f"{tmp_path}/\ufffd.jsonl:1", f"{tmp_path}/\ufffd.jsonl:2"]


def test_a_repeated_parent_counts_as_json_has_it(tmp_path: Path) -> None:
    """The last of equal keys wins, in few rows and in many."""
    for count in (1, 3000):
        path = put(tmp_path, b'{"a":{"b":"first"},"a":{"b":"last"}}\n{"a":{"b":"x"},"a":{"c":1},"text":"y"}\n' * count)
        found = batches(path, text="a.b")
        assert [text for batch in found for text in batch.texts.to_list()] == ["last"] * count
        assert sum(len(batch.rejected) for batch in found) == count


@pytest.mark.parametrize("depth", [100, 190, 250, 900, 1020, 1100])
def test_deep_brackets_are_read_or_not_whoever_asks(tmp_path: Path, depth: int) -> None:
    """How much stack is left must not matter: a float as id makes the standard library read the row."""
    brackets = b"[" * depth + b'"]]"' + b"]" * depth
    path = put(tmp_path, b'{"id":0.5,"text":"a","x":' + brackets + b'}\n{"id":' + brackets + b',"text":"b"}\n')

    def from_deep(frames: int) -> list[str]:
        if frames:
            return from_deep(frames - 1)
        return [text for batch in batches(path) for text in batch.texts.to_list()]

    assert from_deep(0) == from_deep(300) == (["a", "b"] if depth < 200 else [])
