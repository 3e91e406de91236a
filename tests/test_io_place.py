"""Placing the output: whole or not at all, whatever happens, and no trace of what did not come about."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from cascade.errors import OutputError
from cascade.io import place
from cascade.io.place import output_folder

NEW = {"kept.jsonl": b"new\n", "kept/a.jsonl": b"newer\n"}
OLD = {"kept.jsonl": b"old\n", "notes.txt": b"mine\n"}


def fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def run(out: Path, overwrite: bool = False) -> None:
    with output_folder(out, overwrite) as work:
        fill(work, NEW)


def test_an_absent_output_appears(tmp_path: Path) -> None:
    with output_folder(tmp_path / "out") as work:
        assert work.is_dir()
        assert not list(work.iterdir())
        fill(work, NEW)
        assert not (tmp_path / "out").exists()
    assert tree(tmp_path) == {f"out/{name}": content for name, content in NEW.items()}
    assert os.stat(tmp_path / "out").st_mode & 0o777 == 0o777 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_an_empty_output_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    run(tmp_path / "out")
    assert tree(tmp_path) == {f"out/{name}": content for name, content in NEW.items()}


def test_missing_parents_are_made_and_unmade(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b" / "out"
    with pytest.raises(ZeroDivisionError), output_folder(out):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
    run(out)
    assert tree(out) == NEW


def test_a_relative_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(Path("out"))
    assert tree(tmp_path / "out") == NEW


def test_a_filled_output_is_refused_before_any_work(tmp_path: Path) -> None:
    fill(tmp_path / "out", OLD)
    began = False
    with pytest.raises(OutputError, match=r"out: is not empty; .*--overwrite"), output_folder(tmp_path / "out"):
        began = True
    assert not began
    assert tree(tmp_path) == {f"out/{name}": content for name, content in OLD.items()}


@pytest.mark.parametrize("swap", [True, False], ids=["exchange", "two renames"])
def test_overwrite_replaces_the_whole_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: bool) -> None:
    if not swap:
        monkeypatch.setattr(place, "exchange", lambda *_: False)
    fill(tmp_path / "out", OLD)
    run(tmp_path / "out", overwrite=True)
    assert tree(tmp_path) == {f"out/{name}": content for name, content in NEW.items()}
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_exchange_is_what_this_system_does(tmp_path: Path) -> None:
    fill(tmp_path / "a", OLD)
    fill(tmp_path / "b", NEW)
    assert place.exchange(tmp_path / "a", tmp_path / "b") == sys.platform.startswith("linux")
    if sys.platform.startswith("linux"):
        assert (tree(tmp_path / "a"), tree(tmp_path / "b")) == (NEW, OLD)
        with pytest.raises(FileNotFoundError):
            place.exchange(tmp_path / "a", tmp_path / "absent")


def test_the_second_of_two_renames_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "exchange", lambda *_: False)
    rename, calls = os.rename, list[Path]()

    def failing(source: Path, target: Path) -> None:
        calls.append(source)
        if len(calls) == 3:
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    fill(tmp_path / "out", OLD)
    with pytest.raises(OutputError, match="out: cannot be written: Input/output error"):
        run(tmp_path / "out", overwrite=True)
    assert len(calls) == 4
    assert tree(tmp_path) == {f"out/{name}": content for name, content in OLD.items()}


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit, ValueError, OutputError])
@pytest.mark.parametrize("before", [None, {}, OLD])
def test_a_run_that_fails_leaves_no_trace(
    tmp_path: Path, fault: type[BaseException], before: dict[str, bytes] | None
) -> None:
    if before is not None:
        (tmp_path / "out").mkdir()
        fill(tmp_path / "out", before)
    with pytest.raises(fault), output_folder(tmp_path / "out", overwrite=True) as work:  # noqa: PT012
        fill(work, NEW)
        raise fault
    assert [p.name for p in tmp_path.iterdir()] == ([] if before is None else ["out"])
    assert tree(tmp_path) == {f"out/{name}": content for name, content in (before or {}).items()}


def test_a_link_to_a_folder_is_followed(tmp_path: Path) -> None:
    fill(tmp_path / "real", OLD)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "out"
    link.symlink_to(tmp_path / "real")
    with pytest.raises(OutputError, match="not empty"):
        run(link)
    run(link, overwrite=True)
    assert link.is_symlink()
    assert tree(tmp_path / "real") == NEW
    (tmp_path / "links" / "dangling").symlink_to("../absent")
    run(tmp_path / "links" / "dangling")
    assert tree(tmp_path / "absent") == NEW
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError, match="loop: is a link that leads to itself"):
        run(tmp_path / "loop")


def refused(tmp_path: Path) -> dict[str, tuple[Path, str]]:
    (tmp_path / "file").write_bytes(b"mine")
    return {
        "file": (tmp_path / "file", "file: is a file; name a folder"),
        "below a file": (tmp_path / "file" / "out", "cannot be written: "),
        "root": (Path("/"), "is a mount point"),
        "current": (Path("."), "holds the current folder"),
        "above": (Path(".."), "holds the current folder|is a mount point"),
        "system": (Path("/proc/out"), "cannot be written"),
        "long": (tmp_path / ("x" * 300), "cannot be written: File name too long"),
    }


@pytest.mark.parametrize("case", ["file", "below a file", "root", "current", "above", "system", "long"])
def test_what_is_no_place_for_an_output(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out, error = refused(tmp_path)[case]
    with pytest.raises(OutputError, match=error):
        run(out, overwrite=True)
    assert tree(tmp_path) == {"file": b"mine"}


def test_an_output_that_holds_an_input_is_refused(tmp_path: Path) -> None:
    fill(tmp_path / "out", OLD)
    inputs = [tmp_path / "elsewhere.jsonl", tmp_path / "out" / "kept.jsonl"]
    for overwrite in (False, True):
        with (
            pytest.raises(OutputError, match=r"out: holds the input .*kept.jsonl, which would be lost"),
            output_folder(tmp_path / "out", overwrite, inputs),
        ):
            pass
    assert tree(tmp_path / "out") == OLD


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="out: cannot be written: Permission denied"):
        run(tmp_path / "out")


# Other runs

SCRIPT = """
    import sys, time
    from pathlib import Path
    from cascade.io.place import output_folder
    with output_folder(sys.argv[1], overwrite=True) as work:
        for i in range(50):
            (work / f"part-{i}").write_bytes(b"x" * 1000)
        print(work, flush=True)
        sys.stdin.readline()
    print("placed", flush=True)
"""


def start(out: Path) -> tuple[subprocess.Popen[str], Path]:
    """Another run, which has written its files and waits for a line; and its folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


def finish(process: subprocess.Popen[str]) -> str:
    return process.communicate("\n")[0]


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_what_a_killed_run_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    fill(tmp_path / "out", OLD)
    process, work = start(tmp_path / "out")
    kill(process)
    assert len(tree(work)) == 50
    assert tree(tmp_path / "out") == OLD
    run(tmp_path / "out", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert tree(tmp_path / "out") == NEW


def test_a_live_run_is_left_alone_and_the_last_wins(tmp_path: Path) -> None:
    process, work = start(tmp_path / "out")
    run(tmp_path / "out")
    assert tree(tmp_path / "out") == NEW
    assert len(tree(work)) == 50
    assert "placed" in finish(process)
    assert len(tree(tmp_path / "out")) == 50
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_without_overwrite_the_first_wins(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="out: another run has put its result there meanwhile"):  # noqa: PT012, SIM117
        with output_folder(tmp_path / "out") as slow:
            fill(slow, {"kept.jsonl": b"slow"})
            run(tmp_path / "out")
    assert tree(tmp_path) == {f"out/{name}": content for name, content in NEW.items()}


def test_a_live_run_on_an_output_of_like_name_is_left_alone(tmp_path: Path) -> None:
    process, work = start(tmp_path / "out")
    for name in ("ou", "out2", "out.cascade-12345678"):
        run(tmp_path / name)
    assert len(tree(work)) == 50
    finish(process)
    assert len(tree(tmp_path / "out")) == 50


def test_other_hidden_folders_are_nobody_elses_business(tmp_path: Path) -> None:
    names = [".out", ".out.cascade-", ".out.cascade-1234567", ".out.cascade-12345678", ".out.cascade-ABCDEFGH"]
    for name in names:
        fill(tmp_path / name, OLD)
    (tmp_path / ".out.cascade-87654321").symlink_to(tmp_path / ".out")
    run(tmp_path / "out")
    assert len(tree(tmp_path)) == len(NEW) + len(names) * len(OLD)


def test_a_folder_of_a_run_killed_at_once_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".out.cascade-abcdefgh").mkdir()
    run(tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_killed_at_any_moment_the_output_is_old_or_new(tmp_path: Path) -> None:
    script = """
        import sys
        from cascade.io.place import output_folder
        print("go", flush=True)
        for turn in range(10**6):
            with output_folder(sys.argv[1], overwrite=True) as work:
                for i in range(20):
                    (work / f"part-{i}").write_text(f"{sys.argv[2]} {turn}")
    """
    out = tmp_path / "out"
    seen = set()
    for moment in range(12):
        command = [sys.executable, "-c", textwrap.dedent(script), str(out), str(moment)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        process.stdout.readline()
        time.sleep(0.013 * moment)
        kill(process)
        if out.exists():
            contents = tree(out)
            assert len(contents) == 20
            assert len(set(contents.values())) == 1
            seen |= set(contents.values())
    assert len(seen) > 1
    run(out, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_two_runs_that_overwrite_all_the_time(tmp_path: Path) -> None:
    script = """
        import sys
        from cascade.io.place import output_folder
        for turn in range(40):
            with output_folder(sys.argv[1], overwrite=True) as work:
                for i in range(5):
                    (work / f"part-{i}").write_text(f"{sys.argv[2]} {turn}")
    """
    out = tmp_path / "out"
    runs = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(script), str(out), str(i)], stderr=subprocess.PIPE)
        for i in range(2)
    ]
    assert [(process.communicate()[1], process.returncode) for process in runs] == [(b"", 0)] * 2
    assert len(set(tree(out).values())) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("call", ["mkdir", "fsync", "rename"])
def test_a_disk_that_fails_is_an_output_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    fill(tmp_path / "out", OLD)
    with (  # noqa: PT012
        pytest.raises(OutputError, match="out: cannot be written: No space left on device"),
        output_folder(tmp_path / "out", overwrite=True) as work,
    ):
        fill(work, NEW)
        monkeypatch.setattr(os, call, fail)
        if call == "mkdir":
            with output_folder(tmp_path / "out", overwrite=True):
                pass
    monkeypatch.undo()
    assert tree(tmp_path) == {f"out/{name}": content for name, content in OLD.items()}


def test_what_people_have_judged_is_never_replaced(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "labels.jsonl").write_text('{"a": 1, "b": 2, "label": "not"}\n')
    with (
        pytest.raises(OutputError, match=r"labels\.jsonl: holds labels that people have made; move it elsewhere"),
        output_folder(out, overwrite=True),
    ):
        pytest.fail("nothing may be worked on")
    assert [p.name for p in out.iterdir()] == ["labels.jsonl"]
