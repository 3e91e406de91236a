"""The tables of docs/quality.md and README.md, from what benchmarks.quality has measured. Measures nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.table import markdown, number

Result = Mapping[str, Any]


def page_text(result: Result) -> str:
    """The tables of docs/quality.md: sets, figures of each, what the first stage does, recall by edits."""
    parts = [_sets(result["sets"]), *(_figures(each) for each in result["sets"])]
    parts.append("## What SimHash in front saves and costs\n\n" + _first_stages(result["sets"]))
    parts.append("## Copies with edits\n\n" + _edited(result["sets"]))
    parts.append(_made(result))
    return "\n".join(parts)


def readme_text(result: Result) -> str:
    """The short table: recall and precision of pairs of each config on each set."""
    sets = result["sets"]
    rows = [["config", *(each["set"].partition("_")[0] for each in sets)]]
    for at, row in enumerate(sets[0]["configs"]):
        cells = [each["configs"][at]["pairs"] for each in sets]
        rows.append([row["config"], *(f"{_short(c['recall'])} / {_short(c['precision'])}" for c in cells)])
    return f"{markdown(rows, aligned=False)}\n"


def _made(result: Result) -> str:
    machine = result["machine"]
    return f"Medians of {result['rounds']} rounds, on one thread: {machine['processor']}, {machine['date'][:10]}.\n"


def _sets(sets: Sequence[Result]) -> str:
    rows = [["set", "documents", "characters", "duplicate pairs", "shingles", "thresholds"]]
    for each in sets:
        cut, limits = (
            ("3 characters", "Jaccard 0.7, edits 0.8") if each["short"] else ("5 words", "Jaccard 0.8, edits 0.9")
        )
        counts = (f"{each[key]:,}" for key in ("documents", "characters", "pairs"))
        rows.append([each["set"], *counts, cut, limits])
    return f"{markdown(rows)}\n"


def _figures(each: Result) -> str:
    rows = [["config", "precision", "recall", "F1", "B-cubed F1", "wrong pairs", "removed", "CPU s"]]
    for row in each["configs"]:
        shares = [_value(row["pairs"][key]) for key in ("precision", "recall", "f1")]
        grouped = None if row["clusters"] is None else row["clusters"]["bcubed_f1"]
        counts = [number(grouped, ".4f"), f"{row['pairs']['wrong']:,}", f"{row['removed']:,}", f"{row['cpu']:.3f}"]
        rows.append([row["config"], *shares, *counts])
    return f"### {each['set']}\n\n{markdown(rows)}\n"


def _first_stages(sets: Sequence[Result]) -> str:
    rows = [["set", "SimHash", "proposes", "pairs", "to Jaccard", "recall", "removals lost", "CPU s", "× none"]]
    for each in sets:
        for row in each["first_stages"]:
            rows.append(
                [
                    each["set"],
                    row["max_hamming"],
                    row["enumerates"],
                    f"{row['proposed']:,}",
                    f"{row['to_jaccard']:,}",
                    _value(row["recall"]),
                    f"{row['removals_lost']:,}",
                    f"{row['cpu']:.3f}",
                    f"{row['times_none']:.2f}",
                ]
            )
    return f"{markdown(rows)}\n"


def _edited(sets: Sequence[Result]) -> str:
    parts = []
    for each in sets:
        if each["edited"]:
            first = next(iter(each["edited"].values()))
            rows = [[each["set"], *(f"{row['rate']:.0%}" for row in first)]]
            rows.append(["pairs", *(f"{row['pairs']:,}" for row in first)])
            rows += [
                [name, *(f"{row['found'] / row['pairs']:.4f}" for row in found)]
                for name, found in each["edited"].items()
            ]
            parts.append(f"{markdown(rows)}\n")
    return "\n".join(parts)


def _short(share: Mapping[str, Any]) -> str:
    return number(share["value"], ".3f")


def _value(share: Mapping[str, Any]) -> str:
    return number(share["value"], ".4f")
