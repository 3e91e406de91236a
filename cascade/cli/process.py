"""What the command sets for its own process: how often objects are looked through, what the allocator keeps."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress

OBJECTS = 100_000
"""New objects between two looks."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT_ARRAY, KEPT_FREE = 1 << 24, 1 << 26
"""Bytes of an array whose room is kept when it is freed, and of room that is kept."""


def settle() -> None:
    """To be called once, before the rest is imported."""
    # Imports make hundreds of thousands of objects that stay; looking through them again and again takes a fifth of
    # the start. A run itself makes few: its data is in arrays.
    gc.set_threshold(OBJECTS)
    # GNU's C library would give the room of each batch back to the system, which hands out zeroed pages for the next:
    # up to a tenth of a run. Other libraries have no such function, or take no notice.
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, KEPT_ARRAY)
        mallopt(M_TRIM_THRESHOLD, KEPT_FREE)
