"""The memory budget: sizes, arrays that move to files, work folders, and the same bytes whatever the budget."""

from __future__ import annotations

import errno
import gc
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from corpora import mixed
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import (
    ConfigError,
    InputError,
    OutputError,
    blocking,
    buckets,
    dedupe,
    load_config,
    memory,
    run_files,
    view,
)
from cascade.memory import BASE, MINIMUM, Growing, Memory, budget_of, memory_for, parse_size, usable
from cascade.text import buffer


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("2GB", 2 * 10**9), ("2 GB", 2 * 10**9), ("1.5GiB", 3 << 29), ("700 MB", 7 * 10**8), ("1TB", 10**12),
        ("512MiB", 512 << 20), ("600000KB", 6 * 10**8), ("600000KiB", 600000 << 10), ("900000000 B", 9 * 10**8),
        (2**31, 2**31), ("2147483648", 2**31), ("2TiB", 2 << 40),
    ],
)  # fmt: skip
def test_sizes(written, size):
    assert budget_of(written) == size


@pytest.mark.parametrize("written", ["2 gigs", "GB", "-2GB", "2GB ", "2e9B", "", "2.GB", "0x10MB", "２GB", "2gb"])
def test_what_is_no_size(written):
    with pytest.raises(ValueError, match="is no size; write a number and a unit, such as 2GB"):
        budget_of(written)


def test_too_little():
    assert budget_of(MINIMUM) == MINIMUM
    for written in ("499MB", MINIMUM - 1, "0B", "5", -1):
        with pytest.raises(ValueError, match="is too little: a run needs 500 MB"):
            budget_of(written)


def test_faults_in_a_config_have_path_and_line(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("stages: []\nmemory: 2 gigs\nsede: 3\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert caught.value.problems == (
        f"{path}:2: memory: expected auto or a size such as 2GB or a number of bytes, found text '2 gigs'",
        f"{path}:3: sede: unknown option; did you mean seed?",
    )
    path.write_text("stages: []\nmemory: 100MB\n")
    with pytest.raises(ConfigError, match=r"c.yaml:2: memory: 100MB is too little: a run needs 500 MB"):
        load_config(path)


@pytest.mark.parametrize("written", ["auto", "2GB", "1.5 GiB", 2 * 10**9])
def test_the_filled_config_keeps_what_was_written(written):
    config = load_config({"stages": [], "memory": written})
    assert config.memory == written
    assert f"memory: {written}\n" in config.filled()


def test_auto_is_half_of_what_may_be_used(monkeypatch):
    monkeypatch.setattr(memory, "usable", lambda: 7 * 10**9)
    assert budget_of("auto") == 35 * 10**8
    monkeypatch.setattr(memory, "usable", lambda: 10**8)
    assert budget_of("auto") == MINIMUM


def test_what_may_be_used_is_the_least_of_all_limits(monkeypatch):
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < usable() <= machine
    monkeypatch.setattr(memory, "_cgroup_limits", lambda: iter([10**9, 10**7]))
    assert usable() == 10**7
    monkeypatch.setattr(memory.resource, "getrlimit", lambda which: (10**6, 10**6))
    assert usable() == 10**6


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": "5000\n"}, [5000]),
        ("0::/\n", {"memory.max": "7000\n"}, [7000]),
        ("5:cpu,memory:/x\n2:cpu:/y\n", {"memory/x/memory.limit_in_bytes": "9000\n"}, [9000]),
        ("nonsense\n", {}, []),
        (None, {}, []),
    ],
)
def test_limits_of_control_groups(groups, files, expected, monkeypatch):
    def read_text(path, *_):
        if str(path) == "/proc/self/cgroup" and groups is not None:
            return groups
        found = files.get(str(path).removeprefix("/sys/fs/cgroup/"))
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "no such file")
        return found

    monkeypatch.setattr(Path, "read_text", read_text)
    assert list(memory._cgroup_limits()) == expected


def tiny(tmp_path, **options) -> Memory:
    """All but the smallest arrays go to files."""
    return Memory(BASE, tmp_path, **options)


def with_room(size: int) -> int:
    """A budget of which `size` bytes are for arrays."""
    return (size + BASE) * 4 // 3 + 2


def in_file(array) -> bool:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.base is not None


def test_arrays_are_ordinary_while_they_fit_and_in_files_then(tmp_path):
    size = 10**6
    arrays = Memory(with_room(10 * size + 1000), tmp_path)
    held = [arrays.empty(size, np.uint8) for _ in range(10)]
    assert not any(map(in_file, held))
    more = arrays.zeros((size // 8, 1), np.int64)
    assert in_file(more)
    assert not more.any()
    assert arrays.mapped == size
    assert not in_file(arrays.empty(100, np.int64)), "small ones are not worth a file"
    part = held[0][5:10]
    del held[:5]
    gc.collect()
    assert not in_file(arrays.full(3 * size, 7, np.uint8)), "what lives no more is not counted"
    held.append(arrays.empty(4 * size, np.uint8))
    assert in_file(arrays.empty(2 * size, np.uint8)), "a view keeps what it looks at alive"
    assert len(part) == 5
    assert in_file(arrays.empty(5 * size + 100, np.uint8)), "one array does not take more than half"


def test_threads_are_fewer_where_the_budget_is_small():
    assert Memory().threads(64) == 64
    assert Memory(MINIMUM).threads(64) == 4
    assert Memory(MINIMUM).threads(1) == 1


@pytest.mark.parametrize("budget", [BASE, sys.maxsize])
def test_kinds_of_arrays(budget, tmp_path):
    arrays = Memory(budget, tmp_path)
    n = 3 << 20
    assert (arrays.arange(n) == np.arange(n)).all()
    assert (arrays.full(n, -1, np.int32) == -1).all()
    table = arrays.zeros((n // 4, 4), np.uint16, "F")
    assert table.flags.f_contiguous
    table[3] = [1, 2, 3, 4]
    assert table[:, 2].flags.c_contiguous
    assert table.sum() == 10
    assert in_file(table) is (budget == BASE)


@given(
    parts=st.lists(st.integers(0, 70_000), max_size=12), room=st.sampled_from([0, 10**5, 10**6]),
    expected=st.sampled_from([0, 10, 200_000]),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_growing_arrays_hold_what_was_appended(parts, room, expected):
    arrays = Memory(with_room(room) if room else BASE)
    growing = Growing(arrays, np.int64, expected)
    pieces, start = [], 0
    for size in parts:
        pieces.append(np.arange(start, start + size))
        growing.append(pieces[-1])
        start += size
        assert len(growing) == start
        assert (growing.so_far == np.arange(start)).all()
    whole = growing.finish()
    assert whole.tolist() == list(range(start))
    assert arrays.fits(room // 2 if not whole.nbytes else 0)
    if start * 8 > room:
        assert start * 8 <= memory.SMALL or in_file(whole)


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only where the system lists open files")
def test_files_have_no_names_and_are_closed(tmp_path):
    before = descriptors()
    arrays = tiny(tmp_path)
    held = [arrays.empty(10**6, np.int64) for _ in range(3)]
    growing = Growing(arrays, np.uint8)
    for _ in range(20):
        growing.append(np.ones(10**5, np.uint8))
    held.append(growing.finish())
    assert list(tmp_path.iterdir()) == []
    assert descriptors() > before
    del held, growing
    assert descriptors() == before


def test_files_that_are_to_stay(tmp_path):
    arrays = tiny(tmp_path, keep=True)
    assert arrays.kept is None
    assert list(tmp_path.iterdir()) == []
    arrays.full(10**6, 7, np.uint8)
    (folder,) = tmp_path.iterdir()
    assert arrays.kept == folder
    (file,) = folder.iterdir()
    assert set(file.read_bytes()) == {7}


def test_a_full_disk_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    arrays = tiny(tmp_path)
    growing = Growing(arrays, np.uint8, 10**5)

    def full(handle, start, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    message = (
        f"{tmp_path}: cannot hold work files of 1,000,000 bytes more: No space left on device; "
        "free some space, name another folder by --work-dir, or allow more --memory"
    )
    with pytest.raises(OutputError, match=f"^{re.escape(message)}$"):
        arrays.empty(10**6, np.uint8)
    with pytest.raises(OutputError, match="cannot hold work files of 200,000 bytes more"):
        growing.append(np.zeros(3 * 10**5, np.uint8))
    with pytest.raises(OutputError, match="cannot hold work files"):
        tiny(tmp_path / "nowhere").empty(10**6, np.uint8)


def test_where_there_is_no_fallocate(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate")
    assert not tiny(tmp_path).zeros(10**6, np.uint8).any()


def test_options_of_a_run(tmp_path):
    assert memory_for("700MB").budget == 7 * 10**8
    with pytest.raises(ConfigError, match="memory: 'much' is no size"):
        memory_for("much")
    with pytest.raises(OutputError, match="nowhere: is no folder"):
        memory_for("auto", tmp_path / "nowhere")
    assert parse_size(12) == 12


STAGES = [
    ["simhash", "minhash", "jaccard"],
    [{"use": "simhash", "max_hamming": 3}, {"use": "minhash", "min_estimate": 0.7, "num_perm": 128}],
    [{"use": "edit_distance", "min_similarity": 0.8}],
]


def squeeze(patch: pytest.MonkeyPatch) -> None:
    """Everything that a run allocates goes to files, however small."""
    patch.setattr(memory, "BASE", 10**12)
    patch.setattr(memory, "SMALL", 0)
    patch.setattr(Memory, "threads", lambda self, workers: workers)


@pytest.fixture
def squeezed(monkeypatch):
    squeeze(monkeypatch)


@given(
    texts=st.lists(st.sampled_from(mixed(40, seed=5)), max_size=40), stages=st.sampled_from(STAGES),
    clusters=st.sampled_from(["star", "components"]), keep=st.sampled_from(["first", "last", "longest", "max:n"]),
    every=st.sampled_from(["needed", "all"]), workers=st.sampled_from([1, 2, 5]), exact=st.booleans(),
    size=st.sampled_from([0, 1, 3, 17]),
)  # fmt: skip
@settings(deadline=None, max_examples=25)
def test_the_same_bytes_whatever_the_budget(
    tmp_path_factory, texts, stages, clusters, keep, every, workers, exact, size
):
    folder = tmp_path_factory.mktemp("same")
    rows = "".join(json.dumps({"id": f"r{i}", "text": t, "n": i % 7}) + "\n" for i, t in enumerate(texts))
    (folder / "in.jsonl").write_text(rows)
    config = load_config(
        {"stages": stages, "exact": exact, "resolve": {"clusters": clusters, "keep": keep, "pairs": every}}
    )
    run_files(config, [folder / "in.jsonl"], folder / "plain", workers=1)
    with pytest.MonkeyPatch.context() as patch:
        squeeze(patch)
        if size and (clusters, every) != ("components", "needed"):
            # What links a component may be told by other pairs when blocks differ; those sizes are constants.
            patch.setattr(blocking, "PAIRS_AT_ONCE", size)
            patch.setattr(buckets, "PART", size)
        if size:
            patch.setattr(buffer, "BATCH_BYTES", 100 * size)
            patch.setattr(view, "ROWS_AT_ONCE", size)
            patch.setattr(view, "SLICE_BYTES", size)
            patch.setattr(view, "ARENA_HASHES", size)
        run_files(config, [folder / "in.jsonl"], folder / "mapped", workers=workers, memory="500MB")
    assert json.loads((folder / "mapped/report.json").read_text())["memory"]["mapped_bytes"] > 0
    assert outputs(folder / "plain") == outputs(folder / "mapped")
    assert sorted(p.name for p in folder.iterdir()) == ["in.jsonl", "mapped", "plain"]


def outputs(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.name != "report.json"}


def test_the_report_and_the_kept_files(tmp_path, squeezed):
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"text": f"a text {i}"}) + "\n" for i in range(50)))
    work = tmp_path / "work"
    work.mkdir()
    config = load_config({"stages": []})
    report = run_files(config, [source], tmp_path / "out", memory="500MB", work_dir=work, keep_work=True)
    assert report.work is not None
    assert report.work.parent == work
    written = json.loads((tmp_path / "out/report.json").read_text())["memory"]
    assert written["budget_bytes"] == MINIMUM
    assert 0 < written["mapped_bytes"] <= sum(p.stat().st_size for p in report.work.iterdir())
    again = run_files(config, [source], tmp_path / "again", memory="500MB", work_dir=work)
    assert again.work is None
    assert list(work.iterdir()) == [report.work]
    beside = run_files(config, [source], tmp_path / "beside", memory="500MB", keep_work=True)
    assert beside.work is not None
    assert beside.work.parent == tmp_path


def test_nothing_is_left_after_an_error(tmp_path, squeezed):
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "one"}\n' * 50 + "broken\n")
    with pytest.raises(InputError):
        run_files(load_config({"stages": []}), [source], tmp_path / "out", memory="500MB", strict=True)
    assert list(tmp_path.iterdir()) == [source]


def test_dedupe_goes_by_the_config(tmp_path, monkeypatch):
    texts = mixed(60, seed=2)
    plain = dedupe(texts, "default")
    squeeze(monkeypatch)
    monkeypatch.setattr(memory.tempfile, "tempdir", str(tmp_path))
    result = dedupe(texts, "default", set="memory=500MB")
    assert in_file(result.corpus.texts.data)
    assert result.removed == plain.removed
    assert list(tmp_path.iterdir()) == []


def run_bounded(arguments: list[str], limit: int) -> subprocess.CompletedProcess[str]:
    """Runs cascade in a process that may have no more than `limit` bytes of memory of its own."""
    command = [sys.executable, "-c", "import sys; from cascade.cli import main; sys.exit(main())", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
    )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts private memory in RLIMIT_DATA")
@pytest.mark.parametrize("again", [True, False], ids=["texts read again", "texts held"])
@pytest.mark.parametrize(
    ("documents", "repeats"),
    [(600, 1000), pytest.param(3000, 1000, marks=pytest.mark.slow), pytest.param(700_000, 2, marks=pytest.mark.slow)],
)
def test_a_run_stays_within_its_budget_by_force(tmp_path, documents, repeats, again):
    """Texts and arrays together need more than the budget; the system refuses private memory beyond it."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out"
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(5000)])
    with source.open("w") as file:
        for i in range(documents):
            text = " ".join(words[rng.integers(0, 5000, 60)]) + " "
            file.write(json.dumps({"id": i, "text": text * repeats}) + "\n")
    needed = source.stat().st_size + documents * 8 * 40
    assert BASE + needed > MINIMUM
    arguments = ["run", "default", str(source), "-o", str(out), "--memory", str(MINIMUM), "--workers", "2", "-q"]
    if not again:  # bands that follow from the number of documents: nothing can be computed while they arrive
        arguments += ["--set", "stages.minhash.rows_per_band=auto"]
    done = run_bounded(arguments, MINIMUM)
    assert done.returncode == 0, done.stderr
    report = json.loads((out / "report.json").read_text())
    assert report["counts"]["kept"] == documents
    assert again or report["memory"]["mapped_bytes"] > needed // 2
    assert source.read_bytes() == (out / "kept.jsonl").read_bytes()
