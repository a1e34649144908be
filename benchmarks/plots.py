"""Pictures of recorded runs, for light and dark pages: other embedders, time by size, learning, before and after."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.quality_chart import RIGHT, TOP, legend, pair_row, picture, scale, text
from benchmarks.recorded_figures import SETS, Row, Run, by, parts_of, rows_of, share, signed

EMBEDDERS = {"local": "bundled", "minilm": "MiniLM", "e5": "e5-small"}
WAYS = {"recall": "a whole recall", "filtered": "Chroma's query, filtered", "unfiltered": "Chroma's query, unfiltered"}
MORE_STYLE = """
.other { fill: #b45309 } .recall { stroke: #2563eb } .filtered { stroke: #6e7781 } .unfiltered { stroke: #b45309 }
@media (prefers-color-scheme: dark) {
.other { fill: #f0a94b } .recall { stroke: #6ea8fe } .filtered { stroke: #9da7b3 } .unfiltered { stroke: #f0a94b }
}"""
DOTS = {"recall": "ours", "filtered": "plain", "unfiltered": "other"}
DIFFERENCE = text(RIGHT + 12, 54, "difference", "start", "quiet")
LEARNED = {"R@1": ("rated intents", "recall"), "never R@1": ("intents nobody rated", "filtered")}
X, Y, ACROSS, DOWN = 90, 84, 420, 250  # of the field of a plot with two axes: its corner and its size

Point = tuple[float, float]


def embedders_plot(run: Run) -> str:
    """NDCG@10 of plain Chroma and the default on each data set, a row per embedder."""
    lines, told, y = [*legend("plain Chroma", "this library"), DIFFERENCE], list[str](), TOP
    names = [name for name in SETS if any(f"{one}: {name}" in run for one in EMBEDDERS)]
    for name in names:
        for embedder, called in EMBEDDERS.items():
            if f"{embedder}: {name}" not in run:
                continue
            plain, ours = (_of(run[f"{embedder}: {name}"]["rows"], one) for one in ("Chroma", "default"))
            told.append(f"{SETS[name]}, {called} {share(plain)}, {share(ours)}")
            lines += pair_row(y, f"{SETS[name]}, {called}", signed(ours - plain), plain, ours)
            y += 20
        y += 12
    return picture("NDCG@10 with other embedders", told, y + 24, [*lines, *scale(y + 6)])


def latency_plot(run: Run) -> str:
    """Milliseconds of a recall and of Chroma's queries by the number of records, median and 95th percentile."""
    rows = list(rows_of(run, "queries"))
    most = max(row[f"{way} p95 ms"] for row in rows for way in WAYS)
    top = 10 ** math.ceil(math.log10(most))
    field = _field([row["records"] for row in rows])
    lines, told = [*_grid(top), *_legend_of_ways()], list[str]()
    for number, way in enumerate(WAYS):
        points = [(field(row["records"]) + (number - 1) * 9, _log_y(row[f"{way} ms"], top)) for row in rows]
        lines += _curve(points, way)
        for row, (x, y) in zip(rows, points, strict=True):
            late = row[f"{way} p95 ms"]
            lines += _up_to(x, y, _log_y(late, top), way)
            told.append(f"{WAYS[way]}, {row['records']:,} records {row[f'{way} ms']:.1f} ms, p95 {late:.1f}")
    for row in rows:
        lines.append(text(field(row["records"]), Y + DOWN + 20, f"{row['records']:,} records", "middle", "quiet"))
    title = "Milliseconds by the number of records: median, line up to p95"
    return picture(title, told, Y + DOWN + 36, lines, MORE_STYLE)


def learning_plot(run: Run) -> str:
    """Recall@1 on questions that nobody rated, by how many of each intent were rated."""
    curves = {
        f"{SETS[name]}, {what}": (
            way,
            [(row["after"], row[measure]) for row in part["rows"] if row["form"] == "memory"],
        )
        for name, part in parts_of(run, "stream").items()
        for measure, (what, way) in LEARNED.items()
    }
    found = [value for _, points in curves.values() for _, value in points]
    low, high = math.floor(20 * min(found)) / 20, math.ceil(20 * max(found)) / 20
    steps = sorted({after for _, points in curves.values() for after, _ in points})

    def place(after: float, value: float) -> Point:
        return X + ACROSS * after / steps[-1], Y + DOWN * (high - value) / (high - low)

    lines, told = list[str](), list[str]()
    for tick in range(round(20 * low), round(20 * high) + 1):
        lines += _line_across(place(0, tick / 20)[1], f"{tick / 20:g}")
    for name, (way, points) in curves.items():
        lines += _curve([place(*point) for point in points], way)
        lines.append(text(X + ACROSS + 14, place(*points[-1])[1] + 4, name, "start"))
        told.append(f"{name} " + ", ".join(share(value) for _, value in points))
    lines += [text(place(step, low)[0], Y + DOWN + 20, str(step), "middle", "quiet") for step in steps]
    lines.append(text(X + ACROSS / 2, Y + DOWN + 40, "rated questions per intent (from 70 % of the intents)", "middle"))
    title = f"Recall@1 on questions that nobody rated (scale from {low:g})"
    return picture(title, told, Y + DOWN + 56, lines, MORE_STYLE)


def feedback_plot(run: Run) -> str:
    """What was found before feedback and after it, of what was rated and of what was not."""
    lines, told, y = [*legend("before", "after feedback"), DIFFERENCE], list[str](), TOP
    for name, before, after in _before_and_after(run):
        told.append(f"{name} {share(before)}, {share(after)}")
        lines += pair_row(y, name, signed(after - before), before, after)
        y += 30
    return picture("Before and after feedback", told, y + 24, [*lines, *scale(y + 6)])


def _before_and_after(run: Run) -> Iterator[tuple[str, float, float]]:
    again, facts = (run[f"feedback: {part}"]["rows"][0] for part in ("again", "facts"))
    yield "LoCoMo, asked again", again["again before"], again["again after"]
    yield "LoCoMo, not rated", again["others before"], again["others after"]
    yield "facts, in other words", facts["paraphrases"], facts["after"]
    yield "facts next to rated ones", 1.0, 1.0 - facts["lost"] / facts["right"]
    for row in run["feedback: streams"]["rows"]:
        yield f"{SETS[row['set']]}, rated intents", row["taught before"], row["taught after"]
        yield f"{SETS[row['set']]}, other intents", row["never before"], row["never after"]
    for row in run["feedback: bursts"]["rows"]:
        yield f"{SETS[row['set']]}, in sessions", row["alone"], row["NDCG@10"]


def _of(rows: Sequence[Row], system: str) -> float:
    return float(by(rows, "system")[system][0]["NDCG@10"])


def _field(sizes: Sequence[int]) -> Callable[[int], float]:
    """Where each size is, from left to right, by its logarithm."""
    low, high = math.log10(sizes[0]), math.log10(sizes[-1])
    return lambda size: X + 50 + (ACROSS - 60) * (math.log10(size) - low) / (high - low)


def _log_y(value: float, top: float) -> float:
    """Where a time is, between one millisecond at the bottom and `top`."""
    return Y + DOWN * (1 - math.log10(max(value, 1.0)) / math.log10(top))


def _grid(top: float) -> Iterator[str]:
    for power in range(round(math.log10(top)) + 1):
        yield from _line_across(_log_y(10.0**power, top), f"{10**power:,} ms")


def _line_across(y: float, name: str) -> Iterator[str]:
    yield f'<line class="line" x1="{X}" x2="{X + ACROSS}" y1="{y:.1f}" y2="{y:.1f}"/>'
    yield text(X - 10, y + 4, name, "end", "quiet")


def _curve(points: Sequence[Point], way: str) -> Iterator[str]:
    """A line through the points, with a dot on each."""
    through = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline class="{way}" points="{through}" fill="none" stroke-width="2"/>'
    yield from (f'<circle class="{DOTS[way]}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>' for x, y in points)


def _legend_of_ways() -> Iterator[str]:
    for number, (way, said) in enumerate(WAYS.items()):
        y = Y + 20 + 24 * number
        yield f'<circle class="{DOTS[way]}" cx="{X + ACROSS + 20}" cy="{y - 4}" r="5"/>'
        yield text(X + ACROSS + 32, y, said, "start")


def _up_to(x: float, median: float, late: float, way: str) -> Iterator[str]:
    """From the median to the 95th percentile."""
    upright = f'x1="{x:.1f}" x2="{x:.1f}" y1="{median:.1f}" y2="{late:.1f}" stroke-width="2" opacity="0.5"'
    yield f'<line class="{way}" {upright}/>'
    yield f'<line class="{way}" x1="{x - 4:.1f}" x2="{x + 4:.1f}" y1="{late:.1f}" y2="{late:.1f}" stroke-width="2"/>'


PLOTS: Mapping[str, tuple[str, Callable[[Run], str]]] = {  # the picture's file, the recorded run, what draws it
    "quality_by_embedder.svg": ("embedders", embedders_plot),
    "latency.svg": ("bench", latency_plot),
    "learning_curve.svg": ("learning", learning_plot),
    "before_and_after.svg": ("feedback", feedback_plot),
}
