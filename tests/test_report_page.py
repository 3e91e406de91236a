"""Pages and charts: whatever stands in a value, the page stays the page."""

from __future__ import annotations

import builtins
import re
from html.parser import HTMLParser
from math import isfinite
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.errors import BackendUnavailable
from cascade.evaluate.difference import difference
from cascade.report.charts import Axis, Column, Dot, Line, _ticks, bar, counts_axis, curves, histogram
from cascade.report.page import environment, number, page, seconds, sides, size
from cascade.report.visible import visible

HOSTILE = "</script></style></title><img src=x onerror=alert(1)>\"'>&amp;{{ 7*7 }}<!--\u202e\x00\ud800"
VOID = {"meta", "link", "img", "br", "input"}


class Reader(HTMLParser):
    """Reads a page as browsers do, and holds it to what ours may contain."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another"

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    """The page taken apart; fails if a tag is not closed, something could run, or something is loaded."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    for tag, attributes in reader.tags:
        assert tag not in {"script", "img", "iframe", "object", "embed", "base"}, tag
        assert not [name for name in attributes if name.startswith("on")], attributes
        assert not re.match(r"(?!data:,$|#)", attributes.get("href", "#")), attributes
        assert "src" not in attributes
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "default-src 'none'" in html
    return reader


def made(body, **values):
    """A page with this content."""
    text = '{% extends "base.html" %}{% import "parts.html" as parts %}{% block title %}{{ name }}{% endblock %}'
    template = environment().from_string(text + "{% block content %}" + body + "{% endblock %}")
    return template.render({"name": "page", **values}).encode("utf-8", "replace").decode("utf-8")


def test_every_part_escapes_what_it_is_given():
    left, right = sides([("same", HOSTILE), ("left", HOSTILE), ("right", HOSTILE), ("skipped", HOSTILE)])
    chart = histogram([Column(0, 1, 2, HOSTILE)], x=Axis(HOSTILE), y=Axis(HOSTILE), title=HOSTILE, mark=(0.5, HOSTILE))
    curve = curves([Line(HOSTILE, [(0, 0), (1, 1)])], [Dot(0.5, 0.5, 0.4, 0.6, HOSTILE)], x=Axis(HOSTILE),
                   y=Axis(HOSTILE), title=HOSTILE, columns=[Column(0, 1, 2, HOSTILE)])  # fmt: skip
    html = made(
        "{{ parts.facts([(bad, bad, bad)]) }}{{ parts.table([bad, bad], [[bad, bad]]) }}{{ chart }}{{ curve }}"
        "{{ parts.bars([bad, bad], [[bad, 1, bad]]) }}{{ parts.figure(chart, bad, [bad], [[bad]]) }}"
        "{{ parts.pair((bad, bad), (left, right), bad, true) }}",
        name=HOSTILE, bad=HOSTILE, left=left, right=right, chart=chart, curve=curve,
    )  # fmt: skip
    found = read(html)
    shown = "".join(found.text)
    assert shown.count("<img src=x onerror=alert(1)>") > 20
    assert "49" not in shown
    assert "\ud800" not in html


def test_a_page_from_a_file_and_an_unknown_value():
    with pytest.raises(Exception, match="undefined"):
        page("done.html")
    assert "2 pairs left" in page("done.html", counts=[("a", 1)], left=2, labels="x", home="/t/", undo=True)


def test_without_jinja2_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def no_jinja2(name, *rest):
        if name.startswith("jinja2"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_jinja2)
    with pytest.raises(BackendUnavailable) as raised:
        page("done.html")
    assert str(raised.value) == (
        "pages need jinja2, which is not installed: python -m pip install 'cascade-dedup[report]'"
    )


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_sides_hold_the_two_texts(a, b):
    left, right = sides(difference(a, b).parts)
    assert "".join(text for _, text in left) == a
    assert "".join(text for _, text in right) == b
    assert [t for k, t in left if k == "same"] == [t for k, t in right if k == "same"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a ", "b ", "long " * 9, "x" * 70, "\n"]), max_size=30),
       st.lists(st.sampled_from(["a ", "b ", "long " * 9, "y" * 70]), max_size=30))  # fmt: skip
def test_sides_of_what_is_shown_lack_nothing(a, b):
    a, b = "".join(a), "".join(b)
    left, right = sides(difference(a, b).shown(around=5, longest=40))
    assert "".join(text for _, text in left) == a
    assert "".join(text for _, text in right) == b


def test_what_a_change_leaves_out_stands_on_its_side():
    parts = [("same", "s"), ("left", "l"), ("skipped", "LLL"), ("left", "l"), ("right", "r"), ("skipped", "RR"),
             ("right", "r"), ("same", "a"), ("skipped", "SSSS"), ("same", "z")]  # fmt: skip
    left, right = sides(parts)
    assert [t for k, t in left if k == "skipped"] == ["LLL", "SSSS"]
    assert [t for k, t in right if k == "skipped"] == ["RR", "SSSS"]
    assert [t for k, t in left if k == "only"] == ["l", "l"]


@given(st.text())
def test_what_is_visible_can_be_encoded_and_hides_nothing(text):
    shown = visible(text)
    assert len(shown) == len(text)
    shown.encode("utf-8")
    assert all(c in "\n\t" or not (ord(c) < 32 or 127 <= ord(c) < 160) for c in shown)
    for before, after in zip(text, shown, strict=True):
        assert before == after or not before.isprintable()


def test_visible_by_example():
    assert visible("a\tb\nc\x00\x1b\x7f\x85\ud800é漢\u202e") == "a\tb\nc␀␛���é漢\u202e"
    assert visible(3) == "3"


@pytest.mark.parametrize(
    ("filtered", "shown"),
    [
        (number(None), "–"), (number(1234567), "1,234,567"), (number(0.5), "0.5"), (number(1 / 3), "0.333"),
        (number(2.0), "2"), (seconds(None), "–"), (seconds(0.123), "0.12 s"), (seconds(12.34), "12.3 s"),
        (seconds(9.999), "10.0 s"), (seconds(99.99), "1 min 40 s"), (seconds(125), "2 min 5 s"),
        (seconds(7260), "2 h 1 min"), (size(None), "–"), (size(0), "0 bytes"), (size(999), "999 bytes"),
        (size(1500), "1.5 KB"), (size(250e6), "250 MB"), (size(3.2e9), "3.2 GB"), (size(5e15), "5,000 TB"),
    ],
)  # fmt: skip
def test_filters(filtered, shown):
    assert filtered == shown


def elements(svg):
    return ElementTree.fromstring(svg)


values = st.floats(0, 1)


@settings(deadline=None)
@given(st.lists(st.tuples(values, values), max_size=20), st.lists(st.tuples(values, values), max_size=5))
def test_curves_stay_in_the_drawing(points, dots):
    svg = curves(
        [Line("line", sorted(points))],
        [Dot(x, y, y / 2, (1 + y) / 2, "dot") for x, y in dots],
        x=Axis("x"), y=Axis("y"), title="t",
    )  # fmt: skip
    found = elements(svg)
    assert len(found.findall(".//circle")) == len(dots)
    (line,) = found.findall(".//polyline")
    drawn = [tuple(map(float, p.split(","))) for p in (line.get("points") or "").split()]
    assert len(drawn) == len(points)
    assert all(0 <= x <= 420 and 0 <= y <= 260 for x, y in drawn)
    # Higher is up, further is right.
    for (a, b), (c, d) in zip(sorted(points), drawn, strict=True):
        assert c == pytest.approx(48 + a * (420 - 48 - 16), abs=0.06)
        assert d == pytest.approx(220 - b * 208, abs=0.06)


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=30))
def test_columns_are_as_high_as_their_counts(counts):
    columns = [Column(i, i + 1, n, f"{n}") for i, n in enumerate(counts)]
    axis = counts_axis("n", max(counts))
    found = elements(histogram(columns, x=Axis("x", 0, len(counts)), y=axis, title="t"))
    rects = found.findall(".//rect")
    assert len(rects) == sum(n > 0 for n in counts)
    heights = {int(r.find("title").text): float(r.get("height")) for r in rects}
    ordered = [heights[n] for n in sorted(heights)]
    assert ordered == sorted(ordered)
    assert all(1 <= height <= 208 for height in ordered)


@settings(deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.booleans())
def test_ticks_are_round_and_on_the_axis(low, span, whole):
    axis = Axis("x", low, low + span, whole=whole)
    ticks = _ticks(axis)
    assert len(ticks) <= 7
    for value, text in ticks:
        assert isfinite(value)
        assert (
            low - 1e-6 * abs(low) - 1e-9 * span - 1e-9
            <= value
            <= (low + span) * (1 + 1e-6 * (1 if low + span > 0 else -1)) + 1e-6
        )
        assert abs(float(text.replace(",", "")) - value) <= 1e-9 * abs(value) + 1e-4 * span
        assert not whole or value == round(value)


def test_ticks_by_example():
    assert [t for _, t in _ticks(Axis("x"))] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert [t for _, t in _ticks(Axis("x", 0.8, 1.0))] == ["0.80", "0.85", "0.90", "0.95", "1.00"]
    assert [t for _, t in _ticks(Axis("x", 0, 10, whole=True))] == ["0", "2", "4", "6", "8", "10"]
    assert [t for _, t in _ticks(Axis("x", 0, 1.15, whole=True))] == ["0", "1"]
    assert [t for _, t in _ticks(Axis("x", 0.8, 50_000, log=True))] == ["1", "10", "100", "1,000", "10,000"]


def test_a_bar_is_as_long_as_its_share():
    for share, wide in ((0.25, "25.00"), (0, "0.00"), (7, "100.00"), (-1, "0.00")):
        assert elements(bar(share)).find("rect").get("width") == wide
