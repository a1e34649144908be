"""A picture of what plain Chroma and the default find on each recorded data set, for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.recorded_figures import SETS, Part, Row, Run, may_be_chance, of_system, parts_of, share, signed

LEFT, RIGHT, WIDTH, TOP, STEP = 225, 575, 765, 84, 30  # of the scale from 0 to 1, and of its rows
TITLE = "How high the right records rank: NDCG@10, same records and embedder"
STYLE = """
.page { fill: #ffffff } .word { fill: #1f2937 } .quiet { fill: #57606a } .line { stroke: #d8dee4 }
.plain { fill: #8c959f } .ours { fill: #2563eb } .gain { stroke: #2563eb }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } .word { fill: #e6edf3 } .quiet { fill: #9da7b3 } .line { stroke: #30363d }
.plain { fill: #8b949e } .ours { fill: #6ea8fe } .gain { stroke: #6ea8fe }
}"""


def quality_chart(run: Run) -> str:
    """An SVG with a row per data set, the largest difference first; it brings its own background."""
    rows = {name: (of_system(part, "chroma"), of_system(part, "adaptive")) for name, part in _sorted(run)}
    end = TOP + STEP * len(rows)
    told = [
        f"{SETS.get(name, name)} {share(plain['NDCG@10'])}, {share(ours['NDCG@10'])}"
        for name, (plain, ours) in rows.items()
    ]
    lines = [
        *legend("plain Chroma", "this library"),
        text(LEFT - 14, 54, "(questions)", "end", "quiet"),
        text(RIGHT + 12, 54, "difference", "start", "quiet"),
    ]
    for place, (name, (plain, ours)) in enumerate(rows.items()):
        told_of = f"{SETS.get(name, name)} ({ours['questions']:,})", _difference(ours)
        lines += pair_row(TOP + STEP * place, *told_of, plain["NDCG@10"], ours["NDCG@10"])
    return picture(TITLE, told, end + 30, [*lines, *scale(end + 12)])


def picture(title: str, told: Iterable[str], height: int, lines: Iterable[str], extra_style: str = "") -> str:
    """An SVG with this title; what it shows is also told in words, for those who cannot see it."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            'font-family="system-ui, sans-serif" font-size="13">',
            f"<title>{title}: {'; '.join(told)}</title>",
            f"<style>{STYLE}{extra_style}\n</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}" rx="8"/>',
            f'<text class="word" x="20" y="28" font-size="15" font-weight="600">{title}</text>',
            *lines,
            "</svg>\n",
        ]
    )


def legend(before: str, after: str) -> list[str]:
    """What the two dots of a row stand for."""
    return [
        f'<circle class="plain" cx="{LEFT}" cy="50" r="5"/>{text(LEFT + 12, 54, before, "start")}',
        f'<circle class="ours" cx="{LEFT + 120}" cy="50" r="5"/>{text(LEFT + 132, 54, after, "start")}',
    ]


def pair_row(y: int, name: str, beside: str, before: float, after: float) -> Iterator[str]:
    """A line from 0 to 1 with two dots, a name in front and the difference behind."""
    low, high = _x(before), _x(after)
    yield text(LEFT - 14, y + 4, name, "end")
    yield f'<line class="line" x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}"/>'
    yield f'<line class="gain" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke-width="4" opacity="0.4"/>'
    yield f'<circle class="plain" cx="{low:.1f}" cy="{y}" r="6"/><circle class="ours" cx="{high:.1f}" cy="{y}" r="5"/>'
    yield text(RIGHT + 12, y + 4, beside, "start")


def scale(y: int) -> Iterator[str]:
    """The numbers from 0 to 1 below the rows."""
    yield from (text(_x(tick), y, f"{tick:g}", "middle", "quiet") for tick in (0.0, 0.25, 0.5, 0.75, 1.0))


def _sorted(run: Run) -> list[tuple[str, Part]]:
    parts = parts_of(run, "quality").items()
    return sorted(parts, key=lambda one: -of_system(one[1], "adaptive")["over Chroma"])


def _difference(ours: Row) -> str:
    """The difference, and if it may be chance, that it may.

    >>> _difference({"over Chroma": 0.2, "95 %": [0.1, 0.3]}), _difference({"over Chroma": 0.0, "95 %": [-0.1, 0.1]})
    ('+0.200', '+0.000 (may be chance)')
    """
    return signed(ours["over Chroma"]) + (" (may be chance)" if may_be_chance(ours) else "")


def _x(value: float) -> float:
    return LEFT + (RIGHT - LEFT) * value


def text(x: float, y: float, words: str, anchor: str, tone: str = "word") -> str:
    return f'<text class="{tone}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'
