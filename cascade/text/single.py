"""One text at a time, for library users: the shingle set of a text, as the stages would see it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cascade.stage import Shingler
from cascade.text.buffer import TextBuffer
from cascade.text.normalize import Normalize, normalize
from cascade.text.shingle import Word, sorted_sets


def shingle_hashes(
    text: str, shingler: Shingler | None = None, options: Normalize | None = None, seed: int = 0
) -> npt.NDArray[np.uint64]:
    """The distinct shingle hashes of a text, ascending (uint64): what `signature`, `fingerprint`, `jaccard` take.

    `shingler` defaults to words, n = 5; `options` to the default normalising. Hashes of different seeds do not compare.
    """
    normalized = normalize(text, options or Normalize())
    return sorted_sets((shingler or Word()).shingle(TextBuffer.from_strings([normalized]), seed)).hashes
