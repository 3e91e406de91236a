"""Puts a folder, or a file, in place whole or not at all. What is written into it is not known here."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from cascade.errors import OutputError

LOCK = "lock"
LABELS_FILE = "labels.jsonl"
"""What people have judged of a result (cascade.io.marks): nothing may replace a folder that holds it."""
RESULT = "result"
OLD = "old"
AT_FDCWD = -100
RENAME_EXCHANGE = 2


@contextmanager
def output_folder(out: str | Path, overwrite: bool = False, inputs: Sequence[Path] = ()) -> Iterator[Path]:
    """Gives an empty folder beside `out`; when the block ends well, it becomes `out` in one step.

    A non-empty `out` is refused before any work, unless `overwrite`: then it changes places with the new folder and is
    removed. If the block raises, `out` stays as it was and the work is removed. Runs on one `out` at the same time
    do not disturb each other: the last to end has its folder in place with `overwrite`, and is refused without.
    `inputs` are files that the run needs: an `out` that holds one of them is refused. Raises OutputError.
    """
    target = _target(Path(out), overwrite, inputs)
    with _parents(target.parent), _workshop(target) as shop:
        work = shop / RESULT
        with _faults(target):
            work.mkdir()
        yield work
        with _faults(target):
            _sync(work)
            _put(work, target, shop / OLD, overwrite)
            _sync_folder(target.parent)


@contextmanager
def output_file(out: str | Path, overwrite: bool = False, inputs: Sequence[Path] = ()) -> Iterator[Path]:
    """Gives a path beside `out` for a file to be made at; when the block ends well, that becomes `out` in one step.

    A file that is there is refused before any work, unless `overwrite`; `out` may be none of `inputs` in any case. If
    the block raises, all stays as it was. Raises OutputError.
    """
    out = Path(out)
    with _faults(out):
        target = Path(os.path.realpath(out))
        if target.is_dir():
            raise OutputError(f"{out}: is a folder; name a file for the output")
        if any(Path(os.path.realpath(path)) == target for path in inputs):
            raise OutputError(f"{out}: is an input, which would be lost; name another file")
        if os.path.lexists(target) and not target.is_file():
            raise OutputError(f"{out}: is no regular file; name a file for the output")
        if os.path.lexists(target) and not overwrite:
            raise OutputError(f"{out}: is there already; name another file, or use --overwrite to replace it")
    with _parents(target.parent), _workshop(target) as shop:
        work = shop / RESULT
        yield work
        with _faults(target):
            _sync_folder(work)
            if overwrite:
                os.replace(work, target)
            else:
                _place_new(work, target)
            _sync_folder(target.parent)


def _place_new(work: Path, target: Path) -> None:
    """Gives a file its name, which nothing may have: a link is refused where there is something, a rename is not."""
    try:
        os.link(work, target)
    except FileExistsError:
        raise OutputError(f"{target}: another run has put its result there meanwhile; this one was not kept") from None
    except OSError:  # a file system without links
        os.rename(work, target)


def _target(out: Path, overwrite: bool, inputs: Sequence[Path]) -> Path:
    """The folder that `out` means, links followed. Raises OutputError if it may not be written."""
    with _faults(out):
        target = Path(os.path.realpath(out))
        if target.is_symlink():
            raise OutputError(f"{out}: is a link that leads to itself; name a folder for the output")
        if target.exists() and not target.is_dir():
            raise OutputError(f"{out}: is a file; name a folder for the output")
        if not target.exists():
            return target
        if os.path.ismount(target):
            raise OutputError(f"{out}: is a mount point and cannot be replaced as a whole; name a folder below it")
        if Path.cwd().is_relative_to(target):
            raise OutputError(f"{out}: holds the current folder, which cannot be replaced; name another folder")
        for path in inputs:
            if Path(os.path.realpath(path)).is_relative_to(target):
                raise OutputError(f"{out}: holds the input {path}, which would be lost; name another folder")
        if not overwrite and any(target.iterdir()):
            raise OutputError(f"{out}: is not empty; name another folder, or use --overwrite to replace it")
        if (target / LABELS_FILE).is_file():
            raise OutputError(
                f"{out / LABELS_FILE}: holds labels that people have made; move it elsewhere before OUT is replaced"
            )
    return target


@contextmanager
def _parents(folder: Path) -> Iterator[None]:
    """Makes `folder`; if the block raises, what had to be made is removed again."""
    made = [p for p in (folder, *folder.parents) if not p.exists()]
    with _faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


@contextmanager
def _workshop(target: Path) -> Iterator[Path]:
    """A locked folder beside `target`, hidden, removed in any case; those of runs that are no more are removed first.

    The lock is what tells the folder of a live run: the system gives it up when the process ends, however it ends.
    """
    prefix = f".{target.name[:40]}.cascade-"
    with _faults(target):
        _sweep(target.parent, prefix)
        shop, lock = _locked_folder(target.parent, prefix)
    try:
        yield shop
    finally:
        _remove(shop)
        os.close(lock)


def _remove(shop: Path) -> None:
    """Removes a workshop, the lock last: without it nobody could tell later whose the rest is."""
    for part in (RESULT, OLD):
        shutil.rmtree(shop / part, ignore_errors=True)
    shutil.rmtree(shop, ignore_errors=True)


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder with a lock on the file in it. Another run may sweep it away before it is locked: then once more."""
    while True:
        shop = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with suppress(FileNotFoundError, BlockingIOError):
            lock = os.open(shop / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                raise
            except OSError:
                pass  # a file system without locks: nobody can sweep there either
            if os.fstat(lock).st_nlink:
                return shop, lock
            os.close(lock)


def _sweep(parent: Path, prefix: str) -> None:
    """Removes the folders that dead runs have left."""
    ours = re.compile(re.escape(prefix) + r"[a-z0-9_]{8}")
    for shop in [p for p in parent.iterdir() if ours.fullmatch(p.name) and p.is_dir() and not p.is_symlink()]:
        try:
            lock = os.open(shop / LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            with suppress(OSError):
                shop.rmdir()  # killed between making the folder and the lock: it is empty, or it is not ours
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(shop)
        except OSError:
            pass  # its run is alive
        finally:
            os.close(lock)


def _put(work: Path, target: Path, old: Path, overwrite: bool) -> None:
    try:
        os.rename(work, target)
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    if not overwrite:
        raise OutputError(f"{target}: another run has put its result there meanwhile; this one was not kept")
    if not exchange(work, target):
        os.rename(target, old)
        try:
            os.rename(work, target)
        except OSError:
            os.rename(old, target)
            raise


def exchange(one: Path, other: Path) -> bool:
    """Lets two folders change places in one step; False if the system or the file system cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        return False
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def _sync(folder: Path) -> None:
    """Waits until all files below `folder` are on the disk."""
    for where, _, names in os.walk(folder):
        for name in names:
            _sync_folder(Path(where, name))
        _sync_folder(Path(where))


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    """Faults of the file system, as an OutputError that names the output."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
