"""The file of labels that people make, pair by pair: read, and changed so that nothing is ever lost or half there.

Its rows {"a", "b", "label", "time"} are labels as cascade.io.labels reads them. Who is asked what is not known here.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cascade.errors import InputError
from cascade.io import jsontext
from cascade.io.labels import DUPLICATE, NOT, UNSURE, WORDS
from cascade.io.place import output_file
from cascade.io.row import kind
from cascade.io.streams import writing

LABELS = {"duplicate": DUPLICATE, "not": NOT, "unsure": UNSURE}
"""What a pair can be marked as."""


@dataclass(frozen=True)
class Mark:
    """A pair and what somebody said of it."""

    a: bytes
    """An id as JSON text."""
    b: bytes
    label: str
    row: bytes
    """The row as it stands in the file, without its line end."""

    @property
    def pair(self) -> frozenset[bytes]:
        """The two ids, whichever comes first."""
        return frozenset((self.a, self.b))


def mark(a: bytes, b: bytes, label: str, time: str) -> Mark:
    """A new mark; `a` and `b` are JSON texts of ids."""
    parts = [b'{"a":', a, b',"b":', b, b',"label":', jsontext.dumps(label), b',"time":', jsontext.dumps(time), b"}"]
    return Mark(a, b, label, b"".join(parts))


def read_marks(path: Path) -> list[Mark]:
    """The marks in a file, in its order; none if there is no file. Raises InputError with the line."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    return [_mark(path, number, line.rstrip(b"\r")) for number, line in enumerate(lines, 1) if line.strip()]


def _mark(path: Path, number: int, line: bytes) -> Mark:
    try:
        row = jsontext.loads_exact(line)
    except jsontext.NotJson as fault:
        raise InputError(f"{path}:{number}: {fault}") from None
    if not isinstance(row, dict) or not {"a", "b", "label"} <= set(row):
        raise InputError(
            f'{path}:{number}: expected a label {{"a", "b", "label"}}, found {kind(row)}; name another file'
        )
    word = WORDS.get(str(row["label"]).strip().lower())
    label = next((name for name, value in LABELS.items() if value == word), None)
    if label is None:
        raise InputError(f"{path}:{number}: label is {str(row['label'])[:40]!r}; expected one of {', '.join(LABELS)}")
    return Mark(jsontext.dumps(row["a"]), jsontext.dumps(row["b"]), label, line)


def change_marks(path: Path, change: Callable[[list[Mark]], list[Mark]]) -> list[Mark]:
    """Reads the marks, changes them and has the new file on the disk, in one step, before it returns them.

    Others that change the same file at the same time, threads or processes, wait. Raises InputError, OutputError.
    """
    with _alone(path.parent):
        marks = change(read_marks(path))
        with output_file(path, overwrite=True) as work, writing(work) as out:
            out.write(b"".join(each.row + b"\n" for each in marks))
        return marks


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Holds the lock of a folder, which is the system's and ends with the process."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror or error}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
