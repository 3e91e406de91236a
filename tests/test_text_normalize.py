"""Normalising: the compiled version and the plain one against the contract's words, for every option and code point."""

from __future__ import annotations

import itertools
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import oracle_text as oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from cascade.text import codepoints
from cascade.text import normalize as module
from cascade.text.buffer import PAD, TextBuffer
from cascade.text.normalize import Normalize, normalize, normalize_texts

CHOICES = {
    "unicode": ("NFKC", "NFC", "NFD", "NFKD", "none"),
    "case": ("fold", "lower", "keep"),
    "whitespace": ("collapse", "keep"),
    "punctuation": ("keep", "drop"),
    "digits": ("keep", "zero"),
}
ALL = [Normalize(**dict(zip(CHOICES, choice, strict=True))) for choice in itertools.product(*CHOICES.values())]
FORMS = [o for o in ALL if (o.whitespace, o.punctuation, o.digits) == ("collapse", "keep", "keep")]
TRICKY = (
    "aAeEßẞİıſΣσςΐᾳͅ\u0300\u0301\u0323\u0327\u0308\u0338<=\u093cनরা\u09be\u09c7\u0bbe\u0bc6か\u3099ﾞｶ가각ᄀ\u1161\u11a8\u11a7"
    "\u200b\u200d\u00ad\ufeff\u0600\U000110bd ¨ﷺ①ǆℌΩ\u2126Å\u212b"
    "\u0344\u0f71\u0f72\u0f73\U0001d15e\U0001d165\U000110b9\U000110ba"
    "\t\n\r\x1c\x85\xa0\u2003\u2028\u3000.,$+_9٣९𝟗中文，。😀❤\ufe0f\u0653ا\u064b\u0651\u05b4\u05bc\x00\x7f\U0010ffff"
)
CHARACTERS = st.one_of(st.sampled_from(TRICKY), st.characters(), st.characters(max_codepoint=127), st.just(" "))
TEXTS = st.one_of(st.text(CHARACTERS, max_size=30), st.text(st.characters(max_codepoint=127), max_size=300))


def compiled(texts, options):
    return normalize_texts(TextBuffer.from_strings(texts), options).to_list()


@settings(deadline=None, max_examples=400)
@given(st.lists(TEXTS, max_size=8), st.sampled_from(ALL))
@example(["", " ", "\u200b", "\u00ad", "\u0301", "Σ", "ΑΣ", "e\u00ad\u0301", "a" * 64, "  " * 64], Normalize())
@example(["x" * 63 + "  y", "x" * 64 + " \n y", " " + "Y" * 200, "z" * 61 + "é  É"], Normalize())
def test_both_versions_are_the_contract(texts, options):
    want = [oracle.normalize(t, options) for t in texts]
    assert [normalize(t, options) for t in texts] == want
    assert compiled(texts, options) == want


@pytest.mark.parametrize("options", ALL, ids=lambda o: "-".join(o.model_dump().values()))
def test_tricky_characters_in_pairs_under_all_options(options):
    texts = [a + b for a in TRICKY for b in TRICKY[::3]]
    assert compiled(texts, options) == [oracle.normalize(t, options) for t in texts]


@pytest.mark.parametrize("options", [*FORMS, *ALL[:8]], ids=lambda o: "-".join(o.model_dump().values()))
def test_every_code_point_alone(options):
    texts = [chr(p) for p in codepoints.assigned().tolist()] + [
        "\ue000",
        "㐀",
        "中",
        "\U00020000",
        "\U0010ffff",
        "\U00050000",
    ]
    assert compiled(texts, options) == [oracle.normalize(t, options) for t in texts]


@pytest.mark.parametrize("options", [FORMS[0], FORMS[5], FORMS[6], FORMS[10]], ids=lambda o: o.unicode)
def test_every_code_point_that_can_meet_a_neighbour_beside_tricky_ones(options):
    lead, second = codepoints.composing()
    meets = lead | second | (codepoints.combining() > 0) | codepoints.of_category("Cf")
    points = [chr(p) for p in meets.nonzero()[0].tolist() if not 0xAC80 < p < 0xD7A3]
    texts = [
        t
        for a in points
        for b in "aAe\u0301\u0323\u0345\u3099か가ᄀ\u1161\u11a8\u200d\u0f71\u09c7Σ"
        for t in (a + b, b + a)
    ]
    assert compiled(texts, options) == [oracle.normalize(t, options) for t in texts]


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.data())
def test_part_of_a_buffer_gives_the_same_as_its_texts_alone(texts, data):
    start = data.draw(st.integers(0, len(texts)))
    stop = data.draw(st.integers(start, len(texts)))
    part = TextBuffer.from_strings(texts).part(start, stop)
    result = normalize_texts(part, Normalize())
    assert result.to_list() == [normalize(t) for t in texts[start:stop]]
    assert len(result.data) >= result.offsets[-1] + PAD


@settings(deadline=None)
@given(TEXTS, st.sampled_from([o for o in ALL if (o.whitespace, o.punctuation) != ("keep", "drop")]))
def test_normalised_text_stays_as_it_is(text, options):
    once = normalize(text, options)
    twice = normalize(once, options)
    # Case folding and forms need not settle at once (U+0345 among marks), but the compiled version follows them.
    assert compiled([once], options) == [twice]
    if text.isascii():
        assert twice == once


SCRIPTS = {
    "Chinese": "我来到北京清华大学，买了３本书（很便宜）！“引号”……《书名》〇㐀𠀀",
    "Japanese": "東京でラーメンを食べました。ｶﾀｶﾅとひらがな、パピプペポ々",
    "Korean": "서울에서 김치찌개를 먹었습니다. 값 읽다",
    "Russian": "Съешь же ещё этих мягких французских булок, да выпей чаю",
    "Greek": "ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
    "Thai": "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า ที่นี่",
    "Arabic": "أهلاً وسهلاً بالعالم، كُلُّ عامٍ وأنتم بخير",
    "Hebrew": "שָׁלוֹם עוֹלָם",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में ज़रूर",
    "Bengali": "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা",
    "Tamil": "மனிதப் பிறிவியினர் சகலரும்",
    "French": "Dès Noël, où un zéphyr haï me vêt… « l’œuvre » – 5 €",
    "Emoji": "❤️ 👩‍💻 🇪🇺 naïve",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_ordinary_text_never_needs_the_library(script, monkeypatch):
    text = SCRIPTS[script]
    want = oracle.normalize(text, Normalize())
    monkeypatch.setattr(module, "normalize", lambda *_: pytest.fail("the library was called"))
    assert compiled([text, text * 50], Normalize()) == [want, oracle.normalize(text * 50, Normalize())]


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["ﷺ" * 5000, "a", "ﷺ" * 70000], "NFKC"),
        (["각" * 30000], "NFD"),
        (["\u1161각" * 3, "e\u0301" * 9000 + "ﷺ" * 9000], "NFKD"),
    ],
)
def test_results_may_be_many_times_as_long(texts, form):
    options = Normalize(unicode=form, case="keep")
    want = [unicodedata.normalize(form, t) for t in texts]
    assert compiled(texts, options) == want


def test_one_and_no_text():
    assert compiled([], Normalize()) == []
    assert compiled([""], Normalize()) == [""]
    assert compiled(["X"], Normalize()) == ["x"]


def test_lone_surrogates_count_as_replacement_characters():
    assert normalize("a\ud800B") == "a\ufffdb"
    assert compiled(["a\ud800B"], Normalize()) == ["a\ufffdb"]
    assert normalize("\ud83d\ude00") == "😀"


def test_known_results():
    assert normalize(" ＡＢＣ\u3000Straße\u200bﬁn\u00ad \n") == "abc strasse fin"
    assert normalize("ÉTÉ", Normalize(unicode="NFD", case="lower")) == "e\u0301te\u0301"
    assert normalize("1|2|345$ ٣", Normalize(punctuation="drop", digits="zero")) == "0 0 000 0"
    assert normalize("ΟΔΟΣ ΑΣ", Normalize(case="lower")) == "οδος ας"
    assert normalize("ΟΔΟΣ") == "οδοσ"
    assert normalize(" a \n", Normalize(whitespace="keep")) == " a \n"


def test_threads_share_tables():
    texts = [script * 20 for script in SCRIPTS.values()]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda options: compiled(texts, options), ALL[:12] * 4))
    assert results == [[normalize(t, options) for t in texts] for options in ALL[:12]] * 4


def test_options_are_checked():
    with pytest.raises(ValidationError):
        Normalize(unicode="NFX")
    with pytest.raises(ValidationError):
        Normalize(cases="fold")
