"""Rows of marks so long that the library's ordering of them would take hours."""

import unicodedata
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cascade
from cascade.text import normalize as module
from cascade.text.buffer import TextBuffer

FORMS = ["NFC", "NFD", "NFKC", "NFKD"]
POOL = [
    chr(point)
    for point in (
        *(0x61, 0xE9, 0x1EAD, 0x41, 0xAC00, 0x11AB, 0xFF76, 0x958),  # that marks may join, or that hold some
        *(0x323, 0x301, 0x302, 0x30A, 0x340, 0x344, 0x345, 0x5B8, 0x5C1, 0x93C, 0x94D, 0x1D165, 0x1D16D, 0x3099),
        *(0xF71, 0xF72, 0xF73, 0xFF9E),  # of class 0, but taken apart into marks: the last in the K forms only
    )
]


@pytest.mark.parametrize("form", FORMS)
@given(text=st.lists(st.sampled_from(POOL), max_size=12).map("".join))
@settings(deadline=None)
def test_marks_in_order_beforehand_change_no_form(form, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LONG_TEXT", -1)
        patch.setattr(module, "LONG_ROW", 1)
        assert module._formed(text, form) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ["\u0323\u0301", "\u05c1\u05b8", "\u0f73", "\uff9e\u0334", "\u0344\u0323"])
def test_marks_out_of_order(form, row):
    """2,500 pairs: little enough for the library itself, enough for the other way to be taken."""
    text = "e" + row * 2500 + "x"
    assert module._formed(text, form) == unicodedata.normalize(form, text)


def test_a_million_marks_on_one_letter():
    start = perf_counter()
    text = "a" + "\u0301\u0323" * 500_000
    made = module.normalize_texts(TextBuffer.from_strings([text, text[:-1]]))
    assert made[0] == "\u1ea1" + "\u0323" * 499_999 + "\u0301" * 500_000
    assert cascade.dedupe([text, text]).counts["removed_exact"] == 1
    assert perf_counter() - start < 60  # in their order of appearance: a quarter of an hour and more
