"""Which numbers of the pages come from a recorded run? This writes them: python -m benchmarks.page_tables

A page has a place for each, between two comments that a reader does not see:

    <!-- recorded: quality -->
    ...
    <!-- end of recorded -->

What stands between them is made of the files in benchmarks/recorded, each the output of one command; bench.json is what
`make bench DATA=DIR` wrote. A test fails where a page holds anything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.recorded_texts import TEXTS, Run

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "benchmarks" / "recorded"
PLACE = re.compile(r"(<!-- recorded: ([\w-]+) -->).*?(<!-- end of recorded -->)", re.DOTALL)


def main() -> None:
    runs = recorded()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, runs), encoding="utf-8")
        for _, name, _ in PLACE.findall(text):
            print(f"{page.relative_to(ROOT)}: {name}")


def recorded() -> dict[str, Run]:
    """The last run of each kind that was recorded, by the name of its file."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(RECORDED.glob("*.json"))}


def pages() -> list[Path]:
    """All pages that may hold numbers."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def filled(text: str, runs: Mapping[str, Run]) -> str:
    """The text with what is recorded in all its places; a place within a line stays within it.

    >>> runs = {"bench": {"rows": [], "finished_at": "2026-01-02T03:04:05+00:00"}}
    >>> filled("on <!-- recorded: date -->?<!-- end of recorded -->.", runs)
    'on <!-- recorded: date -->2026-01-02<!-- end of recorded -->.'
    """

    def place(found: re.Match[str]) -> str:
        if found[2] not in TEXTS:
            raise SystemExit(f"a page has a place for {found[2]!r}. There are {', '.join(sorted(TEXTS))}.")
        file, text_of = TEXTS[found[2]]
        made = text_of(runs[file])
        return f"{found[1]}\n\n{made}\n\n{found[3]}" if "\n" in made else f"{found[1]}{made}{found[3]}"

    return PLACE.sub(place, text)


if __name__ == "__main__":
    main()
