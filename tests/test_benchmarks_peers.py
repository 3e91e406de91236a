"""What all peer programs share: shingles cut in Python, sketches in several processes, removals; no peer is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers.job import candidates, shingles, star
from benchmarks.words import words

ROOT = Path(__file__).parent.parent


@given(st.text("abC \n中文", max_size=30), st.sampled_from(["english", "chinese"]))
def test_shingles_are_five_words_or_all_there_are(text: str, language: str) -> None:
    found = words(text, language)
    expected = [" ".join(found[i : i + 5]) for i in range(max(1, len(found) - 4))] if found else []
    assert shingles(text, language) == expected


def test_candidates_are_told_once_and_removals_need_a_kept_row() -> None:
    assert candidates([[0, 1, 2], [0, 1], [0, 2, 3], [2]]) == [(0, 1), (0, 2), (2, 3)]
    assert star([(1, 0), (1, 2), (3, 2), (5, 4)]) == {1, 3, 5}
    assert star([]) == set()


def test_processes_sketch_the_same_in_row_order_and_the_answer_tells_all(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"id": row, "text": "w " * (row % 7 + 5)} for row in range(1_234)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code = """if True:
        from benchmarks.peers.job import Job
        def sketch(found):
            return [len(shingles) for shingles in found]
        job = Job()
        made = job.sketches(sketch)
        assert made == [row % 7 + 1 for row in range(1_234)], made
        job.report("numpy", {3, 1}, 7, 9)"""
    for threads in ("1", "2"):
        command = [sys.executable, "-c", code, str(corpus), str(tmp_path), threads, "english"]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        answer = json.loads(result.stdout)
        assert (answer["removed"], answer["pairs"], answer["compared"]) == ([1, 3], 7, 9)
        assert answer["config"]["threads"] == int(threads)
        assert set(answer["seconds"]) == {"sketch"}
