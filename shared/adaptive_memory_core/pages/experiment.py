"""The page of a comparison of systems: tables with intervals, differences from the baseline, charts of ablations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from adaptive_memory_core.pages.charts import Point, Scale, line_chart, svg_chart, ticks, words_along
from adaptive_memory_core.pages.markup import (
    Section,
    TableCell,
    TableColumn,
    cards,
    html_page,
    html_table,
    html_text,
    number,
    plural,
    signed,
)

if TYPE_CHECKING:
    from adaptive_memory_core.evaluate.comparison import Comparison, Difference, MeasureAbout, Result


def experiment_page(comparison: Comparison) -> str:
    """The complete page as one self-contained file."""
    sections = [Section("overview", "What was compared", "", _systems(comparison))]
    for place, one in enumerate(comparison.data):
        lead = f"{plural(one.items, 'item')}, {plural(one.users, 'user')}, {plural(one.questions, 'question')}."
        body = (
            measures(comparison, one.name, place)
            + differences_section(comparison, one.name)
            + ablations(comparison, one.name)
        )
        sections.append(
            Section(f"data-{place}", html_text(one.name, 60), lead, body + spreads(comparison, one.name, place))
        )
    sections.append(Section("how", "How it was run", "", _how(comparison)))
    systems, sets = plural(len(comparison.systems), "system"), plural(len(comparison.data), "set")
    lead = f"{systems} on {sets} of data, each compared with {html_text(comparison.baseline)}."
    made = "Made by adaptive-memory-retrieval. Intervals are bootstrapped over clusters of questions."
    return html_page(comparison.title or "Comparison", lead, sections, made=made)


def _systems(comparison: Comparison) -> str:
    rows = [
        f"<dt>{html_text(one.name, 60)}{' (baseline)' if one.name == comparison.baseline else ''}</dt>"
        f"<dd>{html_text(one.about or '–', 300)}{f'; answers by {html_text(one.model, 60)}' if one.model else ''}</dd>"
        for one in comparison.systems
    ]
    notes = "".join(f"<li>{html_text(one, 400)}</li>" for one in comparison.notes)
    return f'<dl class="facts">{"".join(rows)}</dl>' + (f"<h3>Notes</h3><ul>{notes}</ul>" if notes else "")


def _how(comparison: Comparison) -> str:
    rows: list[tuple[str, object]] = [("command", comparison.command or "–")]
    rows.append(("seconds", f"{comparison.seconds:,.1f}"))
    rows += [(name, value) for part in (comparison.machine, comparison.versions) for name, value in part.items()]
    shown_rows = "".join(
        f"<dt>{html_text(name, 40)}</dt><dd><code>{html_text(value, 200)}</code></dd>" for name, value in rows
    )
    return f'<dl class="facts">{shown_rows}</dl>'


def ablations(comparison: Comparison, data: str) -> str:
    """A chart for each setting and measure; empty if no setting was varied."""
    places = {
        one.name: (one.axis, one.value) for one in comparison.systems if one.axis is not None and one.value is not None
    }
    axes = dict.fromkeys(axis for axis, _ in places.values() if axis is not None)
    drawn = []
    for axis in axes:
        for measure in comparison.measures:
            points = sorted(
                Point(float(places[one.system][1] or 0.0), one.mean, one.low, one.high)
                for one in comparison.results
                if (one.data, one.measure) == (data, measure.name) and places.get(one.system, (None, None))[0] == axis
            )
            if len(points) > 1:
                best = (max if measure.better == "higher" else min)(points, key=lambda one: one.y)
                word = "" if measure.better is None else f"best at {number(best.x, 2)}"
                title = f"{html_text(measure.name, 40)} by {html_text(axis, 40)}"
                drawn.append((title, line_chart(title, {measure.name: points}, across=axis), word))
    return f"<h3>One setting at a time</h3>{cards(drawn)}" if drawn else ""


UNITS = {"share": "", "ratio": "", "ms": " (ms)", "s": " (s)"}
MEASURES_OF_A_TABLE = 6  # columns that fit into a window of 1,280 pixels
SPREAD = ("mean", "median", "p95", "deviation")


def measures(comparison: Comparison, data: str, place: int) -> str:
    """Tables of the measures, with one row per system."""
    found = {(one.system, one.measure): one for one in comparison.results if one.data == data}
    note = f"Means with {comparison.confidence:.0%} intervals; the best of each in bold."
    tables = ""
    for start in range(0, len(comparison.measures), MEASURES_OF_A_TABLE):
        own = comparison.measures[start : start + MEASURES_OF_A_TABLE]
        tables += _measures_table(f"measures-{place}-{start}", comparison, own, found)
    return f'<h3>Measures</h3><p class="none">{note}</p>{tables}'


def _measures_table(
    name: str,
    comparison: Comparison,
    measures: Sequence[MeasureAbout],
    found: Mapping[tuple[str, str], Result],
) -> str:
    columns = [TableColumn("System"), *(TableColumn(_head(one), "number") for one in measures)]
    best = {one.name: _best(one, [found[key] for key in found if key[1] == one.name]) for one in measures}
    rows = []
    for system in comparison.systems:
        own = [found.get((system.name, one.name)) for one in measures]
        if any(own):
            cells = [_cell(one, best[measure.name]) for one, measure in zip(own, measures, strict=True)]
            rows.append([TableCell(html_text(system.name, 60)), *cells])
    return html_table(name, "Measures", columns, rows)


def spreads(comparison: Comparison, data: str, place: int) -> str:
    """Mean, median, 95th percentile and deviation of measures other than shares: times and lengths."""
    timed = {one.name: one for one in comparison.measures if one.unit not in ("share", "ratio")}
    rows = [
        [
            TableCell(html_text(one.system, 60)),
            TableCell(html_text(_head(timed[one.measure]))),
            *(TableCell(number(getattr(one, name)), getattr(one, name)) for name in SPREAD),
            TableCell(number(one.questions), one.questions),
        ]
        for one in comparison.results
        if one.data == data and one.measure in timed
    ]
    if not rows:
        return ""
    columns = [
        TableColumn("System"),
        TableColumn("Measure"),
        *(TableColumn(name, "number") for name in (*SPREAD, "questions")),
    ]
    return "<h3>Distribution of times and lengths</h3>" + html_table(f"spreads-{place}", "Spreads", columns, rows)


def _head(measure: MeasureAbout) -> str:
    way = {"higher": " ↑", "lower": " ↓"}.get(measure.better or "", "")
    return f"{html_text(measure.name, 40)}{UNITS.get(measure.unit, f' ({html_text(measure.unit, 12)})')}{way}"


def _best(measure: MeasureAbout, results: Sequence[Result]) -> float | None:
    means = [one.mean for one in results]
    if not means or measure.better is None:
        return None
    return max(means) if measure.better == "higher" else min(means)


def _cell(one: Result | None, best: float | None) -> TableCell:
    if one is None:
        return TableCell("–", float("-inf"))
    shown = number(one.mean)
    shown = f'<span class="best">{shown}</span>' if best is not None and one.mean == best else shown
    if one.low is not None and one.high is not None:
        shown += f'<small class="block">{number(one.low)} to {number(one.high)}</small>'
    return TableCell(shown, one.mean)


NAMES, ROW, MOST_ROWS = 118, 24, 30
BETTER, WORSE, UNSETTLED = 3, 6, 7  # colours


def differences_section(comparison: Comparison, data: str) -> str:
    """A chart of the differences from the baseline for each measure."""
    drawn = []
    for measure in comparison.measures:
        own = [one for one in comparison.differences if (one.data, one.measure) == (data, measure.name)]
        if own:
            word = "" if measure.better is None else f"{measure.better} is better"
            drawn.append((html_text(measure.name, 40), _intervals(measure, own[:MOST_ROWS]), word))
    if not drawn:
        return ""
    note = (
        f"Question by question, with {comparison.confidence:.0%} intervals. Filled: the interval excludes 0; green is "
        f"better than {html_text(comparison.baseline, 60)}, red is worse. Hollow: not settled."
    )
    return f'<h3>Difference from {html_text(comparison.baseline, 60)}</h3><p class="none">{note}</p>{cards(drawn)}'


def _intervals(measure: MeasureAbout, rows: Sequence[Difference]) -> str:
    ends = [value for one in rows for value in (one.mean, one.low, one.high, 0.0) if value is not None]
    levels = ticks(min(ends), max(ends), about=3)
    x, foot = Scale(levels[0], levels[-1], NAMES + 8, 345), ROW * len(rows) + 8
    inside = "".join(
        f'<line class="{"zero" if level == 0 else "grid"}" x1="{x(level):.1f}" x2="{x(level):.1f}" y1="4" y2="{foot}"/>'
        for level in levels
    )
    inside += words_along([(x(one), _level(one)) for one in levels], foot + 14, always=levels.index(0))
    inside += "".join(_interval(measure, one, ROW * place + 18, x) for place, one in enumerate(rows))
    summary = "; ".join(f"{one.system} {signed(one.mean)}" for one in rows)
    return svg_chart(f"{measure.name} less the baseline's: {summary}", inside, height=foot + 22, kind="chart tall")


def _interval(measure: MeasureAbout, one: Difference, y: int, x: Scale) -> str:
    tone = _tone(measure, one)
    low, high = (one.mean if end is None else end for end in (one.low, one.high))
    kind = f"s{tone}" if one.settled else f"open t{tone}"
    label = f"{one.system}: {signed(one.mean)}" + ("" if one.low is None else f" [{signed(low)}, {signed(high)}]")
    return (
        f"<g><title>{html_text(label, 200)}, {one.questions:,} questions</title>"
        f'<text class="end name" x="{NAMES}" y="{y + 4}">{html_text(one.system, 18)}</text>'
        f'<line class="whisker t{tone}" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y}" y2="{y}"/>'
        f'<circle class="{kind}" cx="{x(one.mean):.1f}" cy="{y}" r="4.5"/></g>'
    )


def _tone(measure: MeasureAbout, one: Difference) -> int:
    if not one.settled or measure.better is None:
        return UNSETTLED if not one.settled else 0
    return BETTER if (one.mean > 0) == (measure.better == "higher") else WORSE


def _level(value: float) -> str:
    """
    >>> _level(0.0), _level(0.05), _level(-20.0)
    ('0', '+0.05', '−20')
    """
    return "0" if value == 0 else f"{value:+g}".replace("-", "−")
