"""Makes the corpora that the benchmarks run on, from a fixed seed, as JSONL {"id": row, "text": str}.

Word frequencies follow Zipf's law. `documents` have log-normal lengths; beside unrelated ones there are exact copies,
near copies with 1, 2, 5, 10 and 20 % of their words edited, and pages of templates. `short` texts have 5 to 30 words,
with copies that are exact, have one word more or less at the end, or another in the middle. All are mixed at random.
Words are held as numbers, four bytes each, and become text as they are written. No measuring here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

VERSION = 1
"""Part of the file name: raise it when the same parameters no longer give the same bytes."""

COPIES = 0.02
"""Share of the documents that are exact copies of others."""
EDITED = {0.01: 0.02, 0.02: 0.02, 0.05: 0.02, 0.10: 0.02, 0.20: 0.02}
"""Share of words edited → share of the documents that are such near copies."""
PAGES = 0.04
"""Share of the documents that are pages of a template, PER_TEMPLATE of one."""
PER_TEMPLATE = 40

SHORT_COPIES = {"exact": 0.02, "longer": 0.02, "shorter": 0.02, "changed": 0.02}
"""Shares of the short texts: copies as they are, with one word more or less at the end, or another in the middle."""
SHORT_LENGTHS = (5, 30)

VOCABULARY = 50_000
SENTENCE = 14
"""Words of a sentence, on average. It starts with a capital. English has no punctuation, so that programs that split at
white space and programs that split at punctuation see the same words; Chinese has full stops and no spaces."""


@dataclass(frozen=True)
class Spec:
    """What determines a corpus, to the byte."""

    documents: int = 50_000
    language: Literal["english", "chinese"] = "english"
    seed: int = 0
    shape: Literal["documents", "short"] = "documents"

    @property
    def name(self) -> str:
        shape = "" if self.shape == "documents" else f"-{self.shape}"
        return f"{self.language}{shape}-{self.documents}-s{self.seed}-v{VERSION}"

    def as_dict(self) -> dict[str, object]:
        edited = {str(rate): share for rate, share in EDITED.items()}
        shares = {"copies": COPIES, "edited": edited, "pages": PAGES} if self.shape == "documents" else SHORT_COPIES
        return {**asdict(self), "generator": VERSION, "shares": shares}


def corpus(spec: Spec, folder: Path) -> Path:
    """The corpus as a file in `folder`, made if it is not there yet."""
    import orjson

    path = folder / f"{spec.name}.jsonl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        with unfinished.open("wb") as file:
            file.writelines(orjson.dumps({"id": i, "text": t}) + b"\n" for i, t in enumerate(texts(spec)))
        unfinished.rename(path)
    return path


def texts(spec: Spec) -> Iterator[str]:
    """The documents of a corpus, in their order."""
    random = np.random.default_rng(spec.seed)
    inner, first = _vocabulary(spec.language, random)
    words = np.array(inner + first, object)
    parts = _documents(spec.documents, random) if spec.shape == "documents" else _short(spec.documents, random)
    # A document is a row of a part; the first documents are those of the first part.
    first_of = _ends(np.array([len(part) for part in parts]))
    for rows in np.array_split(random.permutation(first_of[-1]), -(-spec.documents // SLICE)):
        within = np.searchsorted(first_of, rows, "right") - 1
        for part, row in zip(within.tolist(), (rows - first_of[within]).tolist(), strict=True):
            tokens, offsets = parts[part].tokens, parts[part].offsets
            pieces = words[tokens[offsets[row] : offsets[row + 1]]].tolist()
            yield " ".join(pieces) if spec.language == "english" else "".join(pieces).lstrip("。") + "。"


def families(spec: Spec) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """For each of the `documents` of a corpus: a number that copies share with their original, and the share of its
    words that was edited: 0 of an original or an exact copy, nan of a page of a template, which has its own number."""
    random = np.random.default_rng(spec.seed)
    _vocabulary(spec.language, random)
    told: list[tuple[npt.NDArray[np.int64], float]] = []
    parts = _documents(spec.documents, random, told)
    rows = random.permutation(sum(map(len, parts)))
    family = np.concatenate([numbers for numbers, _ in told])
    rate = np.concatenate([np.full(len(numbers), edited) for numbers, edited in told])
    return family[rows], rate[rows]


# -- documents as word numbers ----------------------------------------------------------------------------------------

SLICE = 1 << 20
"""Words, or documents, that are drawn at a time: so many that this is quick, and few beside the corpus."""


@dataclass(frozen=True)
class _Tokens:
    """Document i has the words tokens[offsets[i]:offsets[i + 1]]; from VOCABULARY on they start a sentence."""

    tokens: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: npt.NDArray[np.int64]) -> _Tokens:
        lengths = np.diff(self.offsets)[rows]
        offsets = _ends(lengths)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return _Tokens(self.tokens[places], offsets)


def _documents(
    count: int, random: np.random.Generator, told: list[tuple[npt.NDArray[np.int64], float]] | None = None
) -> list[_Tokens]:
    """Originals, exact copies, pages, copies with edits; `told` hears of each part what `families` says."""
    told = [] if told is None else told
    copies, pages = int(count * COPIES), int(count * PAGES)
    edited = {rate: int(count * share) for rate, share in EDITED.items()}
    originals = _fresh(_lengths(count - copies - pages - sum(edited.values()), random), random)
    chosen = random.integers(0, len(originals), copies)
    parts = [originals, originals.take(chosen), _pages(pages, random)]
    told += [(np.arange(len(originals)), 0.0), (chosen, 0.0), (np.arange(count, count + pages), np.nan)]
    for rate, number in edited.items():
        chosen = random.integers(0, len(originals), number)
        parts.append(_edit(originals.take(chosen), rate, random))
        told.append((chosen, rate))
    return parts


def _short(count: int, random: np.random.Generator) -> list[_Tokens]:
    numbers = {kind: int(count * share) for kind, share in SHORT_COPIES.items()}
    least, most = SHORT_LENGTHS
    originals = _fresh(random.integers(least, most + 1, count - sum(numbers.values())), random)
    parts = [originals]
    for kind, number in numbers.items():
        copies = originals.take(random.integers(0, len(originals), number))
        lengths = np.diff(copies.offsets)
        times = np.ones(len(copies.tokens), np.int64)
        if kind in ("longer", "shorter"):
            times[copies.offsets[1:] - 1] = 2 if kind == "longer" else 0
        offsets = _ends(times)[copies.offsets]
        tokens = np.repeat(copies.tokens, times)
        if kind in ("longer", "changed"):
            tokens[offsets[1:] - 1 if kind == "longer" else offsets[:-1] + lengths // 2] = _words(number, random)
        parts.append(_Tokens(tokens, offsets))
    return parts


def _edit(documents: _Tokens, rate: float, random: np.random.Generator) -> _Tokens:
    """Replaces, deletes or inserts words, each a third of the edits, at `rate` of the places."""
    edit = random.random(len(documents.tokens)) < rate
    kind = random.integers(0, 3, len(edit))
    times = np.where(edit & (kind == 1), 0, np.where(edit & (kind == 2), 2, 1))
    ends = _ends(times)
    tokens = np.repeat(documents.tokens, times)
    renewed = np.concatenate((ends[:-1][edit & (kind == 0)], ends[1:][edit & (kind == 2)] - 1))
    tokens[renewed] = _words(len(renewed), random)
    return _Tokens(tokens, ends[documents.offsets])


def _pages(count: int, random: np.random.Generator) -> _Tokens:
    """Pages that share their beginning with the others of their template; 2 to 50 % of each is its own."""
    templates = _fresh(random.integers(150, 800, -(-count // PER_TEMPLATE)), random)
    own = random.uniform(0.02, 0.5, len(templates))
    rows = np.arange(count) // PER_TEMPLATE
    pages = templates.take(rows)
    lengths = np.diff(pages.offsets)
    place = np.arange(len(pages.tokens)) - np.repeat(pages.offsets[:-1], lengths)
    fresh = place >= np.repeat(lengths * (1 - own[rows]), lengths)
    pages.tokens[fresh] = _words(int(fresh.sum()), random)
    return pages


def _fresh(lengths: npt.NDArray[np.int64], random: np.random.Generator) -> _Tokens:
    return _Tokens(_words(int(lengths.sum()), random), _ends(lengths))


def _lengths(count: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    return random.lognormal(5.42, 0.7, count).astype(np.int64) + 10


def _words(count: int, random: np.random.Generator) -> npt.NDArray[np.int32]:
    weights = 1 / np.arange(1, VOCABULARY + 1) ** 1.05
    bounds = np.cumsum(weights / weights.sum())[:-1]
    words = np.empty(count, np.int32)
    for at in range(0, count, SLICE):
        words[at : at + SLICE] = np.searchsorted(bounds, random.random(min(SLICE, count - at)))
    for at in range(0, count, SLICE):
        words[at : at + SLICE] += VOCABULARY * (random.random(min(SLICE, count - at)) < 1 / SENTENCE)
    return words


def _ends(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


# -- words -------------------------------------------------------------------------------------------------------------


def _vocabulary(language: str, random: np.random.Generator) -> tuple[list[str], list[str]]:
    """Distinct words, frequent ones short: as they stand within a sentence, and as they start one."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        size = 1 + int(random.integers(0, 2 + min(2, len(words) // 300)))
        if language == "chinese":
            # 3,500 characters, some far more frequent than others.
            words["".join(chr(0x4E00 + 5 * int(3500 * u * u)) for u in random.random(size))] = None
        else:
            words["".join(_SYLLABLES[int(i)] for i in random.integers(0, len(_SYLLABLES), size))] = None
    found = list(words)
    return found, [f"。{word}" if language == "chinese" else word.capitalize() for word in found]


_SYLLABLES = [
    onset + vowel + coda
    for onset in ("", *"bcdfghklmnprstvw", "st", "tr", "ch", "pr", "th")
    for vowel in ("a", "e", "i", "o", "u", "ea", "ou", "io")
    for coda in ("", "", "", "n", "r", "s", "t")
]
