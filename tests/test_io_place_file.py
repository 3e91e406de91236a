"""Placing one file: whole or not at all, and nobody's file is lost unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cascade.errors import OutputError
from cascade.io import place
from cascade.io.place import output_file


def run(out: Path, overwrite: bool = False, content: bytes = b"new") -> None:
    with output_file(out, overwrite) as work:
        work.write_bytes(content)


def fail(out: Path, error: type[BaseException]) -> None:
    with output_file(out, overwrite=True) as work:
        work.write_bytes(b"half")
        raise error


def names(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def test_an_absent_file_appears_with_its_folders(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b.jsonl"
    with output_file(out) as work:
        work.write_bytes(b"new")
        assert not out.exists()
    assert out.read_bytes() == b"new"
    assert names(tmp_path) == ["a", "a/b.jsonl"]
    mask = os.umask(0)
    os.umask(mask)
    assert out.stat().st_mode & 0o777 == 0o666 & ~mask


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        fail(tmp_path / "a" / "b.jsonl", ZeroDivisionError)
    assert names(tmp_path) == []


def test_what_fails_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "b.jsonl"
    out.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        fail(out, KeyboardInterrupt)
    assert (names(tmp_path), out.read_bytes()) == (["b.jsonl"], b"old")


def test_a_file_that_is_there_is_refused_before_any_work(tmp_path: Path) -> None:
    out = tmp_path / "b.jsonl"
    out.write_bytes(b"old")
    with pytest.raises(OutputError, match=r"b\.jsonl: is there already; .*--overwrite"), output_file(out):
        pytest.fail("it began")
    assert (names(tmp_path), out.read_bytes()) == (["b.jsonl"], b"old")
    run(out, overwrite=True)
    assert (names(tmp_path), out.read_bytes()) == (["b.jsonl"], b"new")


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_came_meanwhile_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(place.os, "link", lambda *_: (_ for _ in ()).throw(PermissionError(1, "no links here")))
        run(tmp_path / "c.jsonl")
        assert (tmp_path / "c.jsonl").read_bytes() == b"new"
        return
    out = tmp_path / "b.jsonl"

    def both() -> None:
        with output_file(out) as work:
            work.write_bytes(b"new")
            out.write_bytes(b"theirs")

    with pytest.raises(OutputError, match="another run has put its result there meanwhile"):
        both()
    assert (names(tmp_path), out.read_bytes()) == (["b.jsonl"], b"theirs")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_bytes(b"old")
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    run(tmp_path / "link.jsonl", overwrite=True)
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_bytes() == b"new"
    (tmp_path / "dangling.jsonl").symlink_to("none.jsonl")
    run(tmp_path / "dangling.jsonl")
    assert (tmp_path / "none.jsonl").read_bytes() == b"new"


def test_what_may_not_be_written_to(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"data")
    (tmp_path / "link.jsonl").symlink_to(source)
    for out in (source, tmp_path / "link.jsonl"):
        with pytest.raises(OutputError, match="is an input, which would be lost"), output_file(out, True, [source]):
            pytest.fail("it began")
    with pytest.raises(OutputError, match="is a folder; name a file"):
        run(tmp_path, overwrite=True)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="is no regular file"):
        run(tmp_path / "pipe", overwrite=True)
    with pytest.raises(OutputError, match=r"in\.jsonl/x\.jsonl: cannot be written|in\.jsonl: cannot be written"):
        run(source / "x.jsonl")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError, match="loop: "):
        run(tmp_path / "loop")
    assert source.read_bytes() == b"data"
