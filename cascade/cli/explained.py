"""An explanation as lines for people and as JSON. Nothing is computed here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from cascade.cli.styled import Line, printable
from cascade.evaluate.explanation import Explanation, Side, StageVerdict
from cascade.evaluate.reasons import named, percent, said

FEW, EXCERPT = 8, 300
"""Shingles of each kind, and characters of a text, that are shown unless all are asked for."""
MARKS = {"same": ("", "", ""), "left": ("[-", "-]", "red"), "right": ("{+", "+}", "green"), "skipped": ("", "", "dim")}
"""How the kinds of parts are marked, so that it can be read without colour, and their colours."""


def as_json(found: Explanation) -> str:
    """Everything, indented."""
    parts = [{"kind": kind, "text": text} for kind, text in found.difference.parts]
    return json.dumps({**asdict(found), "difference": parts}, ensure_ascii=False, indent=2)


def lines(found: Explanation, everything: bool = False) -> Iterator[Line]:
    """What people read; `everything`: nothing is left out."""
    yield [(printable(found.sentence), "bold")]
    yield []
    for letter, side in (("a", found.a), ("b", found.b)):
        yield [(f"{letter}  {_decided(side)}", "")]
    yield []
    yield from _table(_similarities(found))
    yield []
    met = "yes" if found.candidate.met else "no"
    yield [(f"candidate: {met}, {printable(found.candidate.how)}", "")]
    yield []
    yield from _stages(found.stages)
    yield []
    for letter, side in (("a", found.a), ("b", found.b)):
        cut = side.text if everything else side.text[:EXCERPT]
        yield [(f"{letter} as it came: ", "dim"), (printable(cut), ""), ("" if cut == side.text else " …", "dim")]
    yield []
    yield [("normalised: [-only in a-] {+only in b+}", "dim")]
    yield list(_marked(found, everything))
    yield []
    yield from _shingles(found, everything)
    for note in found.notes:
        yield [(f"note: {printable(note)}", "yellow")]


def _decided(side: Side) -> str:
    """Which document this is, and what became of it."""
    if side.fate is None:
        return f"{side.shingles:,} shingles"
    fate = side.fate
    twin = "" if fate.twin_of is None else f", its text being that of {named(fate.twin_of)}"
    if fate.kept:
        what = "kept"
    elif fate.reason == "exact":
        what = f"removed for {named(fate.kept_id)}: exact, the normalised texts are equal"
    else:
        what = f"removed for {named(fate.kept_id)}: near, {said(fate.scores)}{twin}"
        if len(fate.path) > 2:
            what += f", through {' - '.join(map(named, fate.path[1:-1]))}"
    return printable(f"{named(side.id)}  {what}; {side.shingles:,} shingles")


def _similarities(found: Explanation) -> list[tuple[str, ...]]:
    edits = "not computed: the texts are too long" if found.edit_similarity is None else f"{found.edit_similarity:.4f}"
    a, b = found.a, found.b
    either = a.shingles + b.shingles - found.common
    return [
        ("Jaccard", f"{found.jaccard:.4f}", f"{found.common:,} of {either:,} shingles are in both"),
        ("containment", f"{found.containment:.4f}", f"of {min(a.shingles, b.shingles):,} in the smaller set"),
        ("edit similarity", edits, "" if found.edit_similarity is None else "Levenshtein, by characters"),
        ("Hamming", f"{found.hamming}", f"of 64 bits: {a.fingerprint:016x} {b.fingerprint:016x}"),
    ]


def _stages(stages: Sequence[StageVerdict]) -> Iterator[Line]:
    rows = [("stage", "role", "says", "score", "threshold", "recall at this Jaccard")]
    for v in stages:
        limits = ", ".join(f"{name} {limit:g}" for name, limit in v.thresholds.items())
        if v.keys is not None and v.keys.tables is not None:
            limits = ", ".join(filter(None, [f"1 {v.keys.unit} of {v.keys.tables:,}", limits]))
        recall = "not known" if v.predicted_recall is None else percent(v.predicted_recall)
        score = "none" if v.score is None else f"{v.score:.6g}"
        rows.append((v.name, v.role, "accepts" if v.accepted else "refuses", score, limits or "none", recall))
    yield from _table(rows)
    for v in stages:
        if v.keys is not None and v.keys.shared and v.keys.tables is not None:
            yield [(f"{v.name}: {v.keys.unit}s shared: {', '.join(map(str, v.keys.shared))}", "")]


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[Line]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [f"{printable(cell):<{width}}" for cell, width in zip(row, widths, strict=True)]
        yield [("  ".join(cells).rstrip(), "")]


def _marked(found: Explanation, everything: bool) -> Iterator[tuple[str, str]]:
    """The normalised texts as one, marked where they differ."""
    for kind, text in found.difference.parts if everything else found.difference.shown():
        start, end, style = MARKS[kind]
        shown = f" …({len(text):,} characters)… " if kind == "skipped" else printable(text)
        yield f"{start}{shown}{end}", style


def _shingles(found: Explanation, everything: bool) -> Iterator[Line]:
    if found.shingles is None:
        yield [(f"shingles: {found.common:,} in common; this shingler cannot tell them as text", "")]
        return
    for title, mark, style, texts in (
        ("in common", "=", "", found.shingles.common),
        ("only in a", "-", "red", found.shingles.only_a),
        ("only in b", "+", "green", found.shingles.only_b),
    ):
        yield [(f"shingles {title}: {len(texts):,}", "dim")]
        some = texts if everything else texts[:FEW]
        yield from ([(f"  {mark} {printable(text)}", style)] for text in some)
        if len(some) < len(texts):
            yield [(f"  {mark} … and {len(texts) - len(some):,} more", "dim")]
