"""Config: everything that decides a run, validated and frozen. Reading it from YAML is done elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, InstanceOf, field_validator, model_validator

from cascade.memory import SIZE, check_size
from cascade.registry import name_of, shingler_class
from cascade.stage import Options, Shingler, Stage
from cascade.text.normalize import Normalize

Size = Annotated[str, Field(pattern=SIZE, title="a size such as 2GB")]
ByField = Annotated[str, Field(pattern=r"^(?:max|min):\S(?:.*\S)?$", title="max:FIELD or min:FIELD")]


class Prefer(Options):
    """Which of several documents stays, by the value of a field: the earlier in `order`, the better."""

    field: str = Field(min_length=1, description="field of the row that is compared")
    order: tuple[str | int | float | bool, ...] = Field(
        min_length=1, description="its values, best first; others rank last"
    )

    @field_validator("order")
    @classmethod
    def _distinct(cls, order: tuple[str | int | float | bool, ...]) -> tuple[str | int | float | bool, ...]:
        for i, value in enumerate(order):
            if any(value == other and type(value) is type(other) for other in order[:i]):
                raise ValueError(f"{value!r} stands there twice")
        return order


class KeepPreferred(Options):
    """The keep policy that is written `keep: {prefer: {field: source, order: [a, b]}}`."""

    model_config = ConfigDict(title="{prefer: {field: FIELD, order: [VALUE, …]}}")

    prefer: Prefer = Field(description="keep by the rank of a field's value")


class Resolve(Options):
    """How confirmed pairs become removals."""

    clusters: Literal["star", "components"] = Field(
        "star", description="star: only a direct partner of a kept document is removed; components: all that is linked"
    )
    keep: Literal["first", "last", "longest", "shortest"] | ByField | KeepPreferred = Field(
        "first", description="which of several near-duplicates stays; ties go by input order"
    )
    pairs: Literal["needed", "all"] = Field(
        "needed", description="all: also judge pairs of two removed documents, and write every pair"
    )

    max_bucket: int | None = Field(
        None, ge=1, description="documents of a bucket that others are compared with: its first ones (default: all)"
    )

    @property
    def keep_field(self) -> str | None:
        """The field of the rows that the keep policy compares, if it compares one."""
        if isinstance(self.keep, KeepPreferred):
            return self.keep.prefer.field
        return self.keep.partition(":")[2] or None


class Input(Options):
    """Where a row holds its text and its id."""

    text: str = Field("text", min_length=1, description="field that holds the text")
    id: str = Field("id", min_length=1, description="field that holds the id")


def _words() -> Shingler:
    return shingler_class("word")()


class Config(Options):
    """Everything that decides a run. Make it with `load_config`, which names the line of every fault.

    `stages` and `shingle` are instances of their own classes; each stage knows its `use` and its `name`.
    """

    normalize: Normalize = Field(default_factory=Normalize, description="what is done to a text before it is compared")
    shingle: InstanceOf[Shingler] = Field(
        default_factory=_words, description="how texts are cut into shingles (default: words, n 5)"
    )
    exact: bool = Field(True, description="collapse equal normalised texts first")
    stages: tuple[InstanceOf[Stage], ...] = Field(description="a pair is a duplicate if every stage accepts it")
    resolve: Resolve = Field(default_factory=Resolve, description="how confirmed pairs become removals")
    input: Input = Field(default_factory=Input, description="where a row holds its text and its id")
    seed: int = Field(0, ge=0, description="enters every hash; another seed, another draw of MinHash")
    memory: Literal["auto"] | Size | Annotated[int, Field(title="a number of bytes")] = Field(
        "auto", description="what a run may take; auto: half of what this process may use; changes no decision"
    )

    @field_validator("stages")
    @classmethod
    def _named(cls, stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
        named = tuple(with_name(stage) for stage in stages)
        for i, message in name_faults(named):
            raise ValueError(f"stages[{i}]: {message}")
        return named

    @field_validator("memory")
    @classmethod
    def _suffices(cls, memory: int | str) -> int | str:
        if memory != "auto":
            check_size(memory)
        return memory

    @model_validator(mode="after")
    def _does_something(self) -> Config:
        if not self.stages and not self.exact:
            raise ValueError("no stages and exact is false: nothing would ever be removed")
        return self

    @property
    def confirm_jaccard(self) -> float | None:
        """The greatest Jaccard threshold that a stage tests exactly; None if no stage does."""
        thresholds = [stage.confirm_jaccard for stage in self.stages]
        return max((t for t in thresholds if t is not None), default=None)

    @property
    def recall_at(self) -> float | None:
        """The Jaccard similarity at which recall is predicted: `confirm_jaccard`, else the greatest `at_jaccard`.

        Where nothing tests a Jaccard threshold exactly, a stage may so state at which similarity it is meant to work.
        """
        if self.confirm_jaccard is not None:
            return self.confirm_jaccard
        stated = [getattr(stage, "at_jaccard", None) for stage in self.stages]
        return max((at for at in stated if at is not None), default=None)

    def filled(self) -> str:
        """YAML text of every option. It loads to an equal config, and running that gives the same result."""
        from cascade.config.fill import filled

        return filled(self)


def with_name(stage: Stage) -> Stage:
    """The stage with `use` (a name under which it can be loaded again) and `name` filled in."""
    use = name_of(type(stage))
    name = stage.name or use
    return stage if (use, name) == (stage.use, stage.name) else stage.model_copy(update={"use": use, "name": name})


def name_faults(stages: Sequence[Stage]) -> list[tuple[int, str]]:
    """Positions of the stages whose name cannot stay, with the reason."""
    faults = []
    for i, stage in enumerate(stages):
        if any(stage.name == other.name for other in stages[:i]):
            faults.append((i, f"two stages are named {stage.name}; give this one another `name:`"))
        elif stage.name != stage.use and (set(stage.name) & set(".[]=") or stage.name.split() != [stage.name]):
            faults.append((i, f"name {stage.name!r} holds white space or one of . [ ] =, and --set could not mean it"))
    return faults
