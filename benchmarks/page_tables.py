"""Which numbers of the pages come from a recorded run? This writes them: python -m benchmarks.page_tables

A page has a place for each, between two comments that a reader does not see:

    <!-- recorded: quality -->
    ...
    <!-- end of recorded -->

What stands between them is made of the files in benchmarks/recorded, whose parts each are the output of one command;
bench.json is what `make bench DATA=DIR` wrote, rot.json what `python -m benchmarks.rot` did. The pictures of the pages
are drawn from these files as well. A test fails if a page or a picture holds anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.plots import PLOTS
from benchmarks.quality_chart import quality_chart
from benchmarks.recorded_figures import Run, table
from benchmarks.recorded_parts import parts_in
from benchmarks.recorded_texts import TEXTS

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "benchmarks" / "recorded"
PICTURES = ROOT / "docs" / "pictures"
DRAWN = {"finds_more.svg": ("bench", quality_chart), **PLOTS}
HOLDERS = "which-pages"
PLACE = re.compile(r"(<!-- recorded: ([\w-]+) -->).*?(<!-- end of recorded -->)", re.DOTALL)


def main() -> None:
    runs = recorded()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, runs), encoding="utf-8")
        for _, name, _ in PLACE.findall(text):
            print(f"{page.relative_to(ROOT)}: {name}")
    for name, (run, draw) in DRAWN.items():
        (PICTURES / name).write_text(draw(runs[run]), encoding="utf-8")
        print(f"docs/pictures/{name}")


def recorded() -> dict[str, Run]:
    """The last run of each kind that was recorded, by the name of its file."""
    return {file.stem: parts_in(file) for file in sorted(RECORDED.glob("*.json"))}


def pages() -> list[Path]:
    """All pages that may hold numbers."""
    return [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str, runs: Mapping[str, Run]) -> str:
    """The text with what is recorded in all its places; a table stands on lines of its own, all else within its line.

    >>> part = {"finished_at": "2026-01-02T03:04:05+00:00"}
    >>> filled("on <!-- recorded: date -->?<!-- end of recorded -->.", {"bench": {"queries: 10": part}})
    'on <!-- recorded: date -->2026-01-02<!-- end of recorded -->.'
    """

    def place(found: re.Match[str]) -> str:
        made = _made(found[2], runs)
        return f"{found[1]}\n\n{made}\n\n{found[3]}" if made.startswith("|") else f"{found[1]}{made}{found[3]}"

    return PLACE.sub(place, text)


def _made(name: str, runs: Mapping[str, Run]) -> str:
    if name == HOLDERS:
        return table(["page", "recorded run", "places"], _holders())
    if name not in TEXTS:
        raise SystemExit(f"a page has a place for {name!r}. There are {', '.join(sorted([*TEXTS, HOLDERS]))}.")
    file, text_of = TEXTS[name]
    return text_of(runs[file])


def _holders() -> Iterator[tuple[str, str, str]]:
    """Which pages hold figures of which recorded runs."""
    for page in pages():
        names = dict.fromkeys(name for _, name, _ in PLACE.findall(page.read_text(encoding="utf-8")))
        files = {name: TEXTS[name][0] for name in names if name in TEXTS}
        for file in sorted(set(files.values())):
            own = ", ".join(sorted(name for name, of in files.items() if of == file))
            yield str(page.relative_to(ROOT).as_posix()), f"`{file}.json`", own


if __name__ == "__main__":
    main()
