"""Do the pages hold the numbers of the recorded run, and no others where these belong?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import bench
from benchmarks.page_tables import PLACE, filled, pages, recorded
from benchmarks.recorded_texts import TEXTS, about, beside_queries, inside_langchain, milliseconds, quality

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
    assert {name for _, name, _ in PLACE.findall(text)} <= set(TEXTS)


def test_every_table_of_the_run_stands_in_a_page() -> None:
    shown = {name for page in PAGES for _, name, _ in PLACE.findall(page.read_text("utf-8"))}
    assert {"about", "quality", "milliseconds", "beside-queries", "inside-langchain"} <= shown


def test_the_run_says_on_what_it_was_made() -> None:
    told = about(RUN)
    assert told.startswith("`python -m benchmarks.bench --data data")
    for known in (RUN["versions"]["python"], RUN["versions"]["chromadb"], RUN["machine"]["cpu"]):
        assert known in told
    assert "/" not in RUN["settings"]["data"]  # no path of the machine it ran on


def test_the_run_has_every_system_on_every_set() -> None:
    rows = [row for row in RUN["rows"] if row["part"] == "quality"]
    sets = {row["set"] for row in rows}
    assert {(row["set"], row["system"]) for row in rows} == {(one, system) for one in sets for system in bench.SYSTEMS}
    assert len(quality(RUN).splitlines()) == len(milliseconds(RUN).splitlines()) == len(sets) + 2
    assert len(beside_queries(RUN).splitlines()) > 2
    assert len(inside_langchain(RUN).splitlines()) > 2


def test_a_place_that_nobody_fills_is_refused() -> None:
    with pytest.raises(SystemExit, match="no-such-table"):
        filled("<!-- recorded: no-such-table --><!-- end of recorded -->", RUNS)
