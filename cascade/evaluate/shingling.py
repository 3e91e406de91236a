"""Shingles as text: which of them two documents have in common, in words that people can read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from cascade.errors import CascadeError, StageError
from cascade.evaluate.explanation import Shingling
from cascade.stage import Shingler
from cascade.text.buffer import TextBuffer
from cascade.text.shingle import Char, Cjk
from cascade.text.tokenize import Rule, classes


def compare_shingles(a: str, b: str, shingler: Shingler, seed: int) -> Shingling | None:
    """The shingles of two normalised texts as text; None if the shingler has no `shingle_texts`.

    What is in common is told by the hashes, as for the stages; two hashes may read the same.
    """
    one, other = shingle_texts(a, shingler, seed), shingle_texts(b, shingler, seed)
    if one is None or other is None:
        return None
    return Shingling(
        common=tuple(text for key, text in one.items() if key in other),
        only_a=tuple(text for key, text in one.items() if key not in other),
        only_b=tuple(text for key, text in other.items() if key not in one),
    )


def shingle_texts(text: str, shingler: Shingler, seed: int) -> dict[int, str] | None:
    """The distinct shingles of a normalised text by their hashes, in order of first occurrence."""
    tell = getattr(shingler, "shingle_texts", None)
    if tell is None:
        return None
    try:
        hashes = shingler.shingle(TextBuffer.from_strings([text]), seed).row(0).tolist()
        shingles = list(tell(text))
    except (CascadeError, MemoryError):
        raise
    except Exception as error:  # shinglers may be anybody's
        raise StageError(f"shingler {type(shingler).__name__}: failed: {type(error).__name__}: {error}") from error
    if len(hashes) != len(shingles):
        return None  # texts that do not belong to the hashes would mislead
    found: dict[int, str] = {}
    for key, tokens in zip(hashes, shingles, strict=True):
        if key not in found:
            found[key] = joined(tokens, shingler)
    return found


def joined(tokens: Sequence[str], shingler: Shingler) -> str:
    """The tokens of a shingle as text: spaces between words, none between two characters of scripts without spaces."""
    if isinstance(shingler, Char):
        return "".join(tokens)
    touches = _touching("cjk" if isinstance(shingler, Cjk) else "word")
    text, before = "", 1
    for token in tokens:
        alone = touches[ord(token[0])]
        text += token if not text or (before and alone) else f" {token}"
        before = alone
    return text


@cache
def _touching(rule: Rule) -> bytes:
    """For each code point 1 if it belongs to a script without spaces, else 0."""
    from cascade.kernels.tokenize import CJK, SINGLE

    return np.isin(classes(rule), (SINGLE, CJK)).tobytes()
