"""How does each system do? A table of measures with their intervals, the best of each in bold, and how they spread."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.pages.experiment.facts import Facts, Measure, Result
from adaptive_memory_core.pages.markup import Cell, Column, number, shown, table

UNITS = {"share": "", "ratio": "", "ms": " (ms)", "s": " (s)"}
SPREAD = ("mean", "median", "p95", "deviation")


def measures(facts: Facts, data: str, place: int) -> str:
    """A line a system."""
    columns = [Column("System"), *(Column(_head(one), "number") for one in facts.measures)]
    found = {(one.system, one.measure): one for one in facts.results if one.data == data}
    best = {one.name: _best(one, [found[key] for key in found if key[1] == one.name]) for one in facts.measures}
    rows = []
    for system in facts.systems:
        own = [found.get((system.name, one.name)) for one in facts.measures]
        if any(own):
            cells = [_cell(one, best[measure.name]) for one, measure in zip(own, facts.measures, strict=True)]
            rows.append([Cell(shown(system.name, 60)), *cells])
    note = f"Means with {facts.confidence:.0%} intervals; the best of each in bold."
    return f'<h3>Measures</h3><p class="none">{note}</p>' + table(
        f"measures-{place}", "Measures", columns, rows, pinned=True
    )


def spreads(facts: Facts, data: str, place: int) -> str:
    """Mean, median, 95th percentile and deviation of what is no share: times and lengths."""
    timed = {one.name: one for one in facts.measures if one.unit not in ("share", "ratio")}
    rows = [
        [
            Cell(shown(one.system, 60)),
            Cell(shown(_head(timed[one.measure]))),
            *(Cell(number(getattr(one, name)), getattr(one, name)) for name in SPREAD),
            Cell(number(one.questions), one.questions),
        ]
        for one in facts.results
        if one.data == data and one.measure in timed
    ]
    if not rows:
        return ""
    columns = [Column("System"), Column("Measure"), *(Column(name, "number") for name in (*SPREAD, "questions"))]
    return "<h3>How times and lengths lie</h3>" + table(f"spreads-{place}", "Spreads", columns, rows, pinned=True)


def _head(measure: Measure) -> str:
    way = {"higher": " ↑", "lower": " ↓"}.get(measure.better or "", "")
    return f"{shown(measure.name, 40)}{UNITS.get(measure.unit, f' ({shown(measure.unit, 12)})')}{way}"


def _best(measure: Measure, results: Sequence[Result]) -> float | None:
    means = [one.mean for one in results]
    if not means or measure.better is None:
        return None
    return max(means) if measure.better == "higher" else min(means)


def _cell(one: Result | None, best: float | None) -> Cell:
    if one is None:
        return Cell("–", float("-inf"))
    said = number(one.mean)
    said = f'<span class="best">{said}</span>' if best is not None and one.mean == best else said
    if one.low is not None and one.high is not None:
        said += f'<small class="block">{number(one.low)} to {number(one.high)}</small>'
    return Cell(said, one.mean)
