"""By how much does each system differ from the baseline? A picture a measure, with the interval of each difference."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.pages.charts import picture
from adaptive_memory_core.pages.experiment.facts import Difference, Facts, Measure
from adaptive_memory_core.pages.markup import shown, signed
from adaptive_memory_core.pages.scale import Scale, ticks
from adaptive_memory_core.pages.shell import cards

NAMES, ROW, MOST_ROWS = 118, 24, 30
BETTER, WORSE, UNSETTLED = 3, 6, 7  # colours


def differences(facts: Facts, data: str) -> str:
    """All measures that there are differences of."""
    drawn = []
    for measure in facts.measures:
        own = [one for one in facts.differences if (one.data, one.measure) == (data, measure.name)]
        if own:
            word = "" if measure.better is None else f"{measure.better} is better"
            drawn.append((shown(measure.name, 40), _intervals(measure, own[:MOST_ROWS]), word))
    if not drawn:
        return ""
    note = (
        f"Question by question, with {facts.confidence:.0%} intervals. Filled: the interval excludes 0; green is "
        f"better than {shown(facts.baseline, 60)}, red is worse. Hollow: not settled."
    )
    return f'<h3>Less {shown(facts.baseline, 60)}</h3><p class="none">{note}</p>{cards(drawn)}'


def _intervals(measure: Measure, rows: Sequence[Difference]) -> str:
    ends = [value for one in rows for value in (one.mean, one.low, one.high, 0.0) if value is not None]
    levels = ticks(min(ends), max(ends), about=3)
    x, foot = Scale(levels[0], levels[-1], NAMES + 8, 345), ROW * len(rows) + 8
    inside = "".join(
        f'<line class="{"zero" if level == 0 else "grid"}" x1="{x(level):.1f}" x2="{x(level):.1f}" y1="4" y2="{foot}"/>'
        f'<text class="middle" x="{x(level):.1f}" y="{foot + 14}">{_level(level)}</text>'
        for level in levels
    )
    inside += "".join(_interval(measure, one, ROW * place + 18, x) for place, one in enumerate(rows))
    said = "; ".join(f"{one.system} {signed(one.mean)}" for one in rows)
    return picture(f"{measure.name} less the baseline's: {said}", inside, height=foot + 22, kind="chart tall")


def _interval(measure: Measure, one: Difference, y: int, x: Scale) -> str:
    tone = _tone(measure, one)
    low, high = (one.mean if end is None else end for end in (one.low, one.high))
    kind = f"s{tone}" if one.settled else f"open t{tone}"
    told = f"{one.system}: {signed(one.mean)}" + ("" if one.low is None else f" [{signed(low)}, {signed(high)}]")
    return (
        f"<g><title>{shown(told, 200)}, {one.questions:,} questions</title>"
        f'<text class="end name" x="{NAMES}" y="{y + 4}">{shown(one.system, 18)}</text>'
        f'<line class="whisker t{tone}" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y}" y2="{y}"/>'
        f'<circle class="{kind}" cx="{x(one.mean):.1f}" cy="{y}" r="4.5"/></g>'
    )


def _tone(measure: Measure, one: Difference) -> int:
    if not one.settled or measure.better is None:
        return UNSETTLED if not one.settled else 0
    return BETTER if (one.mean > 0) == (measure.better == "higher") else WORSE


def _level(value: float) -> str:
    """
    >>> _level(0.0), _level(0.05), _level(-20.0)
    ('0', '+0.05', '−20')
    """
    return "0" if value == 0 else f"{value:+g}".replace("-", "−")
