"""What the tables take for granted about Unicode, held for the version of this interpreter."""

from __future__ import annotations

import sys
import unicodedata

import oracle_text as oracle

from cascade.text import codepoints
from cascade.text.tokenize import HAN, classes

FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def scalar_values():
    return (chr(p) for p in range(sys.maxunicode + 1) if not 0xD800 <= p < 0xE000)


def test_nothing_is_known_or_needed_of_code_points_that_are_not_examined():
    outside = set(scalar_values())
    for points in codepoints.EXAMINED:
        outside -= set(map(chr, points))
    for c in outside:
        category = unicodedata.category(c)
        assert category in ("Cn", "Co") or (category == "Lo" and any(low <= ord(c) <= high for low, high in HAN)), c
        assert c.casefold() == c.lower() == c
        assert unicodedata.combining(c) == 0
        assert not c.isspace()
    text = "".join(sorted(outside))
    assert all(unicodedata.normalize(form, text) == text for form in FORMS)


def test_categories_combining_classes_and_spaces_are_those_of_unicode():
    names, order, spaces = codepoints.categories(), codepoints.combining(), codepoints.spaces()
    for points in codepoints.EXAMINED:
        for c in map(chr, points):
            assert names[ord(c)] == codepoints.packed(unicodedata.category(c))
    for c in scalar_values():
        assert order[ord(c)] == unicodedata.combining(c)
        assert spaces[ord(c)] == c.isspace()


def test_every_pair_that_composes_is_known():
    lead, second = codepoints.composing()
    seconds = [c for c in scalar_values() if second[ord(c)]]
    leads = [c for c in scalar_values() if lead[ord(c)]]
    assert 60 < len(seconds) < 400
    assert len(leads) < 1500
    for c in scalar_values():
        whole = unicodedata.normalize("NFD", c)
        if len(whole) > 1 and unicodedata.normalize("NFC", whole) == c:
            assert lead[ord(whole[0])]
            assert all(second[ord(part)] for part in whole[1:])
    for a, b in ((a, b) for a in "aΑаकক가ᄀ" for b in scalar_values() if ord(b) < 0x3400):
        apart = unicodedata.normalize("NFC", a) + unicodedata.normalize("NFC", b)
        if unicodedata.normalize("NFC", a + b) != apart:
            assert second[ord(unicodedata.normalize("NFD", b)[0])]


def test_the_classes_of_all_code_points_are_those_of_the_contract():
    from cascade.kernels import tokenize as kernel

    number = {None: kernel.SEPARATOR, "mark": kernel.MARK, "other": kernel.WORD, "katakana": kernel.KATAKANA}
    number |= {"hangul": kernel.HANGUL, "single": kernel.SINGLE}
    word, cjk, space = classes("word"), classes("cjk"), classes("whitespace")
    for c in scalar_values():
        kind = oracle.kind(c)
        assert word[ord(c)] == number[kind], hex(ord(c))
        assert (cjk[ord(c)] == kernel.CJK) == oracle.is_cjk(c)
        assert oracle.is_cjk(c) or cjk[ord(c)] == word[ord(c)]
        assert space[ord(c)] == (kernel.SEPARATOR if c.isspace() else kernel.WORD)
