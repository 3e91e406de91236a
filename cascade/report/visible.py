"""Text that can be seen and encoded, whatever it holds. Escaping is done where it is put into a page."""

from __future__ import annotations


def visible(value: object) -> str:
    """Text in which control characters, and halves of surrogate pairs, are signs that can be seen and encoded."""
    text = str(value)
    return text if text.isprintable() else "".join(map(_sign, text))


def _sign(character: str) -> str:
    point = ord(character)
    if character in "\n\t" or 0x20 <= point < 0x7F:
        return character
    if point < 0x20:
        return chr(0x2400 + point)
    if 0x7F <= point < 0xA0 or 0xD800 <= point < 0xE000:
        return "\N{REPLACEMENT CHARACTER}"
    return character
