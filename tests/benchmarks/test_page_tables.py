"""Do the pages hold the numbers of the recorded run, and no others where these belong?"""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from benchmarks import bench
from benchmarks.page_tables import DRAWN, HOLDERS, PICTURES, PLACE, ROOT, filled, pages, recorded
from benchmarks.quality_chart import quality_chart
from benchmarks.recorded_figures import parts_of
from benchmarks.recorded_sentences import about, date, how_recorded
from benchmarks.recorded_texts import TEXTS, beside_queries, inside_langchain, milliseconds, quality

PAGES = [page for page in pages() if "<!-- recorded:" in page.read_text("utf-8")]
RUNS = recorded()
RUN = RUNS["bench"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_holds_what_was_recorded(page: Path) -> None:
    """Where this fails: python -m benchmarks.page_tables."""
    text = page.read_text("utf-8")
    assert filled(text, RUNS) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_another_number_in_a_page_is_noticed(page: Path) -> None:
    text = page.read_text("utf-8")
    for place in PLACE.finditer(text):
        wrong = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), place[0], count=1)
        assert filled(text.replace(place[0], wrong), RUNS) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_place_is_closed_and_known(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text.count("<!-- recorded:") == text.count("<!-- end of recorded -->") == len(PLACE.findall(text))
    assert {name for _, name, _ in PLACE.findall(text)} <= {*TEXTS, HOLDERS}


def test_every_text_that_is_made_stands_in_a_page() -> None:
    shown = {name for page in PAGES for _, name, _ in PLACE.findall(page.read_text("utf-8"))}
    assert {*TEXTS, HOLDERS} - {"date"} <= shown


def test_the_picture_of_the_readme_shows_all_sets_of_the_recorded_run() -> None:
    """Where this fails: python -m benchmarks.page_tables."""
    drawn = quality_chart(RUN)
    assert drawn.count('class="ours"') == len(parts_of(RUN, "quality")) + 1  # and in the legend
    assert "(docs/pictures/finds_more.svg)" in pages()[0].read_text("utf-8")


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_drawn_from_what_was_recorded_and_shown_in_a_page(name: str) -> None:
    """Where this fails: python -m benchmarks.page_tables."""
    run, draw = DRAWN[name]
    drawn = (PICTURES / name).read_text("utf-8")
    assert drawn == draw(RUNS[run])
    assert "@media (prefers-color-scheme: dark)" in drawn
    assert any(f"pictures/{name})" in page.read_text("utf-8") for page in pages())


@pytest.mark.parametrize("name", DRAWN)
def test_another_number_in_a_recorded_run_is_another_picture(name: str) -> None:
    run, draw = DRAWN[name]
    changed = copy.deepcopy(RUNS[run])
    for part in changed.values():
        for row in part["rows"]:
            row |= {key: value * 0.9 for key, value in row.items() if isinstance(value, float)}
    assert draw(changed) != draw(RUNS[run])


def test_every_part_says_on_what_it_was_made() -> None:
    lines = how_recorded(RUN).splitlines()[2:]
    assert len(lines) == len(RUN)
    for part in RUN.values():
        assert part["versions"]["python"] in about(RUN)
        assert part["versions"]["chromadb"] in about(RUN)
        assert part["machine"]["cpu"] in about(RUN)
        assert part["finished_at"][:10] in date(RUN)
        assert any(f"`{part['command']}`" in line for line in lines)
        assert "/" not in str(part["settings"].get("data"))  # no path of the machine it ran on


def test_the_run_has_every_system_on_every_set() -> None:
    sets = parts_of(RUN, "quality")
    assert set(sets) == set(bench.SETS)
    for part in sets.values():
        assert [row["system"] for row in part["rows"]] == list(bench.SYSTEMS)
    assert len(quality(RUN).splitlines()) == len(milliseconds(RUN).splitlines()) == len(sets) + 2
    assert len(beside_queries(RUN).splitlines()) > 2
    assert len(inside_langchain(RUN).splitlines()) > 2


def test_the_pages_that_hold_figures_of_a_run_are_listed() -> None:
    listed = Path(__file__).parents[2].joinpath("benchmarks", "README.md").read_text("utf-8")
    for page in PAGES:
        assert f"| {page.relative_to(ROOT).as_posix()} | `" in listed


def test_a_part_of_another_run_changes_only_its_own_line() -> None:
    name = next(one for one in RUN if one.startswith("quality: "))
    rows = [{**row, "NDCG@10": 0.123} for row in RUN[name]["rows"]]
    before = quality(RUN).splitlines()
    after = quality({**RUN, name: {**RUN[name], "rows": rows}}).splitlines()
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


def test_a_place_that_nobody_fills_is_refused() -> None:
    with pytest.raises(SystemExit, match="no-such-table"):
        filled("<!-- recorded: no-such-table --><!-- end of recorded -->", RUNS)
