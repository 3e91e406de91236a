"""Stages and shinglers of an imaginary third party, for the tests of the config. They judge nothing."""

from typing import Literal

from pydantic import Field, model_validator

from cascade.errors import StageError
from cascade.pairs import Accepted
from cascade.stage import Options, Predicate, Shingler, Stage
from cascade.text.buffer import Shingles


class Letters(Shingler):
    """A shingler without a `by` field."""

    size: int = Field(3, ge=1)

    def shingle(self, texts, seed):
        return Shingles.__new__(Shingles)


class Silent(Predicate):
    def filter(self, pairs, columns, corpus):
        return Accepted.where(pairs.left >= 0, pairs.left)


class Box(Options):
    width: int = 1
    height: int = 1


class Colour(Stage):
    """A stage with lists, a nested block, two bounds that must agree, and no literal `use`."""

    tones: tuple[str, ...] = ("green",)
    sizes: list[int] = Field(default=[], max_length=3)
    low: int = 0
    high: int = 9
    inner: Box = Box()

    @model_validator(mode="after")
    def _ordered(self):
        if self.low > self.high:
            raise ValueError(f"low {self.low} is greater than high {self.high}")
        return self

    def bind(self, facts):
        return Silent()


class Guess(Colour):
    """Judges by a sketch."""

    confirms = False


class Choosy(Stage):
    """Settles its auto for one number of documents only."""

    size: int | Literal["auto"] = 1
    wanted: int | None = None

    def bind(self, facts):
        if self.wanted is None:
            raise ZeroDivisionError("nothing wanted")
        if facts.documents != self.wanted:
            raise StageError(f"{self.name}: {facts.documents} documents are not {self.wanted}")
        return Silent()


class Sick(Colour):
    @model_validator(mode="after")
    def _fail(self):
        raise RuntimeError("out of order")


class Unready(Stage):
    """Lacks `bind`."""
