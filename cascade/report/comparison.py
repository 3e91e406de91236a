"""The page of a comparison: figures, S-curves, seconds, and the pairs on which the configs disagree."""

from __future__ import annotations

from cascade.evaluate.comparison import Comparison, Versus
from cascade.report.charts import Axis, Dot, Line, Svg, curves
from cascade.report.compared import (
    band_rows,
    disagreement_told,
    figure_rows,
    funnel_rows,
    share,
    step_rows,
    truth_told,
    verdict_rows,
    versus_rows,
)
from cascade.report.page import page, sides


def comparison_page(found: Comparison) -> str:
    """The HTML text of a comparison. Raises BackendUnavailable without jinja2."""
    names = [each.name for each in found.configs]
    return page(
        "compare.html",
        title=f"Comparison of {', '.join(names)}",
        documents=found.documents,
        characters=found.characters,
        truth=truth_told(found.truth),
        names=names,
        figures=figure_rows(found),
        chart=_chart(found),
        bands=band_rows(found),
        unmodelled=[(each.name, ", ".join(each.unmodelled)) for each in found.configs if each.unmodelled],
        seconds=[
            (each.name, each.measured.seconds, f"{each.measured.seconds:.2f}")
            for each in found.configs
            if each.measured is not None
        ],
        steps=step_rows(found),
        funnels=[(each.name, rows) for each in found.configs if (rows := funnel_rows(each))],
        versus=[_versus(each) for each in found.versus],
        timing=found.timing,
        notes=found.notes,
        warnings=[(each.name, warning) for each in found.configs for warning in each.warnings],
    )


def _chart(found: Comparison) -> Svg:
    """The predicted S-curve of each config, and the recall measured in each band."""
    lines = [Line(each.name, each.curve, color) for color, each in enumerate(found.configs)]
    dots = [
        Dot(
            (band.low + band.high) / 2,
            band.recall.value,
            band.recall.low or 0.0,
            1.0 if band.recall.high is None else band.recall.high,
            f"{each.name}, {band.low:.2f} to {band.high:.2f}: {share(band.recall)}",
            color,
        )
        for color, each in enumerate(found.configs)
        for band in each.bands
        if band.recall.value is not None
    ]
    title = "Probability of finding a pair by its Jaccard similarity: predicted as lines, measured as dots"
    return curves(lines, dots, x=Axis("Jaccard similarity"), y=Axis("recall"), title=title)


def _versus(versus: Versus) -> dict[str, object]:
    return {
        "title": f"{versus.a} and {versus.b}",
        "rows": versus_rows(versus),
        "only": versus.pairs_only_of_a + versus.pairs_only_of_b,
        "pairs": [
            {
                "ids": pair.ids,
                "told": disagreement_told(pair),
                "sides": sides(pair.difference.shown()),
                "verdicts": verdict_rows(pair, (versus.a, versus.b)),
            }
            for pair in versus.disagreements
        ],
    }
