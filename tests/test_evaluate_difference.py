"""Where two texts differ: nothing is lost, words stay whole, no more differs than must, and the work is bounded."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade.evaluate import difference as module
from cascade.evaluate.difference import Difference, difference
from cascade.text.tokenize import word_tokens

WORDS = st.sampled_from(
    ["red", "blue", "cafe\u0301", "naïve", "x", "汉", "字", "한국", "カナ", "ไทย", ",", ".", "\n", "1"]
)
SEPARATED = st.lists(WORDS, max_size=30).map(" ".join)
TOUCHING = st.lists(st.one_of(WORDS, st.sampled_from([" ", "  ", "\u0301", "!"])), max_size=30).map("".join)
ANY = st.text(max_size=40)
SURROGATES = st.text(st.characters(categories=["Cs", "Lu", "Mn"]), max_size=20)
TEXTS = st.one_of(SEPARATED, TOUCHING, ANY, SURROGATES)
MOST = st.sampled_from([0, 1, 30, 200, module.MOST])


@given(left=TEXTS, right=TEXTS, most=MOST)
@settings(deadline=None, max_examples=300)
def test_both_texts_can_be_had_back(left, right, most):
    found = difference(left, right, most=most)
    assert found.left == left
    assert found.right == right
    kinds = [kind for kind, _ in found.parts]
    assert all(text for _, text in found.parts)
    assert all(a != b and (a, b) != ("right", "left") for a, b in pairwise(kinds))


@given(text=TEXTS, most=MOST)
@settings(deadline=None)
def test_equal_texts_do_not_differ(text, most):
    assert difference(text, text, most=most).parts == ((("same", text),) if text else ())


@given(left=st.one_of(SEPARATED, TOUCHING, ANY), right=st.one_of(SEPARATED, TOUCHING, ANY))
@settings(deadline=None, max_examples=300)
def test_words_stay_whole(left, right):
    """The words of the parts are the words of the text: no border lies inside a word or before a mark."""
    found = difference(left, right)
    for text, other in ((left, "right"), (right, "left")):
        parts = [part for kind, part in found.parts if kind != other]
        assert [word for part in parts for word in word_tokens(part)] == word_tokens(text)


def longest_common(left, right):
    """Length of the longest common subsequence, from the textbook's table."""
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


HAN = st.text("甲乙丙丁", max_size=25)


@given(left=HAN, right=HAN)
@settings(deadline=None, max_examples=200)
def test_no_more_differs_than_must(left, right):
    same = sum(len(text) for kind, text in difference(left, right).parts if kind == "same")
    assert same == longest_common(left, right)


def strict(left, right):
    """Longest ascending row of positions of texts that each list holds once, by trying all."""
    pairs = [(i, right.index(x)) for i, x in enumerate(left) if left.count(x) == 1 and right.count(x) == 1]
    longest = [1] * len(pairs)
    for k, (_, j) in enumerate(pairs):
        longest[k] += max((longest[m] for m in range(k) if pairs[m][1] < j), default=0)
    return max(longest, default=0)


@given(
    left=st.lists(st.sampled_from("abcdefgh"), max_size=12), right=st.lists(st.sampled_from("abcdefgh"), max_size=12)
)
@settings(deadline=None, max_examples=200)
def test_anchors_are_the_longest_row_of_what_both_hold_once(left, right):
    found = module._anchors(left, right)
    assert all(left[i] == right[j] for i, j in found)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(found))
    assert len(found) == strict(left, right)


@pytest.mark.parametrize(
    ("left", "right", "parts"),
    [
        ("", "", ()),
        ("one", "", (("left", "one"),)),
        ("", "one", (("right", "one"),)),
        ("the cat sat", "the cats sat",
         (("same", "the "), ("left", "cat"), ("right", "cats"), ("same", " sat"))),
        ("cafe\u0301 noir", "cafe noir", (("left", "cafe\u0301"), ("right", "cafe"), ("same", " noir"))),
        ("慢慢熬八个小时", "慢慢熬六个小时", (("same", "慢慢熬"), ("left", "八"), ("right", "六"), ("same", "个小时"))),
        ("a  b", "a b", (("same", "a"), ("left", "  "), ("right", " "), ("same", "b"))),
        # The comma between two changed words is taken for changed, words that stay are not.
        ("say red, blue now", "say green, pink now",
         (("same", "say "), ("left", "red, blue"), ("right", "green, pink"), ("same", " now"))),
        ("say red or blue now", "say green or pink now",
         (("same", "say "), ("left", "red"), ("right", "green"), ("same", " or "), ("left", "blue"), ("right", "pink"),
          ("same", " now"))),
        # Nothing is put in the right text's place, so nothing joins the two gaps.
        ("a, b, c", ", , c", (("left", "a"), ("same", ", "), ("left", "b"), ("same", ", c"))),
    ],
)  # fmt: skip
def test_examples(left, right, parts):
    assert difference(left, right).parts == parts


@pytest.mark.parametrize("separator", [" ", "", "\n", "。"])
def test_beyond_the_limit_pieces_are_the_same_and_gaps_are_compared_if_they_are_small(separator):
    words = [f"w{i}" if separator else chr(0x4E00 + i) for i in range(4000)]
    changed = [f"{w}x" if i % 700 == 300 else w for i, w in enumerate(words)]
    del changed[2000:2003]
    left, right = separator.join(words), separator.join(changed)
    exact, coarse, none = (difference(left, right, most=most) for most in (module.MOST, 1 << 20, 16))
    assert coarse == exact
    assert (none.left, none.right) == (left, right)
    # With each change one piece differs as a whole, or two where a cut went; all others hold.
    assert [kind for kind, _ in none.parts].count("left") == 7
    assert sum(len(text) for kind, text in none.parts if kind == "same") > len(left) / 2


def test_a_change_moves_only_the_cuts_beside_it():
    text = " ".join(f"w{i * i % 9973}" for i in range(5000))
    cuts = module._cuts(text, module._borders(module._points(text)))
    assert 20 * len(cuts) < 10_000 < 50 * len(cuts)
    moved = module._cuts("more " + text, module._borders(module._points("more " + text)))
    assert set((cuts[1:] + 5).tolist()) <= set(moved.tolist())
    assert len(moved) <= len(cuts) + 2


def test_texts_that_share_no_sentence_differ_as_a_whole_beyond_the_limit():
    left, right = " ".join(f"a{i}" for i in range(100)), " ".join(f"b{i}" for i in range(100))
    assert difference("x " + left + " y", "x " + right + " y", most=1000).parts == (
        ("same", "x "), ("left", left), ("right", right), ("same", " y"),
    )  # fmt: skip


def test_a_long_row_of_marks_is_cut_rather_than_looked_through():
    left = "e" + "\u0301" * 5000
    found = difference(left, left + "\u0301 f")
    assert (found.left, found.right) == (left, left + "\u0301 f")


def test_white_space_is_a_class_of_its_own():
    from cascade.kernels import tokenize

    assert module.SPACE not in (tokenize.SEPARATOR, tokenize.MARK, tokenize.WORD, tokenize.KATAKANA, tokenize.HANGUL,
                                tokenize.SINGLE, tokenize.CJK)  # fmt: skip
    runs = {tokenize.WORD, tokenize.KATAKANA, tokenize.HANGUL, module.SPACE}
    assert {i for i, run in enumerate(module._RUNS) if run} == runs


@given(left=TEXTS, right=TEXTS, around=st.integers(0, 5), longest=st.integers(0, 5), middle=st.text("xy ", max_size=60))
@settings(deadline=None)
def test_what_is_shown_is_the_parts_in_order(left, right, around, longest, middle):
    found = difference(left + middle + right, right + middle + left)
    shown = found.shown(around, longest)
    assert "".join(text for _, text in shown) == "".join(text for _, text in found.parts)
    at = 0
    for kind, text in found.parts:
        rest, kinds = text, []
        while rest:
            assert rest.startswith(shown[at][1])
            rest = rest[len(shown[at][1]) :]
            kinds.append(shown[at][0])
            at += 1
        assert set(kinds) <= {kind, "skipped"}
        if len(text) <= longest:
            assert kinds == [kind] or kind == "same"
    assert at == len(shown)


def test_what_is_shown():
    long = "word " * 100
    assert difference(long, long).shown(10) == (("same", long[:10]), ("skipped", long[10:]))
    assert difference(long + "a", long + "b").shown(5) == (
        ("skipped", long[:-5]), ("same", "word "), ("left", "a"), ("right", "b"),
    )  # fmt: skip
    assert Difference((("left", long),)).shown(longest=9) == (
        ("left", "word"), ("skipped", long[4:-5]), ("left", "word "),
    )  # fmt: skip
    assert Difference((("same", "a"), ("left", "b"), ("same", long))).shown(5)[2:] == (
        ("same", "word "), ("skipped", long[5:]),
    )  # fmt: skip
    assert Difference((("same", "short"), ("left", "b"))).shown(2) == (("same", "short"), ("left", "b"))
