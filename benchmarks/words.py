"""How the benchmarks cut a text into words, wherever a program leaves that to its caller."""

from __future__ import annotations

import re

HAN_OR_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")


def words(text: str, language: str) -> list[str]:
    """Lower-case words between white space; in Chinese each Han character is one."""
    text = text.lower()
    return HAN_OR_WORD.findall(text) if language == "chinese" else text.split()
