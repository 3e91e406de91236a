"""The page of a run: charts and rows of what was gathered of it, put into the template. Judges nothing itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cascade.evaluate.difference import difference
from cascade.evaluate.intervals import Share
from cascade.evaluate.predict import curve, unmodelled
from cascade.io.place import output_file
from cascade.io.write import write_text
from cascade.pairs import Scores
from cascade.plan import Plan
from cascade.report.charts import Axis, Column, Dot, Line, Svg, counts_axis, curves, histogram
from cascade.report.decisions import Cluster, Decisions, Pair
from cascade.report.originals import Group
from cascade.report.page import environment, number, page, sides
from cascade.report.run import Run, plan_of, read_run, similarity_scores
from cascade.report.similarity import Measure, steps
from cascade.report.tripwires import LEAST_DOCUMENTS, tripwires

NAME = "report.html"
GROUPS = 15
"""Values of a field that are shown."""
POINTS = 201
"""Of a curve."""
TABLE = 1 << 26
"""Work on the difference of two texts: see cascade.evaluate.difference."""
EXCERPT, EXCERPT_OF_PAIR = 400, 1500
"""Characters that are shown of a text in a cluster, and of one in a pair."""
LONGEST_ID = 120
SIZES = (2, 3, 4, 5, 10, 20, 50, 100, 1000, 10_000, 100_000)
"""Cluster sizes at which a new line of the table begins."""
STEPS = {
    "read": "read and normalise",
    "collapse": "collapse equal texts",
    "observe": "first pass",
    "columns": "sketch",
    "candidates": "find candidates",
    "pairs": "judge pairs, decide",
    "write": "write",
}


class Band(Protocol):
    """Recall that was measured for pairs with low <= similarity < high."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def recall(self) -> Share: ...


def write_report_page(
    out: str | Path, *, by: Sequence[str] = (), measured: Sequence[Band] = (), truth: str = ""
) -> Path:
    """Writes `report.html` into the folder `out` of a run, in one step, and returns its path.

    `by`: fields whose values are counted as sources are, beside those that look like one. `measured`: recall by
    similarity band, as `recall_by_band` gives it, to stand on the S-curve; `truth` names what it was held against.
    The inputs of the run are read once more, from where the run found them; if they are gone or changed, the page says
    so and goes on without their texts. Raises InputError (no folder of a run), BackendUnavailable (no jinja2),
    OutputError.
    """
    environment()
    out = Path(out)
    text = report_page(read_run(out, by), measured, truth)
    with output_file(out / NAME, overwrite=True) as work:
        write_text(work, text)
    return out / NAME


def report_page(run: Run, measured: Sequence[Band] = (), truth: str = "") -> str:
    """The HTML text of the page."""
    report, decisions = run.report, run.decisions
    sizes = decisions.sizes()[0]
    plan = plan_of(run)
    scores = similarity_scores(run)
    drawn = s_curve(plan, run, scores, measured, truth) if plan is not None else None
    return page(
        "run.html",
        name=str(run.out),
        counts=report["counts"],
        report=report,
        clusters_found=len(sizes),
        largest=int(sizes[0]) if len(sizes) else 0,
        wires=tripwires(report, run.config, decisions, run.originals, run.measure),
        measure=run.measure,
        funnel=funnel(report, plan),
        curve=drawn[0] if drawn else None,
        key=drawn[1] if drawn else [],
        unmodelled=[] if plan is None else unmodelled(plan),
        measured=[band for band in measured if band.recall.value is not None],
        truth=truth,
        similarity=similarity_chart(run.measure, scores),
        every_pair=run.config.resolve.pairs == "all",
        sizes=size_rows(sizes),
        seconds=[(label, report["seconds"][step]) for step, label in STEPS.items() if step in report["seconds"]],
        memory=memory_rows(report, plan),
        clusters=[cluster_shown(run, cluster) for cluster in run.clusters],
        pairs=[pair_shown(run, pair) for pair in run.pairs],
        close=close_calls(decisions, run.measure),
        fields=[(name, *group_rows(groups)) for name, groups in run.originals.fields.items()],
        problems=run.originals.problems,
        config=run.config_text,
    )


def funnel(report: Mapping[str, Any], plan: Plan | None) -> list[dict[str, Any]]:
    """Stages in the order in which they ran; `bytes`: what their columns take for all documents, at most."""
    each = {} if plan is None else {s.stage.name: s.predicate.bytes_per_document for s in plan.stages}
    documents = report.get("distinct_texts", 0)
    return [
        {**stage, "bytes": each[stage["name"]] * documents if stage["name"] in each else None}
        for stage in report["stages"]
    ]


def s_curve(
    plan: Plan, run: Run, scores: Scores, measured: Sequence[Band], truth: str
) -> tuple[Svg, list[tuple[int, str]]] | None:
    """Predicted recall by Jaccard similarity, what was measured of it, and behind it the similarities found; with the
    key, (color, what it is) of all that is drawn."""
    without = unmodelled(plan)
    if len(without) == len(plan.stages):
        return None
    lines = [Line("the whole plan", curve(plan.stages, POINTS))]
    if len({planned.stage.confirms for planned in plan.stages if planned.stage.name not in without}) == 2:
        sketches = [planned for planned in plan.stages if not planned.stage.confirms]
        lines.insert(0, Line("sketches alone (dashed)", curve(sketches, POINTS), 6, dashed=True))
    dots = [
        Dot((b.low + b.high) / 2, b.recall.value, b.recall.low, b.recall.high, band_told(b))
        for b in measured
        if b.recall.value is not None and b.recall.low is not None and b.recall.high is not None
    ]
    jaccard = run.measure is not None and run.measure.label.startswith("Jaccard")
    columns = (
        [Column(*step, f"{step[2]:,} pairs at {step[0]:.2f}") for step in steps_of(run, scores)] if jaccard else []
    )
    at = run.config.recall_at
    mark = None if at is None else (at, f"threshold {at:g}" if run.config.confirm_jaccard else f"stated {at:g}")
    title = "Predicted probability of finding a pair, by Jaccard similarity"
    x, y = Axis("Jaccard similarity"), Axis("probability of being found", 0, 1.02)
    key = [(line.color, line.name) for line in reversed(lines)]
    key += [(1, f"measured against {truth}" if truth else "measured")] if dots else []
    key += [(7, "similarities found")] if columns else []
    return curves(lines, dots, x=x, y=y, title=title, mark=mark, columns=columns), key


def band_told(band: Band) -> str:
    """A band in words."""
    recall = band.recall
    return (
        f"{band.low:g} to {band.high:g}: recall {number(recall.value)}, {number(recall.low)} to {number(recall.high)}"
    )


def steps_of(run: Run, scores: Scores) -> list[tuple[float, float, int]]:
    """The histogram of the similarities."""
    return [] if run.measure is None else steps(run.measure, scores)


def similarity_chart(measure: Measure | None, scores: Scores) -> Svg | None:
    """How alike the confirmed pairs are."""
    if measure is None or not (found := steps(measure, scores)):
        return None
    digits = 2 if measure.similarity else 0
    columns = [Column(a, b, count, f"{a:.{digits}f}: {count:,} pairs") for a, b, count in found]
    low = min(found[0][0], measure.threshold)
    high = 1.0 if measure.similarity else max(found[-1][1], measure.threshold + 1)
    x = Axis(measure.label, low, high if high > low else low + 0.01, whole=not measure.similarity)
    y = counts_axis("pairs", max(column.count for column in columns))
    mark = (measure.threshold, f"threshold {measure.threshold:g}")
    return histogram(columns, x=x, y=y, title=f"Confirmed pairs by {measure.label}", mark=mark)


def size_rows(sizes: np.ndarray[Any, Any]) -> list[tuple[str, int, str, str]]:
    """Clusters by size: (sizes, clusters, the same as text, documents)."""
    rows = []
    for low, high in zip(SIZES, (*SIZES[1:], None), strict=True):
        inside = sizes[(sizes >= low) & (sizes < high)] if high is not None else sizes[sizes >= low]
        if len(inside):
            told = f"{low:,} or more" if high is None else f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}"
            rows.append((told, len(inside), f"{len(inside):,}", f"{int(inside.sum()):,}"))
    return rows


def memory_rows(report: Mapping[str, Any], plan: Plan | None) -> list[tuple[str, float]]:
    """Bytes by what takes them."""
    rows = [("the process, at its peak", float(report.get("peak_memory_bytes", 0)))]
    if mapped := (report.get("memory") or {}).get("mapped_bytes"):
        rows.append(("mapped files", float(mapped)))
    return rows + [
        (f"columns of {stage['name']}", float(stage["bytes"])) for stage in funnel(report, plan) if stage["bytes"]
    ]


def close_calls(decisions: Decisions, measure: Measure | None) -> int:
    """Near removals within `measure.near` of the threshold."""
    if measure is None or measure.stage not in decisions.scores:
        return 0
    scores = decisions.scores[measure.stage][~decisions.exact & ~decisions.twin]
    return int((measure.margin(scores) <= measure.near).sum())


def group_rows(groups: Iterable[Group]) -> tuple[list[tuple[str, float, str, str, str]], int]:
    """The values of a field with the greatest losses, those of few documents last, and how many more there are."""
    ordered = sorted(
        groups, key=lambda g: (g.documents < LEAST_DOCUMENTS, -g.removed / g.documents, -g.documents, g.value)
    )
    rows = []
    for group in ordered[:GROUPS]:
        lost = group.removed / group.documents
        rows.append((group.value, lost, f"{group.documents:,}", f"{group.removed:,}", f"{lost:.1%}"))
    return rows, len(ordered) - len(rows)


def id_shown(id_: bytes) -> str:
    """An id for people: a string without its quotation marks, all else as JSON."""
    value = json.loads(id_)
    text = value if isinstance(value, str) else id_.decode("utf-8", "replace")
    return text if len(text) <= LONGEST_ID else text[:LONGEST_ID] + "…"


def pair_shown(run: Run, pair: Pair) -> dict[str, Any]:
    """A pair as the template takes it; `sides` is None where a text is not there."""
    texts = run.originals.texts
    left, right = texts.get(pair.left.at), texts.get(pair.right.at)
    found = None
    if left is not None and right is not None:
        both = sides(difference(left, right, most=TABLE).shown(80, 800))
        found = tuple(cut(side, EXCERPT_OF_PAIR) for side in both)
    score = pair.scores.get(run.measure.stage) if run.measure else None
    note = "" if run.measure is None or score is None else run.measure.told(score)
    return {"names": (id_shown(pair.left.id), id_shown(pair.right.id)), "sides": found, "note": note}


def cluster_shown(run: Run, cluster: Cluster) -> dict[str, Any]:
    """A cluster as the template takes it."""
    texts = run.originals.texts
    kept = texts.get(cluster.kept.at)
    members = []
    for each in cluster.removed:
        text = texts.get(each.at)
        parts = None
        if kept is not None and text is not None:
            parts = cut(sides(difference(kept, text, most=TABLE).shown(40, 200))[1], EXCERPT)
        score = each.scores.get(run.measure.stage) if run.measure else None
        told = "equal" if each.exact else run.measure.told(score) if run.measure and score is not None else "near"
        members.append({"id": id_shown(each.id), "told": told, "parts": parts})
    shown = None if kept is None else cut([("same", kept)], EXCERPT)
    more = cluster.size - 1 - len(members)
    return {"id": id_shown(cluster.kept.id), "size": cluster.size, "text": shown, "members": members, "more": more}


def cut(parts: Sequence[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """The parts up to `most` characters of text; what is behind them counts as skipped."""
    found: list[tuple[str, str]] = []
    for i, (kind, text) in enumerate(parts):
        if kind != "skipped" and len(text) > most:
            rest = text[most:] + "".join(t for _, t in parts[i + 1 :])
            return [*found, (kind, text[:most]), ("skipped", rest)]
        found.append((kind, text))
        most -= len(text) if kind != "skipped" else 0
    return found
