"""Each tripwire at its limit: what trips, what does not, what is not known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_report_run import rows_of, run, write_rows

from cascade.config import load_config
from cascade.report.decisions import Decisions
from cascade.report.originals import Group, Originals
from cascade.report.run import read_run
from cascade.report.similarity import measure_of
from cascade.report.tripwires import (
    close_wire,
    cluster_wire,
    field_wire,
    recall_wire,
    short_wire,
    tripwires,
)

CONFIG = load_config({"stages": ["minhash", {"use": "jaccard", "min_jaccard": 0.8}]})


def originals(**changed):
    values = {"texts": {}, "found": {}, "fields": {}, "lacking": (), "short": 0, "documents": 100, "problems": ()}
    return Originals(**{**values, **changed})


def decisions(scores, exact=0):
    """Near removals with these Jaccard scores, and some exact ones."""
    n = len(scores) + exact
    at = np.stack([np.zeros(n, np.int64), np.arange(n)], axis=1)
    column = np.array([*scores, *[np.nan] * exact])
    exactly = np.arange(n) >= len(scores)
    return Decisions(None, {}, at, at, exactly, np.zeros(n, bool), {"jaccard": column})


@pytest.mark.parametrize(
    ("sizes", "documents", "state"),
    [([], 10, "fine"), ([5, 2], 100, "fine"), ([6, 2], 100, "tripped"), ([51], 1000, "tripped"), ([50], 1000, "fine")],
)
def test_one_cluster(sizes, documents, state):
    wire = cluster_wire(sizes, documents)
    assert wire.state == state
    if sizes:
        assert f"{sizes[0]} of {documents:,} documents" in wire.told


def test_one_source():
    def wire(groups, **changed):
        return field_wire({"source": groups}, originals(**changed))

    assert wire([Group("a", 10, 9), Group("b", 100, 90), Group("c", 9, 9)]).state == "fine"
    tripped = wire([Group("a", 10, 10), Group("b", 100, 91), Group("c", 1000, 20)])
    assert tripped.state == "tripped"
    assert tripped.told == (
        "source a lost 10 of 10 documents, 100 %; source b lost 91 of 100 documents, 91 % "
        "(limit 90 %, of 10 documents or more)."
    )
    assert wire([Group(str(i), 20, 20) for i in range(5)]).told.count(" lost ") == 3
    assert "and 2 more" in wire([Group(str(i), 20, 20) for i in range(5)]).told
    assert wire([]).state == "unknown"
    assert "--by FIELD" in wire([]).told
    assert "could not be read" in wire([], problems=("gone",), documents=0).told


def test_short_documents():
    assert short_wire(originals(short=20), CONFIG).state == "fine"
    assert short_wire(originals(short=21), CONFIG).state == "tripped"
    assert "fewer than the 5 tokens" in short_wire(originals(short=21), CONFIG).told
    assert short_wire(originals(short=None), CONFIG).state == "unknown"
    assert short_wire(originals(documents=0), CONFIG).state == "unknown"


def test_recall():
    def wire(*recalls, config=CONFIG):
        return recall_wire([{"name": f"s{i}", "predicted_recall": r} for i, r in enumerate(recalls)], config)

    assert wire(0.95, 0.95).state == "fine"
    assert wire(0.94, 0.95).state == "tripped"
    assert "is 89.3 % (limit 90 %)" in wire(0.94, 0.95).told
    assert wire(0.94, None).state == "fine"
    assert "without s1, of which no model tells" in wire(0.94, None).told
    assert wire(None).state == "unknown"
    assert wire().state == "fine"
    assert wire(0.5, config=load_config({"stages": ["minhash"]})).state == "unknown"


def test_close_calls():
    def wire(close, far, exact=0):
        return close_wire(decisions([0.82] * close + [0.821] * far, exact), measure_of(CONFIG))

    assert wire(20, 80).state == "fine"
    assert wire(21, 79).state == "tripped"
    assert wire(21, 79, exact=500).state == "tripped"
    assert wire(19, 0).state == "fine"
    assert "21 of 100 near removals, 21 %, have a Jaccard similarity within 0.02 of 0.8" in wire(21, 79).told
    assert wire(0, 0, exact=3).told == "No near-duplicate was removed."
    assert close_wire(decisions([0.8] * 50), None).state == "unknown"
    assert close_wire(decisions([3.0] * 50), measure_of(load_config({"stages": ["minhash"]}))).state == "unknown"


def test_a_run_that_trips_them_all(tmp_path):
    rows = [
        {"id": i, "text": f"{'a b c d e f g h i j k l m n o p q r s t'} {i % 2}", "source": "mirror"} for i in range(60)
    ]
    rows += [{"id": 100 + i, "text": f"{i} {i * i}", "source": "own"} for i in range(40)]
    write_rows(tmp_path / "f.jsonl", rows)
    config = {"stages": [{"use": "minhash", "bands": 1, "rows_per_band": 4}, {"use": "jaccard", "min_jaccard": 0.88}]}
    out = run(tmp_path, config=config, inputs=[tmp_path / "f.jsonl"])
    assert len(rows_of(out / "removed.jsonl")) > 55
    found = read_run(out)
    wires = tripwires(json.loads((out / "report.json").read_text()), found.config, found.decisions, found.originals,
                      found.measure)  # fmt: skip
    assert {wire.state for wire in wires} == {"tripped"}
    assert len(wires) == 5
    assert any("source mirror lost" in wire.told for wire in wires)


def test_those_that_tripped_come_first(tmp_path):
    write_rows(tmp_path / "f.jsonl", [{"id": i, "text": "x y"} for i in range(3)])
    out = run(tmp_path, inputs=[tmp_path / "f.jsonl"])
    found = read_run(out)
    wires = tripwires(found.report, found.config, found.decisions, found.originals, found.measure)
    assert [wire.state for wire in wires] == ["tripped", "unknown", "fine", "fine", "fine"]


def test_an_input_file_is_a_source(tmp_path):
    text = "the quick brown fox jumps over the lazy dog"
    write_rows(tmp_path / "a.jsonl", [{"id": i, "text": f"{text} {i}"} for i in range(2)])
    write_rows(tmp_path / "b.jsonl", [{"id": i, "text": f"{text} {i % 2}"} for i in range(12)])
    out = run(tmp_path, inputs=[tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    found = read_run(out)
    told = [w.told for w in tripwires(found.report, found.config, found.decisions, found.originals, found.measure)]
    assert any(f"input file {tmp_path / 'b.jsonl'} lost 12 of 12 documents, 100 %" in each for each in told)
