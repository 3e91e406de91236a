"""Byte streams of files, decompressed and compressed. What the bytes mean is not known here."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from cascade.errors import InputError, OutputError
from cascade.io.documents import Source

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK = 1 << 20
"""Bytes that a reader takes at a time."""
GZIP = 31
"""zlib's window bits for a gzip header and trailer."""
GZIP_LEVEL = 4
"""Twice as fast as level 6 on text and 5 % larger."""


class Writable(Protocol):
    """What the writers of this package write to."""

    def write(self, data: bytes | memoryview, /) -> object: ...


class _Stream(io.RawIOBase):
    """A source as a raw stream: every fault while reading becomes an InputError that names the file."""

    def __init__(self, source: Source, fill: Callable[[memoryview], int]) -> None:
        self.source = source
        self.fill = fill

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        with read_faults(self.source):
            return self.fill(memoryview(buffer))


@contextmanager
def read_faults(source: Source) -> Iterator[None]:
    """Faults of the file and of its compression, as an InputError that names it."""
    try:
        yield
    except EOFError:
        raise InputError(f"{source.name}: ends too early: the compressed data is cut; fetch the file again") from None
    except zlib.error as error:
        raise InputError(f"{source.name}: damaged: {error}; fetch the file again") from None
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"{source.name}: cannot be read: {error.strerror or error}") from error
        # pyarrow's codecs raise OSError without a number.
        what = "ends too early: the compressed data is cut" if "Truncated" in str(error) else f"damaged: {error}"
        raise InputError(f"{source.name}: {what}; fetch the file again") from None


@contextmanager
def opened(source: Source) -> Iterator[io.FileIO]:
    """The file as it is. Raises InputError if it cannot be opened, or changed since the run began."""
    with read_faults(source):
        file = io.FileIO(source.path)
    with file:
        check_unchanged(source, os.fstat(file.fileno()))
        yield file
        check_unchanged(source, os.fstat(file.fileno()))


@contextmanager
def reading(source: Source) -> Iterator[io.BufferedReader]:
    """The decompressed bytes of `source`. Raises InputError: unreadable, damaged, cut, changed since the run began."""
    with opened(source) as file:
        fill: Callable[[memoryview], int] = file.readinto
        if source.compression == "gz":
            fill = _filling(_gunzip(file))
        elif source.compression == "zst":
            with read_faults(source):
                fill = _filling(_unzstd(file))
        yield io.BufferedReader(_Stream(source, fill), BLOCK)


def _filling(read: Callable[[int], bytes]) -> Callable[[memoryview], int]:
    """What gives some bytes, as what fills a buffer with some."""

    def fill(buffer: memoryview) -> int:
        data = read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    return fill


def check_unchanged(source: Source, now: os.stat_result) -> None:
    """Raises InputError if the file is not the one that the run began with: it is read more than once."""
    if source.size >= 0 and (now.st_size, now.st_mtime_ns) != (source.size, source.mtime_ns):
        raise InputError(f"{source.name}: changed while it was being read; run again once nobody writes to it")


def _gunzip(file: IO[bytes]) -> Callable[[int], bytes]:
    """Reads all members of a gzip file; NUL bytes behind one are padding, as gzip itself has it."""
    member = zlib.decompressobj(GZIP)
    pending = b""
    inside = False
    members = 0

    def read(size: int) -> bytes:
        nonlocal member, pending, inside, members
        while True:
            if not pending:
                pending = file.read(BLOCK)
                if not pending:
                    if inside or not members:
                        raise EOFError
                    return b""
            if not inside:
                if members:
                    pending = pending.lstrip(b"\0")
                    if not pending:
                        continue
                    member = zlib.decompressobj(GZIP)
                inside = True
                members += 1
            data = member.decompress(pending, size)
            pending = member.unconsumed_tail
            if member.eof:
                pending = member.unused_data
                inside = False
            if data:
                return data

    return read


def _unzstd(file: IO[bytes]) -> Callable[[int], bytes]:
    """Reads all frames of a zstd file."""
    import pyarrow as pa

    if os.fstat(file.fileno()).st_size == 0:
        raise EOFError
    stream = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
    read: Callable[[int], bytes] = stream.read
    return read


@contextmanager
def writing(path: Path, compression: str = "") -> Iterator[Writable]:
    """A new file that what is written goes to, compressed; its folder is made. Raises OutputError, disk full included.

    The bytes depend on what is written alone: a gzip header holds neither time nor name.
    """
    with write_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "xb", buffering=BLOCK) as file:
            if compression == "gz":
                packer = _Gzip(file)
                yield packer
                packer.finish()
            elif compression == "zst":
                import pyarrow as pa

                sink = pa.PythonFile(file, "w")
                with pa.CompressedOutputStream(sink, "zstd") as stream:
                    yield stream
            else:
                yield file
                file.flush()
                os.fsync(file.fileno())  # it has to be done before the output is placed; here other threads go on


@contextmanager
def write_faults(path: Path) -> Iterator[None]:
    """Faults of writing `path`, as an OutputError that names it."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error


class _Gzip:
    """Packs what is written as one gzip member."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.packer = zlib.compressobj(GZIP_LEVEL, wbits=GZIP)

    def write(self, data: bytes | memoryview, /) -> None:
        self.file.write(self.packer.compress(data))

    def finish(self) -> None:
        self.file.write(self.packer.flush())
