"""Judging pairs: which pairs come, what is saved, who may ask. The page in a browser is in test_report_browser.py."""

from __future__ import annotations

import builtins
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_cli_app import COMMAND, cascade
from test_report_page import HOSTILE
from test_report_run import COMPONENTS, rows_of, run, write_rows

from cascade.config import load_config
from cascade.errors import BackendUnavailable, InputError
from cascade.evaluate.labelled import labelled_truth
from cascade.io.labels import read_labels
from cascade.io.read import find_inputs
from cascade.report.judging import judging_of
from cascade.report.server import review_app, review_server
from cascade.run import read_corpus

TOKEN = "secret-token_1"
HERE = "127.0.0.1:5000"


def client(judging):
    """A client of the pages, as a browser on the right address."""
    app = review_app(judging, TOKEN)
    app.config["HOSTS"] = (HERE,)
    return app.test_client()


def ask(pages, path="", method="GET", host=HERE, token=TOKEN, **options):
    return pages.open(
        f"/{token}/{path}", method=method, headers={"Host": host, **options.pop("headers", {})}, **options
    )


def at(response):
    """Where a response sends the browser, without the token."""
    assert response.status_code == 303
    return response.headers["Location"].removeprefix(f"/{TOKEN}/")


def label(pages, number, value, **options):
    return ask(pages, f"pairs/{number}", "POST", data={"label": value}, **options)


def labels_of(judging):
    return [(row["a"], row["b"], row["label"]) for row in rows_of(judging.labels)]


@pytest.fixture
def out(tmp_path):
    """A run with some near removals, the closest first: ids n3, n2, n1."""
    words = [f"w{i}" for i in range(40)]
    rows = [{"id": "kept", "text": " ".join(words)}]
    rows += [{"id": f"n{i}", "text": " ".join([*words[:-i], *(f"x{j}" for j in range(i))])} for i in (1, 2, 3)]
    rows += [{"id": "twin", "text": rows[2]["text"]}, {"id": "same", "text": rows[0]["text"]}, {"id": "z", "text": "z"}]
    write_rows(tmp_path / "in.jsonl", rows)
    return run(tmp_path, inputs=[tmp_path / "in.jsonl"])


def test_the_closest_removals_come_first_and_equal_texts_do_not(out):
    judging = judging_of(out)
    assert [(item.a, item.b) for item in judging.items] == [(b'"kept"', f'"n{i}"'.encode()) for i in (3, 2, 1)]
    assert judging.items[0].texts[0].endswith("w38 w39")
    assert judging.items[0].note.startswith("Jaccard similarity 0.8")
    assert len(judging_of(out, most=2).items) == 2
    assert judging.labels == out / "labels.jsonl"


def test_marks_are_saved_at_once_and_lead_on(out):
    judging = judging_of(out)
    pages = client(judging)
    assert at(ask(pages)) == "pairs/1"
    assert at(label(pages, 1, "duplicate")) == "pairs/2"
    assert labels_of(judging) == [("kept", "n3", "duplicate")]
    assert at(label(pages, 3, "not")) == "pairs/2"
    assert at(label(pages, 2, "unsure")) == "done"
    assert at(label(pages, 1, "not")) == "done"
    assert labels_of(judging) == [("kept", "n1", "not"), ("kept", "n2", "unsure"), ("kept", "n3", "not")]
    assert at(ask(pages)) == "done"
    assert "All pairs are judged" in ask(pages, "done").text
    times = [row["time"] for row in rows_of(judging.labels)]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", time) for time in times)


def test_undo_takes_back_the_last_mark_also_after_a_restart(out):
    pages = client(judging_of(out))
    label(pages, 1, "not")
    label(pages, 2, "duplicate")
    again = judging_of(out)
    assert again.marked() == ["not", "duplicate", None]
    pages = client(again)
    assert at(ask(pages)) == "pairs/3"
    assert at(ask(pages, "undo", "POST")) == "pairs/2"
    assert again.marked() == ["not", None, None]
    assert at(ask(pages, "undo", "POST")) == "pairs/1"
    assert at(ask(pages, "undo", "POST")) == ""
    assert labels_of(again) == []


def test_marks_of_other_pairs_stay(out):
    (out / "labels.jsonl").write_text('{"a": "x", "b": "y", "label": "not"}\n{"a":"n3","b":"kept","label":"unsure"}\n')
    judging = judging_of(out)
    assert judging.marked() == ["unsure", None, None]
    pages = client(judging)
    label(pages, 1, "duplicate")
    assert labels_of(judging) == [("x", "y", "not"), ("kept", "n3", "duplicate")]
    ask(pages, "undo", "POST")
    ask(pages, "undo", "POST")
    assert labels_of(judging) == [("x", "y", "not")]


def test_the_labels_are_a_truth(out, tmp_path):
    judging = judging_of(out)
    for number, value in enumerate(["duplicate", "not", "unsure"]):
        judging.mark(number, value)
    corpus, _ = read_corpus(find_inputs([tmp_path / "in.jsonl"]), load_config(out / "config.yaml"))
    truth = labelled_truth(judging.labels, corpus)
    assert (truth.left.tolist(), truth.right.tolist()) == ([0], [3])
    assert [rows.tolist() for rows in truth.refuted] == [[0], [2]]


def test_what_a_page_shows(out):
    judging = judging_of(out)
    pages = client(judging)
    page = ask(pages, "pairs/1").text
    assert page.count("<mark>") == 2
    assert "0 judged" in page
    assert 'id="label"' not in page
    label(pages, 1, "not")
    page = ask(pages, "pairs/1").text
    assert "not a duplicate" in page
    assert 'aria-pressed="true"' in page
    assert "1 judged" in page
    assert "pairs/0" not in page
    assert "pairs/4" not in ask(pages, "pairs/3").text
    assert "w20" in ask(pages, "pairs/1?whole").text


@pytest.mark.parametrize("path", ["", "pairs/1", "done", "review.js", "nowhere"])
@pytest.mark.parametrize(
    "options",
    [
        {"token": "guess"}, {"token": ""}, {"token": TOKEN[:-1]}, {"token": TOKEN + "x"}, {"token": "é"},
        {"host": "evil.example:5000"}, {"host": "localhost:5000"}, {"host": "127.0.0.1"}, {"host": "127.0.0.1:5001"},
        {"host": ""},
    ],
)  # fmt: skip
def test_without_token_or_with_another_host_nothing_is_told(out, path, options):
    response = ask(client(judging_of(out)), path, **options)
    assert response.status_code in (400, 403)
    assert "kept" not in response.text


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"https://{HERE}"},
     {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"}],
)  # fmt: skip
def test_another_page_cannot_mark(out, headers):
    judging = judging_of(out)
    pages = client(judging)
    judging.mark(1, "not")
    assert label(pages, 1, "duplicate", headers=headers).status_code == 403
    assert ask(pages, "undo", "POST", headers=headers).status_code == 403
    assert labels_of(judging) == [("kept", "n2", "not")]
    own = {"Origin": f"http://{HERE}", "Sec-Fetch-Site": "same-origin"}
    assert label(pages, 1, "duplicate", headers=own).status_code == 303


def test_what_is_no_request_of_the_page(out):
    judging = judging_of(out)
    pages = client(judging)
    assert label(pages, 1, "maybe").status_code == 400
    assert ask(pages, "pairs/1", "POST").status_code == 400
    assert label(pages, 0, "not").status_code == 400
    assert label(pages, 4, "not").status_code == 400
    assert ask(pages, "pairs/4").status_code == 404
    assert ask(pages, "pairs/-1").status_code == 404
    assert ask(pages, "undo").status_code == 405
    assert ask(pages, "pairs/1", "POST", data={"label": "not" * 30_000}).status_code == 413
    assert not judging.labels.exists()
    with pytest.raises(InputError, match="label is 'maybe'"):
        judging.mark(0, "maybe")


def test_every_answer_is_guarded(out):
    pages = client(judging_of(out))
    for response in (
        ask(pages),
        ask(pages, "pairs/1"),
        ask(pages, token="no"),
        ask(pages, "review.js"),
        ask(pages, "x"),
    ):
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert not [name for name in response.headers if name[0].startswith("Access-Control")]
        assert "Set-Cookie" not in response.headers


def test_a_label_that_cannot_be_saved_is_told(out):
    judging = judging_of(out)
    pages = client(judging)
    judging.labels.write_text("nonsense\n")
    response = label(pages, 1, "not")
    assert response.status_code == 500
    assert "labels.jsonl:1: not JSON" in response.text
    assert judging.labels.read_text() == "nonsense\n"


def test_hostile_texts_stay_text(tmp_path):
    bad = HOSTILE.replace("\ud800", "")
    rows = [{"id": f"{bad}{i}", "text": f"{bad} one two three four five six seven {'x' * i}"} for i in range(2)]
    write_rows(tmp_path / "f.jsonl", rows)
    page = ask(client(judging_of(run(tmp_path, inputs=[tmp_path / "f.jsonl"]))), "pairs/1").text
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") == 4
    assert page.count("<script") == 1


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".json"])
def test_pairs_of_a_file(out, tmp_path, suffix):
    path = tmp_path / f"pairs{suffix}"
    if suffix == ".csv":
        path.write_text("a,b\nz,kept\nn1,n2\nz,kept\n")
    elif suffix == ".json":
        pairs = [{"ids": ["z", "kept"]}, {"ids": ["n1", "n2"]}]
        path.write_text(json.dumps({"versus": [{"disagreements": pairs[:1]}, {"disagreements": pairs[1:]}]}))
    else:
        path.write_text('{"a": "z", "b": "kept"}\n{"a": "n1", "b": "n2"}\n')
    judging = judging_of(out, tmp_path / "mine.jsonl", path)
    assert [(item.a, item.b) for item in judging.items] == [(b'"z"', b'"kept"'), (b'"n1"', b'"n2"')]
    assert judging.items[0].texts[0] == "z"
    judging.mark(0, "not")
    assert rows_of(tmp_path / "mine.jsonl")[0]["a"] == "z"
    assert read_labels(tmp_path / "mine.jsonl").label.tolist() == [0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.jsonl", '{"a": "z", "b": "kept"}\n{"a": "z", "b": "gone"}\n',
         'p.jsonl:2: no document of the inputs has the id "gone"'),
        ("p.jsonl", "", "holds no pairs"),
        ("p.json", "{}", "is no compare.json"),
        ("p.json", "[]", "is no report"),
        ("p.jsonl", '{"id": 1, "cluster": 2}\n', "holds no pairs"),
    ],
)  # fmt: skip
def test_pairs_that_cannot_be_asked(out, tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as raised:
        judging_of(out, None, tmp_path / name)
    assert message in str(raised.value)


def test_inputs_that_are_gone(out, tmp_path):
    (tmp_path / "in.jsonl").unlink()
    with pytest.raises(InputError) as raised:
        judging_of(out)
    assert str(raised.value) == (
        f"{tmp_path / 'in.jsonl'}: there is no such file; the texts to judge are read from the inputs of the run"
    )


def test_components_ask_for_the_pair_that_joined(tmp_path):
    out = run(tmp_path, COMPONENTS)
    asked = {(json.dumps(json.loads(i.a)), json.dumps(json.loads(i.b))) for i in judging_of(out).items}
    joined = {
        tuple(map(json.dumps, row["via"])) for row in rows_of(out / "removed.jsonl")
        if "via" in row and "twin_source" not in row
    }  # fmt: skip
    assert asked == joined


@contextmanager
def served(judging):
    """The address (host, port) of a real server."""
    server = review_server(judging, TOKEN)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield "127.0.0.1", server.port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_real_server_checks_the_host_that_is_named(out, capfd):
    judging = judging_of(out)
    with served(judging) as (host, port):
        for named, status in ((f"{host}:{port}", 303), (f"evil.example:{port}", 403), (host, 403)):
            connection = http.client.HTTPConnection(host, port, timeout=20)
            connection.request("GET", f"/{TOKEN}/", headers={"Host": named})
            response = connection.getresponse()
            response.read()
            connection.close()
            assert response.status == status
    assert TOKEN not in "".join(capfd.readouterr())


def test_the_command_serves_until_it_is_interrupted(out):
    process = subprocess.Popen(
        [*COMMAND, "review", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        line = process.stdout.readline()
        found = re.fullmatch(r"3 pairs to judge; open (http://127\.0\.0\.1:(\d+)/([\w-]{32})/)\n", line)
        assert found, line + process.stderr.read()
        connection = http.client.HTTPConnection("127.0.0.1", int(found[2]), timeout=20)
        body = "label=duplicate"
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", f"/{found[3]}/pairs/1", body, kind)
        assert connection.getresponse().status == 303
        connection.close()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert rest == f"\n1 labels in {out / 'labels.jsonl'}\n"


def test_the_command_refuses_and_tells(out, tmp_path):
    assert cascade("review", tmp_path / "none") == (
        1, "", f"error: {tmp_path / 'none'}: is no result of a run: there is no config.yaml; "
        "name the folder OUT of cascade run\n",
    )  # fmt: skip
    with served(judging_of(out)) as (_, port):
        code, _, err = cascade("review", out, "--port", port)
        assert code == 1
        assert f"error: port {port}: cannot be listened at: " in err
    write_rows(tmp_path / "one.jsonl", [{"id": 1, "text": "alone"}])
    empty = run(tmp_path, inputs=[tmp_path / "one.jsonl"])
    assert cascade("review", empty) == (0, "there is no pair to judge: no near-duplicate was removed\n", "")


def test_a_run_does_not_replace_labels(out, tmp_path):
    judging_of(out).mark(0, "not")
    code, _, err = cascade("run", "default", tmp_path / "in.jsonl", "-o", out, "--overwrite")
    assert code == 1
    assert err == (
        f"error: {out / 'labels.jsonl'}: holds labels that people have made; move it elsewhere before OUT is replaced\n"
    )
    (out / "labels.jsonl").unlink()
    assert cascade("run", "default", tmp_path / "in.jsonl", "-o", out, "--overwrite")[0] == 0


def test_without_flask_the_error_names_the_extra(out, monkeypatch):
    real = builtins.__import__

    def no_flask(name, *rest):
        if name == "flask":
            raise ImportError(name)
        return real(name, *rest)

    judging = judging_of(out)
    monkeypatch.setattr(builtins, "__import__", no_flask)
    with pytest.raises(BackendUnavailable) as raised:
        review_server(judging, TOKEN)
    assert (
        str(raised.value) == "pages need flask, which is not installed: python -m pip install 'cascade-dedup[report]'"
    )


def test_report_commands(out, tmp_path, monkeypatch):
    assert cascade("report", out) == (0, f"page in {out / 'report.html'}\n", "")
    assert cascade("report", out, "-q", "--by", "id") == (0, "", "")
    first = (out / "report.html").read_text("utf-8")
    assert cascade("report", out, "-q") == (0, "", "")
    assert (out / "report.html").read_text("utf-8") != first
    code, shown, _ = cascade("run", "default", tmp_path / "in.jsonl", "-o", tmp_path / "two", "--report")
    assert code == 0
    assert (tmp_path / "two" / "report.html").is_file()
    assert cascade("report", tmp_path)[0] == 1
    (tmp_path / "labels.jsonl").write_text('{"a": "kept", "b": "n1", "label": "not"}\n')
    code, shown, _ = cascade("report", out, "--truth", tmp_path / "labels.jsonl", "-q")
    assert (code, shown) == (0, "")


def test_run_with_report_asks_for_jinja2_before_it_begins(tmp_path):
    write_rows(tmp_path / "f.jsonl", [{"id": 1, "text": "a"}])
    script = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from cascade.cli import main\n"
        f"sys.argv = ['cascade', 'run', 'default', {str(tmp_path / 'f.jsonl')!r}, '-o', {str(tmp_path / 'out')!r}]\n"
        "sys.argv.append('--report')\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "error: pages need jinja2, which is not installed: python -m pip install 'cascade-dedup[report]'\n"
    )
    assert not Path(tmp_path / "out").exists()
