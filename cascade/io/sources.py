"""From the arguments of a run to its input files. Only names and attributes are looked at; nothing is read here."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from cascade.errors import InputError
from cascade.io.documents import Source

FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
COMPRESSIONS = {".gz": "gz", ".zst": "zst"}
COMPRESSIBLE = (".jsonl", ".ndjson")
KNOWN = "*.jsonl and *.ndjson (also with .gz or .zst behind), *.parquet"


def find_inputs(arguments: Sequence[str | Path], outside: Path | None = None) -> list[Source]:
    """The files that the arguments name: files in the order given, folders and globs in sorted path order.

    Folders are searched recursively; in folders and globs only files of known suffix count, and none that is hidden or
    lies below `outside` (the output). Raises InputError: nothing there, unknown suffix, unreadable, a file named twice.
    """
    sources: list[Source] = []
    seen: dict[str, Path] = {}
    barred = Path(os.path.realpath(outside)) if outside else None
    if not arguments:
        raise InputError(f"no input: name files, folders or globs of {KNOWN}")
    for argument in arguments:
        for path in _expand(str(argument), barred):
            source = _source(path, len(sources))
            real = os.path.realpath(path)
            if real in seen:
                other = "" if str(seen[real]) == str(path) else f" (also as {seen[real]})"
                raise InputError(f"{source.name}: is named twice{other}; every file may come in once")
            seen[real] = path
            sources.append(source)
    return sources


def earlier_results(sources: Sequence[Source]) -> list[str]:
    """A warning for each folder that holds the result of an earlier run, where its files came in as input."""
    folders = {folder: None for s in sources for folder in list(s.path.parents)[:3]}
    return [
        f"{folder}: holds the result of an earlier run, and its files were read as input"
        for folder in folders
        if all((folder / name).is_file() for name in ("report.json", "removed.jsonl", "config.yaml"))
    ]


def split_suffix(path: Path) -> tuple[str, str] | None:
    """Format suffix and compression suffix as `path` has them (`.jsonl`, `.gz`); None if its format is not known."""
    name, last = os.path.splitext(path.name)
    if last.lower() in COMPRESSIONS:
        inner = os.path.splitext(name)[1]
        return (inner, last) if inner.lower() in COMPRESSIBLE else None
    return (last, "") if last.lower() in FORMATS else None


def _expand(argument: str, barred: Path | None) -> Iterator[Path]:
    path = Path(argument)
    if path.is_dir():
        found = sorted(_walk(path), key=str)
        where = "in this folder"
    elif not os.path.lexists(path) and glob.has_magic(argument):
        found = sorted((p for p in map(Path, glob.glob(argument, recursive=True)) if p.is_file()), key=str)
        where = "that matches"
    else:
        yield path
        return
    found = [p for p in found if split_suffix(p) and not (barred and Path(os.path.realpath(p)).is_relative_to(barred))]
    if not found:
        raise InputError(f"{argument}: there is no file {where} of a known kind: {KNOWN}")
    yield from found


def _walk(folder: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from error

    for where, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [f for f in folders if not f.startswith(".")]
        yield from (Path(where, n) for n in names if not n.startswith("."))


def _source(path: Path, index: int) -> Source:
    try:
        info = path.stat()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not stat.S_ISREG(info.st_mode):
        raise InputError(f"{path}: is no regular file; it is read more than once, so save it to a file first")
    suffix = split_suffix(path)
    if suffix is None:
        hint = "; a JSON array must be turned into JSON lines" if path.suffix.lower() == ".json" else ""
        raise InputError(f"{path}: unknown kind of file{hint}; known are {KNOWN}")
    if not os.access(path, os.R_OK):
        raise InputError(f"{path}: cannot be read: permission denied")
    kind, packed = suffix
    compression = COMPRESSIONS[packed.lower()] if packed else ""
    return Source(path, FORMATS[kind.lower()], compression, index, info.st_size, info.st_mtime_ns)
