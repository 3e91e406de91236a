"""Keys to buckets: against a dict, however the keys are cut into parts; and the limit on buckets, told and counted."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascade import load_config, run_files
from cascade.buckets import bucket_candidates
from cascade.kernels.buckets import group
from cascade.stage import Keys

N = 60_000


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("part", [1, 3, 1 << 15])
@given(keys=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=60), data=st.data())
@settings(deadline=None, max_examples=30)
def test_equal_keys_share_a_bucket_and_lone_ones_have_none(keys, kind, part, data):
    n = len(keys)
    present = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    first = data.draw(st.integers(0, 100))
    out, place = np.full(n, 77, kind), np.empty(n, kind)
    after = group(np.array(keys, np.uint64), present, out, first, part, np.empty(n, np.uint64), place)
    counts = Counter(key for key, there in zip(keys, present.tolist(), strict=True) if there)
    shared = {key for key, count in counts.items() if count > 1}
    found: dict[int, int] = {}
    for key, there, bucket in zip(keys, present.tolist(), out.tolist(), strict=True):
        assert bucket == (found.setdefault(key, bucket) if there and key in shared else -1)
    assert sorted(found.values()) == list(range(first, first + len(shared)))
    assert after == first + len(shared)


def test_many_keys():
    """Parts, tables and the growth of tables: half of the keys come twice, one comes very often."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2**64, N, np.uint64)
    values[1::4] = values[::4]
    values[2::8] = values[2]
    keys = np.stack([values, rng.integers(0, 2**64, N, np.uint64), values[::-1]], axis=1)
    expected = bucket_candidates(Keys(keys, np.ones(N, bool)))
    assert len(expected.head) == 2 * 2 * (N // 4 + 1)
    for workers, order in ((1, "F"), (2, "C"), (7, "F")):
        found = bucket_candidates(Keys(np.asarray(keys, order=order), np.ones(N, bool)), workers=workers)
        for name in ("indptr", "bucket", "owner"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()
            assert getattr(found, name).dtype == np.int32
    members = Counter(expected.bucket.tolist())
    assert min(members.values()) == 2
    assert max(members.values()) == N // 8
    assert (np.diff(expected.indptr) == np.bincount(expected.owner, minlength=N)).all()
    assert expected.documents().tolist() == np.unique(expected.owner).tolist()


@given(
    keys=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), max_size=14),
    most=st.none() | st.integers(1, 4),
    data=st.data(),
)
@settings(deadline=None, max_examples=200)
def test_of_two_that_meet_one_is_core(keys, most, data):
    """Fixed keys and ragged ones, with a limit on buckets or without, however the documents are asked for."""
    n = len(keys)
    flags = st.lists(st.booleans(), min_size=n, max_size=n)
    alive, core, kept = (np.array(data.draw(flags), bool) for _ in range(3))
    roots = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int64)
    fixed = Keys(np.array(keys, np.uint64).reshape(n, 2), alive)
    apart = fixed.values + np.arange(2, dtype=np.uint64) * np.uint64(10)
    ragged = Keys(apart.ravel(), alive, np.arange(0, 2 * n + 1, 2), None)
    buckets = [[d for d in range(n) if alive[d] and keys[d][t] == key] for t in range(2) for key in range(4)]
    every = {pair for b in buckets for rank, a in enumerate(b) if most is None or rank < most for pair in
             ((a, c) for c in b[rank + 1 :])}  # fmt: skip
    expected = {(a, b) for a, b in every if core[a] or core[b]}
    middle = data.draw(st.integers(0, n))
    first, rest = np.arange(middle), np.arange(middle, n)
    for given_keys in (fixed, ragged):
        found = bucket_candidates(given_keys, max_bucket=most, core=core)
        assert len(expected) <= found.proposed() <= sum(len(b) * (len(b) - 1) // 2 for b in buckets)
        assert bool(expected) == bool(found.proposed())
        assert drawn(found.among(np.arange(n))) == expected
        found = bucket_candidates(given_keys, max_bucket=most, core=core)
        assert drawn(found.among(first)) == {(a, b) for a, b in expected if b < middle}
        found.keep(first[kept[first]])
        assert drawn(found.with_kept(rest, 0)) == {(a, b) for a, b in expected if a < middle <= b and kept[a]}
        assert drawn(found.among(rest)) == {(a, b) for a, b in expected if a >= middle}
        across = drawn(found.across(lambda: roots, kept))
        assert across == {(a, b) for a, b in expected if roots[a] != roots[b] and not (kept[a] and kept[b])}
        assert drawn(bucket_candidates(given_keys, max_bucket=most).among(np.arange(n))) == every


def drawn(parts):
    """All pairs, none of them twice."""
    pairs = [pair for left, right in parts for pair in zip(left.tolist(), right.tolist(), strict=True)]
    assert len(pairs) == len(set(pairs))
    return set(pairs)


def test_those_that_are_not_core_cost_nothing():
    """However many share a key: a pair for each that is core, and with none of those no pair."""
    keys, core = Keys(np.zeros((N, 1), np.uint64), np.ones(N, bool)), np.zeros(N, bool)
    assert bucket_candidates(keys, core=core).proposed() == 0
    core[[5, N // 2]] = True
    found = bucket_candidates(keys, core=core)
    assert found.proposed() == len(drawn(found.among(np.arange(N)))) == 2 * N - 3


@pytest.mark.parametrize("clusters", ["star", "components"])
def test_the_limit_is_told_and_counted(tmp_path, clusters):
    """All texts share a word, and are a bucket where that one is least; two and two are alike."""
    lines = [f"{'common ' * 3}" + " ".join(f"w{i // 2}x{j}" for j in range(9)) for i in range(60)]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"text": f"{t} {i}"}) + "\n" for i, t in enumerate(lines)))
    stages = [{"use": "minhash", "bands": 200, "rows_per_band": 1}, {"use": "jaccard", "min_jaccard": 0.6}]
    config = {"stages": stages, "shingle": {"by": "word", "n": 1}, "resolve": {"clusters": clusters}}
    free = run_files(load_config(config), [source], tmp_path / "free")
    config["resolve"] = {"clusters": clusters, "max_bucket": 1000}
    idle = run_files(load_config(config), [source], tmp_path / "idle")
    config["resolve"] = {"clusters": clusters, "max_bucket": 3}
    bound = run_files(load_config(config), [source], tmp_path / "bound")
    assert free.counts == idle.counts == bound.counts, "documents of a pair share small buckets too"
    assert free.stages[0].pairs_in == idle.stages[0].pairs_in > bound.stages[0].pairs_in
    assert not [w for w in (*free.warnings, *idle.warnings) if "max_bucket" in w]
    (warning,) = [w for w in bound.warnings if "max_bucket" in w]
    report = json.loads((tmp_path / "bound/report.json").read_text())
    assert report["large_buckets"] > 0
    assert warning == (
        f"resolve.max_bucket has acted: {report['large_buckets']:,} buckets hold more than 3 documents, up to 60; "
        "in these all were compared with the first ones only"
    )
    assert warning in report["warnings"]
    assert json.loads((tmp_path / "idle/report.json").read_text())["large_buckets"] == 0
