"""Shinglers: from texts to hashed n-grams of tokens, and from shingles to distinct ones. Token rules are in tokenize.

A shingle's hash is the sum of its token hashes, each times an odd factor that the seed chooses for its place, plus a
start that depends on their number, mixed so that low and high bits are equally good. Borders, order and number of
tokens count. A window of characters is hashed like one token, and mixed. The seed enters every hash.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cascade.stage import Shingler
from cascade.text import segment
from cascade.text.buffer import PAD, Shingles, TextBuffer
from cascade.text.tokenize import Classes, Rule, ascii_classes, classes, spans, token_character, word_tokens

Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]

LONGEST = 256
"""Greatest n: the work grows with n, and hardly any two documents are near-duplicates in longer windows only."""


class TokenShingler(Shingler):
    """Base of shinglers that cut a text into tokens: implement `tokens`, and the rest works.

    A document with fewer than n tokens, but at least one, has one shingle, all of them; one without tokens has none.
    """

    n: int = Field(5, ge=1, le=LONGEST, description="tokens in a shingle")

    @abstractmethod
    def tokens(self, text: str) -> Sequence[str]:
        """The tokens of a normalised text, in order."""

    @property
    def ngram(self) -> int:
        """Tokens in a full shingle."""
        return self.n

    def shingle(self, texts: TextBuffer, seed: int) -> Shingles:
        """Hashes of the n-grams of each text's `tokens`, in order."""
        return _of_tokens([self.tokens(texts[i]) for i in range(len(texts))], self.n, seed)

    def shingle_texts(self, text: str) -> list[tuple[str, ...]]:
        """The shingles of a text as tuples of tokens, in the order of the hashes."""
        return windows(self.tokens(text), self.n)


class Whitespace(TokenShingler):
    """N-grams of what white space separates (str.split), as in the recipe of GPT-3 and many tutorials."""

    by: Literal["whitespace"] = Field("whitespace", description="which shingler this is")

    def tokens(self, text: str) -> list[str]:
        """What white space separates."""
        return text.split()

    def shingle(self, texts: TextBuffer, seed: int) -> Shingles:
        """Hashes of the n-grams of each text, in order, found by the kernel."""
        return _by_rule(texts, "whitespace", self.n, seed)


class Word(TokenShingler):
    """N-grams of words; in scripts without spaces (Chinese, Hiragana, Thai, …) each character is a token.

    Five words are what most published recipes take: rare enough to tell texts apart, short enough that one changed word
    spoils only five shingles.
    """

    by: Literal["word"] = Field("word", description="which shingler this is")

    def tokens(self, text: str) -> list[str]:
        """The words of a text, in order, each with its marks."""
        return word_tokens(text)

    def shingle(self, texts: TextBuffer, seed: int) -> Shingles:
        """Hashes of the n-grams of each text, in order, found by the kernel."""
        return _by_rule(texts, "word", self.n, seed)


class Char(Shingler):
    """Windows of n code points, spaces and punctuation included; a shorter text is one window, an empty one has none.

    Five characters suit short and noisy texts; recipes for web pages take 24 or so.
    """

    by: Literal["char"] = Field("char", description="which shingler this is")
    n: int = Field(5, ge=1, le=LONGEST, description="code points in a shingle")

    @property
    def ngram(self) -> int:
        """Code points in a full window."""
        return self.n

    def shingle(self, texts: TextBuffer, seed: int) -> Shingles:
        """Hashes of the windows of each text, in order."""

        from cascade.kernels.shingle import char_shingles

        return _collect(len(texts), texts.size, lambda out, indptr: char_shingles(
            texts.data, texts.offsets, self.n, np.uint64(seed % 2**64), out, indptr
        ))  # fmt: skip

    def shingle_texts(self, text: str) -> list[tuple[str, ...]]:
        """The windows of a text as tuples of characters, in the order of the hashes."""
        return windows(text, self.n)


class Cjk(Shingler):
    """Character n-grams inside runs of Han, Kana and Hangul, word n-grams elsewhere, united.

    A run is made of characters that touch, each with its marks; a run shorter than n gives itself, as do fewer than
    word_n words between two runs. Two characters are about a Chinese word, and a single foreign word among them says as
    much. A run and a sequence of words never hold the same tokens, so their hashes need nothing to tell them apart.
    """

    by: Literal["cjk"] = Field("cjk", description="which shingler this is")
    n: int = Field(2, ge=1, le=LONGEST, description="characters in a shingle inside runs of Han, Kana and Hangul")
    word_n: int = Field(1, ge=1, le=LONGEST, description="words in a shingle elsewhere")

    @property
    def ngram(self) -> int:
        """Characters in a full shingle of a run."""
        return self.n

    def shingle(self, texts: TextBuffer, seed: int) -> Shingles:
        """Hashes of the n-grams of each text, in order, found by the kernel."""
        return _by_rule(texts, "cjk", self.n, seed, self.word_n)

    def shingle_texts(self, text: str) -> list[tuple[str, ...]]:
        """The shingles of a text as tuples of characters or words, in the order of the hashes."""
        found = []
        for run, tokens in groupby(spans(text, "cjk"), key=lambda span: span[1]):
            found += windows([token for token, _ in tokens], self.n if run % 2 else self.word_n)
        return found


class Jieba(TokenShingler):
    """N-grams of the words that jieba finds and that hold a letter, digit or underscore; the rest is dropped.

    Three words: Chinese words are about two characters long, so that three of them say about as much as five short
    English ones with their function words. `rjieba` and `jieba` segment alike as long as `hmm` is false.
    """

    by: Literal["jieba"] = Field("jieba", description="which shingler this is")
    n: int = Field(3, ge=1, le=LONGEST, description="words in a shingle")
    segmenter: Literal["rjieba", "jieba"] = Field("rjieba", description="rjieba is fast; jieba for user_dict or hmm")
    user_dict: Path | None = Field(None, description="a file of more words for jieba, one a line")
    hmm: bool = Field(False, description="let jieba guess words that are in no dictionary")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.segmenter == "rjieba" and (self.hmm or self.user_dict is not None):
            option = "hmm: true" if self.hmm else "user_dict"
            raise ValueError(f"{option} needs jieba itself; set segmenter: jieba")
        if self.user_dict is not None and (problem := segment.missing(str(self.user_dict))):
            raise ValueError(problem)
        return self

    def tokens(self, text: str) -> list[str]:
        """The words of a text that hold a letter, digit or underscore, in order."""
        holds_token = token_character().search
        return [word for word in self._cut()(text) if holds_token(word)]

    def shingle(self, texts: TextBuffer, seed: int) -> Shingles:
        """Hashes of the n-grams of those words of each text, in order."""
        from cascade.kernels.shingle import piece_shingles

        # The words of a text, one behind the other, are the text: their lengths tell the kernel all.
        cut = self._cut()
        lengths = [np.empty(0, np.int64)]
        for i in range(len(texts)):
            words = cut(texts[i])
            lengths.append(np.fromiter(map(len, words), np.int64, len(words)))
        rows = np.cumsum(np.fromiter(map(len, lengths), np.int64, len(lengths)))
        table, number = classes("word"), np.uint64(seed % 2**64)
        return _collect(len(texts), int(rows[-1]), lambda out, ends: int(piece_shingles(
            texts.data, texts.offsets, np.concatenate(lengths), rows, table, self.n, number, out, ends
        )))  # fmt: skip

    def _cut(self) -> segment.Cut:
        if self.segmenter == "rjieba":
            return segment.rjieba_cut()
        return segment.jieba_cut(None if self.user_dict is None else str(self.user_dict), self.hmm)


def windows(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All n-grams of a sequence, in order; the whole sequence if it is shorter, nothing if it is empty."""
    if not tokens:
        return []
    return [tuple(tokens[i : i + n]) for i in range(max(1, len(tokens) - n + 1))]


def distinct(shingles: Shingles) -> Shingles:
    """The distinct hashes of each document in order of first occurrence, and how often each occurs (uint32)."""
    from cascade.kernels.shingle import distinct_shingles

    total, longest = len(shingles.hashes), int(shingles.lengths.max(initial=0))
    size = 1 << max(14, (2 * longest).bit_length())
    slots = np.zeros(size, np.uint32 if total < 2**32 - 1 else np.int64)
    out, counts = np.empty(total, np.uint64), np.empty(total, np.uint32)
    indptr = np.zeros(len(shingles) + 1, np.int64)
    used = distinct_shingles(shingles.hashes, shingles.indptr, slots, _slot_secret(), out, counts, indptr)
    return Shingles(out[:used], indptr, counts[:used])


def sorted_sets(shingles: Shingles) -> Shingles:
    """The distinct hashes of each document, ascending; without counts."""
    sets = distinct(shingles) if shingles.counts is None else replace(shingles, hashes=shingles.hashes.copy())
    for start, stop in pairwise(sets.indptr.tolist()):
        sets.hashes[start:stop].sort()
    return Shingles(sets.hashes, sets.indptr)


@cache
def _slot_secret() -> np.uint64:
    import secrets

    return np.uint64(secrets.randbits(64) | 1)


def _of_tokens(rows: Sequence[Sequence[str]], n: int, seed: int) -> Shingles:
    from cascade.kernels.shingle import span_shingles

    indptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=indptr[1:])
    words = _joined([token for row in rows for token in row])
    number = np.uint64(seed % 2**64)
    return _collect(len(rows), len(words), lambda out, ends: int(
        span_shingles(words.data, words.offsets, indptr, n, number, out, ends)
    ))  # fmt: skip


def _by_rule(texts: TextBuffer, rule: Rule, n: int, seed: int, word_n: int = 1) -> Shingles:
    from cascade.kernels.shingle import cjk_shingles, token_shingles

    number = np.uint64(seed % 2**64)

    def run(table: Classes, out: Hashes, indptr: Rows) -> int:
        if rule == "cjk":
            return int(cjk_shingles(texts.data, texts.offsets, table, n, word_n, number, out, indptr))
        by_word = rule == "word"
        return int(token_shingles(texts.data, texts.offsets, table, by_word, n, number, out, indptr))

    def run_either(out: Hashes, indptr: Rows) -> int:
        used = run(_known_classes(rule), out, indptr)
        return used if used >= 0 else run(classes(rule), out, indptr)

    # Two ASCII words have a separator between them; where tokens touch, one of them takes three bytes.
    return _collect(len(texts), (texts.size + len(texts)) // 2 + 1, run_either)


def _known_classes(rule: Rule) -> Classes:
    """The table of all code points if it has been made already: most runs never need it."""
    return classes(rule) if classes.cache_info().currsize else ascii_classes(rule)


def _collect(documents: int, most: int, fill: Callable[[Hashes, Rows], int]) -> Shingles:
    out = np.empty(most, np.uint64)
    indptr = np.zeros(documents + 1, np.int64)
    used = fill(out, indptr)
    if used < 0:
        raise AssertionError(f"{most} hashes do not fit {documents} documents")
    return Shingles(out[:used], indptr)


def _joined(tokens: Sequence[str]) -> TextBuffer:
    """As TextBuffer.from_strings, for a great many short strings: one encoding, lengths counted in bulk."""
    text = "".join(tokens)
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError:
        return TextBuffer.from_strings(tokens)
    data = np.frombuffer(raw + bytes(PAD), np.uint8)
    ends = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)), out=ends[1:])
    if len(raw) == len(text):
        return TextBuffer(data, ends)
    starts = np.flatnonzero((data[: len(raw)] & 0xC0) != 0x80)
    return TextBuffer(data, np.append(starts, len(raw))[ends])
