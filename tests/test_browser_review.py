"""Judging pairs in a real browser, by keyboard: the right label is saved, a reload and another window lose nothing."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest
from chromium import console, style
from test_browser_report import ATTACKS, SAME, all_of, ran
from test_report_run import rows_of, run, write_rows

pytest.importorskip("flask")
Keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed").Keys
waiting = pytest.importorskip("selenium.webdriver.support.ui", reason="selenium is not installed").WebDriverWait

TOKEN = "a-token"


@contextmanager
def serving(server):
    """Serves in a thread; gives the address."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}/{TOKEN}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def served(tmp_path):
    """The address of the pages of a run with three near removals, and the file of labels."""
    from cascade.report.judging import judging_of
    from cascade.report.server import review_server

    words = [f"w{i}" for i in range(40)]
    rows = [{"id": "kept", "text": " ".join(words)}]
    rows += [{"id": f"n{i}", "text": " ".join([*words[:-i], *(f"x{j}" for j in range(i))])} for i in (1, 2, 3)]
    write_rows(tmp_path / "in.jsonl", rows)
    judging = judging_of(run(tmp_path, inputs=[tmp_path / "in.jsonl"]))
    with serving(review_server(judging, TOKEN)) as address:
        yield address, judging.labels


def text_of(item):
    return item.texts[0].encode("utf-8", "replace")


def press(browser, key, title):
    """Presses a key and waits for the page of that title."""
    browser.find_element("css selector", "body").send_keys(key)
    waiting(browser, 20).until(lambda b: b.title == title)


def labels(path):
    return [(row["a"], row["b"], row["label"]) for row in rows_of(path)]


def opened(browser, address, title):
    style(browser)
    browser.get(address)
    assert browser.title == title
    assert console(browser) == []


def test_marks_by_keyboard(browser, served):
    address, path = served
    opened(browser, address, "Pair 1 of 3")
    assert [mark.text for mark in all_of(browser, ".left mark")] == ["w37 w38 w39"]
    assert [mark.text for mark in all_of(browser, ".right mark")] == ["x0 x1 x2"]
    press(browser, "d", "Pair 2 of 3")
    assert labels(path) == [("kept", "n3", "duplicate")]
    press(browser, "n", "Pair 3 of 3")
    browser.refresh()
    assert browser.title == "Pair 3 of 3"
    assert browser.find_element("id", "judged").text == "2 judged"
    press(browser, "u", "All pairs are judged")
    saved = [("kept", "n3", "duplicate"), ("kept", "n2", "not"), ("kept", "n1", "unsure")]
    assert labels(path) == saved
    browser.get(address)
    assert browser.title == "All pairs are judged"
    assert labels(path) == saved
    assert console(browser) == []


def test_undo_and_back_by_keyboard(browser, served):
    address, path = served
    opened(browser, address, "Pair 1 of 3")
    press(browser, "1", "Pair 2 of 3")
    press(browser, "2", "Pair 3 of 3")
    press(browser, "z", "Pair 2 of 3")
    assert labels(path) == [("kept", "n3", "duplicate")]
    press(browser, Keys.ARROW_LEFT, "Pair 1 of 3")
    assert browser.find_element("id", "label").text == "duplicate"
    assert all_of(browser, "[aria-pressed=true]")[0].text.startswith("Duplicate")
    press(browser, "n", "Pair 2 of 3")
    assert labels(path) == [("kept", "n3", "not")]
    press(browser, "j", "Pair 3 of 3")
    press(browser, "k", "Pair 2 of 3")


def test_by_tab_and_enter(browser, served):
    address, path = served
    opened(browser, address, "Pair 1 of 3")
    browser.switch_to.active_element.send_keys(Keys.TAB)
    browser.switch_to.active_element.send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text.startswith("Not")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    waiting(browser, 20).until(lambda b: b.title == "Pair 2 of 3")
    assert labels(path) == [("kept", "n3", "not")]


def test_keys_of_the_browser_mark_nothing(browser, served):
    address, path = served
    opened(browser, address, "Pair 1 of 3")
    body = browser.find_element("css selector", "body")
    body.send_keys(Keys.ALT + "d")
    body.send_keys(Keys.CONTROL + "u")
    body.send_keys("q")
    press(browser, Keys.ARROW_RIGHT, "Pair 2 of 3")
    assert not path.exists()


def test_whole_texts(browser, served):
    address, _ = served
    opened(browser, f"{address}pairs/1", "Pair 1 of 3")
    browser.find_element("css selector", "body").send_keys("w")
    waiting(browser, 20).until(lambda b: b.current_url.endswith("?whole"))
    assert all_of(browser, ".left .text")[0].text.startswith("w0 w1 ")


def test_another_page_cannot_mark_or_read(browser, served, tmp_path):
    address, path = served
    page = tmp_path / "other.html"
    page.write_text(
        f'<!doctype html><title>other</title><form method="post" action="{address}pairs/1">'
        '<input name="label" value="not"></form>'
    )
    browser.get(page.as_uri())
    read = "const done = arguments[1]; fetch(arguments[0]).then(r => r.text()).then(done, e => done('refused'))"
    assert browser.execute_async_script(read, f"{address}pairs/1") == "refused"
    browser.execute_script("document.forms[0].submit()")
    waiting(browser, 20).until(lambda b: b.current_url.startswith("http"))
    assert not path.exists()
    console(browser)


def test_hostile_texts_do_nothing(browser, tmp_path):
    from cascade.report.judging import judging_of
    from cascade.report.server import review_server

    rows = [
        {"id": f"{attack}{word}", "text": f"{SAME} {attack} {word}"} for attack in ATTACKS for word in ("one", "two")
    ]
    write_rows(tmp_path / "f.jsonl", rows)
    judging = judging_of(run(tmp_path, inputs=[tmp_path / "f.jsonl"]))
    with serving(review_server(judging, TOKEN)) as address:
        style(browser)
        for number in range(len(judging.items)):
            browser.get(f"{address}pairs/{number + 1}")
            assert ran(browser) is None
            scripts = [each.get_attribute("src") for each in all_of(browser, "script")]
            assert scripts == [f"{address}review.js"]
            assert all_of(browser, "img, iframe, object, svg") == []
            assert console(browser) == []
            attack = next(
                each for each in ATTACKS if each.encode("utf-8", "replace")[:20] in text_of(judging.items[number])
            )
            if attack in ATTACKS[:4]:  # the last one holds what cannot be seen
                assert browser.find_element("css selector", "main").text.count(attack) >= 2


@pytest.mark.parametrize("width", [320, 1200])
def test_nothing_hangs_over_the_edge(browser, served, width):
    address, _ = served
    style(browser, width=width)
    browser.get(address)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
