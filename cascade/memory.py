"""Memory: the budget of a run, and arrays that keep to it. The one place that knows about memory.

What fits the budget lies in ordinary memory, the rest in files that are mapped into it. Whoever works on an array need
not know which; so the budget changes no decision. Nothing here knows what the arrays hold.
"""

from __future__ import annotations

import mmap
import os
import re
import resource
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cascade.errors import ConfigError, OutputError

UNITS = {
    **{unit: 1000**power for power, unit in enumerate(("B", "KB", "MB", "GB", "TB"))},
    **{unit: 1024**power for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB"), 1)},
}
SIZE = rf"^[0-9]+(?:\.[0-9]+)? ?(?:{'|'.join(UNITS)})$"
"""How a size is written: a number and a unit, as in 2GB or 1.5 GiB."""
MINIMUM = 500_000_000
"""Bytes that a run needs in any case: the packages, the compiled code, and one batch for each thread."""
BASE = 320_000_000
"""What the packages, the compiled code and the stacks of threads take (measured: private memory of a tiny run)."""
PER_WORKER = 40_000_000
"""What the batches of one thread take, about; with a small budget fewer threads work."""
SMALL = 1 << 16
"""Arrays of fewer bytes are never worth a file."""
ROWS_AT_ONCE = 1 << 20

Holder = TypeVar("Holder", "npt.NDArray[Any]", "Growing")


def parse_size(written: int | str) -> int:
    """Bytes: a number, or text such as "2GB". Raises ValueError."""
    if isinstance(written, int):
        return written
    if not re.fullmatch(SIZE, written):
        raise ValueError(f"{written!r} is no size; write a number and a unit, such as 2GB; units: {', '.join(UNITS)}")
    number = written.rstrip("BKMGTi ")
    return int(float(number) * UNITS[written[len(number) :].strip()])


def check_size(written: int | str) -> int:
    """The same for a budget. Raises ValueError where it is less than a run needs."""
    size = parse_size(written)
    if size < MINIMUM:
        raise ValueError(f"{written} is too little: a run needs {MINIMUM // 10**6} MB; more makes it faster")
    return size


def budget_of(written: int | str) -> int:
    """Bytes of a budget as it is written; `auto` is half of what this process may use, at least MINIMUM.

    Raises ValueError.
    """
    if isinstance(written, str) and written.isdecimal():  # from a command line
        written = int(written)
    return max(usable() // 2, MINIMUM) if written == "auto" else check_size(written)


def memory_for(written: int | str, work_dir: str | Path | None = None, keep_work: bool = False) -> Memory:
    """The memory of a run, from its options. Raises ConfigError, OutputError."""
    try:
        budget = budget_of(written)
    except ValueError as error:
        raise ConfigError(f"memory: {error}") from None
    if work_dir is not None and not Path(work_dir).is_dir():
        raise OutputError(f"{work_dir}: is no folder, and work files were to go there; make it or name another")
    return Memory(budget, None if work_dir is None else Path(work_dir), keep_work)


def usable() -> int:
    """Bytes of memory that this process may use: the machine's, or less where a limit says so."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *_cgroup_limits()]
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return min([*limits, soft] if soft != resource.RLIM_INFINITY else limits)


def _cgroup_limits() -> Iterator[int]:
    """Limits of the control groups (version 1 or 2) that this process is in, those around them included."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text("ascii", "replace").splitlines():
            _, kinds, place = line.split(":", 2)
            root, name = ("", "memory.max") if not kinds else ("memory", "memory.limit_in_bytes")
            if kinds and "memory" not in kinds.split(","):
                continue
            group = Path("/sys/fs/cgroup", root, place.lstrip("/"))
            for folder in (group, *group.parents):
                with suppress(OSError, ValueError):
                    yield int((folder / name).read_text("ascii"))


class Memory:
    """Hands out arrays within a budget of `budget` bytes, from the thread that runs the pipeline.

    A part of the budget is for Python itself (BASE), a quarter is for what comes and goes (`working`), the rest for the
    arrays handed out, counted while they live. One that does not fit, or would take half of that, lies in a file in
    `folder` (default: the system's for temporary files), which has no name and vanishes with the array, however the
    process ends; with `keep` they stay, in the folder `kept` inside of it. The disk space is taken at once: a full disk
    is an OutputError and no crash later on.
    """

    def __init__(self, budget: int = sys.maxsize, folder: Path | None = None, keep: bool = False) -> None:
        self.budget = budget
        self.folder = folder or Path(tempfile.gettempdir())
        self.keep = keep
        self.working = budget // 4
        self.kept: Path | None = None
        self.mapped = 0
        """Bytes that have been put into files."""
        self._room = max(budget - BASE - self.working, 0)
        self._holders: list[weakref.ref[npt.NDArray[Any] | Growing]] = []

    def threads(self, workers: int) -> int:
        """How many of `workers` threads the budget has room for."""
        return max(1, min(workers, (self.budget - BASE) // PER_WORKER))

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike, order: Any = "C") -> npt.NDArray[Any]:
        """An array of arbitrary content."""
        shape = (shape,) if isinstance(shape, int) else shape
        size = prod(shape) * np.dtype(dtype).itemsize
        if not self.fits(size):
            return np.ndarray(shape, dtype, self.file(size).map, order=order)
        return self.count(np.empty(shape, dtype, order))

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike, order: Any = "C") -> npt.NDArray[Any]:
        """An array of zeros."""
        shape = (shape,) if isinstance(shape, int) else shape
        size = prod(shape) * np.dtype(dtype).itemsize
        if not self.fits(size):
            return np.ndarray(shape, dtype, self.file(size).map, order=order)  # a new file reads as zeros
        return self.count(np.zeros(shape, dtype, order))

    def full(self, length: int, value: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array in which each entry is `value`."""
        array = self.empty(length, dtype)
        array.fill(value)
        return array

    def arange(self, length: int) -> npt.NDArray[np.int64]:
        """0 … length - 1."""
        array = self.empty(length, np.int64)
        for start in range(0, length, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, length)
            array[start:stop] = np.arange(start, stop)
        return array

    def slots(self, entries: int) -> npt.NDArray[Any]:
        """A table of -1 for open addressing, at most half full once it holds the numbers of so many entries."""
        return self.full(1 << (2 * entries).bit_length(), -1, np.int32 if entries < 1 << 31 else np.int64)

    def fits(self, size: int, instead_of: Growing | None = None) -> bool:
        """Whether an array of so many bytes, beside those that live or in the place of one, fits ordinary memory."""
        if size <= SMALL:
            return True
        alive = [(ref, holder) for ref in self._holders if (holder := ref()) is not None]
        self._holders = [ref for ref, _ in alive]
        used = sum(holder.nbytes for _, holder in alive if holder is not instead_of)
        return size <= self._room // 2 and size + used <= self._room

    def count(self, holder: Holder) -> Holder:
        """Counts what an array, or one that grows, takes while it or a view of it lives."""
        self._holders.append(weakref.ref(holder))
        return holder

    def file(self, size: int) -> WorkFile:
        """A new work file."""
        self.mapped += size
        if self.keep and self.kept is None:
            with disk_faults(self.folder):
                self.kept = Path(tempfile.mkdtemp(prefix="cascade-work-", dir=self.folder))
        return WorkFile(self.kept or self.folder, size, self.keep)


class WorkFile:
    """A mapped file, without a name unless it is to be kept; gone once neither it nor its map is used any more."""

    def __init__(self, folder: Path, size: int, keep: bool) -> None:
        self.folder = folder
        with disk_faults(folder):
            self._handle, path = tempfile.mkstemp(prefix="array-", dir=folder)
            weakref.finalize(self, os.close, self._handle)
            if not keep:
                os.unlink(path)
        self._reserve(0, size)
        self.map = mmap.mmap(self._handle, size)

    def grow(self, size: int) -> None:
        """Makes the file longer; nobody may hold an array on the map meanwhile."""
        self._reserve(len(self.map), size)
        self.map.resize(size)

    def _reserve(self, start: int, stop: int) -> None:
        with disk_faults(self.folder, f" of {stop - start:,} bytes more"):
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._handle, start, stop - start)
            else:
                os.ftruncate(self._handle, stop)


@contextmanager
def disk_faults(folder: Path, size: str = "") -> Iterator[None]:
    """Faults of the disk, as an OutputError that names the folder and what was to go there."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot hold work files{size}: {error.strerror or error}; "
            "free some space, name another folder by --work-dir, or allow more --memory"
        ) from error


class Growing:
    """A one-dimensional array that is appended to. It grows in place, and moves to a file once the budget is spent.

    `expected`: how many entries are likely to come. Room that stays untouched costs nothing.
    """

    def __init__(self, memory: Memory, dtype: npt.DTypeLike, expected: int = 0) -> None:
        self._memory = memory
        self._dtype = np.dtype(dtype)
        self._file: WorkFile | None = None
        self._size = 0
        self._array = self._room(max(expected, 1024))
        memory.count(self)

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """Bytes of ordinary memory."""
        return 0 if self._file is not None else self._array.nbytes

    @property
    def so_far(self) -> npt.NDArray[Any]:
        """What was appended; to be let go before more is."""
        return self._array[: self._size]

    def append(self, values: npt.NDArray[Any]) -> None:
        """Copies `values` behind what is there."""
        need = self._size + len(values)
        if need > len(self._array):
            # realloc of a large block moves pages, not bytes; numpy zeroes what is new, so it must not be too much.
            self._resize(max(need, len(self._array) * 5 // 4))
        self._array[self._size : need] = values
        self._size = need

    def finish(self) -> npt.NDArray[Any]:
        """What was appended; nothing can be appended any more."""
        array, self._array = self._array, np.empty(0, self._dtype)
        if self._file is not None:
            return array[: self._size]
        array.resize(self._size, refcheck=False)
        return self._memory.count(array)

    def _room(self, length: int) -> npt.NDArray[Any]:
        size = length * self._dtype.itemsize
        if self._memory.fits(size, instead_of=self):
            return np.empty(length, self._dtype)
        self._file = self._memory.file(size)
        return np.ndarray(length, self._dtype, self._file.map)

    def _resize(self, length: int) -> None:
        size = length * self._dtype.itemsize
        if self._file is not None:
            self._memory.mapped += size - self._array.nbytes
            self._array = np.empty(0, self._dtype)  # lets go of the map
            self._file.grow(size)
            self._array = np.ndarray(length, self._dtype, self._file.map)
        elif self._memory.fits(size, instead_of=self):
            self._array.resize(length, refcheck=False)
        else:
            old, self._array = self._array, self._room(length)
            self._array[: self._size] = old[: self._size]
