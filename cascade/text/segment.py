"""Chinese word segmenters by jieba's rules: rjieba (compiled) and jieba itself, each loaded once. No shingling here."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from cascade.errors import ConfigError

Cut = Callable[[str], list[str]]
"""The words of a text, white space and punctuation too: one behind the other they are the text."""
Stamp = tuple[int, int, int]

_loading = threading.RLock()
_loaded: dict[str | None, tuple[Stamp | None, Any]] = {}
"""The tokenizer of each dictionary (absolute path; None: jieba's own), and what its file was when it was read."""


def rjieba_cut() -> Cut:
    """rjieba without its hidden Markov model: the words that jieba gives, some thirty times as fast."""
    import rjieba

    def cut(text: str) -> list[str]:
        return rjieba.cut(text, False)

    return cut


def jieba_cut(user_dict: str | None, hmm: bool) -> Cut:
    """jieba with a tokenizer of our own, so that the words of a dictionary do not reach others in this process.

    Only words of frequency 0, which are never to be found, jieba keeps for all tokenizers with a model. A dictionary is
    read once, and again when its file has changed. Raises ConfigError if it cannot be read.
    """
    try:
        tokenizer = _tokenizer(user_dict)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"user_dict: cannot read {user_dict!r} ({error}); expected a UTF-8 file with a word a line, "
            "each optionally followed by a frequency and a tag"
        ) from error

    def cut(text: str) -> list[str]:
        return list(tokenizer.cut(text, HMM=hmm))

    return cut


def _tokenizer(user_dict: str | None) -> Any:
    path = None if user_dict is None else os.path.abspath(user_dict)
    with _loading:
        # Before the file is read: should it change meanwhile, the next call reads it again.
        stamp = None if path is None else _stamp(path)
        if path not in _loaded or _loaded[path][0] != stamp:
            _loaded.pop(path, None)
            _loaded[path] = stamp, _load(path)
        return _loaded[path][1]


def _stamp(path: str) -> Stamp:
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


def _load(path: str | None) -> Any:
    with warnings.catch_warnings():
        # Its regular expressions and pkg_resources warn on import: nothing that a user could mend.
        warnings.simplefilter("ignore")
        import jieba

    level = jieba.default_logger.level
    jieba.setLogLevel(logging.CRITICAL)
    try:
        tokenizer = jieba.Tokenizer()
        tokenizer.initialize()
        if path is not None:
            # jieba would leave a file that it opens itself open.
            tokenizer.load_userdict(BytesIO(Path(path).read_bytes()))
    finally:
        jieba.setLogLevel(level)
    return tokenizer


def missing(user_dict: str) -> str | None:
    """What is wrong with the path of a dictionary, if anything can be told without reading it."""
    if Path(user_dict).is_file():
        return None
    return f"user_dict: {user_dict!r} is not a file; give the path of a dictionary with a word a line"
