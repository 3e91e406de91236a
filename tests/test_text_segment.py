"""jieba's words: both segmenters alike, which words count, dictionaries of users, and what is refused."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from contextlib import nullcontext

import oracle_text as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from cascade.errors import ConfigError
from cascade.text import segment
from cascade.text.buffer import TextBuffer
from cascade.text.shingle import Jieba

SAMPLES = (
    "我来到北京清华大学，参观了新建的图书馆。",
    "他每天早上七点钟起床，然后去公园跑步半个小时。",
    "深度学习模型在自然语言处理任务中取得了显著的进展，例如机器翻译、文本摘要和问答系统。",
    "iPhone15的售价为5999元，比去年降低了3.5%。",
    "小明硕士毕业于中国科学院计算所，后在日本京都大学深造。",
    "This is an English sentence, mixed 中英文 text；标点（括号）！",
    "一九四九年十月一日 中华人民共和国 成立\n新的一行\t制表符",
    "㐀㐁𠀀 生僻字，カタカナ 한국어 русский",
    "",
    "！？……",
)


@pytest.mark.parametrize("text", SAMPLES)
def test_both_segmenters_find_the_same_words_without_a_model(text):
    assert segment.rjieba_cut()(text) == segment.jieba_cut(None, False)(text)
    assert "".join(segment.rjieba_cut()(text)) == text


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(st.text(st.sampled_from("我来到北京 大学c+.3%é\u0301한ー，。\r\n\0😀𠀀"), max_size=30), st.text())
    )
)
@pytest.mark.parametrize("options", [{}, {"segmenter": "jieba"}, {"segmenter": "jieba", "hmm": True}], ids=str)
def test_shingles_are_n_grams_of_the_words_and_words_lie_without_gaps(options, rows):
    shingler = Jieba(n=2, **options)
    texts = TextBuffer.from_strings(rows)
    assert ["".join(shingler._cut()(text)) for text in texts.to_list()] == texts.to_list()
    found = shingler.shingle(texts, 3)
    for i, text in enumerate(texts.to_list()):
        want = oracle.ngrams(shingler.tokens(text), 2)
        assert shingler.shingle_texts(text) == want
        assert found.row(i).tolist() == [oracle.shingle_hash(words, 3) for words in want]


def test_part_of_a_buffer_is_shingled_like_its_texts_alone():
    texts = TextBuffer.from_strings(list(SAMPLES))
    whole, part = Jieba().shingle(texts, 1), Jieba().shingle(texts.part(3, 8), 1)
    assert [part.row(i).tolist() for i in range(5)] == [whole.row(i).tolist() for i in range(3, 8)]


def test_words_without_a_token_character_are_dropped():
    assert Jieba().tokens("我来到 北京，3.14 C++ ½ _ \u0301!") == ["我", "来到", "北京", "3", "14", "C++", "_"]
    assert Jieba(n=2).shingle_texts("a  b c") == [("a", "b"), ("b", "c")]
    assert Jieba(n=2).shingle_texts("！？") == []


def test_all_settings_shingle_alike_where_they_segment_alike():
    texts = TextBuffer.from_strings(list(SAMPLES))
    fast, slow = (Jieba(segmenter=name).shingle(texts, 5) for name in ("rjieba", "jieba"))
    assert fast.hashes.tolist() == slow.hashes.tolist()
    assert fast.indptr.tolist() == slow.indptr.tolist()
    assert fast.lengths.tolist() == [len(Jieba().shingle_texts(text)) for text in SAMPLES]


def test_the_model_finds_words_that_no_dictionary_has():
    text = "他来到了网易杭研大厦"
    assert "杭研" in Jieba(segmenter="jieba", hmm=True).tokens(text)
    assert "杭研" not in Jieba(segmenter="jieba").tokens(text)


def test_a_dictionary_of_the_user_stays_with_its_shingler(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("奥利给啊 100000 n\n", encoding="utf-8")
    text = "大家奥利给啊加油"
    assert "奥利给啊" in Jieba(segmenter="jieba", user_dict=str(words)).tokens(text)
    assert "奥利给啊" not in Jieba(segmenter="jieba").tokens(text)
    assert "奥利给啊" not in Jieba().tokens(text)


def test_a_dictionary_is_read_again_when_its_file_has_changed(tmp_path, monkeypatch):
    words = tmp_path / "words.txt"
    text = "大家奥利给啊加油啊奥利"
    words.write_text("奥利给啊 100000 n\n", encoding="utf-8")
    shingler = Jieba(segmenter="jieba", user_dict=str(words))
    assert "奥利给啊" in shingler.tokens(text)
    first = segment._tokenizer(str(words))
    monkeypatch.chdir(tmp_path)
    assert segment._tokenizer("words.txt") is first, "nothing has changed"

    words.write_text("加油啊奥 100000 n\n", encoding="utf-8")
    assert "奥利给啊" not in shingler.tokens(text)
    assert "加油啊奥" in shingler.tokens(text)
    assert not any(tokenizer is first for _, tokenizer in segment._loaded.values()), "the old one is let go"

    before = words.stat()
    words.write_text("大家奥利 100000 n\n", encoding="utf-8")
    os.utime(words, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert before.st_size == words.stat().st_size
    assert "大家奥利" in shingler.tokens(text)

    words.unlink()
    with pytest.raises(ConfigError, match="user_dict: cannot read"):
        shingler.tokens(text)


def test_the_same_relative_path_elsewhere_is_another_dictionary(tmp_path, monkeypatch):
    found = []
    for word in ("奥利给啊", "大家奥利"):
        folder = tmp_path / word
        folder.mkdir()
        (folder / "words.txt").write_text(f"{word} 100000 n\n", encoding="utf-8")
        monkeypatch.chdir(folder)
        found.append(word in Jieba(segmenter="jieba", user_dict="words.txt").tokens("大家奥利给啊"))
    assert found == [True, True]


@pytest.mark.parametrize("content", ["词 5\n", None])
def test_jiebas_own_messages_stay_as_the_user_set_them(tmp_path, content):
    import jieba

    words = tmp_path / "words.txt"
    words.write_bytes(b"\xff\n" if content is None else content.encode())
    before = jieba.default_logger.level
    jieba.setLogLevel(logging.WARNING)
    try:
        with nullcontext() if content else pytest.raises(ConfigError):
            segment.jieba_cut(str(words), False)
        assert jieba.default_logger.level == logging.WARNING
    finally:
        jieba.setLogLevel(before)


def test_what_rjieba_cannot_do_says_what_to_set(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("词\n", encoding="utf-8")
    with pytest.raises(ValidationError, match="hmm: true needs jieba itself; set segmenter: jieba"):
        Jieba(hmm=True)
    with pytest.raises(ValidationError, match="user_dict needs jieba itself; set segmenter: jieba"):
        Jieba(user_dict=str(words))


def test_a_missing_or_unreadable_dictionary_is_named(tmp_path):
    with pytest.raises(ValidationError, match=r"user_dict: '/.*/nowhere/words\.txt' is not a file"):
        Jieba(segmenter="jieba", user_dict="nowhere/words.txt")
    with pytest.raises(ConfigError, match=r"user_dict: cannot read 'nowhere/words\.txt'"):
        segment.jieba_cut("nowhere/words.txt", False)
    broken = tmp_path / "words.txt"
    broken.write_bytes(b"\xff\xfe\xff\n")
    with pytest.raises(ConfigError, match=r"user_dict: cannot read .*words\.txt.*UTF-8"):
        segment.jieba_cut(str(broken), False)


def test_nothing_is_printed_and_no_warning_raised():
    code = "from cascade.text.shingle import Jieba; print(len(Jieba(segmenter='jieba').tokens('北京大学')))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "1\n")
