"""Recall of a finished run by similarity, measured by running its config once more against a truth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cascade.config import load_config
from cascade.evaluate.comparison import BandFigures
from cascade.io.report import read_report
from cascade.progress import Progress


def recall_of_run(
    out: Path, truth: str, *, sample: int | None = None, progress: Progress | None = None
) -> Sequence[BandFigures]:
    """Recall by band of similarity of the config in the folder `out`, over the inputs that its report names.

    `truth` and `sample` as for `cascade.compare`. () where the truth knows no similarities. Raises InputError,
    ConfigError, StageError.
    """
    from cascade.evaluate.compare import compare

    config = load_config(out / "config.yaml")
    paths = [Path(str(told["source"])) for told in read_report(out / "report.json")["inputs"]]
    found = compare({"run": config}, paths, truth, rounds=0, sample=sample, shown=0, progress=progress)
    return found["run"].bands
