"""How kernels are compiled: a decorator for them and one for their parts. None is here, and no file is touched."""

from __future__ import annotations

from pathlib import Path

from numba import config, njit


def part(function):
    """Compiles a function that kernels are made of; it becomes part of their machine code wherever they call it.

    LLVM puts it there. numba could do so (`inline="always"`), but analyses what it has put in anew for every call: the
    kernels of a run would take twice as long to compile. Nothing but a kernel may call it.
    """
    return njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def kernel(function):
    """Compiles an array function that runs without the GIL, and lets numba keep the machine code for later runs.

    numba keeps it in NUMBA_CACHE_DIR, else beside the source, else in the user's cache. Where it can write to none of
    them, as in a read-only container, it refuses such a function; then every process compiles its own.
    """
    cached = _home_is_known() or bool(config.CACHE_DIR)  # type: ignore[attr-defined]
    try:
        return njit(nogil=True, cache=cached)(function)
    except RuntimeError:
        return njit(nogil=True)(function)


def _home_is_known() -> bool:
    """Where it is not, numba may take a folder named `~` in the working directory for the user's cache."""
    try:
        return bool(Path.home())
    except RuntimeError:
        return False
