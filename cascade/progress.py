"""How a run tells how far it is. The protocol and the silent version; what people see is made in the cli."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Hears of the steps of a run: read, observe, columns, pairs, write. All calls come from one thread."""

    def start(self, step: str, total: int | None) -> None:
        """A step begins; `total` is the number of documents, None where it is not known or where pairs count."""

    def advance(self, step: str, documents: int) -> None:
        """So many more documents (in the step `pairs`: candidate pairs) are done."""

    def finish(self, step: str) -> None:
        """The step is done."""

    def expect(self, step: str, total: int) -> None:
        """A better guess of the total of a step that has started."""


class Silent:
    """Tells nobody."""

    def start(self, step: str, total: int | None) -> None:
        pass

    def advance(self, step: str, documents: int) -> None:
        pass

    def finish(self, step: str) -> None:
        pass

    def expect(self, step: str, total: int) -> None:
        pass
