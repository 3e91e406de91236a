"""compare: several configs over one corpus, each held against a truth and against the others.

Runs with pairs: all give what was found, other runs what it took (see measure); what each means stands at comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from cascade.api import dedupe
from cascade.config import Config, load_config
from cascade.errors import ConfigError
from cascade.evaluate.asked import Asked, truth_of
from cascade.evaluate.comparison import Comparison, Versus
from cascade.evaluate.disagree import Contender, claims, disagreements
from cascade.evaluate.figures import config_figures, truth_figures
from cascade.evaluate.intervals import mcnemar
from cascade.evaluate.measure import Measured, measure
from cascade.evaluate.metrics import Predicted
from cascade.evaluate.predict import plan_of
from cascade.evaluate.truth import Truth
from cascade.given import as_paths
from cascade.progress import Progress, Silent

Given = str | Path | Mapping[str, Any] | Config
"""A config, as `load_config` takes it."""


def compare(
    configs: Sequence[Given] | Mapping[str, Given],
    data: Any,
    truth: Asked = "exact:0.8",
    *,
    rounds: int = 3,
    sample: int | None = None,
    seed: int = 0,
    shown: int = 50,
    set: str | Sequence[str] = (),
    workers: int | None = None,
    work_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """What each of several configs does with one corpus, and on which documents and pairs they differ.

    `configs`: in a row, or by the names they shall have; `set` changes all of them. `data` as for `dedupe`, read with
    each config, so they must have the same `input`.
    `truth`: "exact:0.8", all pairs of that Jaccard similarity or more, under the normalising and the shingles of the
    first config, or "similarity:0.9" (edit similarity); with `sample` of so many documents against all, drawn by
    `seed`. A file of labelled pairs or clusters; a Truth; None for none.
    `rounds`: timed runs of each config (0: nothing is timed). `shown`: disagreeing pairs for each two configs.

    Every pair that a config confirms is held in memory. Raises ConfigError, InputError, StageError, OutputError.
    """
    progress = progress or Silent()
    loaded = named(configs, [set] if isinstance(set, str) else set)
    data = kept_for_long(data)
    measured: Sequence[Measured | None] = [None] * len(loaded)
    progress.start("compare", len(loaded))
    contenders = []
    for name, config in loaded.items():
        contenders.append(contender(name, config, data, workers))
        progress.advance("compare", 1)
    progress.finish("compare")
    first = contenders[0].result
    known = truth_of(truth, data, first, sample=sample, seed=seed, workers=workers)
    if rounds:
        measured = measure(
            list(loaded.values()), data, rounds=rounds, workers=workers, work_dir=work_dir, progress=progress
        )
    figures = [
        config_figures(each, config, known, took)
        for each, config, took in zip(contenders, loaded.values(), measured, strict=True)
    ]
    return Comparison(
        documents=len(first.corpus),
        characters=int(first.corpus.characters.sum()),
        truth=None if known is None else truth_figures(known),
        configs=tuple(figures),
        versus=tuple(_versus(a, b, known, shown, seed) for a, b in combinations(contenders, 2)),
        rounds=rounds,
        notes=tuple(_notes(loaded, known)),
    )


def named(configs: Sequence[Given] | Mapping[str, Given], changes: Sequence[str] = ()) -> dict[str, Config]:
    """The configs by name: as given, after their files and presets, else A, B …. Raises ConfigError."""
    if isinstance(configs, Mapping) and "stages" not in configs:
        given = dict(configs)
    else:
        each = [configs] if isinstance(configs, Mapping | str | Path | Config) else list(configs)
        given = {}
        for at, config in enumerate(each):
            letter = chr(ord("A") + at) if at < 26 else f"config {at + 1}"
            name = Path(config).name.removesuffix(".yaml") if isinstance(config, str | Path) else letter
            number = 1 + sum(name == other.partition(" (")[0] for other in given)
            given[name if number == 1 else f"{name} ({number})"] = config
    if not given:
        raise ConfigError("no config to compare; name one or more")
    loaded = {name: load_config(config, changes) for name, config in given.items()}
    (first, config), *others = loaded.items()
    for name, other in others:
        if other.input != config.input:
            raise ConfigError(
                f"input: {first} reads the fields {config.input.text}, {config.input.id} and {name} "
                f"{other.input.text}, {other.input.id}; what is compared must read the same documents: "
                "set input.text and input.id for all of them"
            )
    return loaded


def kept_for_long(data: Any) -> Any:
    """Data that can be read again and again: what can be read only once becomes a list, or a table."""
    if as_paths(data) is not None or hasattr(data, "__len__"):
        return data
    if hasattr(data, "__arrow_c_stream__"):
        import pyarrow as pa

        return pa.table(data)
    return list(data) if isinstance(data, Iterator) or hasattr(data, "__iter__") else data


def with_every_pair(config: Config) -> Config:
    """The config with `pairs: all`."""
    return config.model_copy(update={"resolve": config.resolve.model_copy(update={"pairs": "all"})})


def contender(name: str, config: Config, data: Any, workers: int | None) -> Contender:
    """A config, run with `pairs: all`, untimed."""
    result = dedupe(data, with_every_pair(config), workers=workers)
    return Contender(name, plan_of(result, workers), result)


def _versus(a: Contender, b: Contender, truth: Truth | None, shown: int, seed: int) -> Versus:
    one, other = (c.result.outcome for c in (a, b))
    gone, also = one.keeper >= 0, other.keeper >= 0
    only_a, only_b = int((gone & ~also).sum()), int((also & ~gone).sum())
    both = claims(one, other)
    found = None
    if truth is not None:
        has, has_too = (Predicted(truth, o.pairs, o.stands_for).has(truth.left, truth.right) for o in (one, other))
        found = mcnemar(int((has & ~has_too).sum()), int((has_too & ~has).sum()))
    return Versus(
        a=a.name,
        b=b.name,
        removed_by_both=int((gone & also).sum()),
        removed_only_by_a=only_a,
        removed_only_by_b=only_b,
        removals=mcnemar(only_a, only_b),
        pairs_of_both=both.both,
        pairs_only_of_a=len(both.only_a[0]),
        pairs_only_of_b=len(both.only_b[0]),
        found=found,
        disagreements=disagreements(a, b, both, truth, shown=shown, seed=seed),
    )


def _notes(configs: Mapping[str, Config], truth: Truth | None) -> Iterator[str]:
    """What a reader of the figures should know."""
    (first, config), *others = configs.items()
    if truth is not None and truth.source.partition(":")[0] in ("exact", "similarity"):
        exact = truth.source.startswith("exact")
        differing = [
            name
            for name, other in others
            if (other.normalize, other.shingle if exact else None)
            != (config.normalize, config.shingle if exact else None)
        ]
        if differing:
            what = "normalising and shingles" if exact else "normalising"
            yield f"the truth is by the {what} of {first}; {', '.join(differing)} has others, and is held against that"
    if truth is not None and truth.sampled is not None:
        yield f"the truth is of {len(truth.sampled):,} documents against all; intervals tell what follows for the rest"
    policies = {name: config.resolve.keep for name, config in configs.items()}
    if len(set(map(str, policies.values()))) > 1:
        told = ", ".join(f"{name}: {policy}" for name, policy in policies.items())
        yield f"keep differs ({told}), so that other documents of the same clusters go"
