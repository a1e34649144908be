"""Charts for a page: bars, lines with bands, a bar made of shares, and their scales."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from adaptive_memory_core.pages.markup import html_text, number

WIDTH, HEIGHT = 360, 200
LEFT, RIGHT, TOP, BOTTOM = 50, 10, 12, 34  # margins of a chart
SERIES = 10  # colours
CHARACTER, GAP = 7.0, 6.0  # the width of a character in a chart, and the space between words


class Point(NamedTuple):
    """A point of a line, with its interval if any."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


def svg_chart(title: str, inside: str, width: int = WIDTH, height: int = HEIGHT, kind: str = "chart") -> str:
    """An SVG chart with a title in words, for readers who cannot see it."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{html_text(title, 300)}">'
        f"<title>{html_text(title, 300)}</title>{inside}</svg>"
    )


def bars(title: str, values: Sequence[tuple[str, float]], *, tone: int = 0) -> str:
    """A bar for each name, with its number above if there is room, and as many names below as fit.

    >>> bars("reads", [("0", 3), ("1", 1)]).count("<rect")
    2
    """
    if not any(value for _, value in values):
        return '<p class="none">Nothing to draw yet.</p>'
    most = max(value for _, value in values)
    step = (WIDTH - LEFT - RIGHT) / len(values)
    down, drawn = Scale(0.0, most, HEIGHT - BOTTOM, TOP + 10), [_level("0", HEIGHT - BOTTOM)]
    numbered = all(text_width(number(value)) < step for _, value in values)
    drawn += [] if numbered else [_level(short_number(most), TOP + 10)]
    for place, (name, value) in enumerate(values):
        x, y = LEFT + place * step, down(value)
        drawn.append(
            f"<g><title>{html_text(name)}: {number(value)}</title>"
            f'<rect class="s{tone}" x="{x + step * 0.1:.1f}" y="{y:.1f}" '
            f'width="{step * 0.8:.1f}" height="{HEIGHT - BOTTOM - y:.1f}" rx="2"/></g>'
        )
        drawn += [word_at(x + step / 2, y - 4, number(value))] if numbered and value else []
    names = [(LEFT + (place + 0.5) * step, name) for place, (name, _) in enumerate(values)]
    drawn.append(words_along(names, HEIGHT - BOTTOM + 15, always=len(names) - 1))
    return svg_chart(f"{title}: " + ", ".join(f"{name} {number(value)}" for name, value in values[:20]), "".join(drawn))


def line_chart(
    title: str,
    series: Mapping[str, Sequence[Point]],
    *,
    dots: Sequence[Point] = (),
    across: str = "",
    range_of: tuple[float, float] | None = None,
) -> str:
    """A line for each series, with a band if it has intervals, and separate `dots`.

    >>> drawn = line_chart("strength", {"all": [Point(0, 1), Point(10, 0.5, 0.4, 0.6)]})
    >>> drawn.count("<polyline"), drawn.count("<polygon")
    (1, 0)
    """
    points = [one for line in series.values() for one in line] + list(dots)
    if not points:
        return '<p class="none">Nothing to draw yet.</p>'
    ys = [y for one in points for y in (one.y, one.low, one.high) if y is not None]
    levels = ticks(*(range_of or (min(ys), max(ys))))
    x = Scale(min(one.x for one in points), max(one.x for one in points), LEFT, WIDTH - RIGHT)
    y = Scale(levels[0], levels[-1], HEIGHT - BOTTOM, TOP)
    drawn = [_level(short_number(value, digits_for(levels[-1] - levels[0])), y(value)) for value in levels]
    drawn += [word_at(x(value), HEIGHT - BOTTOM + 14, number(value, 2), place) for value, place in _ends(x)]
    drawn += [word_at((LEFT + WIDTH) / 2, HEIGHT - 4, across)] if across else []
    drawn += [f'<circle class="dot" cx="{x(one.x):.1f}" cy="{y(one.y):.1f}" r="2.5"/>' for one in dots]
    for tone, (name, line) in enumerate(series.items()):
        drawn.append(_line(name, line, tone % SERIES, x, y))
    ends_in_words = ", ".join(
        f"{name} from {number(line[0].y)} to {number(line[-1].y)}" for name, line in series.items() if line
    )
    return svg_chart(f"{title}: {ends_in_words}", "".join(drawn)) + (legend(list(series)) if len(series) > 1 else "")


def shares(title: str, parts: Sequence[tuple[str, float, int]], whole: float) -> str:
    """One bar of the length `whole`, in [0, 1], made of its parts: name, number and colour.

    >>> shares("a hit", [("words", 0.25, 1)], 1.0).count("<rect")
    2
    """
    drawn, x = ['<rect class="track" x="0" y="0" width="100" height="10"/>'], 0.0
    total = sum(max(0.0, value) for _, value, _ in parts) or 1.0
    for name, value, tone in parts:
        width = 100.0 * min(1.0, max(0.0, whole)) * max(0.0, value) / total
        if width > 0.0:
            drawn.append(
                f"<g><title>{html_text(name)} {number(value)}</title>"
                f'<rect class="s{tone}" x="{x:.2f}" y="0" width="{width:.2f}" height="10"/></g>'
            )
        x += width
    return _wide(title, "".join(drawn))


def meter(value: float, title: str, tone: int = 0) -> str:
    """A number in [0, 1] as the filled part of a bar.

    >>> 'width="50.00"' in meter(0.5, "strength")
    True
    """
    return shares(title, [(title, 1.0, tone)], value)


def legend(names: Sequence[str], tones: Sequence[int] | None = None) -> str:
    """The name of each colour."""
    colours = range(len(names)) if tones is None else tones
    return (
        '<ul class="legend">'
        + "".join(
            f'<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="s{tone % SERIES}" width="10" height="10"/>'
            f"</svg>{html_text(name, 60)}</li>"
            for name, tone in zip(names, colours, strict=True)
        )
        + "</ul>"
    )


def _wide(title: str, inside: str) -> str:
    kind = 'class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"'
    return f'<svg {kind} aria-label="{html_text(title)}">{inside}</svg>'


def _line(name: str, line: Sequence[Point], tone: int, x: Scale, y: Scale) -> str:
    path = " ".join(f"{x(one.x):.1f},{y(one.y):.1f}" for one in line)
    banded = [(one.x, one.low, one.high) for one in line if one.low is not None and one.high is not None]
    drawn = f"<g><title>{html_text(name)}</title>"
    if len(banded) > 1:
        above = [f"{x(at):.1f},{y(high):.1f}" for at, _, high in banded]
        below = [f"{x(at):.1f},{y(low):.1f}" for at, low, _ in reversed(banded)]
        drawn += f'<polygon class="band s{tone}" points="{" ".join((*above, *below))}"/>'
    drawn += f'<polyline class="line t{tone}" points="{path}"/>'
    if len(line) <= 30:
        drawn += "".join(f'<circle class="s{tone}" cx="{x(one.x):.1f}" cy="{y(one.y):.1f}" r="3"/>' for one in line)
    return f"{drawn}</g>"


def _level(name: str, y: float) -> str:
    return (
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="end" x="{LEFT - 5}" y="{y + 4:.1f}">{name}</text>'
    )


def words_along(words: Sequence[tuple[float, str]], y: float, *, always: int) -> str:
    """Words under a scale at their places: every word or, if they don't fit, every second, third and so on, always
    including the word at index `always`.

    >>> words_along([(100, "one"), (110, "two"), (120, "six")], 9, always=1)
    '<text class="middle" x="110.0" y="9.0">two</text>'
    """
    boxes = []
    for x, word in words:
        half = text_width(word) / 2
        boxes.append((min(max(x, half), WIDTH - half), half, word))
    for every in range(1, len(boxes) + 1):
        shown = boxes[always % every :: every]
        if all(b[0] - b[1] > a[0] + a[1] for a, b in pairwise(shown)):
            break
    return "".join(word_at(x, y, word) for x, _, word in shown)


def text_width(word: str) -> float:
    """The largest width of a word in a usual font, including the gap after it.

    >>> text_width("2–3")
    27.0
    """
    return CHARACTER * len(word) + GAP


def word_at(x: float, y: float, word: str, place: str = "middle") -> str:
    """A word in a chart, placed by its middle, its start or its end."""
    return f'<text class="{place}" x="{x:.1f}" y="{y:.1f}">{html_text(word, 30)}</text>'


def _ends(x: Scale) -> list[tuple[float, str]]:
    return [(x.low, "begin"), (x.high, "end")] if x.high > x.low else [(x.low, "middle")]


class Scale(NamedTuple):
    """Maps numbers to places in a chart."""

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        """
        >>> Scale(0.0, 10.0, 40.0, 140.0)(5.0)
        90.0
        """
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.begin + share * (self.end - self.begin)


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers that enclose the range; they start from 0 if that is near.

    >>> ticks(0.1, 0.9), ticks(12, 13)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [12.0, 12.25, 12.5, 12.75, 13.0])
    >>> ticks(0, 0), ticks(-0.02, 0.05)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [-0.02, 0.0, 0.02, 0.04, 0.06])
    """
    if high <= low:
        high = low + (abs(low) or 1.0)
    low = 0.0 if 0.0 < low <= high - low else low
    size = 10.0 ** math.floor(math.log10((high - low) / about))
    step = next(size * one for one in (1.0, 2.0, 2.5, 5.0, 10.0) if size * one * about >= (high - low) * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


def short_number(value: float, digits: int = 3) -> str:
    """A number short enough for an axis.

    >>> short_number(9_999), short_number(2_500_000.0), short_number(-12_340.0), short_number(0.25, 2)
    ('9,999', '2.5M', '−12.3k', '0.25')
    """
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= max(size, 10_000.0):
            return number(round(value / size, 1), 1).removesuffix(".0") + letter
    return number(value, digits)


def digits_for(spread: float) -> int:
    """
    >>> digits_for(1.0), digits_for(0.04), digits_for(80.0)
    (2, 3, 0)
    """
    return 0 if spread >= 20 else 2 if spread >= 0.1 else 3
