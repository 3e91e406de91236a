"""A handful of rows or texts is done without kernels, which a first run would have to compile: the same comes out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cascade.io import jsonl
from cascade.io.documents import DocumentBatch, InputFields
from cascade.io.read import find_inputs, read_documents
from cascade.text import normalize
from cascade.text.buffer import TextBuffer

ROWS = b"""\
{"text":"a","id":1,"n":3}

  \t
{"id":[1],"text":"b"}
{"text":"c\\ud800","id":"\\u0041","n":1e400}
broken
{"text":4}
{"text":"d","n":{"a":1}}"""


def read(path: Path) -> DocumentBatch:
    (batch,) = read_documents(find_inputs([path])[0], InputFields(fields=("n",)))
    return batch


def test_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(ROWS)
    compiled = read(path)
    monkeypatch.setattr(jsonl, "SMALL", len(ROWS) + 1)
    small = read(path)
    assert small.texts.to_list() == compiled.texts.to_list() == ["a", "b", "c\ufffd", "d"]
    assert small.ids.to_list() == compiled.ids.to_list()
    assert (small.fields, small.rejected) == (compiled.fields, compiled.rejected)
    for name in ("line", "start", "stop", "characters"):
        assert np.array_equal(getattr(small, name), getattr(compiled, name))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text()))
def test_texts(monkeypatch: pytest.MonkeyPatch, texts: list[str]) -> None:
    buffer = TextBuffer.from_strings(texts)
    compiled = normalize.normalize_texts(buffer).to_list()
    with monkeypatch.context() as patch:
        patch.setattr(normalize, "SMALL", buffer.size)
        assert normalize.normalize_texts(buffer).to_list() == compiled


def test_a_small_run_loads_no_kernel_for_reading(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "Some words of a text, Ωμέγα."}) + "\n", "utf-8")
    script = """
        import sys
        from cascade.config import load_config
        from cascade.run import read_corpus
        from cascade.io.read import find_inputs
        corpus, _ = read_corpus(find_inputs(["a.jsonl"]), load_config("default"))
        from cascade.kernels import jsonrows, normalize
        assert corpus.texts.to_list() == ["some words of a text, ωμέγα."]
        assert not jsonrows.scan_rows.signatures and not normalize.normalize_texts.signatures
    """
    code = "\n".join(line[8:] for line in script.splitlines())
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
