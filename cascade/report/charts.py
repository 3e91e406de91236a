"""Charts as small SVG texts, to stand in a page: their colours and letters are those of templates/page.css.

No library: an SVG that takes the page's colours works in light and dark, and each is a few kilobytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

from cascade.report.visible import visible

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 12, 40
"""Room for the axes."""
DOT = 4.5


class Svg(str):
    """SVG text in which everything is escaped already."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


@dataclass(frozen=True)
class Axis:
    """A label and what the axis goes from and to. `log`: by powers of ten; `whole`: only whole numbers are marked."""

    label: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Line:
    """A curve through points (x, y) in ascending x. `color` 0 to 7: one of the page's."""

    name: str
    points: Sequence[tuple[float, float]]
    color: int = 0
    dashed: bool = False


@dataclass(frozen=True)
class Dot:
    """A point that was measured, with its interval, and what is told of it (a tooltip)."""

    x: float
    y: float
    low: float
    high: float
    told: str
    color: int = 1


@dataclass(frozen=True)
class Column:
    """A column from x = low to high, and what is told of it."""

    low: float
    high: float
    count: float
    told: str


def curves(
    lines: Sequence[Line],
    dots: Sequence[Dot] = (),
    *,
    x: Axis,
    y: Axis,
    title: str,
    mark: tuple[float, str] | None = None,
    columns: Sequence[Column] = (),
) -> Svg:
    """Curves, dots with intervals on them, and behind them pale columns on a scale of their own (the greatest is as
    high as the chart). `mark`: where a dashed upright line stands, and what it says. `title`: for those who cannot see
    the chart."""
    frame = _Frame(x, y)
    top = max((column.count for column in columns), default=0) or 1
    scaled = [Column(c.low, c.high, y.low + c.count / top * (y.high - y.low), c.told) for c in columns]
    parts = [frame.axes(), *frame.columns(scaled, "back")]
    for line in lines:
        points = " ".join(f"{frame.x(a):.1f},{frame.y(b):.1f}" for a, b in line.points)
        dashed = " dashed" if line.dashed else ""
        parts.append(
            f'<polyline class="line c{line.color % 8}{dashed}" points="{points}">{_told(line.name)}</polyline>'
        )
    for dot in dots:
        across, up = f"{frame.x(dot.x):.1f}", f"{frame.y(dot.y):.1f}"
        whisker = f"M{across} {frame.y(dot.low):.1f}V{frame.y(dot.high):.1f}"
        parts.append(
            f'<g class="dot c{dot.color % 8}">{_told(dot.told)}<path d="{whisker}"/>'
            f'<circle cx="{across}" cy="{up}" r="{DOT}"/></g>'
        )
    return frame.svg(title, [*parts, *frame.mark(mark, HEIGHT - BOTTOM - 10)])


def histogram(columns: Sequence[Column], *, x: Axis, y: Axis, title: str, mark: tuple[float, str] | None = None) -> Svg:
    """Columns, each over its part of the x axis; `mark` and `title` as in `curves`."""
    frame = _Frame(x, y)
    return frame.svg(title, [frame.axes(), *frame.columns(columns, "columns"), *frame.mark(mark, TOP + 8)])


def bar(share: float, color: int = 0) -> Svg:
    """A bar across a cell of a table, as long as `share` (0 to 1) of it."""
    wide = f"{100 * min(max(share, 0.0), 1.0):.2f}"
    return Svg(
        f'<svg class="bar c{color % 8}" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{wide}" height="1"/></svg>'
    )


def counts_axis(label: str, most: float) -> Axis:
    """An axis for counts: by powers of ten where the greatest is over a hundred."""
    return (
        Axis(label, 0.8, max(most, 1) * 2.5, log=True)
        if most > 100
        else Axis(label, 0, max(most, 1) * 1.15, whole=True)
    )


class _Frame:
    """From values to places in the drawing."""

    def __init__(self, x: Axis, y: Axis) -> None:
        self.x_axis, self.y_axis = x, y
        self.x = _scale(x, LEFT, WIDTH - RIGHT)
        self.y = _scale(y, HEIGHT - BOTTOM, TOP)

    def axes(self) -> str:
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        parts = ['<g class="axes">']
        for value, text in _ticks(self.y_axis):
            up = f"{self.y(value):.1f}"
            parts.append(f'<path class="grid" d="M{LEFT} {up}H{right}"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{up}" dy="0.35em" text-anchor="end">{_text(text)}</text>')
        for value, text in _ticks(self.x_axis):
            across = f"{self.x(value):.1f}"
            parts.append(f'<path class="tick" d="M{across} {bottom}v4"/>')
            parts.append(f'<text x="{across}" y="{bottom + 17}" text-anchor="middle">{_text(text)}</text>')
        middle, center = (LEFT + right) / 2, (TOP + bottom) / 2
        below, beside = _text(self.x_axis.label), _text(self.y_axis.label)
        parts += [
            f'<path class="axis" d="M{LEFT} {bottom}H{right}"/>',
            f'<text class="label" x="{middle}" y="{HEIGHT - 5}" text-anchor="middle">{below}</text>',
            f'<text class="label" transform="translate(11 {center}) rotate(-90)" text-anchor="middle">{beside}</text>',
            "</g>",
        ]
        return "".join(parts)

    def columns(self, columns: Sequence[Column], kind: str) -> list[str]:
        if not columns:
            return []
        bottom = self.y(self.y_axis.low)
        parts = [f'<g class="{kind}">']
        for column in columns:
            if column.count > 0:
                left, right, top = self.x(column.low), self.x(column.high), self.y(column.count)
                parts.append(
                    f'<rect x="{left + 0.5:.1f}" y="{top:.1f}" width="{max(right - left - 1, 1):.1f}" '
                    f'height="{max(bottom - top, 1):.1f}">{_told(column.told)}</rect>'
                )
        return [*parts, "</g>"]

    def mark(self, mark: tuple[float, str] | None, height: float) -> list[str]:
        if mark is None:
            return []
        across = self.x(mark[0])
        side = "end" if across > (LEFT + WIDTH) / 2 else "start"
        away = -5 if side == "end" else 5
        return [
            f'<path class="mark" d="M{across:.1f} {TOP}V{HEIGHT - BOTTOM}"/>',
            f'<text class="mark" x="{across + away:.1f}" y="{height}" text-anchor="{side}">{_text(mark[1])}</text>',
        ]

    @staticmethod
    def svg(title: str, parts: Sequence[str]) -> Svg:
        return Svg(
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_text(title)}">'
            f"{''.join(parts)}</svg>"
        )


def _text(text: str) -> str:
    return escape(visible(text))


def _told(text: str) -> str:
    return f"<title>{_text(text)}</title>"


def _scale(axis: Axis, start: float, stop: float) -> Callable[[float], float]:
    """From a value on the axis, or the nearest one that is, to its place."""
    low, high = (log10(axis.low), log10(axis.high)) if axis.log else (axis.low, axis.high)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        at = log10(max(value, axis.low)) if axis.log else value
        return start + (min(max(at, low), high) - low) / span * (stop - start)

    return place


def _ticks(axis: Axis) -> list[tuple[float, str]]:
    """Round values on an axis, each with its text; six or so."""
    if axis.log:
        powers = range(0, floor(log10(axis.high)) + 1)
        every = max(1, len(powers) // 5)
        return [(10.0**p, f"{10**p:,}") for p in powers if not p % every and 10**p >= axis.low]
    raw = (axis.high - axis.low) / 5 or 1.0
    raw, multiples = (max(raw, 1.0), (1.0, 2.0, 5.0, 10.0)) if axis.whole else (raw, (1.0, 2.0, 2.5, 5.0, 10.0))
    power = 10.0 ** floor(log10(raw))
    step = next(power * m for m in multiples if power * m >= raw * 0.999)
    digits = max(0, -floor(log10(step) + 1e-9) + (1 if step / power == 2.5 else 0))
    first = -floor(-axis.low / step + 1e-9)
    found: list[tuple[float, str]] = []
    for i in range(first, floor(axis.high / step + 1e-9) + 1):
        found.append((i * step, f"{i * step:,.{digits}f}"))
    return found
