"""What people see while a run is going: bars on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Literal, TextIO

from cascade.cli.outcome import say
from cascade.progress import Progress, Silent

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

WORDS = {
    "read": "reading",
    "observe": "looking over the corpus",
    "columns": "computing sketches",
    "pairs": "comparing pairs",
    "write": "writing",
    "compare": "running configs",
    "measure": "measuring, each run by itself",
    "time": "timing",
}
"""What a step is called; another is shown by its own name."""
PLAIN_EVERY = 5.0
"""Seconds between two lines of one step."""


@contextmanager
def progress_for(stream: TextIO | None, quiet: bool = False) -> Iterator[Progress]:
    """The progress that suits `stream`, usually stderr."""
    if quiet or stream is None:
        yield Silent()
    elif stream.isatty() and os.environ.get("TERM") != "dumb":
        with _bars(stream) as bars:
            yield Bars(bars)
    else:
        yield Lines()


def unit(step: str) -> str:
    """What is counted in a step."""
    return {"pairs": "pairs", "compare": "configs", "measure": "runs", "time": "runs"}.get(step, "documents")


class Lines:
    """A line when a step has ended, and every few seconds before: for logs."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}
        self._started: dict[str, float] = {}
        self._said: dict[str, float] = {}
        self._total: dict[str, int | None] = {}

    def start(self, step: str, total: int | None) -> None:
        self._done[step] = 0
        self._total[step] = total
        self._started[step] = self._said[step] = monotonic()

    def advance(self, step: str, documents: int) -> None:
        self._done[step] += documents
        now = monotonic()
        if now - self._said[step] >= PLAIN_EVERY:
            self._said[step] = now
            say(f"{WORDS.get(step, step)}: {self._state(step, now)}")

    def finish(self, step: str) -> None:
        now = monotonic()
        seconds = now - self._started[step]
        say(f"{WORDS.get(step, step)}: {self._done[step]:,} {unit(step)} in {seconds:.1f} s")

    def expect(self, step: str, total: int) -> None:
        self._total[step] = total

    def _state(self, step: str, now: float) -> str:
        done, total = self._done[step], self._total[step]
        speed = done / max(now - self._started[step], 1e-9)
        of = f" of {total:,}" if total else ""
        left = f", {(total - done) / speed:.0f} s left" if total and 0 < done <= total else ""
        return f"{done:,}{of} {unit(step)}, {speed:,.0f}/s{left}"


class Bars:
    """A bar for each step: share done, speed, time left."""

    def __init__(self, bars: RichProgress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, int] = {}

    def start(self, step: str, total: int | None) -> None:
        self._done[step] = 0
        self._tasks[step] = self._bars.add_task(WORDS.get(step, step), total=total, unit=unit(step), done=0)

    def advance(self, step: str, documents: int) -> None:
        self._done[step] += documents
        self._bars.update(self._tasks[step], advance=documents, done=self._done[step])

    def finish(self, step: str) -> None:
        # The bar is full when the step is over, also where nobody knew how much there would be, or there was nothing.
        whole = self._done[step] or 1
        self._bars.update(self._tasks[step], total=whole, completed=whole)

    def expect(self, step: str, total: int) -> None:
        self._bars.update(self._tasks[step], total=total)


def _bars(stream: TextIO) -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress
    from rich.table import Column
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: Task) -> Text:
            seconds = task.finished_time or task.elapsed
            return Text(f"{task.fields['done'] / seconds:,.0f}/s" if seconds else "")

    def whole(justify: Literal["left", "right"]) -> Column:
        return Column(no_wrap=True, justify=justify)  # on a narrow terminal the bar alone gives way

    return RichProgress(
        SpinnerColumn(table_column=whole("left")),
        TextColumn("{task.description}", table_column=whole("left")),
        BarColumn(),
        TextColumn("{task.fields[done]:,} {task.fields[unit]}", justify="right", table_column=whole("right")),
        Speed(table_column=whole("right")),
        TimeRemainingColumn(elapsed_when_finished=True, table_column=whole("right")),
        console=Console(file=stream),
    )
