"""The rows that the kernel reads, held against json and orjson: the same values, or the row is left."""

from __future__ import annotations

import json

import numpy as np
import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cascade.io import jsonl
from cascade.io.documents import InputFields
from cascade.io.row import find
from cascade.kernels import jsonrows as kernel


def scan(raw: bytes, wanted: InputFields) -> list[tuple[str, bytes, int, list[bytes | None]] | None]:
    """Text, id, code points and raw fields of each row that is no blank; None for one that was left."""
    names = jsonl._names(wanted)
    data = np.frombuffer(raw + bytes(64), np.uint8)
    texts, ids = np.full(len(data) + 64, 255, np.uint8), np.full(len(data) + 64, 255, np.uint8)
    table = np.full((raw.count(b"\n"), kernel.SPANS + 2 * len(wanted.fields)), -7, np.int64)
    rows = kernel.scan_rows(data, len(raw), names.keys, names.parts, names.paths, texts, ids, table)
    found: list[tuple[str, bytes, int, list[bytes | None]] | None] = []
    w = v = 0
    for row in table[:rows].tolist():
        assert raw[row[kernel.START] : row[kernel.STOP]].count(b"\n") == 1
        assert raw[: row[kernel.START]].count(b"\n") == row[kernel.LINE]
        text, id_ = texts[w : row[kernel.TEXT_END]].tobytes(), ids[v : row[kernel.ID_END]].tobytes()
        w, v = row[kernel.TEXT_END], row[kernel.ID_END]
        spans = row[kernel.SPANS :]
        fields = [raw[a:b] if a >= 0 else None for a, b in zip(spans[::2], spans[1::2], strict=True)]
        found.append((text.decode("utf-8"), id_, row[kernel.CHARACTERS], fields) if row[kernel.READ] else None)
        assert row[kernel.READ] or not (text + id_ or any(fields))
    return found


def one(row: bytes, wanted: InputFields = InputFields()) -> tuple[str, bytes, int, list[bytes | None]] | None:  # noqa: B008
    (found,) = scan(row + b"\n", wanted)
    return found


def check(row: bytes, wanted: InputFields) -> bool:
    """Whether the kernel reads the row; if so, all that it says must be what json says."""
    found = one(row, wanted)
    if found is None:
        return False
    value = json.loads(row.decode("utf-8"), parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    text = find(value, wanted.text)
    assert found[0] == text
    assert found[2] == len(text)
    id_ = find(value, wanted.id)
    assert json.loads(found[1] or b"null") == id_
    for name, raw in zip(wanted.fields, found[3], strict=True):
        field = find(value, name)
        assert (
            isinstance(field, list | dict) if raw is None and field is not None else json.loads(raw or b"null") == field
        )
    return True


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["text", "id", "a", "b", ""]) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
ROWS = st.dictionaries(
    st.sampled_from(["text", "id", "a", "b", "a.b", "x"]),
    JSON | st.text() | st.dictionaries(st.sampled_from(["a", "b", "text"]), JSON, max_size=2),
    max_size=6,
)
WANTED = st.builds(
    InputFields,
    st.sampled_from(["text", "a.text", "a.b", "x"]),
    st.sampled_from(["id", "b", "a.b", "a.a", "é"]),
    st.lists(st.sampled_from(["a", "b", "x", "a.b", "b.a.b", "x.", "."]), unique=True, max_size=3).map(tuple),
)


@settings(deadline=None)
@given(ROWS, WANTED, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_valid_rows(row: dict[str, object], wanted: InputFields, escaped: bool, indent: int | str | None) -> None:
    raw = json.dumps(row, ensure_ascii=escaped, indent=indent).replace("\n", " ").encode("utf-8", "surrogatepass")
    text, id_ = find(row, wanted.text), find(row, wanted.id)
    usable = isinstance(text, str) and not isinstance(id_, list | dict)
    was_read = check(raw, wanted)
    assert usable or not was_read
    simple = all("\\" not in part for part in (json.dumps(id_), *map(json.dumps, _keys(row))))
    twice = any("." in name and name in row for name in (wanted.text, wanted.id, *wanted.fields))
    if usable and simple and not twice and "\\ud" not in raw.decode("utf-8", "replace"):
        assert was_read


def _keys(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for inner in value.values() for key in _keys(inner))]
    return [key for inner in value for key in _keys(inner)] if isinstance(value, list) else []


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(list(b'{}[]":,\\ \t\r0123456789-+.eEtruefalsnxid\x00\x1f\x7f\xc3\xa9\xed\xa0\x80\xff')),
        max_size=40,
    )
)
@example(list(b'0]:{"text":"x"}'))
def test_arbitrary_bytes_are_read_only_if_they_are_json(middle: list[int]) -> None:
    for row in (b'{"text":"x","id":' + bytes(middle) + b"}", b'{"text":"' + bytes(middle) + b'"}', bytes(middle)):
        found = scan(row + b"\n", InputFields())
        if found and found[0] is not None:
            value = orjson.loads(row)
            assert found[0][0] == value["text"]


@settings(deadline=None)
@given(ROWS, st.integers(0, 200), st.integers(0, 255))
def test_a_changed_byte(row: dict[str, object], place: int, byte: int) -> None:
    raw = bytearray(json.dumps({"text": "some text", **row}, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    raw[place % len(raw)] = byte if byte != 10 else 32
    check(bytes(raw), InputFields("text", "id", ("a", "b")))


INVALID = [
    '01', '-', '+1', '1.', '.5', '1e', '1e+', '0x1', '1_0', 'NaN', 'Infinity', '-Infinity', 'nul', 'nulll',
    'truefalse', 'tru', 'True', '[1,]', '[,1]', '{,}', '{"a"}', '{"a":}', '{"a":1,}', '[', ']', '{', '}', '[}', '{]',
    '"', '"\\x"', '"\\u12g4"', '"\\u123"', '"\\', "'a'", '--1', '1-', '00', '-01', '1e5.0', '1.e5',
]  # fmt: skip


@pytest.mark.parametrize("value", [*INVALID, "", "[1 2]", "1 2", '"\x01"'])
def test_invalid_values_are_left(value: str) -> None:
    for field in ("id", "other"):
        row = f'{{"text":"x","{field}":{value}}}'.encode()
        with pytest.raises(orjson.JSONDecodeError):
            orjson.loads(row)
        assert one(row) is None


@pytest.mark.parametrize("value", ["0", "-0.0", "1e5", "1E+5", "0.5e-7", "12345678901234567890123", "1e999", "true"])
def test_an_id_is_kept_as_it_is_written(value: str) -> None:
    assert one(f'{{"id" : {value} ,"text":""}}'.encode()) == ("", value.encode(), 0, [])


@pytest.mark.parametrize("size", [0, 1, 62, 63, 64, 65, 127, 128, 129, 1000])
@pytest.mark.parametrize("piece", ["a", "é", "中", "😀", "\\n", "\\u4e2d", "\\ud83d\\ude00", '\\"', "\x7f", "a中"])
def test_strings_of_every_length(size: int, piece: str) -> None:
    assert check(f'{{"text":"{"x" * (size % 7)}{piece * size}","id":1}}'.encode(), InputFields())


WRONG = [
    '80', 'c080', 'c1bf', 'c3', 'e08080', 'e09fbf', 'eda080', 'edbfbf', 'f0808080', 'f08fbfbf', 'f4908080',
    'f5808080', 'ff', 'e4b8', 'f09f98',
]  # fmt: skip


@pytest.mark.parametrize("wrong", list(map(bytes.fromhex, WRONG)))
def test_what_is_not_utf8_is_left(wrong: bytes) -> None:
    for field in (b"text", b"other"):
        assert one(b'{"text":"a","' + field + b'x":"b' + wrong + b'"}') is None
        assert one(b'{"text":"a' + wrong + b'z"}') is None


@settings(deadline=None)
@given(st.integers(0x80, 0x10FFFF).filter(lambda point: not 0xD800 <= point < 0xE000))
@example(0x80)
@example(0x7FF)
@example(0x800)
@example(0xD7FF)
@example(0xE000)
@example(0xFFFF)
@example(0x10000)
@example(0x10FFFF)
def test_every_code_point(point: int) -> None:
    assert one(json.dumps({"text": chr(point)}).encode()) == (chr(point), b"", 1, [])
    assert one(json.dumps({"text": chr(point)}, ensure_ascii=False).encode()) == (chr(point), b"", 1, [])


@pytest.mark.parametrize("text", ["\\ud83d", "\\ude00", "\\ud83d\\u0041", "\\ud83dx", "\\ud83d\\ud83d\\ude00"])
def test_half_a_surrogate_pair_is_left(text: str) -> None:
    assert one(f'{{"text":"{text}"}}'.encode()) is None


def test_what_is_special_is_left() -> None:
    assert one(b'{"text":"a","text":"b"}') is None
    assert one(b'{"\\u0074ext":"a"}') is None
    assert one(b'{"text":"a","id":"\\u0041"}') is None
    assert one(b'{"text":"a","id":[1]}') is None
    assert one(b'{"text":"a","id":{}}') is None
    assert one(b'{"text":null}') is None
    assert one(b'{"text":"a","id":-0}') is None
    assert one(b'{"id":1}') is None
    assert one(b'{"a.b":"x","a":{"b":"y"}}', InputFields(text="a.b")) is None
    for second in (b'{"b":"z"}', b'{"c":1}', b"3", b"[]", b'"x"'):
        assert one(b'{"a":{"b":"y"},"a":' + second + b"}", InputFields(text="a.b")) is None
    assert one(b'{"text":"a","deep":' + b"[" * 100 + b"]" * 100 + b"}") is None
    assert one(b'{"text":"a","deep":' + b"[" * 50 + b"]" * 50 + b"}") == ("a", b"", 1, [])


def test_paths() -> None:
    wanted = InputFields("a.text", "a.b.id", ("a.b", "a.c", "d"))
    row = b'{"d":[{"a":{"text":"no"}}],"a":{"b":{"id":"7","text":"no"},"x":[{"text":"no"}],"text":"yes","c":-1.50}}'
    assert one(row, wanted) == ("yes", b'"7"', 3, [None, b"-1.50", None])
    assert one(b'{"text":"no","a":{"a":{"text":"no"}}}', wanted) is None
    assert one(b'{"a":[{"text":"no"}]}', wanted) is None


def test_rows_do_not_touch_each_other() -> None:
    raw = b'\n{"text":"one","id":1}\n \t\r\nbroken\n'
    raw += b'{"text":"two" , "id":"2"}\r\n{"id":3,"text":3}\n{"text":"","id":null}\n'
    assert scan(raw, InputFields()) == [("one", b"1", 3, []), None, ("two", b'"2"', 3, []), None, ("", b"", 0, [])]
    assert scan(b"", InputFields()) == []
    assert scan(b"\n\n", InputFields()) == []
