"""The text at the end of a run: what happened to the documents, the funnel, warnings, where the results are."""

from __future__ import annotations

from collections.abc import Sequence

from cascade.result import RunReport, StageReport


def summary_lines(report: RunReport) -> list[str]:
    """The summary of a run, line by line."""
    counts = report.counts
    exact, near = counts["removed_exact"], counts["removed_near"]
    rows = [
        ("read", counts["read"], ""),
        ("kept", counts["kept"], ""),
        ("removed", exact + near, f"{exact:,} exact, {near:,} near-duplicates" if exact + near else ""),
        (
            "rejected",
            counts["rejected"],
            "rows that could not be used: see rejected.jsonl" if counts["rejected"] else "",
        ),
    ]
    width = max(len(f"{number:,}") for _, number, _ in rows)
    lines = [f"{name:<9} {number:>{width},}  {note}".rstrip() for name, number, note in rows]
    if report.stages:
        lines += ["", *funnel_lines(report.stages)]
    if report.warnings:
        lines += ["", *(f"warning: {warning}" for warning in report.warnings)]
    if report.work is not None:
        lines += ["", f"work files kept in {report.work}"]
    speed = counts["read"] / report.seconds if report.seconds > 0 else 0.0
    return [*lines, "", f"results in {report.out} ({report.seconds:.1f} s, {speed:,.0f} documents/s)"]


def funnel_lines(stages: Sequence[StageReport]) -> list[str]:
    """A table of the stages in the order in which they ran."""
    head = ("stage", "role", "pairs in", "pairs out", "seconds", "predicted recall")
    rows = [
        (
            stage.name,
            stage.role,
            f"{stage.pairs_in:,}",
            f"{stage.pairs_out:,}",
            f"{stage.seconds:.2f}",
            "not known" if stage.predicted_recall is None else f"{stage.predicted_recall:.5f}",
        )
        for stage in stages
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in (head, *rows):
        words = [
            f"{cell:<{w}}" if i < 2 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(words).rstrip())
    return lines
