"""Results as Markdown: the table of one run, and the sentence that says how many times faster cascade is."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

OURS = "cascade"
LIMIT = "limit"

Program = Mapping[str, Any]


def number(value: float | None, form: str) -> str:
    """A figure, or nothing where there is none."""
    return "" if value is None else format(value, form)


COLUMNS: list[tuple[str, Callable[[Program], str]]] = [
    ("program", lambda p: p["name"]),
    ("seconds", lambda p: number(p["median"], ".2f") or "failed"),
    ("runs", lambda p: str(len(p["seconds"]))),
    ("× cascade", lambda p: number(p["times_cascade"], ".2f")),
    ("× limit", lambda p: number(p["times_limit"], ".2f")),
    ("MB/s", lambda p: number(p["mb_per_second"], ".1f")),
    ("CPU s", lambda p: f"{statistics.median(p['cpu_seconds']):.2f}" if p["cpu_seconds"] else ""),
    ("peak MB", lambda p: f"{p['peak_bytes'] / 1e6:.0f}" if p["peak_bytes"] else ""),
    ("pairs compared", lambda p: number(p["pairs_compared"], ",")),
    ("removed", lambda p: number(p["removed"], ",")),
    ("recall", lambda p: number(p["recall"], ".4f")),
    ("precision", lambda p: number(p["precision"], ".4f")),
    ("what it does", lambda p: p["failure"] or p["does"]),
]


def table(result: Mapping[str, Any]) -> str:
    """All that is known of each program of one result."""
    return markdown([[name for name, _ in COLUMNS], *([text(p) for _, text in COLUMNS] for p in result["programs"])])


def markdown(rows: Sequence[Sequence[str]], aligned: bool = True) -> str:
    """Rows of cells, the first of them the head, as a table; without aligned columns its lines are short."""
    widths = [max(map(len, column)) if aligned else 0 for column in zip(*rows, strict=True)]
    lines = [rows[0], ["-" * max(width, 3) for width in widths], *rows[1:]]
    return "\n".join(f"| {' | '.join(c.ljust(w) for c, w in zip(row, widths, strict=True))} |" for row in lines)


def reading(result: Mapping[str, Any]) -> str:
    """How many times faster cascade is than each peer, and how many times slower than the limit."""
    ours = {p["name"]: p for p in result["programs"] if p["name"].startswith(OURS)}
    times = [
        f"{_faster(p['times_cascade'])} than {p['name']}"
        for p in result["programs"]
        if p["name"] not in ours and p["name"] != LIMIT and p["times_cascade"]
    ]
    if ours.get(OURS, {}).get("times_limit"):
        times.append(f"takes {ours[OURS]['times_limit']:.2f} times as long as the limit")
    return f"cascade is {', '.join(times)}." if times else ""


def _faster(times: float) -> str:
    return f"{times:.2f} times faster" if times >= 1 else f"{1 / times:.2f} times slower"
