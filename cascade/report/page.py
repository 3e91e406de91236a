"""Pages from templates: one self-contained HTML text each. What stands on a page is told by others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cascade.config.advice import percent
from cascade.errors import BackendUnavailable
from cascade.report.charts import bar
from cascade.report.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

MISSING = "pages need {0}, which is not installed: python -m pip install 'cascade-dedup[report]'"
UNITS = ("bytes", "KB", "MB", "GB", "TB")


def page(template: str, /, **values: object) -> str:
    """The HTML text of a page. Every value is escaped, whatever it holds: texts, ids, names of files and fields.

    `template` is a file in cascade/report/templates that begins with

        {% extends "base.html" %}{% import "parts.html" as parts %}

    and fills the blocks `title` (plain text), `lead` (below the heading) and `content` (sections with an h2 each).
    base.html brings the style (light and dark, narrow screens), no script, and a Content-Security-Policy that lets
    nothing run or load. parts.html has the macros, of which each page may use any:

        parts.facts(rows)                           rows of (name, value[, note]) as a list of figures
        parts.table(head, rows, left=1)             cells after the first `left` are figures, set to the right
        parts.bars(head, rows)                      rows of (label, value, told, …): a table with a bar for each value
        parts.figure(chart, caption, head, rows)    a chart of cascade.report.charts; head and rows: its data
        parts.difference(left, right, names)        two texts side by side, as `sides` gives them, under two names
        parts.pair(names, sides, note)              the same inside <details>

    Filters: `number` (1,234 or 0.123), `percent`, `seconds`, `bytes`, `visible` (what cannot be seen or encoded is
    replaced by a sign). Raises BackendUnavailable without jinja2.
    """
    text = environment().get_template(template).render(values)
    return text.encode("utf-8", "replace").decode("utf-8")


def environment() -> Environment:
    """The templates with their filters, everything escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise BackendUnavailable(MISSING.format("jinja2")) from error
    made = Environment(
        loader=PackageLoader("cascade.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["bar"] = bar
    filters = {"number": number, "percent": percent, "seconds": seconds, "bytes": size, "visible": visible}
    made.filters.update(filters)
    return made


def sides(parts: Iterable[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Two texts, side by side, from `Difference.parts` or `Difference.shown()`: for each the parts that it has, as
    (`same`, text), (`only`, text: not in the other one) or (`skipped`, the text that is left out).

    What a change has left out stands on its own side, what is left out of what both have on both.
    """
    left: list[tuple[str, str]] = []
    right: list[tuple[str, str]] = []
    side = "same"
    found = list(parts)
    for i, (kind, text) in enumerate(found):
        if kind == "skipped":
            # The middle of a change has a part of the same kind before it and behind it; else both texts have it.
            around = {found[j][0] for j in (i - 1, i + 1) if 0 <= j < len(found)}
            side = around.pop() if len(around) == 1 else "same"
        else:
            side = kind
        shown = ("skipped" if kind == "skipped" else "same" if kind == "same" else "only", text)
        if side != "right":
            left.append(shown)
        if side != "left":
            right.append(shown)
    return left, right


def number(value: float | None) -> str:
    """1,234 or 0.123; a dash for what is not known."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}".rstrip("0").rstrip(".")


def seconds(value: float | None) -> str:
    """0.12 s, 12.3 s or 2 min 5 s."""
    if value is None:
        return "–"
    if value < 99.95:
        return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def size(count: float | None) -> str:
    """So many bytes, in the largest unit (of 1000) of which there is one."""
    if count is None:
        return "–"
    unit = 0
    while count >= 1000 and unit < len(UNITS) - 1:
        count /= 1000
        unit += 1
    return f"{count:,.0f} {UNITS[unit]}" if unit == 0 or count >= 100 else f"{count:.1f} {UNITS[unit]}"
