"""cascade finds and removes near-duplicate texts with a chain of ever more exact stages.

    import cascade
    result = cascade.dedupe(["one text", "another", "one text"])
    result.kept, result.removed

The public surface is `__all__`; everything is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cascade.api import Result as Result
    from cascade.api import dedupe as dedupe
    from cascade.config import Config as Config
    from cascade.config import load_config as load_config
    from cascade.errors import BackendUnavailable as BackendUnavailable
    from cascade.errors import CascadeError as CascadeError
    from cascade.errors import ConfigError as ConfigError
    from cascade.errors import InputError as InputError
    from cascade.errors import OutputError as OutputError
    from cascade.errors import StageError as StageError
    from cascade.evaluate.compare import compare as compare
    from cascade.evaluate.comparison import Comparison as Comparison
    from cascade.evaluate.difference import Difference as Difference
    from cascade.evaluate.difference import difference as difference
    from cascade.evaluate.explain import explain as explain
    from cascade.evaluate.explanation import Explanation as Explanation
    from cascade.evaluate.rethreshold import Rethresholded as Rethresholded
    from cascade.evaluate.rethreshold import rethreshold as rethreshold
    from cascade.evaluate.sweep import SweepResult as SweepResult
    from cascade.evaluate.sweep import sweep as sweep
    from cascade.evaluate.truth import Truth as Truth
    from cascade.evaluate.truth import TruthResult as TruthResult
    from cascade.evaluate.truth import truth as truth
    from cascade.evaluate.tune import tune as tune
    from cascade.evaluate.tuned import TuneResult as TuneResult
    from cascade.pairs import Accepted as Accepted
    from cascade.pairs import Pairs as Pairs
    from cascade.plan import Plan as Plan
    from cascade.plan import make_plan as make_plan
    from cascade.result import Decision as Decision
    from cascade.result import RunReport as RunReport
    from cascade.result import StageReport as StageReport
    from cascade.run import run_files as run_files
    from cascade.sketch import Signature as Signature
    from cascade.sketch import containment as containment
    from cascade.sketch import edit_similarity as edit_similarity
    from cascade.sketch import estimate as estimate
    from cascade.sketch import fingerprint as fingerprint
    from cascade.sketch import hamming as hamming
    from cascade.sketch import jaccard as jaccard
    from cascade.sketch import predicted_recall as predicted_recall
    from cascade.sketch import signature as signature
    from cascade.sketch import union as union
    from cascade.stage import Facts as Facts
    from cascade.stage import Keys as Keys
    from cascade.stage import Predicate as Predicate
    from cascade.stage import Shingler as Shingler
    from cascade.stage import Stage as Stage
    from cascade.text.buffer import Shingles as Shingles
    from cascade.text.buffer import TextBuffer as TextBuffer
    from cascade.text.normalize import Normalize as Normalize
    from cascade.text.normalize import normalize as normalize
    from cascade.text.shingle import TokenShingler as TokenShingler
    from cascade.text.single import shingle_hashes as shingle_hashes
    from cascade.text.tokenize import word_tokens as word_tokens

_HOMES = {
    "cascade.api": ("Result", "dedupe"),
    "cascade.config": ("Config", "load_config"),
    "cascade.errors": (
        "BackendUnavailable", "CascadeError", "ConfigError", "InputError", "OutputError", "StageError",
    ),
    "cascade.evaluate.compare": ("compare",),
    "cascade.evaluate.comparison": ("Comparison",),
    "cascade.evaluate.difference": ("Difference", "difference"),
    "cascade.evaluate.explain": ("explain",),
    "cascade.evaluate.explanation": ("Explanation",),
    "cascade.evaluate.rethreshold": ("Rethresholded", "rethreshold"),
    "cascade.evaluate.sweep": ("SweepResult", "sweep"),
    "cascade.evaluate.truth": ("Truth", "TruthResult", "truth"),
    "cascade.evaluate.tune": ("tune",),
    "cascade.evaluate.tuned": ("TuneResult",),
    "cascade.pairs": ("Accepted", "Pairs"),
    "cascade.plan": ("Plan", "make_plan"),
    "cascade.result": ("Decision", "RunReport", "StageReport"),
    "cascade.run": ("run_files",),
    "cascade.sketch": (
        "Signature", "containment", "edit_similarity", "estimate", "fingerprint", "hamming", "jaccard",
        "predicted_recall", "signature", "union",
    ),
    "cascade.stage": ("Facts", "Keys", "Predicate", "Shingler", "Stage"),
    "cascade.text.buffer": ("Shingles", "TextBuffer"),
    "cascade.text.normalize": ("Normalize", "normalize"),
    "cascade.text.shingle": ("TokenShingler",),
    "cascade.text.single": ("shingle_hashes",),
    "cascade.text.tokenize": ("word_tokens",),
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'cascade' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
