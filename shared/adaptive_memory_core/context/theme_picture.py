"""How are themes drawn? A page by itself: circles as large as what is known, and behind each what was said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.hierarchy.nodes import Statistics

WIDTH, MARGIN, SMALLEST = 960, 6, 14  # pixels
MOST_DRAWN = 200  # themes, the largest ones; all of them are in the list
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
svg{width:100%;height:auto}circle{fill:#4878a8;fill-opacity:.55}circle:hover{fill-opacity:.9}
svg a text{font-size:11px;text-anchor:middle;fill:#111;pointer-events:none}
summary{cursor:pointer;font-weight:600}time{color:#667;margin-right:.6em}small{color:#667;display:block}
del{color:#977}details:target{outline:2px solid #4878a8}
"""
Row = tuple[str, str, str, str]  # day, what is known, its episode, what it replaced
Drawn = tuple[str, str, Sequence[Row]]  # name, days, rows


def picture(themes: Sequence[Drawn], statistics: Statistics) -> str:
    """The whole page. It loads nothing, and holds no script.

    >>> page = picture([("puppy", "2023-05-01 to 2023-05-02", [("2023-05-01", "Ana has a <b>", "", "")])], Statistics())
    >>> "Ana has a &lt;b&gt;" in page, "<script" in page, "http" in page
    (True, False, False)
    """
    counted = (
        f"{statistics.messages:,} messages, {statistics.episodes:,} episodes, {statistics.semantics:,} things known, "
        f"{statistics.themes:,} themes"
    )
    waiting = f"; {statistics.waiting:,} messages are not worked in yet" if statistics.waiting else ""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>What is remembered</title>'
        f"<style>{_STYLE}</style><h1>What is remembered</h1><p>{counted}{waiting}</p>"
        f"{circles([(name, len(rows)) for name, _, rows in themes], 't')}"
        f"{''.join(_details(place, one) for place, one in enumerate(themes))}</html>"
    )


def circles(themes: Sequence[tuple[str, int]], to: str) -> str:
    """Names and how much is known of each, in rows, the largest first; each leads to the place `to` and its number."""
    drawn, x, y, height = [], 0.0, 0.0, 0.0
    for place, (name, known) in enumerate(themes[:MOST_DRAWN]):
        radius = SMALLEST * math.sqrt(1 + known)
        if x + 2 * radius > WIDTH:
            x, y, height = 0.0, y + height + MARGIN, 0.0
        height = max(height, 2 * radius)
        drawn.append(_circle(f"{to}{place}", name, x + radius, y + radius, radius))
        x += 2 * radius + MARGIN
    size = f"0 0 {WIDTH} {y + height:.0f}"
    return f'<svg class="circles" viewBox="{size}">{"".join(drawn)}</svg>' if drawn else ""


def _circle(place: str, name: str, x: float, y: float, radius: float) -> str:
    shown = escape(clean(name))
    short = escape(clean(name)[: max(3, int(radius / 3.2))])
    return (
        f'<a href="#{place}"><circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{shown}</title></circle>'
        f'<text x="{x:.1f}" y="{y + 4:.1f}">{short}</text></a>'
    )


def _details(place: int, theme: Drawn) -> str:
    name, days, rows = theme
    said = "".join(_said(one) for one in rows)
    head = f"<summary>{escape(clean(name))} <small>{days}</small></summary>"
    return f'<details id="t{place}">{head}<ul>{said}</ul></details>'


def _said(row: Row) -> str:
    day, known, episode, replaced = (escape(clean(one)) for one in row)
    before = f"<small>before: <del>{replaced}</del></small>" if replaced else ""
    return f"<li><time>{day}</time>{known}{before}<small>{episode}</small></li>"
