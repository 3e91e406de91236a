"""edit_distance against textbook tables and against rapidfuzz called pair by pair."""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import dataclass

import cascade.stages.edit_distance as module
import numpy as np
import pytest
from cascade.stages.edit_distance import EditDistance, code_points
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from rapidfuzz.distance import DamerauLevenshtein, Indel, JaroWinkler, Levenshtein

from cascade.pairs import Accepted, Pairs
from cascade.stage import Facts
from cascade.text.buffer import TextBuffer

METRICS = ["levenshtein", "indel", "damerau_levenshtein", "jaro_winkler"]


# -- what the stage needs of a run ---------------------------------------------------------------------------------


@dataclass
class Batch:
    texts: TextBuffer


class Texts:
    """A corpus that counts how often each of its texts is asked for."""

    def __init__(self, items: list[str]) -> None:
        self.items = items
        self.asked = [0] * len(items)

    def texts(self, rows: np.ndarray) -> TextBuffer:
        assert len(set(rows.tolist())) == len(rows)
        for row in rows:
            self.asked[row] += 1
        return TextBuffer.from_strings([self.items[row] for row in rows])


def all_pairs(n: int) -> Pairs:
    left, right = np.triu_indices(n, 1)
    return Pairs(left.astype(np.int64), right.astype(np.int64))


def accept(texts: list[str] | Texts, pairs: Pairs | None = None, workers: int = 1, **options: object) -> Accepted:
    corpus = texts if isinstance(texts, Texts) else Texts(texts)
    predicate = EditDistance(**options).bind(Facts(documents=len(corpus.items), workers=workers))
    pairs = all_pairs(len(corpus.items)) if pairs is None else pairs
    columns = predicate.columns(Batch(TextBuffer.from_strings(corpus.items)))
    return predicate.filter(pairs, columns, corpus)


def similarity(a: str, b: str, **options: object) -> float | None:
    found = accept([a, b], **{"min_similarity": 0.0, **options})
    return float(found.score[0]) if len(found.index) else None


# -- oracles ---------------------------------------------------------------------------------------------------------


def edits(a, b, substitution: int, swaps: bool) -> int:
    """The table of Wagner and Fischer, with the swaps of Lowrance and Wagner (1975) if asked for."""
    far = len(a) + len(b)
    table = {(-1, -1): far}
    for i in range(len(a) + 1):
        table[i, -1], table[i, 0] = far, i
    for j in range(len(b) + 1):
        table[-1, j], table[0, j] = far, j
    last_row: dict[object, int] = {}
    for i in range(1, len(a) + 1):
        last_column = 0
        for j in range(1, len(b) + 1):
            i1, j1 = last_row.get(b[j - 1], 0), last_column
            same = a[i - 1] == b[j - 1]
            if same:
                last_column = j
            ways = [
                table[i - 1, j - 1] + (0 if same else substitution),
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
            ]
            if swaps:
                ways.append(table[i1 - 1, j1 - 1] + (i - i1 - 1) + 1 + (j - j1 - 1))
            table[i, j] = min(ways)
        last_row[a[i - 1]] = i
    return table[len(a), len(b)]


def jaro_winkler(a, b) -> float:
    window = max(max(len(a), len(b)) // 2 - 1, 0)
    free, matched = [True] * len(b), []
    for i, x in enumerate(a):
        for j in range(max(0, i - window), min(len(b), i + window + 1)):
            if free[j] and b[j] == x:
                free[j] = False
                matched.append(i)
                break
    m = len(matched)
    if m == 0:
        return 0.0
    other = [b[j] for j in range(len(b)) if not free[j]]
    t = sum(a[i] != y for i, y in zip(matched, other, strict=True)) // 2
    j = (m / len(a) + m / len(b) + (m - t) / m) / 3
    prefix = len(list(itertools.takewhile(lambda xy: xy[0] == xy[1], zip(a[:4], b[:4], strict=False))))
    return j + prefix * 0.1 * (1 - j) if j > 0.7 else j


def textbook(a, b, metric: str) -> float:
    if metric == "jaro_winkler":
        return jaro_winkler(a, b)
    if metric == "indel":
        whole = len(a) + len(b)
        return (whole - edits(a, b, 2, False)) / whole
    whole = max(len(a), len(b))
    return (whole - edits(a, b, 1, metric == "damerau_levenshtein")) / whole


def one_by_one(a, b, metric: str) -> float:
    if metric == "jaro_winkler":
        return JaroWinkler.similarity(a, b)
    distance = {"indel": Indel, "levenshtein": Levenshtein, "damerau_levenshtein": DamerauLevenshtein}[metric]
    whole = len(a) + len(b) if metric == "indel" else max(len(a), len(b))
    return (whole - distance.distance(a, b)) / whole


def expected(texts: list, metric: str, least: float, score) -> dict[int, float]:
    pairs = list(itertools.combinations(texts, 2))
    scores = {i: score(a, b, metric) for i, (a, b) in enumerate(pairs) if len(a) and len(b)}
    return {i: s for i, s in scores.items() if s >= least - 1e-9}


def as_dict(found: Accepted) -> dict[int, float]:
    assert found.index.dtype == np.int64
    assert found.score.dtype == np.float64
    assert (np.diff(found.index) > 0).all()
    return dict(zip(found.index.tolist(), found.score.tolist(), strict=True))


# -- properties ------------------------------------------------------------------------------------------------------

WIDE = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))
letters = st.one_of(
    st.sampled_from("ab"),
    st.sampled_from("a\0é中😀😁́"),
    st.sampled_from(WIDE),
    st.characters(exclude_categories=["Cs"]),
)


@st.composite
def related(draw: st.DrawFn) -> list[str]:
    """Texts that were made from each other by edits, so that some are near; empty ones among them."""
    texts = [draw(st.text(letters, max_size=14))]
    for _ in range(draw(st.integers(0, 4))):
        text = list(draw(st.sampled_from(texts)))
        for _ in range(draw(st.integers(0, 3))):
            place = draw(st.integers(0, len(text)))
            kind = draw(st.sampled_from(["insert", "delete", "swap", "replace"]))
            if kind == "insert":
                text.insert(place, draw(letters))
            elif kind == "delete":
                del text[place : place + 1]
            elif kind == "swap":
                text[place : place + 2] = text[place : place + 2][::-1]
            else:
                text[place : place + 1] = [draw(letters)]
        texts.append("".join(text))
    return texts


thresholds = st.one_of(st.sampled_from([0.0, 0.5, 0.56, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0]), st.floats(0, 1))


@pytest.mark.parametrize("metric", METRICS)
@given(texts=related(), least=thresholds)
@settings(deadline=None, max_examples=150)
def test_equals_the_textbook(metric: str, texts: list[str], least: float) -> None:
    found = as_dict(accept(texts, metric=metric, min_similarity=least))
    wanted = expected(texts, metric, least, textbook)
    assert found.keys() == wanted.keys()
    assert all(found[i] == pytest.approx(wanted[i], abs=1e-12) for i in found)
    if metric != "jaro_winkler":
        assert found == wanted


@pytest.mark.parametrize("metric", METRICS)
@given(texts=related(), data=st.data())
@settings(deadline=None, max_examples=150)
def test_a_similarity_equal_to_the_minimum_is_accepted(metric: str, texts: list[str], data: st.DataObject) -> None:
    scores = expected(texts, metric, 0, one_by_one)
    if scores:
        least = data.draw(st.sampled_from(sorted(scores.values())))
        found = as_dict(accept(texts, metric=metric, min_similarity=least))
        assert found == {i: s for i, s in scores.items() if s >= least - 1e-9}


@pytest.mark.parametrize("metric", METRICS)
@given(seed=st.integers(0, 2**32), least=st.sampled_from([0.75, 0.9, 0.95]))
@settings(deadline=None, max_examples=25)
def test_equals_rapidfuzz_on_longer_texts(metric: str, seed: int, least: float) -> None:
    # Beyond 64 characters rapidfuzz takes its blocked and banded ways.
    random = np.random.default_rng(seed)
    alphabet = list("abcdefgh " + WIDE[:3] if seed % 2 else WIDE)
    first = [alphabet[i] for i in random.integers(0, len(alphabet), random.integers(60, 400))]
    texts = ["".join(first)]
    for share in (0.01, 0.05, 0.1, 0.25):
        text = list(first)
        for place in random.integers(0, len(text) - 1, max(1, int(share * len(text)))):
            text[place] = alphabet[random.integers(0, len(alphabet))]
        del text[int(random.integers(0, len(text)))]
        texts.append("".join(text))
    assert as_dict(accept(texts, metric=metric, min_similarity=least)) == expected(texts, metric, least, one_by_one)


@pytest.mark.parametrize("unit", ["char", "word"])
@pytest.mark.parametrize("metric", METRICS)
@given(texts=related())
@settings(deadline=None, max_examples=40)
def test_order_never_counts_and_equal_texts_pass(metric: str, unit: str, texts: list[str]) -> None:
    pairs = all_pairs(len(texts))
    n = len(texts)
    forward = accept(texts, metric=metric, unit=unit, min_similarity=0.7)
    backward = accept(texts[::-1], metric=metric, unit=unit, min_similarity=0.7)
    ahead = {(int(pairs.left[i]), int(pairs.right[i])): s for i, s in as_dict(forward).items()}
    back = {(n - 1 - int(pairs.right[i]), n - 1 - int(pairs.left[i])): s for i, s in as_dict(backward).items()}
    assert ahead == back
    twins = texts + texts
    left = np.arange(n, dtype=np.int64)
    found = as_dict(accept(twins, Pairs(left, left + n), metric=metric, unit=unit, min_similarity=1.0))
    full = [i for i, text in enumerate(texts) if (text if unit == "char" else re.findall(r"\w", text))]
    if unit == "char":
        assert found == dict.fromkeys(full, 1.0)
    else:
        assert set(found.values()) <= {1.0}


@pytest.mark.parametrize("metric", METRICS)
@given(
    st.lists(st.lists(st.sampled_from(["uno", "due", "tre", "сто", "x_1"]), max_size=9), max_size=5),
    st.sampled_from([0.0, 0.5, 0.75, 0.9]),
)
@settings(deadline=None, max_examples=60)
def test_words_are_compared_as_a_sequence(metric: str, texts: list[list[str]], least: float) -> None:
    joined = [", ".join(words) for words in texts]
    found = as_dict(accept(joined, metric=metric, unit="word", min_similarity=least))
    wanted = expected(texts, metric, least, textbook)
    assert found.keys() == wanted.keys()
    assert all(found[i] == pytest.approx(wanted[i], abs=1e-12) for i in found)


def test_words_follow_the_word_rule() -> None:
    assert similarity("中文字", "中文书", unit="word") == 2 / 3
    assert similarity("don't stop", "don t stop", unit="word") == 1.0
    assert similarity("ab c", "a bc", unit="word") == 0.0
    assert similarity("...", "...", unit="word") is None


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
@settings(deadline=None)
def test_code_points(texts: list[str]) -> None:
    buffer = TextBuffer.from_strings(texts)
    assert code_points(buffer).tolist() == [len(text) for text in texts]
    for i in range(len(texts)):
        assert code_points(buffer.part(i, i + 1)).tolist() == [len(texts[i])]


# -- known answers ---------------------------------------------------------------------------------------------------

LONG = "a" * 65


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ("plants", "plan", 4 / 6),
        ("gain", "align", 2 / 5),
        ("courtyard", "card", 4 / 9),
        ("oars", "oceanographer", 3 / 13),
        (LONG, "aĀ" + "a" * 63, 64 / 65),
        ("South Harbor", "North Harbor", 10 / 12),
        ("a\0b", "a\0c", 2 / 3),
        ("\0abc", "\0xyz", 1 / 4),
        ("\0", "\0", 1.0),
        ("\0", "a", 0.0),
        (WIDE, WIDE[:150] + "a" + WIDE[151:], 299 / 300),
        ("s", "s.", 0.5),
        ("中", "a", 0.0),
        ("中文", "中国", 0.5),
        ("0", "101", 1 / 3),
        ("-", "-", 1.0),
        ("", "abc", None),
        ("", "", None),
        ("a😀", "a😁", 0.5),
    ],
)
def test_known_levenshtein(a: str, b: str, value: float | None) -> None:
    assert similarity(a, b) == value


@pytest.mark.parametrize(
    ("metric", "a", "b", "value"),
    [
        ("indel", "abcd", "abce", 6 / 8),
        ("indel", "ca", "abc", 2 / 5),
        ("damerau_levenshtein", "abcd", "abdc", 3 / 4),
        ("damerau_levenshtein", "ca", "abc", 1 / 3),  # 2 edits: swap, then insert between; 3 if swaps were final
        ("levenshtein", "ca", "abc", 0.0),
        ("jaro_winkler", "MARTHA", "MARHTA", 0.9611111111111111),
        ("jaro_winkler", "DIXON", "DICKSONX", 0.8133333333333332),
        ("jaro_winkler", "abc", "xyz", 0.0),
    ],
)
def test_known_metrics(metric: str, a: str, b: str, value: float) -> None:
    assert similarity(a, b, metric=metric) == pytest.approx(value, abs=1e-15)
    assert similarity(b, a, metric=metric) == pytest.approx(value, abs=1e-15)


def test_equal_to_the_threshold() -> None:
    assert as_dict(accept(["abcd", "abce", "abxy"], min_similarity=0.75)) == {0: 0.75}


def test_equal_word_sets_of_a_short_and_a_long_text() -> None:
    texts = ["a b c d e", "a b c d e " * 100, "e d c b a"]
    assert as_dict(accept(texts, min_similarity=0.9)) == {}


# -- work ------------------------------------------------------------------------------------------------------------


def test_nothing_and_one() -> None:
    assert as_dict(accept([])) == {}
    assert as_dict(accept(["alone"])) == {}
    assert as_dict(accept(["a", "a"], Pairs.empty())) == {}


def test_hopeless_lengths_never_fetch_a_text() -> None:
    corpus = Texts(["a" * 10, "a" * 12, "", "a" * 100])
    assert as_dict(accept(corpus, min_similarity=0.9)) == {}
    assert corpus.asked == [0, 0, 0, 0]


@pytest.mark.parametrize("unit", ["char", "word"])
def test_slices_give_the_same_and_a_slice_reads_a_text_once(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    texts = [" ".join("ab"[i] for i in random.integers(0, 2, 8)) for _ in range(40)]
    corpus = Texts(texts)
    whole = as_dict(accept(corpus, min_similarity=0.8, unit=unit))
    assert corpus.asked == [1] * 40
    assert whole == as_dict(accept(texts, min_similarity=0.8, unit=unit, workers=2))
    for limit in (1, 20, 100):
        monkeypatch.setattr(module, "SLICE", limit)
        assert as_dict(accept(texts, min_similarity=0.8, unit=unit)) == whole


@pytest.mark.parametrize("metric", METRICS)
def test_a_hundred_thousand_characters_with_one_change(metric: str) -> None:
    texts = ["x" * 100_000, "x" * 50_000 + "y" + "x" * 49_999]
    start = time.perf_counter()
    found = as_dict(accept(texts, metric=metric))
    assert time.perf_counter() - start < 1
    assert found[0] == pytest.approx(0.999996 if metric == "jaro_winkler" else 0.99999, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_the_cut_off_ends_hopeless_pairs_early(metric: str) -> None:
    random = np.random.default_rng(0)
    texts = ["".join(map(chr, random.integers(97, 123, 50_000))) for _ in range(2)]
    start = time.perf_counter()
    assert as_dict(accept(texts, metric=metric)) == {}
    assert time.perf_counter() - start < 1  # the full table of damerau_levenshtein would take ten times as long


# -- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"min_similarity": 1.1},
        {"min_similarity": -0.1},
        {"min_similarity": float("nan")},
        {"metric": "hamming"},
        {"unit": "byte"},
        {"min_similarty": 0.9},
    ],
)
def test_wrong_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        EditDistance(**options)


def test_it_asks_nothing_of_shingles() -> None:
    stage = EditDistance()
    predicate = stage.bind(Facts(documents=2))
    assert not stage.uses_shingles
    assert stage.confirm_jaccard is None
    assert predicate.predicted_recall(0.9) is None
    assert predicate.keys({}) is None
    assert predicate.describe() == "levenshtein similarity in chars >= 0.9, length bound first"
