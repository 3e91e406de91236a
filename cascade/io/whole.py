"""A file that is one text. Rows of corpora are read elsewhere."""

from __future__ import annotations

from pathlib import Path

from cascade.errors import InputError


def read_text(path: Path) -> str:
    """The file as one text: UTF-8, a byte order mark left out. Raises InputError."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8: byte 0x{raw[error.start]:02x} at byte {error.start + 1}; a text in UTF-8 is expected"
        ) from None
