"""Files of labels: what they may hold, how ids are matched, and what every mistake is called."""

from __future__ import annotations

import csv
import gzip
import io
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import InputError, dedupe
from cascade.evaluate import labelled
from cascade.evaluate.identify import find_ids
from cascade.evaluate.labelled import labelled_truth
from cascade.io.labels import read_labels

IDS = ["a", "b", 3, "3", "ü 數", 2**70, True, 1.50, "d", '"', [1, "x"], None]


def corpus(ids=IDS):
    return dedupe([{"id": i, "text": f"t{n}"} for n, i in enumerate(ids)], {"stages": []}).corpus


def save(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def jsonl(path: Path, *rows) -> Path:
    return save(path / "l.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def pairs_of(truth):
    return list(zip(truth.left.tolist(), truth.right.tolist(), strict=True))


def refuted_of(truth):
    return list(zip(*(r.tolist() for r in truth.refuted), strict=True))


def test_pairs_without_labels(tmp_path):
    truth = labelled_truth(jsonl(tmp_path, {"a": "b", "b": "a"}, {"a": "a", "b": "b"}, {"a": 3, "b": "3"}), corpus())
    assert pairs_of(truth) == [(0, 1), (2, 3)]
    assert truth.refuted is None
    assert truth.similarity is None
    assert truth.sampled is None
    assert truth.twin_of.tolist() == list(range(12))
    assert truth.documents == 12
    assert truth.source == str(tmp_path / "l.jsonl")


@pytest.mark.parametrize(
    ("yes", "no", "unknown"),
    [
        (1, 0, None), (1.0, 0.0, ""), (True, False, "unsure"), ("1", "0", "Unsure"), ("true", "false", None),
        ("duplicate", "not", "unsure"), (" DUPLICATE ", "Not duplicate", " "),
    ],
)  # fmt: skip
def test_labels(tmp_path, yes, no, unknown):
    rows = [("a", "b", yes), ("d", "b", no), ("d", "a", unknown)]
    truth = labelled_truth(jsonl(tmp_path, *({"a": a, "b": b, "label": x} for a, b, x in rows)), corpus())
    assert (pairs_of(truth), refuted_of(truth)) == ([(0, 1)], [(1, 8)])
    lines = "".join(f"{a},{b},{'' if x is None else x}\n" for a, b, x in rows)
    again = labelled_truth(save(tmp_path / "l.csv", "a,b,label\n" + lines), corpus())
    assert (pairs_of(again), refuted_of(again)) == ([(0, 1)], [(1, 8)])


def test_labels_may_all_say_no(tmp_path):
    truth = labelled_truth(jsonl(tmp_path, {"a": "a", "b": "b", "label": 0}), corpus())
    assert (pairs_of(truth), refuted_of(truth)) == ([], [(0, 1)])
    truth = labelled_truth(jsonl(tmp_path, {"a": "a", "b": "b", "label": None}), corpus())
    assert (pairs_of(truth), refuted_of(truth)) == ([], [])


def test_scores_come_along_if_all_pairs_have_one(tmp_path):
    rows = [{"a": "b", "b": "d", "jaccard": 0.7}, {"a": "a", "b": "b", "similarity": 1}]
    assert labelled_truth(jsonl(tmp_path, *rows), corpus()).similarity.tolist() == [1.0, 0.7]
    assert labelled_truth(jsonl(tmp_path, *rows, {"a": "a", "b": "d"}), corpus()).similarity is None
    path = save(tmp_path / "l.csv", "a,b,jaccard,note\nb,d,0.7,x\na,b,1,\n")
    assert labelled_truth(path, corpus()).similarity.tolist() == [1.0, 0.7]


def test_twins_and_a_sample(tmp_path):
    rows = [{"sampled": ["d", "b"]}, {"twins": ["3", "b", "d"]}, {"a": "a", "b": "d"}, {"a": "3", "b": "a"}]
    truth = labelled_truth(jsonl(tmp_path, *rows), corpus())
    assert truth.twin_of.tolist() == [0, 1, 2, 1, 4, 5, 6, 7, 1, 9, 10, 11]
    assert pairs_of(truth) == [(0, 1)]
    assert truth.sampled.tolist() == [1]
    # A pair of twins says nothing new.
    assert pairs_of(labelled_truth(jsonl(tmp_path, *rows[1:], {"a": "b", "b": "d"}), corpus())) == [(0, 1)]


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=12))
def test_clusters_are_all_pairs_within(tmp_path_factory, labels):
    folder = tmp_path_factory.mktemp("clusters")
    ids = IDS[: len(labels)]
    expected = [(i, j) for i, j in combinations(range(len(ids)), 2) if labels[i] == labels[j]]
    rows = [{"id": i, "cluster": label} for i, label in zip(ids, labels, strict=True) if i is not None]
    kept = [n for n, i in enumerate(ids) if i is not None]
    truth = labelled_truth(jsonl(folder, *reversed(rows)), corpus())
    assert pairs_of(truth) == [pair for pair in expected if set(pair) <= set(kept)]
    assert truth.refuted is None


def test_clusters_may_have_any_name_and_leave_documents_out(tmp_path):
    rows = [{"id": i, "cluster": c} for i, c in (("a", 1), ("b", "1"), (3, "1"), ("3", None), ("d", None))]
    assert pairs_of(labelled_truth(jsonl(tmp_path, *rows), corpus())) == [(1, 2), (3, 8)]
    path = save(tmp_path / "l.csv", "cluster,id\nx,a\ny,b\nx,d\n")
    assert pairs_of(labelled_truth(path, corpus())) == [(0, 8)]


def test_clusters_too_large_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(labelled, "MOST_PAIRS", 3)
    rows = [{"id": i, "cluster": c} for i, c in (("a", 0), ("b", 0), (3, 0), ("3", 1))]
    assert len(labelled_truth(jsonl(tmp_path, *rows), corpus()).left) == 3
    with pytest.raises(InputError, match=r"l\.jsonl: its clusters, of up to 3 documents, make 4 pairs, over 3; write"):
        labelled_truth(jsonl(tmp_path, *rows, {"id": "d", "cluster": 1}), corpus())


def test_ids_are_json_texts(tmp_path):
    rows = [{"a": 3, "b": "3"}, {"a": "ü 數", "b": 2**70}, {"a": True, "b": 1.5}, {"a": '"', "b": [1, "x"]}]
    expected = [(2, 3), (4, 5), (6, 7), (9, 10)]
    assert pairs_of(labelled_truth(jsonl(tmp_path, *rows), corpus())) == expected
    unescaped = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    assert pairs_of(labelled_truth(save(tmp_path / "u.ndjson", "\ufeff" + unescaped), corpus())) == expected
    packed = save(tmp_path / "p.jsonl.gz", gzip.compress(unescaped.encode()))
    assert pairs_of(labelled_truth(packed, corpus())) == expected
    with pytest.raises(InputError, match=r"l\.jsonl:1: no document of the input has the id 3\.0; labels must"):
        labelled_truth(save(tmp_path / "l.jsonl", '{"a": 3.0, "b": "3"}\n'), corpus())


def test_ids_that_the_file_leaves_out_are_file_and_line(tmp_path):
    path = save(tmp_path / "in.jsonl", '{"text": "x"}\n{"text": "y"}\n')
    labels = jsonl(tmp_path, {"a": f"{path}:1", "b": f"{path}:2"})
    assert pairs_of(labelled_truth(labels, dedupe(path, {"stages": []}).corpus)) == [(0, 1)]


def test_a_csv_cell_is_a_string_or_a_number(tmp_path):
    ids = ["a", 4, "5", True, "tr,ue", '6"', -1.5, "ü"]
    content = io.StringIO()
    csv.writer(content).writerows([["a", "b"], ["a", "4"], ["5", "true"], ["tr,ue", '6"'], ["-1.5", "ü"]])
    path = save(tmp_path / "l.csv", "\ufeff" + content.getvalue())
    assert pairs_of(labelled_truth(path, corpus(ids))) == [(0, 1), (2, 3), (4, 5), (6, 7)]
    with pytest.raises(InputError) as caught:
        labelled_truth(save(tmp_path / "l.csv", "a,b\r\n\r\na,3\r\n"), corpus())
    assert str(caught.value) == (
        f"{tmp_path}/l.csv:3: more than one document of the input has the id 3 (the documents 3 and 4 of the input); "
        "labels must be about ids of this input, each of one document (input.id names the field of the ids)"
    )


def test_finding_ids():
    ids = [b'"a"', b"3", b'"nothing"', b'[ 1,"x"]']
    assert [r.tolist() for r in find_ids(ids, corpus(["a", 3, 3, 3, [1, "x"]]))] == [[0, 1, -1, 4], [-1, 2, -1, -1]]
    assert [r.tolist() for r in find_ids([b'"a"', b"a"], corpus(['"a"', "a"]), as_text=True)] == [[0, 1], [-1, -1]]
    assert [r.tolist() for r in find_ids([], corpus([]))] == [[], []]
    many = corpus(list(range(70_000)))
    assert find_ids([b"69999", b"65536", b"0"], many)[0].tolist() == [69999, 65536, 0]


def test_several_unknown_ids_are_counted(tmp_path):
    with pytest.raises(InputError, match=r'l\.jsonl:2: no .* has the id "p"; so it is with 2 more ids; labels must'):
        labelled_truth(jsonl(tmp_path, {"a": "a", "b": "b"}, {"a": "p", "b": "q"}, {"a": "p", "b": "r"}), corpus())
    with pytest.raises(InputError, match=r'l\.jsonl:1: more than one .* id "a" \(the documents 1 and 3 of the input\)'):
        labelled_truth(jsonl(tmp_path, {"a": "a", "b": "b"}), corpus(["a", "b", "a"]))
    # Ids that nobody asks for may be repeated.
    assert pairs_of(labelled_truth(jsonl(tmp_path, {"a": "a", "b": "b"}), corpus(["a", "c", "b", "c"]))) == [(0, 2)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (['{"a": "a"}'], ":1: expected pairs {\"a\", \"b\"[, \"label\"]}, twins {\"twins\": [id, …]}, or members of "
                         "clusters {\"id\", \"cluster\"}; found the fields a"),
        (["[1]"], ":1: expected an object, one of pairs {\"a\", \"b\"[, \"label\"]}, twins {\"twins\": [id, …]}, or "
                  "members of clusters {\"id\", \"cluster\"}; found an array"),
        (["", '{"a": 1, '],
         ":2: not JSON: Expecting property name enclosed in double quotes at character 10 of the row"),
        (['{"a": "a", "b": null}'], ":1: b is null; give an id"),
        (['{"a": "a", "b": "a"}'], ":1: a and b are the same document; a pair has two"),
        (['{"a": "a", "b": "b", "label": "yes"}'],
         ":1: label is 'yes'; expected 1, true or duplicate; 0, false or not; unsure"),
        (['{"a": "a", "b": "b", "label": [1]}'],
         ":1: label is '[1]'; expected 1, true or duplicate; 0, false or not; unsure"),
        (['{"a": "a", "b": "b", "label": 1}', '{"a": "a", "b": "d"}'],
         ":2: some rows have a label and some have none; give every pair one, or none"),
        (['{"a": "a", "b": "b"}', '{"a": "a", "b": "d", "label": 1}'],
         ":2: some rows have a label and some have none; give every pair one, or none"),
        (['{"a": "a", "b": "b", "label": 1}', '{"a": "d", "b": "b", "label": 1}', '{"a": "b", "b": "a", "label": 0}'],
         ":3: the pair is labelled otherwise than in line 1; leave one of the two"),
        (['{"twins": ["a", "b"]}', '{"a": "a", "b": "b", "label": 0}'],
         ":2: the pair is labelled as no duplicate and listed as twins"),
        (['{"twins": ["a", "b"]}', '{"twins": ["b", "d"]}'], ":2: the id \"b\" is already a twin in line 1"),
        (['{"twins": "a"}'], ":1: twins must be a list of ids, is a string"),
        (['{"sampled": {"a": 1}}'], ":1: sampled must be a list of ids, is an object"),
        (['{"sampled": ["a"]}', '{"a": "a", "b": "b", "label": 1}'],
         ":2: a sample holds all duplicate pairs of its documents, so it has no labels"),
        (['{"id": "a", "cluster": 1}', '{"id": "a", "cluster": 2}'],
         ":2: the id \"a\" is in line 1 already; a document is in one cluster"),
        (['{"id": "a", "cluster": 1}', '{"a": "a", "b": "b"}'],
         ":2: a file holds either pairs or members of clusters; this one mixes them"),
        (['{"a": "a", "b": "b", "jaccard": "high"}'], ":1: jaccard is 'high'; expected a number"),
        (['{"a": "a\\u001b[2J", "b": "b"}'],
         ":1: no document of the input has the id \"a\\u001b[2J\"; labels must be about ids of this input, each of one "
         "document (input.id names the field of the ids)"),
    ],
)  # fmt: skip
def test_mistakes_in_json_lines(tmp_path, rows, message):
    path = save(tmp_path / "l.jsonl", "\n".join(rows))
    with pytest.raises(InputError) as caught:
        labelled_truth(path, corpus())
    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n", ":1: the header must name a,b[,label] or id,cluster; it has x, y"),
        ("a;b\n", ":1: the header must name a,b[,label] or id,cluster; it has a;b"),
        ("a,b\na\n", ":2: expected 2 cells as in the header, found 1"),
        ("a,b\n\na,b,d\n", ":3: expected 2 cells as in the header, found 3"),
        ("a,b\na,\n", ":2: b is empty; give an id"),
        ("a,b,label\na,b,maybe\n", ":2: label is 'maybe'; expected 1, true or duplicate; 0, false or not; unsure"),
        ('a,b\n"a"x,b\n', ":2: not CSV: ',' expected after '\"'"),
        ('a,b\n"a,b\n', ":2: not CSV: unexpected end of data"),
        (b"a,b\n\xff,b\n", ": not UTF-8; save it as UTF-8"),
    ],
)
def test_mistakes_in_csv(tmp_path, content, message):
    path = save(tmp_path / "l.csv", content)
    with pytest.raises(InputError) as caught:
        labelled_truth(path, corpus())
    assert str(caught.value) == f"{path}{message}"


def test_mistakes_about_the_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl: there is no such file"):
        read_labels(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match=r"none\.csv: cannot be read: No such file"):
        read_labels(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder; name one file of labels"):
        read_labels(tmp_path)
    for name in ("l.parquet", "l.txt", "l", "l.csv.gz"):
        with pytest.raises(InputError, match=r"unknown kind of file; labels come as \*\.jsonl"):
            read_labels(save(tmp_path / name, ""))
    with pytest.raises(InputError, match="not UTF-8: byte 0xff"):
        read_labels(save(tmp_path / "l.jsonl", b'{"a": "\xff", "b": 1}'))


@pytest.mark.parametrize("name", ["l.jsonl", "l.csv"])
def test_an_empty_file_has_no_pairs(tmp_path, name):
    truth = labelled_truth(save(tmp_path / name, ""), corpus())
    assert (pairs_of(truth), truth.refuted, truth.documents) == ([], None, 12)
    assert labelled_truth(save(tmp_path / "h.csv", "a,b,label\n"), corpus([])).documents == 0


def test_what_a_run_writes_is_truth(tmp_path):
    """clusters.jsonl and pairs.jsonl of an output folder."""
    texts = ["a b c d e f", "a b c d e f g", "x", "a b c d e f", "a b c d e"]
    rows = [{"id": i, "text": t} for i, t in enumerate(texts)]
    path = jsonl(tmp_path, *rows)
    import cascade

    config = {
        "shingle": {"n": 1},
        "stages": [{"use": "jaccard", "min_jaccard": 0.8}],
        "resolve": {"pairs": "all", "clusters": "components"},
    }
    cascade.run_files(cascade.load_config(config), [path], tmp_path / "out")
    found = cascade.dedupe(path, config)
    clusters = labelled_truth(tmp_path / "out/clusters.jsonl", found.corpus)
    assert pairs_of(clusters) == list(combinations((0, 1, 3, 4), 2))
    pairs = labelled_truth(tmp_path / "out/pairs.jsonl", found.corpus)
    assert pairs_of(pairs) == [(0, 1), (0, 4)]
    assert pairs.similarity is None
    assert isinstance(pairs.left, np.ndarray)
