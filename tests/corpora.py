"""Small corpora for tests, made from fixed seeds: near-duplicates in several scripts, templates, twins, empty texts."""

from __future__ import annotations

import json
import random
from pathlib import Path

LATIN = "abcdefghijklmnopqrstuvwxyz"
HAN = "".join(chr(c) for c in range(0x4E00, 0x4E00 + 600))
CYRILLIC = "абвгдежзийклмнопрстуфхцчшщэюя"


def words(rng: random.Random, script: str, count: int) -> list[str]:
    """`count` words of a Zipf-like vocabulary of its own."""
    return ["".join(rng.choice(script) for _ in range(rng.randint(1, 8))) for _ in range(count)]


def mixed(documents: int, seed: int = 0) -> list[str]:
    """Texts of which about a third are edited copies of another, in three scripts, with twins and empty ones."""
    rng = random.Random(seed)
    vocabularies = [words(rng, script, 2000) for script in (LATIN, HAN, CYRILLIC)]
    out: list[str] = []
    while len(out) < documents:
        dice = rng.random()
        if out and dice < 0.35:
            text = rng.choice(out).split(" ")
            for _ in range(rng.choice([0, 1, 1, 2, 5, 20])):
                if len(text) > 1:
                    text[rng.randrange(len(text))] = rng.choice(rng.choice(vocabularies))
            out.append(" ".join(text))
        elif dice < 0.4:
            out.append(rng.choice(["", "  ", "!?", "…"]))
        else:
            vocabulary = rng.choice(vocabularies)
            out.append(" ".join(rng.choice(vocabulary) for _ in range(rng.randint(3, 120))))
    return out


def write(path: Path, texts: list[str], first_id: int = 0) -> Path:
    """The texts as JSON lines with integer ids."""
    rows = ({"id": first_id + i, "text": text} for i, text in enumerate(texts))
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path
