"""Texts read again from their places in files: the same texts, or an error."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import InputError, load_config
from cascade import run as module
from cascade.early import early_columns
from cascade.io import again, jsonl
from cascade.io.again import TextsAgain
from cascade.io.sources import find_inputs
from cascade.memory import Memory
from cascade.run import read_corpus

CONFIG = load_config("default")


def corpora(paths: list[Path], config=CONFIG):
    """The corpus with its texts held, and the one that reads them again."""
    held, _ = read_corpus(find_inputs(paths), config)
    with mock.patch.multiple(module, HELD=0, HELD_EACH=0, HELD_SHARE=0):
        other, _ = read_corpus(find_inputs(paths), config, early=early_columns(config, Memory()))
    assert isinstance(other.texts, TextsAgain)
    return held, other


texts = st.text(st.sampled_from('ab ."\\\n\té\u0301数ﬁ\U0001f600\u2028'), max_size=30)
rows = st.one_of(
    st.builds(lambda text: json.dumps({"id": 1, "text": text}), texts),
    st.builds(lambda text: json.dumps({"text": text, "more": [1, {"text": "no"}]}, ensure_ascii=False), texts),
    st.builds(lambda text: json.dumps({"text": "x", "a": text}).replace('"x"', '"x" , "text": "y"'), texts),
    st.sampled_from(["", "  ", "no json", '{"text": 3}', '{"text": "\\ud800"}', '{"id": "c"}', "\t", '{"text": ""}\r']),
)  # fmt: skip


@given(
    contents=st.lists(st.lists(rows, min_size=1, max_size=12), min_size=1, max_size=3),
    end=st.sampled_from(["", "\n", "\n\n"]),
    bom=st.booleans(),
    gap=st.sampled_from([0, 20, 1 << 20]),
    data=st.data(),
)
@settings(deadline=None, max_examples=150)
def test_any_rows_in_any_order(tmp_path_factory, contents, end, bom, gap, data):
    folder = tmp_path_factory.mktemp("again")
    paths = []
    for i, lines in enumerate([*contents, ['{"text": "one that is there"}']]):
        path = folder / f"{i}.jsonl"
        path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + ("\n".join(lines) + end).encode("utf-8", "surrogatepass"))
        paths.append(path)
    with mock.patch.object(jsonl, "BATCH", 64), mock.patch.object(again, "GAP", gap):
        held, other = corpora(paths)
        assert len(other.texts) == len(held.texts)
        assert other.texts.sizes().tolist() == held.texts.sizes().tolist()
        some = data.draw(st.lists(st.integers(0, len(held) - 1), max_size=20))
        wanted = np.array(some, np.int64)
        assert other.texts.take(wanted).to_list() == held.texts.take(wanted).to_list()
        assert other.texts.sizes(wanted).tolist() == held.texts.sizes(wanted).tolist()
        right = np.array(data.draw(st.permutations(some)), np.int64)
        expected = [held.texts[a] == held.texts[b] for a, b in zip(wanted.tolist(), right.tolist(), strict=True)]
        assert other.texts.same(wanted, right).tolist() == held.texts.same(wanted, right).tolist() == expected
        assert [other.texts[row] for row in some] == [held.texts[row] for row in some]


@pytest.mark.parametrize("fields", [{"text": "a.b", "id": "id"}, {"text": "text", "id": "k.id"}])
def test_fields_are_those_of_the_config(tmp_path, fields):
    path = tmp_path / "in.jsonl"
    row = {"text": "A  Text", "a": {"b": "Another"}, "k": {"id": 7}}
    path.write_text(json.dumps(row) + "\n")
    held, other = corpora([path], load_config({"input": fields, "stages": [{"use": "minhash"}]}))
    assert other.texts.take(np.array([0])).to_list() == held.texts.to_list()


def again_from(path: Path) -> partial:
    _, corpus = corpora([path])
    return partial(corpus.texts.take, np.arange(len(corpus)))


def test_a_file_that_has_changed_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two"}\n')
    ask = again_from(path)
    with path.open("a") as file:
        file.write('{"text": "three"}\n')
    with pytest.raises(InputError, match=re.escape(f"{path}: changed while it was being read")):
        ask()


@pytest.mark.parametrize(
    "row", ['{"text": "on" }', '{"text": one}  ', "               ", '{"text": "o"}\n\n', "\n" * 15]
)
def test_a_change_that_leaves_size_and_time_as_they_were_is_noticed_where_it_tells(tmp_path, row):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two"}\n')
    ask, before = again_from(path), path.stat()
    path.write_text(f'{row[:15]}\n{{"text": "two"}}\n')
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(InputError, match="rows are not what they were when they were first read; run again"):
        ask()


@pytest.mark.parametrize("at_once", [1, 100, 1 << 20])
@pytest.mark.parametrize("gap", [0, 1 << 15])
def test_rows_far_longer_than_their_texts_are_read_some_at_a_time(tmp_path, gap, at_once):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"html": "x" * (i % 7 * 50), "text": f"text {i}"}) + "\n" for i in range(60)))
    held, other = corpora([path])
    rows = np.array([3, 4, 5, 20, 22, 59, 0])
    asked = []

    def noted(source, start, stop):
        apart = start[1:] - stop[:-1]
        asked.append((len(start), int((stop - start).sum() + apart[apart <= gap].sum())))
        return read(source, start, stop)

    read = again._rows
    with mock.patch.multiple(again, GAP=gap, AT_ONCE=at_once, _rows=noted):
        assert other.texts.take(rows).to_list() == held.texts.take(rows).to_list()
    assert sum(number for number, _ in asked) == len(rows)
    assert all(number == 1 or size <= at_once for number, size in asked)


def test_texts_that_are_a_small_part_of_their_rows_are_held(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"html": "x" * 500, "text": f"text {i}"}) + "\n" for i in range(60)))
    with mock.patch.multiple(module, HELD=0, HELD_EACH=0):
        held, _ = read_corpus(find_inputs([path]), CONFIG, early=early_columns(CONFIG, Memory()))
    assert not isinstance(held.texts, TextsAgain)


def test_a_file_that_is_gone_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "one"}\n')
    ask = again_from(path)
    path.unlink()
    with pytest.raises(InputError, match=re.escape(f"{path}: cannot be read: No such file")):
        ask()


def test_a_file_that_ends_before_its_rows(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "one"}\n')
    (source,) = find_inputs([path])
    with pytest.raises(InputError, match="is shorter than it was when its rows were read; run again"):
        again._rows(source, np.array([0]), np.array([100]))


def test_no_rows_are_no_texts(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "one"}\n')
    _, corpus = corpora([path])
    assert corpus.texts.take(np.zeros(0, np.int64)).to_list() == []
    assert corpus.texts.same(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
