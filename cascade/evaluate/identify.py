"""Which documents of a corpus have certain ids. Ids are compared as JSON texts: 3 and "3" are two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from cascade.corpus import Corpus
from cascade.io import jsontext
from cascade.pairs import Rows

ROWS_AT_ONCE = 64 * 1024


def find_ids(ids: Sequence[bytes], corpus: Corpus, *, as_text: bool = False) -> tuple[Rows, Rows]:
    """The first and the second row with each id: int64[n] each, -1 where there is none. The ids differ.

    JSON texts match digit for digit, white space in arrays and objects aside. With `as_text` ids are plain texts, which
    do not tell 3 from "3": one matches the id that is a string of these characters, and the number, true or false that
    is written so.
    """
    number: dict[bytes, int] = {}
    for i, id_ in enumerate(ids):
        if not as_text:
            number[_plain(id_)] = i
            continue
        number[jsontext.dumps(id_.decode("utf-8"))] = i
        if not id_.startswith(b'"'):
            number[id_] = i
    first, second = np.full(len(ids), -1, np.int64), np.full(len(ids), -1, np.int64)
    for begin in range(0, len(corpus), ROWS_AT_ONCE):
        offsets = corpus.ids.offsets[begin : begin + ROWS_AT_ONCE + 1].tolist()
        data = corpus.ids.data[offsets[0] : offsets[-1]].tobytes()
        for row, (start, stop) in enumerate(pairwise(offsets), begin):
            at = number.get(_plain(data[start - offsets[0] : stop - offsets[0]]))
            if at is not None and second[at] < 0:
                (first if first[at] < 0 else second)[at] = row
    return first, second


def _plain(id_: bytes) -> bytes:
    """The JSON text without white space that does not count."""
    return jsontext.dumps(jsontext.loads_exact(id_)) if id_[:1] in (b"[", b"{") else id_
