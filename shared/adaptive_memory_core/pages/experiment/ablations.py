"""What does one setting do by itself? A line for each setting that several systems vary, over its numbers."""

from __future__ import annotations

from adaptive_memory_core.pages.charts import Point, lines
from adaptive_memory_core.pages.experiment.facts import Facts
from adaptive_memory_core.pages.markup import number, shown
from adaptive_memory_core.pages.shell import cards


def ablations(facts: Facts, data: str) -> str:
    """A picture for each setting and measure; nothing where no setting was varied."""
    places = {
        one.name: (one.axis, one.value) for one in facts.systems if one.axis is not None and one.value is not None
    }
    axes = dict.fromkeys(axis for axis, _ in places.values() if axis is not None)
    drawn = []
    for axis in axes:
        for measure in facts.measures:
            points = sorted(
                Point(float(places[one.system][1] or 0.0), one.mean, one.low, one.high)
                for one in facts.results
                if (one.data, one.measure) == (data, measure.name) and places.get(one.system, (None, None))[0] == axis
            )
            if len(points) > 1:
                best = (max if measure.better == "higher" else min)(points, key=lambda one: one.y)
                word = "" if measure.better is None else f"best at {number(best.x, 2)}"
                title = f"{shown(measure.name, 40)} by {shown(axis, 40)}"
                drawn.append((title, lines(title, {measure.name: points}, across=axis), word))
    return f"<h3>One setting at a time</h3>{cards(drawn)}" if drawn else ""
