"""`cascade review` in a real browser and over real sockets: keys write labels that last, and nobody else gets in."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from chromium import console, style

from cascade import dedupe
from cascade.config import load_config
from cascade.evaluate.labelled import labelled_truth
from cascade.run import run_files

pytest.importorskip("flask")
pytest.importorskip("jinja2")
By = pytest.importorskip("selenium.webdriver.common.by", reason="selenium is not installed").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Wait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait

SAME = "the quick brown fox jumps over the lazy dog again and again until every hen has gone to bed"
ATTACK = "</script><img src=x onerror=\"document.documentElement.dataset.ran='1'\">"
CONFIG = {"shingle": {"n": 2}, "stages": [{"use": "jaccard", "min_jaccard": 0.5}]}
COMMAND = [sys.executable, "-c", "from cascade.cli import main; main()"]


@pytest.fixture
def out(tmp_path):
    """A run over five pairs, all about equally alike; the kept document of each is named so."""
    rows = []
    for i, topic in enumerate(["one", "two", "three", "four", ATTACK]):
        text = " ".join(f"{word}{i}" for word in SAME.split())
        rows += [{"id": f"{topic} kept", "text": f"{text} red {topic}"}, {"id": topic, "text": f"{text} blue {topic}"}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_files(load_config(CONFIG), [tmp_path / "in.jsonl"], tmp_path / "out")
    return tmp_path / "out"


@contextmanager
def reviewing(out, *options):
    """The address of a page of `cascade review`, which is ended as people end it."""
    process = subprocess.Popen([*COMMAND, "review", str(out), *options], stdout=subprocess.PIPE, text=True)
    with process:
        try:
            told = process.stdout.readline()
            yield told.split()[-1]
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
    assert process.returncode in {0, 130}, rest
    assert "Traceback" not in rest


def labels(out):
    path = out / "labels.jsonl"
    rows = map(json.loads, path.read_text("utf-8").splitlines()) if path.exists() else ()
    return {frozenset((row["a"], row["b"])): row["label"] for row in rows}


def heading(browser):
    return browser.find_element(By.TAG_NAME, "h1").text


def ids(browser):
    return frozenset(each.text for each in browser.find_elements(By.TAG_NAME, "h4"))


def press(browser, key):
    """Presses a key and waits until another page, or the same one anew, is there."""
    before = browser.find_element(By.TAG_NAME, "html")
    browser.find_element(By.TAG_NAME, "body").send_keys(key)
    Wait(browser, 20).until(lambda _: browser.find_element(By.TAG_NAME, "html") != before)
    Wait(browser, 20).until(lambda b: b.execute_script("return document.readyState") == "complete")


def test_pairs_are_marked_by_keyboard(browser, out, tmp_path):
    with reviewing(out) as address:
        style(browser)
        browser.get(address)
        assert heading(browser) == "Pair 1 of 5"
        first = ids(browser)
        assert labels(out) == {}
        press(browser, "d")
        assert labels(out) == {first: "duplicate"}
        assert heading(browser) == "Pair 2 of 5"
        second = ids(browser)
        press(browser, "n")
        assert labels(out) == {first: "duplicate", second: "not"}
        third = ids(browser)
        press(browser, "u")
        assert labels(out) == {first: "duplicate", second: "not", third: "unsure"}
        assert len({first, second, third}) == 3

        # What is marked is there after a reload, and on the way back.
        assert heading(browser) == "Pair 4 of 5"
        assert browser.find_element(By.ID, "judged").text == "3 judged"
        browser.refresh()
        assert heading(browser) == "Pair 4 of 5"
        assert browser.find_element(By.ID, "judged").text == "3 judged"
        press(browser, Keys.ARROW_LEFT)
        assert ids(browser) == third
        assert browser.find_element(By.ID, "label").text == "unsure"
        (pressed,) = browser.find_elements(By.CSS_SELECTOR, "button[aria-pressed=true]")
        assert pressed.text.startswith("Unsure")

        # Undo takes the last mark back and shows its pair; a pair can be marked otherwise.
        press(browser, "z")
        assert labels(out) == {first: "duplicate", second: "not"}
        assert ids(browser) == third
        browser.get(f"{address}pairs/1")
        press(browser, "n")
        assert labels(out) == {first: "not", second: "not"}
        assert console(browser) == []

    # Begun again, it goes on where it stopped; the old address is worth nothing.
    with reviewing(out) as again:
        assert urlsplit(again).path != urlsplit(address).path
        browser.get(again)
        assert heading(browser) == "Pair 3 of 5"
        assert ids(browser) == third
        for key in "ddd":
            press(browser, key)
        assert browser.current_url == f"{again}done"
        assert len(labels(out)) == 5
        assert console(browser) == []
    truth = labelled_truth(out / "labels.jsonl", dedupe(tmp_path / "in.jsonl", CONFIG).corpus)
    assert len(truth.left) == 3
    assert len(truth.refuted[0]) == 2


def test_buttons_can_be_reached_without_letters(browser, out):
    with reviewing(out) as address:
        browser.get(address)
        first = ids(browser)
        for _ in range(20):
            browser.switch_to.active_element.send_keys(Keys.TAB)
            if browser.switch_to.active_element.text.startswith("Not"):
                break
        press_on = browser.switch_to.active_element
        assert press_on.text.startswith("Not")
        press_on.send_keys(Keys.ENTER)
        Wait(browser, 20).until(lambda b: heading(b) == "Pair 2 of 5")
        assert labels(out) == {first: "not"}


def test_what_differs_is_marked_and_texts_do_nothing(browser, out):
    with reviewing(out) as address:
        for position in range(1, 6):
            browser.get(f"{address}pairs/{position}")
            left, right = (
                [mark.text for mark in browser.find_elements(By.CSS_SELECTOR, f".{side} mark")]
                for side in ("left", "right")
            )
            assert (left, right) == (["red"], ["blue"])
            assert browser.execute_script("return document.documentElement.dataset.ran") is None
            assert browser.find_elements(By.TAG_NAME, "img") == []
            if any(ATTACK in each for each in ids(browser)):
                assert ATTACK in browser.find_element(By.CSS_SELECTOR, ".left .text").text
                break
        else:
            pytest.fail("the attack was not shown")
        style(browser, width=320)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 320
        assert console(browser) == []


def answer(address, method="GET", path=None, body=None, **headers):
    """The status of one request, sent as it is told."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        connection.request(method, parts.path if path is None else path, body, headers)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def test_nobody_else_gets_in(out):
    with reviewing(out) as address:
        parts = urlsplit(address)
        assert parts.hostname == "127.0.0.1"
        assert len(parts.path.strip("/")) >= 22  # 128 bits or more
        one = f"{parts.path}pairs/1"
        assert answer(address, path=one) == 200
        for path in ("/", "/pairs/1", "/wrong/pairs/1", f"{parts.path[:-2]}/pairs/1", "/static/x"):
            assert answer(address, path=path) in {403, 404}, path
        for host in ("evil.example", f"evil.example:{parts.port}", "localhost", "127.0.0.1", "127.0.0.1:1", ""):
            assert answer(address, path=one, Host=host) in {400, 403}, host
        marked = {"method": "POST", "path": one, "body": "label=duplicate"}
        assert answer(address, **marked, Host=f"evil.example:{parts.port}") in {400, 403}
        assert answer(address, **marked, Origin="http://evil.example") == 403
        assert answer(address, **marked, Origin="null") == 403
        assert answer(address, **marked, Sec_Fetch_Site="cross-site") == 403
        assert answer(address, **{**marked, "path": "/wrong/pairs/1"}) in {403, 404}
        assert answer(address, method="POST", path=one, body="label=perhaps") == 400
        assert answer(address, method="POST", path=f"{parts.path}pairs/9", body="label=not") in {400, 404}
        assert labels(out) == {}
        assert answer(address, **marked) == 303
        assert list(labels(out).values()) == ["duplicate"]
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", parts.port), 5):  # noqa: PT011
            pass


def test_a_label_is_whole_or_not_there(out):
    """Many marks at the same time are all kept, and nothing else is left in the folder."""
    before = set(os.listdir(out))
    with reviewing(out) as address:
        path = urlsplit(address).path
        connections = []
        for position in range(1, 6):
            parts = urlsplit(address)
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            connection.request("POST", f"{path}pairs/{position}", "label=not", kind)
            connections.append(connection)
        assert [connection.getresponse().status for connection in connections] == [303] * 5
        for connection in connections:
            connection.close()
    assert list(labels(out).values()) == ["not"] * 5
    assert set(os.listdir(out)) == before | {"labels.jsonl"}
