"""Results as pictures (SVG): seconds by program, and growth with the size of the corpus. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.table import number

OURS, LIMIT, PEER = "#1f5fa8", "#8a8a8a", "#d08a3c"


def plot_programs(result: Mapping[str, Any], path: Path) -> None:
    """Bars of seconds, fastest first, each with its recall and precision."""
    plt = _pyplot()
    programs = sorted((p for p in result["programs"] if p["median"]), key=lambda p: -p["median"])
    about = result["corpus"]
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.42 * max(len(programs), 1)), layout="constrained")
    colors = [OURS if p["name"].startswith("cascade") else LIMIT if p["name"] == "limit" else PEER for p in programs]
    bars = axes.barh([p["name"] for p in programs], [p["median"] for p in programs], color=colors)
    labels = []
    for p in programs:
        rates = [f"{kind} {number(p[kind], '.4f')}" for kind in ("recall", "precision") if p[kind] is not None]
        labels.append(", ".join([f"{p['median']:.2f} s", *rates]))
    axes.bar_label(bars, labels, padding=4, fontsize=8)
    axes.set_xscale("log")
    if programs:
        axes.set_xlim(programs[-1]["median"] / 2, programs[0]["median"] * 12)
    threads = "one thread" if about["threads"] == 1 else f"{about['threads']} threads"
    size = f"{about['documents']:,} documents, {about['bytes'] / 1e6:.0f} MB, {threads}"
    axes.set_xlabel(f"seconds, whole process ({size}; {result['machine']['date'][:10]})")
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path)


def plot_growth(result: Mapping[str, Any], path: Path) -> None:
    """Seconds and memory against the number of documents, a line for each kind of corpus and memory setting."""
    plt = _pyplot()
    figure, (seconds, memory) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in result["runs"]:
        if row["seconds"]:
            lines.setdefault(f"{row['shape']}, memory: {row['memory']}", []).append(row)
    for name, rows in lines.items():
        at = [row["documents"] for row in rows]
        seconds.plot(at, [row["seconds"] for row in rows], marker="o", label=name)
        memory.plot(at, [row["peak_bytes"] / 1e9 for row in rows], marker="o", label=name)
        memory.plot(at, [row["private_bytes"] / 1e9 for row in rows], "x:", color=memory.lines[-1].get_color())
    for axes, label in ((seconds, "seconds"), (memory, "GB resident; dotted: without pages of files")):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("documents")
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    if lines:
        seconds.legend(fontsize=8)
    _save(figure, path)


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    # The same result gives the same bytes, so that a file changes with its figures only.
    plt.rcParams.update({"svg.hashsalt": "benchmarks", "font.size": 9})
    return plt


def _save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(path, format="svg", metadata={"Date": None})
    plt.close(figure)
