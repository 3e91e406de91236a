"""Characters that compose or change places: the table of clusters, its limits, and the cuts it rests on."""

from __future__ import annotations

import itertools
import unicodedata

import oracle_text as oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_text_normalize import ALL, FORMS, TRICKY, compiled

from cascade.kernels import normalize as kernel
from cascade.text import clusters as module
from cascade.text.mapping import mapping
from cascade.text.normalize import Normalize

SCRIPTS = {
    "Vietnamese": unicodedata.normalize("NFD", "Tất cả mọi người sinh ra đều được tự do và bình đẳng"),
    "Arabic": "النَّاسِ أَحْرَارًا" + unicodedata.normalize("NFD", "ثُمَّ الطَّالِبُ حَتَّى") + "ا\u0653 ل\u0651\u064e",
    "katakana": "ｶﾞｷﾞﾊﾟ ﾃﾞｰﾀﾍﾞｰｽ ﾌﾟﾛｸﾞﾗﾐﾝｸﾞ｡",
    "Hebrew": "בְּרֵאשִׁית בָּרָא אֱלֹהִים ש\u05c1\u05bc\u05b8 ש\u05b8\u05bc\u05c1",
    "Devanagari": "ज\u093cरूर क\u093c ड\u093cि ढ\u094d\u093c न\u093c",
    "Korean": unicodedata.normalize("NFD", "모든 인간은 값") + "가\u11a8 각\u11a8",
    "Tamil": unicodedata.normalize("NFD", "கொண்டு போனால் தௌ"),
    "Greek": unicodedata.normalize("NFD", "Ἐν ἀρχῇ ἦν ὁ λόγος ᾧ ΟΔΟΣ ᾼ"),
    "kana": unicodedata.normalize("NFD", "プログラムを直す"),
    "Tibetan": "\u0f40\u0f71\u0f72\u0f74 \u0f73\u0f71 \u0f42\u0fb7",
    "signs": "=\u0338 <\u0338\u0301 ¨\u0323\u0301 ∃\u0338 \u2003\u0301\u0323 \n\u0301\u0323 `\u0300 \u00b4\u0323",
    "vanishing": "e\u00ad\u0301 e\u200d\u0323\u0301 \u0301\ufeff\u0323 e\u200b\u0301\u0323 \u0345\u0323α\u0345\u0301",
    "others": "\U00011099\U000110ba \U0001d15e\U0001d165 \U00011131\U00011127 か\u3099\u0323",
}
CHARACTERS = st.sampled_from(sorted(set(TRICKY) | set("".join(SCRIPTS.values()))))
WORDS = st.sampled_from([word for text in SCRIPTS.values() for word in text.split(" ")])
TEXTS = st.lists(st.one_of(CHARACTERS, WORDS, st.just(" "), st.just("a" * 70)), max_size=40).map("".join)


@pytest.mark.parametrize("options", ALL, ids=lambda o: "-".join(o.model_dump().values()))
def test_every_script_under_all_options(options):
    texts = [*SCRIPTS.values(), *(text * 40 for text in SCRIPTS.values()), " ".join(SCRIPTS.values())]
    assert compiled(texts, options) == [oracle.normalize(t, options) for t in texts]


@settings(deadline=None, max_examples=400)
@given(st.lists(TEXTS, max_size=6), st.sampled_from(ALL))
@example(["=\u0338=\u0338 e\u0301\u0323", " =\u0301\u0323"], ALL[2])
@example(["¨\u0323\u0301", "x ¨\u0323\u0301 ¨\u0323"], Normalize(punctuation="drop"))
def test_any_mixture_of_scripts(texts, options):
    assert compiled(texts, options) == [oracle.normalize(t, options) for t in texts]


@settings(deadline=None, max_examples=200)
@given(st.lists(TEXTS, max_size=6), st.sampled_from(ALL), st.sampled_from([1, 2, 4]))
def test_a_table_that_is_full_begins_anew(texts, options, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SIZE", size)
        assert compiled(texts, options) == [oracle.normalize(t, options) for t in texts]


@pytest.mark.parametrize("options", FORMS, ids=lambda o: f"{o.unicode}-{o.case}")
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_nothing_meets_across_a_cut(options, data):
    """For code points before which texts may be cut, with whatever is on both sides of the cut."""
    entries = mapping(options).entries
    plain = options.model_copy(update={"whitespace": "keep"})
    cut = [c for c in TRICKY if is_cut(int(entries[ord(c)]))]
    before = data.draw(TEXTS)
    behind = data.draw(st.sampled_from(cut)) + data.draw(TEXTS)
    if options.case == "lower" and "Σ" in unicodedata.normalize("NFKC", before + behind):
        return  # needs the whole text
    whole = oracle.normalize(before + behind, plain)
    assert whole == oracle.normalize(before, plain) + oracle.normalize(behind, plain)


@pytest.mark.parametrize("options", FORMS, ids=lambda o: f"{o.unicode}-{o.case}")
def test_what_may_compose_with_a_cut_character_is_cut_before_itself(options):
    entries = mapping(options).entries
    firsts = {}
    for c in map(chr, range(0x20, 0x30000)):
        if not 0xD800 <= ord(c) < 0xE000:
            firsts.setdefault(unicodedata.normalize("NFD", c)[0], []).append(c)
    for first, wholes in firsts.items():
        if options.unicode != "none" and is_cut(int(entries[ord(first)])):
            for whole in wholes:
                alone = unicodedata.normalize("NFD", oracle.normalize(whole, options.model_copy(update=KEEP)))
                assert alone
                assert unicodedata.combining(alone[0]) == 0


KEEP = {"whitespace": "keep"}


def is_cut(entry):
    """In words of the mapping: begins with a starter that joins nothing, is not empty, needs no library."""
    flags, first, length = entry >> 56, entry >> 40 & 255, entry >> 32 & 255
    return not flags & (kernel.JOINS | kernel.BARE | kernel.LIBRARY) and first == 0 and length > 0


@pytest.mark.parametrize("options", FORMS[:15:3], ids=lambda o: o.unicode)
@pytest.mark.parametrize("length", [1, 126, 127, 128, 129, 3000])
def test_rows_of_marks_of_any_length(options, length):
    rows = [
        "a" + "\u0301\u0323" * length,
        "é" + "\u05b4\u0301\u0323\u0f71\u3099" * length + "b",
        " \n" + "\u0323\u0301" * length + "\u200d" * length + "\u0323",
        "ｶ" + "ﾞ" * length + "\u0323",
        "ᄀ" + "\u1161\u11a8" * length,
    ]
    texts = [*rows, *(a + " " + b for a, b in itertools.pairwise(rows))]
    assert compiled(texts, options) == [oracle.normalize(t, options) for t in texts]


def test_more_clusters_than_the_table_holds_and_few_among_much_text():
    marks = [chr(p) for p in range(0x300, 0x334)]
    many = "".join(c + a + b for c in "xyz" for a in marks for b in marks)
    rare = ("plain text " * 900).join(f"{c}\u0301\u0323" for c in "abcdefgh")
    texts = [many, rare, many + "Σ", rare * 2, "", many[::-1]]
    for options in (Normalize(), Normalize(case="lower"), Normalize(unicode="NFKD", whitespace="keep")):
        assert compiled(texts, options) == [oracle.normalize(t, options) for t in texts]


@pytest.mark.parametrize("mark", ["ﷺ\u0301\u0323", "\ufdfa\u0323\u0301\u0345"])
def test_clusters_may_become_many_times_as_long(mark):
    texts = [mark * 5000, "a" + mark, mark * 9000]
    assert compiled(texts, Normalize()) == [oracle.normalize(t, Normalize()) for t in texts]
