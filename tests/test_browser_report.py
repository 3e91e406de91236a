"""The pages of a run and of a comparison in a real browser: they load, draw, open, mark, and run nothing of a text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from chromium import console, style
from corpora import mixed
from typer.testing import CliRunner

from cascade.cli.app import app

pytest.importorskip("jinja2")
keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed").Keys
Wait = pytest.importorskip("selenium.webdriver.support.ui", reason="selenium is not installed").WebDriverWait

ATTACKS = [
    "</script><img src=x onerror=\"document.documentElement.dataset.ran='1'\">",
    "<script>document.documentElement.dataset.ran = '2'</script>",
    "\"'><svg onload=document.documentElement.dataset.ran='3'>",
    "</p></details></style><a href=javascript:document.documentElement.dataset.ran='4'>x</a>",
    "{{ 7*7 }} {% raw %} <!-- ]]> &lt;b&gt; \u202e\x00\x1b[31m \ud800",
]
"""What is put into texts, ids, fields and names of files."""
SAME = "the quick brown fox jumps over the lazy dog again and again until every hen has gone to bed"
CONFIG = {
    "shingle": {"n": 2},
    "stages": [{"use": "minhash", "bands": 30, "rows_per_band": 3}, {"use": "jaccard", "min_jaccard": 0.5}],
}


def cascade(*arguments):
    """Runs the command in this process."""
    result = CliRunner().invoke(app, list(map(str, arguments)), prog_name="cascade")
    assert result.exit_code == 0, result.output
    return result.stdout


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages")
    path.joinpath("c.yaml").write_text(json.dumps(CONFIG))
    path.joinpath("a.yaml").write_text(json.dumps({**CONFIG, "stages": CONFIG["stages"][1:]}))
    return path


@pytest.fixture(scope="module")
def plain(folder):
    """A run over plain texts, and its page."""
    rows = [{"id": f"m{i}", "text": text, "lang": "en" if i % 3 else "de"} for i, text in enumerate(mixed(120, seed=3))]
    rows += [{"id": f"fox{i}", "text": SAME.replace("lazy", word)} for i, word in enumerate(["lazy", "old", "tired"])]
    write(folder / "plain.jsonl", rows)
    cascade("run", folder / "c.yaml", folder / "plain.jsonl", "-o", folder / "plain", "--report", "-q")
    return folder / "plain" / "report.html"


@pytest.fixture(scope="module")
def hostile(folder):
    """A corpus in which everything that can be named is an attack."""
    rows = [
        {"id": f"{attack}{i}", "text": f"{SAME} {attack} {word}", "source": attack, attack: attack}
        for i, attack in enumerate(ATTACKS)
        for word in ("one", "two", "three")
    ]
    rows.append({"id": 1, "text": None})
    return write(folder / "<img src=x onerror=document.documentElement.dataset.ran=5>.jsonl", rows)


def opened(browser, path):
    """The page in the browser; nothing may have gone wrong."""
    style(browser)
    browser.get(Path(path).as_uri())
    assert console(browser) == []
    return browser


def all_of(browser, selector):
    return browser.find_elements("css selector", selector)


def test_an_unguarded_page_would_run_the_attack(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(f"<!doctype html><p>{ATTACKS[0]}</p>")
    browser.get(page.as_uri())
    Wait(browser, 20).until(ran)
    assert ran(browser) == "1"
    assert console(browser) != []


def ran(browser):
    return browser.execute_script("return document.documentElement.dataset.ran")


def test_it_stands_alone(browser, plain):
    opened(browser, plain)
    assert browser.title.startswith("Report on ")
    assert browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []
    text = plain.read_text("utf-8")
    assert re.findall(r"""(?:src|href)=["']?(?!data:,|#)[^"'> ]+""", text) == []
    assert "<script" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_charts_are_drawn(browser, plain):
    opened(browser, plain)
    charts = all_of(browser, "svg.chart")
    assert len(charts) == 2
    for chart in charts:
        assert chart.size["width"] > 300
        assert chart.size["height"] > 150
        assert chart.get_attribute("role") == "img"
        assert chart.get_attribute("aria-label")
    heights = [rect.rect["height"] for rect in all_of(browser, "#histogram .columns rect")]
    assert heights
    assert min(heights) >= 1
    line = all_of(browser, "#curve polyline.line")[-1]
    assert line.rect["width"] > 250
    assert line.rect["height"] > 100
    bars = [bar.rect["width"] for bar in all_of(browser, "section[aria-labelledby=funnel] .bar rect")]
    assert len(bars) == 2
    assert bars[0] >= bars[1] > 0


def test_a_cluster_opens_by_keyboard(browser, plain):
    opened(browser, plain)
    cluster = all_of(browser, "details.cluster")[0]
    summary = cluster.find_element("css selector", "summary")
    members = cluster.find_element("css selector", ".members")
    assert not members.is_displayed()
    for _ in range(200):
        browser.switch_to.active_element.send_keys(keys.TAB)
        if browser.switch_to.active_element == summary:
            break
    assert browser.switch_to.active_element == summary
    outline = browser.execute_script("return getComputedStyle(arguments[0]).outlineStyle", summary)
    assert outline != "none"
    summary.send_keys(keys.ENTER)
    assert members.is_displayed()
    summary.send_keys(keys.SPACE)
    assert not members.is_displayed()


def test_what_differs_is_marked(browser, plain):
    opened(browser, plain)
    for details in all_of(browser, "details.pair"):
        if "fox0" in details.text and "fox2" in details.text:
            break
    if details.get_attribute("open") is None:
        details.find_element("css selector", "summary").click()
    left = [mark.text for mark in details.find_elements("css selector", ".left mark")]
    right = [mark.text for mark in details.find_elements("css selector", ".right mark")]
    assert (left, right) == (["lazy"], ["tired"])
    for scheme in ("light", "dark"):
        style(browser, scheme)
        for mark in details.find_elements("css selector", "mark"):
            around = mark.find_element("xpath", "..")
            assert background(browser, mark) != background(browser, around)


def background(browser, element):
    return browser.execute_script("return getComputedStyle(arguments[0]).backgroundColor", element)


CONTRAST = """
const behind = element => {
  for (let e = element; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)$/.test(color)) return color;
  }
  return "rgb(255, 255, 255)";
};
const light = color => {
  const [r, g, b] = color.match(/[\\d.]+/g).map(v => v / 255).map(
    v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || !element.checkVisibility()) continue;
  const looks = getComputedStyle(element);
  const [a, b] = [light(element instanceof SVGElement ? looks.fill : looks.color), light(behind(element))];
  found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), element.outerHTML.slice(0, 80)]);
}
return found;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_letter_can_be_read(browser, plain, scheme):
    """The contrast of WCAG 2.1, 1.4.3 (AA): 4.5 to 1."""
    opened(browser, plain)
    style(browser, scheme)
    found = browser.execute_script(CONTRAST)
    assert len(found) > 100
    assert [each for each in found if each[0] < 4.5] == []
    page = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", page)[:3])) > 380) == (scheme == "light")


@pytest.mark.parametrize("width", [320, 390, 1200])
def test_nothing_hangs_over_the_edge(browser, plain, hostile_page, width):
    for page in (plain, hostile_page):
        opened(browser, page)
        style(browser, width=width)
        browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_headings_and_landmarks(browser, plain):
    opened(browser, plain)
    levels = [int(each.tag_name[1]) for each in all_of(browser, "h1, h2, h3, h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert len(all_of(browser, "main")) == 1
    assert browser.find_element("css selector", "html").get_attribute("lang") == "en"
    for section in all_of(browser, "main > section"):
        assert browser.find_element("id", section.get_attribute("aria-labelledby")).text
    ids = [each.get_attribute("id") for each in all_of(browser, "[id]")]
    assert len(ids) == len(set(ids))


@pytest.fixture(scope="module")
def hostile_page(folder, hostile):
    out = folder / '"><img src=x onerror=document.documentElement.dataset.ran=6>'
    cascade("run", folder / "c.yaml", hostile, "-o", out, "--report", "-q")
    return out / "report.html"


def assert_harmless(browser):
    """Nothing has run, and nothing that stands in a text has become an element."""
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    assert ran(browser) is None
    assert all_of(browser, "img, script, iframe, object, a[href]") == []
    assert all_of(browser, "svg:not(.chart):not(.bar)") == []
    attributes = "return [...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
    assert [name for name in browser.execute_script(attributes) if name.startswith("on")] == []
    assert console(browser) == []


def test_hostile_texts_do_nothing_in_a_report(browser, hostile_page):
    opened(browser, hostile_page)
    assert_harmless(browser)
    shown = browser.find_element("css selector", "body").text
    for attack in ATTACKS[:4]:
        # In an id, in a text, in the value of a field.
        assert shown.count(attack) > 2
    assert "{{ 7*7 }}" in shown


def test_a_comparison(browser, folder, plain):
    out = folder / "compared"
    cascade(
        "compare", folder / "c.yaml", folder / "a.yaml", folder / "plain.jsonl",
        "--truth", "exact:0.5", "--rounds", 0, "-o", out, "-q",
    )  # fmt: skip
    opened(browser, out / "compare.html")
    (chart,) = all_of(browser, "svg.chart")
    assert chart.size["width"] > 300
    assert len(all_of(browser, "svg.chart polyline.line")) == 2
    assert len(all_of(browser, "svg.chart .dot")) > 4
    assert [each for each in browser.execute_script(CONTRAST) if each[0] < 4.5] == []


def test_hostile_texts_do_nothing_in_a_comparison(browser, folder, hostile):
    out = folder / "compared_hostile"
    strict = {**CONFIG, "stages": [{"use": "jaccard", "min_jaccard": 0.95}]}
    folder.joinpath("<script>.yaml").write_text(json.dumps(strict))
    cascade(
        "compare", folder / "c.yaml", folder / "<script>.yaml", hostile,
        "--truth", "exact:0.5", "--rounds", 0, "-o", out, "-q",
    )  # fmt: skip
    opened(browser, out / "compare.html")
    assert_harmless(browser)
    assert ATTACKS[0] in browser.find_element("css selector", "body").text
    assert all_of(browser, "mark")
