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
    assert len(expected.head) == 2 * (N // 4 + 1)
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
