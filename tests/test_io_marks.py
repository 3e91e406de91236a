"""Labels that people make: nothing is lost, nothing half there, and other readers take the file."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from cascade.errors import InputError, OutputError
from cascade.io.labels import DUPLICATE, NOT, UNSURE, read_labels
from cascade.io.marks import LABELS, change_marks, mark, read_marks

TIME = "2026-12-01T00:00:00+00:00"


def add(path, *marks):
    return change_marks(path, lambda before: [*before, *marks])


def test_marks_are_read_back_and_serve_as_labels(tmp_path):
    path = tmp_path / "labels.jsonl"
    assert read_marks(path) == []
    ids = [b"3", b'"3"', '"é漢"'.encode(), b"1180591620717411303424", b"1.50", b'["x",1]']
    made = [mark(ids[i], ids[i + 1], label, TIME) for i, label in enumerate([*LABELS, "not", "duplicate"])]
    add(path, *made)
    assert read_marks(path) == made
    assert json.loads(path.read_bytes().split(b"\n")[1]) == {"a": "3", "b": "é漢", "label": "not", "time": TIME}
    labels = read_labels(path)
    assert labels.ids == ids
    assert labels.label.tolist() == [DUPLICATE, NOT, UNSURE, NOT, DUPLICATE]
    assert made[0].pair == mark(ids[1], ids[0], "not", TIME).pair


def test_rows_of_others_stay_as_they_are(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b'{"a": 1, "b": 2, "label": 1, "who": "me"}\r\n\n{"label":"NOT","b":1e2,"a":0.10}')
    before = read_marks(path)
    assert [(m.a, m.b, m.label) for m in before] == [(b"1", b"2", "duplicate"), (b"0.10", b"1e2", "not")]
    add(path, mark(b"5", b"6", "unsure", TIME))
    assert path.read_bytes().split(b"\n")[:2] == [
        b'{"a": 1, "b": 2, "label": 1, "who": "me"}', b'{"label":"NOT","b":1e2,"a":0.10}',
    ]  # fmt: skip
    assert len(read_marks(path)) == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"{", ":2: not JSON"),
        (b"[1]", ":2: expected a label"),
        (b'{"a": 1, "b": 2}', ":2: expected a label"),
        (b'{"a": 1, "b": 2, "label": "maybe"}', ":2: label is 'maybe'; expected one of duplicate, not, unsure"),
        (b"\xff", ":2: not UTF-8"),
    ],
)
def test_what_is_no_label_is_told_and_left_alone(tmp_path, row, message):
    path = tmp_path / "labels.jsonl"
    good = b'{"a": 1, "b": 2, "label": "not"}\n'
    path.write_bytes(good + row)
    with pytest.raises(InputError) as raised:
        add(path, mark(b"5", b"6", "unsure", TIME))
    assert message in str(raised.value)
    assert path.read_bytes() == good + row


def test_many_at_once_lose_nothing(tmp_path):
    path = tmp_path / "labels.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: add(path, mark(str(i).encode(), b'"x"', "not", TIME)), range(60)))
    assert {m.a for m in read_marks(path)} == {str(i).encode() for i in range(60)}
    assert [p.name for p in tmp_path.iterdir()] == ["labels.jsonl"]


def test_a_change_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "labels.jsonl"
    add(path, mark(b"1", b"2", "not", TIME))
    with pytest.raises(ZeroDivisionError):
        change_marks(path, lambda marks: 1 / 0)
    assert len(read_marks(path)) == 1
    with pytest.raises(InputError, match="cannot be read"):
        add(tmp_path / "nowhere" / "labels.jsonl", mark(b"1", b"2", "not", TIME))
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises((InputError, OutputError)):
        add(tmp_path / "folder.jsonl", mark(b"1", b"2", "not", TIME))
