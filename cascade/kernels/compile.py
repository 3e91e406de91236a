"""How the kernels are compiled: one decorator for all of them. No kernel is here, and no file is touched.

Small functions that are inlined into kernels need only `@njit(inline="always")`.
"""

from __future__ import annotations

from pathlib import Path

from numba import config, njit


def kernel(function):
    """Compiles an array function that runs without the GIL, and lets numba keep the machine code for later runs.

    numba keeps it in NUMBA_CACHE_DIR, else beside the source, else in the user's cache. Where it can write to none of
    them, as in a read-only container, it refuses such a function; then every process compiles its own.
    """
    try:
        return njit(nogil=True, cache=_home_is_known() or bool(config.CACHE_DIR))(function)  # type: ignore[attr-defined]
    except RuntimeError:
        return njit(nogil=True)(function)


def _home_is_known() -> bool:
    """Where it is not, numba may take a folder named `~` in the working directory for the user's cache."""
    try:
        return bool(Path.home())
    except RuntimeError:
        return False
