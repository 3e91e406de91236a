"""Slow, plain references for the text package: the contract's words, one character or one Python integer at a time."""

from __future__ import annotations

import unicodedata

M64 = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def points(ranges):
    found = set()
    for item in ranges.split():
        low, _, high = item.partition("-")
        found.update(range(int(low, 16), int(high or low, 16) + 1))
    return found


HAN = points("2E80-2FDF 3005 3007 3021-3029 3038-303B 3400-4DBF 4E00-9FFF F900-FAFF 20000-323AF")
HIRAGANA = points("3041-3096 309D-309F")
KATAKANA = points("30A1-30FA 30FC-30FF 31F0-31FF FF66-FF9F")
HANGUL = points("1100-11FF 3131-318E A960-A97C AC00-D7A3 D7B0-D7FB")
UNSPACED = points("0E00-0E7F 0E80-0EFF 1780-17FF 1000-109F A9E0-A9FF AA60-AA7F")


def normalize(text, options):
    def form(s):
        return s if options.unicode == "none" else unicodedata.normalize(options.unicode, s)

    text = form(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))  # lone surrogates
    if options.case != "keep":
        text = text.casefold() if options.case == "fold" else text.lower()
    visible = []
    for c in text:
        if c == "\u200b":
            visible.append(" ")
        elif unicodedata.category(c) != "Cf":
            visible.append(c)
    out = []
    for c in form("".join(visible)):
        category = unicodedata.category(c)
        if options.punctuation == "drop" and category[0] in "PS":
            out.append(" ")
        elif options.digits == "zero" and category == "Nd":
            out.append("0")
        else:
            out.append(c)
    if options.whitespace == "keep":
        return "".join(out)
    words = [[]]
    for c in out:
        if c.isspace():
            words.append([])
        else:
            words[-1].append(c)
    return " ".join("".join(word) for word in words if word)


def kind(character):
    """single, katakana, hangul, other, mark or None (separator), under the rule `word`."""
    category = unicodedata.category(character)
    if ord(character) in HAN:
        return "single"
    if category[0] == "M":
        return "mark"
    if category[0] == "L":
        if ord(character) in HIRAGANA or ord(character) in UNSPACED:
            return "single"
        if ord(character) in KATAKANA:
            return "katakana"
        return "hangul" if ord(character) in HANGUL else "other"
    return "other" if category == "Nd" or character == "_" else None


def is_cjk(character):
    return kind(character) not in (None, "mark") and any(
        ord(character) in ranges for ranges in (HAN, HIRAGANA, KATAKANA, HANGUL)
    )


def word_tokens(text):
    tokens, open_kind = [], None
    for c in text:
        k = kind(c)
        if k == "mark":
            if open_kind:
                tokens[-1] += c
            continue
        if k and k == open_kind and k != "single":
            tokens[-1] += c
        elif k:
            tokens.append(c)
        open_kind = k
    return tokens


def ngrams(tokens, n):
    if 0 < len(tokens) < n:
        return [tuple(tokens)]
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def cjk_shingles(text, n, word_n):
    """Runs of CJK characters with their marks, and the words between two such runs."""
    segments = []  # (is a run, tokens or text)
    touching = False
    for c in text:
        if is_cjk(c):
            if not touching:
                segments.append((True, []))
            segments[-1][1].append(c)
            touching = True
        elif kind(c) == "mark" and touching:
            segments[-1][1][-1] += c
        else:
            if not segments or segments[-1][0]:
                segments.append((False, []))
            segments[-1][1].append(c)
            touching = False
    found, words = [], []
    for run, content in [*segments, (True, [])]:
        if not run:
            words += word_tokens("".join(content))
            continue
        # What separates two runs holds no word, and so does not come here with any.
        found += ngrams(words, word_n) + ngrams(content, n)
        words = []
    return found


def mix64(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def fold(a, b):
    product = a * b
    return (product ^ product >> 64) & M64


def start_value(seed):
    return mix64((seed + GOLDEN) & M64)


def multiplier(seed):
    return mix64((seed + 2 * GOLDEN) & M64) | 1


def hash_bytes(raw, seed):
    h = (start_value(seed) + len(raw) * GOLDEN) & M64
    words = [raw[i : i + 8] for i in range(0, len(raw), 8)]
    words += [b""] * (2 - len(words))
    for word in words:
        h = fold(h ^ int.from_bytes(word, "little"), multiplier(seed))
    return h


def shingle_hash(tokens, seed):
    h = mix64((start_value(seed) - len(tokens) * GOLDEN) & M64)
    for place, token in enumerate(tokens):
        h += (mix64((start_value(seed) + place * GOLDEN) & M64) | 1) * hash_bytes(token.encode(), seed)
    return mix64(h & M64)
