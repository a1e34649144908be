"""A picture of what plain Chroma and the default find on each recorded data set, for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator

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
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {end + 30}" role="img" '
            'font-family="system-ui, sans-serif" font-size="13">',
            f"<title>{TITLE}: {'; '.join(told)}</title>",
            f"<style>{STYLE}\n</style>",
            f'<rect class="page" width="{WIDTH}" height="{end + 30}" rx="8"/>',
            f'<text class="word" x="20" y="28" font-size="15" font-weight="600">{TITLE}</text>',
            f'<circle class="plain" cx="{LEFT}" cy="50" r="5"/>{_text(LEFT + 12, 54, "plain Chroma", "start")}',
            f'<circle class="ours" cx="{LEFT + 120}" cy="50" r="5"/>{_text(LEFT + 132, 54, "this library", "start")}',
            _text(LEFT - 14, 54, "(questions)", "end", "quiet"),
            _text(RIGHT + 12, 54, "difference", "start", "quiet"),
            *(
                line
                for place, (name, pair) in enumerate(rows.items())
                for line in _row(TOP + STEP * place, SETS.get(name, name), *pair)
            ),
            *(_text(_x(tick), end + 12, f"{tick:g}", "middle", "quiet") for tick in (0.0, 0.25, 0.5, 0.75, 1.0)),
            "</svg>\n",
        ]
    )


def _sorted(run: Run) -> list[tuple[str, Part]]:
    parts = parts_of(run, "quality").items()
    return sorted(parts, key=lambda one: -of_system(one[1], "adaptive")["over Chroma"])


def _row(y: int, name: str, plain: Row, ours: Row) -> Iterator[str]:
    low, high = _x(plain["NDCG@10"]), _x(ours["NDCG@10"])
    yield _text(LEFT - 14, y + 4, f"{name} ({ours['questions']:,})", "end")
    yield f'<line class="line" x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}"/>'
    yield f'<line class="gain" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke-width="4" opacity="0.4"/>'
    yield f'<circle class="plain" cx="{low:.1f}" cy="{y}" r="6"/><circle class="ours" cx="{high:.1f}" cy="{y}" r="5"/>'
    yield _text(RIGHT + 12, y + 4, _difference(ours), "start")


def _difference(ours: Row) -> str:
    """The difference, and if it may be chance, that it may.

    >>> _difference({"over Chroma": 0.2, "95 %": [0.1, 0.3]}), _difference({"over Chroma": 0.0, "95 %": [-0.1, 0.1]})
    ('+0.200', '+0.000 (may be chance)')
    """
    return signed(ours["over Chroma"]) + (" (may be chance)" if may_be_chance(ours) else "")


def _x(value: float) -> float:
    return LEFT + (RIGHT - LEFT) * value


def _text(x: float, y: float, words: str, anchor: str, tone: str = "word") -> str:
    return f'<text class="{tone}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'
