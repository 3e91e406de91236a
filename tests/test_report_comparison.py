"""The page of a comparison, and its tables, which the terminal shows too."""

from __future__ import annotations

import re

import pytest

from cascade import compare
from cascade.report.compared import (
    band_rows,
    disagreement_told,
    figure_rows,
    funnel_rows,
    share,
    step_rows,
    truth_told,
    verdict_rows,
    versus_rows,
)
from cascade.report.comparison import comparison_page

TEXTS = ["a b c d e f g h", "a b c d e f g h i j k", "a b c d e f g h i", "x y z", "第三篇文章", "第三篇文章在此"]
LOOSE, STRICT = ({"shingle": {"n": 1}, "stages": [{"use": "jaccard", "min_jaccard": t}]} for t in (0.5, 0.85))


@pytest.fixture(scope="module")
def found():
    return compare({"loose": LOOSE, "<b>strict": STRICT}, TEXTS, "exact:0.5", rounds=0)


def test_rows_say_what_the_figures_are(found):
    head, *rows = figure_rows(found)
    assert head == ["", "loose", "<b>strict"]
    by_name = dict(zip((row[0] for row in rows), rows, strict=True))
    assert by_name["pair recall"][1:] == [share(each.pairs.recall) for each in found.configs]
    assert by_name["documents removed"][1:] == [f"{each.removed}" for each in found.configs]
    assert "seconds" not in by_name
    assert step_rows(found) == []
    bands = band_rows(found)
    assert bands[0][2:] == ["loose found", "loose expected", "<b>strict found", "<b>strict expected"]
    assert sum(int(row[1]) for row in bands[1:]) == found.truth.pairs
    assert [row[2:] for row in bands[1:]] == [
        [f"{band.recall.value:.4f}", f"{band.predicted:.4f}", f"{other.recall.value:.4f}", f"{other.predicted:.4f}"]
        for band, other in zip(found["loose"].bands, found["<b>strict"].bands, strict=True)
        if band.recall.total
    ]
    assert [row[:2] for row in funnel_rows(found["loose"])] == [["loose", "role"], ["jaccard", "enumerates"]]
    (versus,) = found.versus
    assert versus_rows(versus)[1][1:4] == ["1", f"{versus.removed_only_by_a}", "0"]
    pair = versus.disagreements[0]
    assert disagreement_told(pair) == f"loose alone, Jaccard {pair.jaccard[0]:.4f}, a duplicate; surprise 0.0 bits"
    said = [row[:3] for row in verdict_rows(pair, ("A", "B"))[1:]]
    assert said == [["A", "jaccard", "accepts"], ["B", "jaccard", "refuses"]]
    assert truth_told(found.truth) == f"truth exact:0.5: {found.truth.pairs} pairs"
    assert truth_told(None) == "no truth"


def test_the_page_shows_everything_and_escapes_it(found):
    html = comparison_page(found)
    assert html.startswith("<!doctype html>")
    assert "Comparison of loose, &lt;b&gt;strict" in html
    assert "<b>" not in html
    assert html.count("<polyline") == 2
    assert html.count('<details class="pair"') == len(found.versus[0].disagreements) > 0
    assert "<mark>" in html
    marked = re.findall(r"<mark>(.*?)</mark>", html)
    assert any("j" in text for text in marked)
    assert found.timing in html
    assert "src=" not in html.replace("data:", "")


def test_a_page_of_one_config_without_a_truth():
    html = comparison_page(compare([LOOSE], TEXTS, None, rounds=0))
    assert "no truth" in html
    assert "Both take the same pairs" not in html
    same = comparison_page(compare([LOOSE, LOOSE], TEXTS, None, rounds=0))
    assert "Both take the same pairs for duplicates." in same
