"""Comparisons and sweeps as matplotlib figures, drawn without pyplot: no window and no global state. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import TYPE_CHECKING, Any

from cascade.errors import BackendUnavailable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cascade.evaluate.comparison import Comparison
    from cascade.evaluate.sweep import SweepResult

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a8a8a")
"""Okabe and Ito's, which colour-blind people can tell apart."""
STEPS = ("read", "collapse", "observe", "columns", "candidates", "pairs", "write")


def _figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BackendUnavailable(
            "plots need matplotlib, which is not installed: python -m pip install 'cascade-dedup[report]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def svg(figure: Figure) -> str:
    """A figure as SVG text, the same for the same figure; letters stay text."""
    import matplotlib

    text = StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "cascade"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def plot_comparison(found: Comparison) -> Figure:
    """Left: predicted S-curves, and on them the recall measured in each band of similarity. Right: seconds by step."""
    timed = [each for each in found.configs if each.measured is not None]
    figure = _figure(11 if timed else 6, 4.5)
    axes = figure.subplots(1, 2 if timed else 1, squeeze=False)[0]
    curves = axes[0]
    for i, each in enumerate(found.configs):
        color = COLORS[i % len(COLORS)]
        curves.plot(*zip(*each.curve, strict=True), color=color, label=each.name)
        for band in each.bands:
            if band.recall.value is not None and band.recall.low is not None and band.recall.high is not None:
                value, middle = band.recall.value, (band.low + band.high) / 2
                spread = [[max(value - band.recall.low, 0)], [max(band.recall.high - value, 0)]]
                curves.errorbar([middle], [value], yerr=spread, fmt="o", color=color, capsize=3, markersize=5)
    curves.set(xlabel="Jaccard similarity", ylabel="recall", xlim=(0, 1), ylim=(-0.02, 1.02))
    curves.set_title("predicted (lines), measured by band (dots)", fontsize="medium")
    curves.legend(loc="upper left", fontsize="small")
    if timed:
        _bars(axes[1], {each.name: each.measured.steps for each in timed if each.measured is not None})
    return figure


def _bars(axes: Any, steps: Mapping[str, Mapping[str, float]]) -> None:
    """Seconds by step, a bar for each config."""
    names = list(steps)
    done = [0.0] * len(names)
    for i, step in enumerate(STEPS):
        widths = [steps[name].get(step, 0.0) for name in names]
        axes.barh(names, widths, left=done, color=COLORS[i % len(COLORS)], label=step)
        done = [a + b for a, b in zip(done, widths, strict=True)]
    axes.invert_yaxis()
    axes.set(xlabel="seconds")
    axes.set_title("seconds by step", fontsize="medium")
    axes.legend(fontsize="small")


def plot_sweep(found: SweepResult) -> Figure:
    """Recall over seconds (or over candidate pairs, where nothing was timed), the Pareto front joined by a line."""
    figure = _figure(8, 5)
    axes = figure.subplots()
    drawn = [(p.cost, p.recall.value, p) for p in found.points if p.recall.value is not None]
    front = sorted((p for p in drawn if p[2].on_front), key=lambda p: p[0])
    behind = [p for p in drawn if not p[2].on_front]
    axes.scatter([cost for cost, _, _ in behind], [recall for _, recall, _ in behind], color=COLORS[7], s=24)
    axes.plot([cost for cost, _, _ in front], [recall for _, recall, _ in front], "o-", color=COLORS[0])
    for number, (cost, recall, point) in enumerate(front, 1):
        told = ", ".join(f"{name.rpartition('.')[2]} {value}" for name, value in point.settings.items())
        axes.annotate(str(number), (cost, recall), xytext=(5, 5), textcoords="offset points")
        axes.plot([], [], " ", label=f"{number}: {told}")
    if front:
        axes.legend(loc="lower right", fontsize="small", handlelength=0)
    axes.set(xlabel=found.cost_name, ylabel="recall")
    axes.set_title(f"{len(found.points)} settings against {found.truth.source}; the Pareto front in blue", fontsize=10)
    axes.margins(x=0.1, y=0.15)
    return figure
