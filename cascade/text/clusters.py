"""What becomes of clusters, the few characters between two places where a text can be cut: the table for the kernel.

The library normalises each of them once, many at a time. Where texts are cut is proved in cascade.text.mapping.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cascade.kernels.normalize import MAX_CLUSTER
from cascade.text.buffer import encode
from cascade.text.normalize import Normalize, normalize

SIZE = 4096
"""Clusters in a table: the few hundred of a language, and little enough to begin anew with texts that are all marks."""

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Clusters:
    """The kernel's table: `slots` (int32, a power of two of them) hold 1 + the number of a cluster, or 0.

    Cluster k is keys[key_ends[k]:key_ends[k + 1] - 1], a line feed behind it, and becomes
    values[value_ends[k]:value_ends[k + 1]]; known[0] clusters are in the table, known[1] have values; the rest of
    `known` is the kernel's own. There is room for one cluster less than key_ends has numbers.
    """

    slots: npt.NDArray[np.int32]
    keys: Bytes
    key_ends: Numbers
    values: Bytes
    value_ends: Numbers
    known: Numbers
    options: Normalize

    @staticmethod
    def empty(options: Normalize, size: int = 0) -> Clusters:
        """A table with room for `size` clusters: 0, for most buffers hold none, or a power of two."""
        key_ends, value_ends = np.zeros((2, size + 1), np.int64)
        keys, values = np.empty(size * (MAX_CLUSTER + 1), np.uint8), np.empty(0, np.uint8)
        slots = np.zeros(2 * size or 1, np.int32)
        return Clusters(slots, keys, key_ends, values, value_ends, np.zeros(6, np.int64), options)

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int32], Bytes, Numbers, Bytes, Numbers, Numbers]:
        """What the kernel takes."""
        return self.slots, self.keys, self.key_ends, self.values, self.value_ends, self.known

    def learnt(self) -> Clusters:
        """The table with values for all of its clusters; without any, but with room, if there were none to learn."""
        if len(self.key_ends) == 1:
            return self.empty(self.options, SIZE)
        count, done = self.known[:2].tolist()
        if count == done:
            self.slots[:] = 0
            self.known[:] = 0
            return self
        key_ends = self.key_ends[done : count + 1].tolist()
        raw = self.keys[key_ends[0] : key_ends[-1]].tobytes()
        # Nothing reaches across a line feed.
        made = normalize(raw.decode("utf-8"), _with_spaces(self.options))[:-1].split("\n")
        if len(made) == count - done:
            values = [encode(self._spaced(text)) for text in made]
        else:
            values = [
                self.normalized(raw[start - key_ends[0] : stop - 1 - key_ends[0]]) for start, stop in pairwise(key_ends)
            ]
        used = int(self.value_ends[done])
        sizes = np.fromiter(map(len, values), np.int64, len(values))
        self.value_ends[done + 1 : count + 1] = used + np.cumsum(sizes)
        self.known[1] = count
        joined = np.frombuffer(b"".join(values), np.uint8)
        if used + len(joined) <= len(self.values):
            self.values[used : used + len(joined)] = joined
            return self
        room = np.empty(used + len(joined) + 1024, np.uint8)
        return replace(self, values=np.concatenate((self.values[:used], joined, room)))

    def normalized(self, part: bytes) -> bytes:
        """A part of a text normalised; white space at its ends stays, collapsed."""
        return encode(self._spaced(normalize(part.decode("utf-8"), _with_spaces(self.options))))

    def _spaced(self, text: str) -> str:
        if self.options.whitespace == "keep" or not text:
            return text
        words = " ".join(text.split())
        return " " * text[0].isspace() + words + " " * (text[-1].isspace() and words != "")


@cache
def _with_spaces(options: Normalize) -> Normalize:
    return options.model_copy(update={"whitespace": "keep"})
