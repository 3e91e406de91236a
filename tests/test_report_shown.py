"""What the page of a run shows, as people read it: the key of what is drawn, texts cut, no field that nobody has."""

from __future__ import annotations

import html
import json
import re

import pytest

from cascade.config import load_config
from cascade.errors import InputError
from cascade.report.run_page import EXCERPT_OF_PAIR, write_report_page
from cascade.run import run_files

pytest.importorskip("jinja2")

WORDS = " ".join(f"w{i}" for i in range(900))
MINHASH = {"use": "minhash", "bands": 30, "rows_per_band": 2}
JACCARD = {"use": "jaccard", "min_jaccard": 0.2}


def page(tmp_path, config, by=()):
    """The page, of two long texts that differ in every tenth word, as text without elements."""
    others = " ".join("x" if i % 10 == 3 else word for i, word in enumerate(WORDS.split()))
    rows = [{"id": i, "text": text, "lang": lang} for i, (text, lang) in enumerate([(WORDS, "a"), (others, "b")])]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_files(load_config({"shingle": {"n": 1}, **config}), [tmp_path / "in.jsonl"], tmp_path / "out")
    return write_report_page(tmp_path / "out", by=by).read_text("utf-8")


def key(text):
    found = re.search(r'<ul class="key">(.*?)</ul>', text)
    return re.findall(r"</span>(.*?)</li>", found[1])


@pytest.mark.parametrize(
    ("stages", "drawn"),
    [
        ([MINHASH, JACCARD], ["the whole plan", "sketches alone (dashed)", "similarities found"]),
        ([JACCARD], ["the whole plan", "similarities found"]),
        ([MINHASH], ["the whole plan"]),
        ([MINHASH, {"use": "edit_distance", "min_similarity": 0.3}], ["the whole plan"]),
    ],
)
def test_the_key_names_what_is_drawn_and_nothing_else(tmp_path, stages, drawn):
    text = page(tmp_path, {"stages": stages})
    assert key(text) == drawn
    lines = [re.sub(r" \(dashed\)$", "", name) for name in drawn if name != "similarities found"]
    assert text.count("<polyline") == len(lines)
    assert ('<g class="back">' in text) == ("similarities found" in drawn)


def test_texts_of_a_pair_are_cut_and_the_rest_is_counted(tmp_path):
    text = page(tmp_path, {"stages": [JACCARD]})
    pair = re.search(r'<details class="pair.*?</details>', text, re.S)[0]
    sides = re.findall(r'<p class="text"[^>]*>(.*?)</p>', pair, re.S)
    assert len(sides) == 2
    for side in sides:
        rest = sum(int(n.replace(",", "")) for n in re.findall(r">([\d,]+) characters more<", side))
        shown = html.unescape(re.sub(r"<[^>]+>", "", re.sub(r'<span class="skipped">.*?</span>', "", side)))
        assert len(shown) == EXCERPT_OF_PAIR
        assert len(shown) + rest in {len(WORDS), len(WORDS) - sum(len(f"w{i}") - 1 for i in range(3, 900, 10))}


def test_a_field_that_no_document_has_is_refused(tmp_path):
    with pytest.raises(InputError, match="no document of the inputs has the field 'langs'"):
        page(tmp_path, {"stages": [JACCARD]}, by=["lang", "langs"])
