"""How does a page about a comparison look? Its tables and pictures with intervals, whatever a file of one holds."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from adaptive_memory_core import InvalidInputError
from adaptive_memory_core.evaluate.comparison import (
    Comparison,
    DataAbout,
    Difference,
    MeasureAbout,
    Result,
    SystemAbout,
)
from tests.pages.browser import layout, look, needs_browser, run
from tests.pages.conftest import HOSTILE

SYSTEMS = ("plain Chroma", "ours", HOSTILE)
THETAS = (1.0, 3.0, 8.0)


def comparison() -> Comparison:
    """Two sets of data, six systems of which three vary one number, a share and a time; one result is missing."""
    chance = random.Random(5)
    systems = (*(SystemAbout(name) for name in SYSTEMS), *(SystemAbout(f"theta {x:g}", "", "theta", x) for x in THETAS))
    measures = (MeasureAbout("NDCG@10"), MeasureAbout("latency", "ms", "lower"))
    results, differences = [], []
    for data in ("LoCoMo", "notes"):
        for system in systems:
            for measure in measures[: 1 if system.name == HOSTILE else 2]:
                mean = chance.uniform(0.2, 0.8)
                low, high = (None, None) if system.name == HOSTILE else (mean - 0.05, mean + 0.05)
                results.append(Result(data, system.name, measure.name, mean, low, high, mean, mean, 0.1, 40, 8))
                if system.name != SYSTEMS[0]:
                    difference = chance.uniform(-0.2, 0.2)
                    ends = (difference - 0.1, difference + 0.1)
                    settled = abs(difference) > 0.1
                    differences.append(Difference(data, system.name, measure.name, difference, *ends, 40, settled))
    about = (DataAbout("LoCoMo", 500, 10, 40), DataAbout("notes", 90, 1, 40))
    told = {"command": f"compare {HOSTILE}", "notes": (HOSTILE,), "machine": {"cpu": HOSTILE}, "versions": {"x": "1"}}
    return Comparison(HOSTILE, SYSTEMS[0], about, systems, measures, tuple(results), tuple(differences), **told)  # type: ignore[arg-type]


def test_it_shows_means_intervals_differences_and_ablations() -> None:
    page = comparison().html()
    assert page.count("<table") == 4
    assert page.count("by theta</b>") == 4
    assert page.count("<h3>Difference from plain Chroma") == 2
    assert page.count('class="whisker') == 2 * (5 + 4)
    assert page.count('class="best"') == 4
    assert page.count('<polygon class="band') == 4
    assert page.count("95% intervals") == 4


def test_many_measures_are_split_into_tables_that_fit() -> None:
    few = comparison()
    more = tuple(MeasureAbout(f"measure {number}", "s", "lower") for number in range(8))
    systems = {one.name for one in few.systems}
    results = tuple(
        Result("notes", name, one.name, 1.0, 0.9, 1.1, 1.0, 1.0, 0.1, 40, 8) for name in systems for one in more
    )
    page = replace(few, measures=more, results=results, differences=()).html()
    assert re.findall(r'id="measures-1-(\d+)"', page) == ["0", "6"]
    assert all(page.count(f">measure {number} (s) ↓<") >= 1 for number in range(8))


def test_no_text_becomes_markup() -> None:
    page = comparison().html()
    assert HOSTILE not in page
    assert page.count("<script") == 1
    assert "<img" not in page


def test_what_a_file_holds_is_drawn_as_what_was_run() -> None:
    found = comparison()
    assert Comparison.from_json(found.to_json()).html() == found.html()


@pytest.mark.parametrize(("part", "name"), [("results", "mean"), ("differences", "high"), ("data", "questions")])
def test_what_is_no_number_is_refused(part: str, name: str) -> None:
    told = json.loads(comparison().to_json())
    told[part][0][name] = "many"
    with pytest.raises(InvalidInputError, match="Use the value types"):
        Comparison.from_json(json.dumps(told)).html()


def test_one_system_alone_and_nothing_at_all_have_a_page() -> None:
    nothing = Comparison("", "ours", (), (), (), (), ())
    alone = Comparison("", "ours", (DataAbout("d", 1, 1, 1),), (SystemAbout("ours"),), (), (), ())
    assert "0 systems on 0 sets" in nothing.html()
    assert "<h1>Comparison</h1>" in alone.html()


@pytest.mark.hard("browser")
@needs_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_drawn_in_a_browser_without_a_word(tmp_path: Path, width: int, dark: bool) -> None:
    file = tmp_path / "comparison.html"
    file.write_text(comparison().html(), encoding="utf-8")
    pwned = run("window.pwned ?? null")
    drawn = run("[...document.querySelectorAll('svg.chart')].every(one => one.getBBox().width > 50)")
    seen = look(file, tmp_path / "picture.png", pwned, drawn, layout(), width=width, dark=dark)
    assert seen.results == [None, True, []]
    assert seen.console == []
    assert seen.asked == [file.as_uri()]
