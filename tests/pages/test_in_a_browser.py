"""How does a page look in a real browser? At two sizes, light and dark, by keyboard; the console has nothing to say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adaptive_memory_core import AdaptiveMemory, UserMemory
from adaptive_memory_core.pages.charts import Point, bars, line_chart
from adaptive_memory_core.pages.markup import Section, cards, html_page
from tests.conftest import Clock
from tests.pages.browser import Seen, layout, look, needs_browser, press, run

pytestmark = [pytest.mark.hard("browser"), needs_browser]
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}
PWNED = run("[window.pwned ?? null, document.scripts.length, document.images.length]")
SMALLEST = 20_000  # bytes of a picture with something in it


@pytest.fixture(scope="module")
def file(page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page") / "memory.html"
    place.write_text(page, encoding="utf-8")
    return place


def quiet(seen: Seen, file: Path) -> None:
    """Nothing in the console, and nothing asked of anybody but the page itself."""
    assert seen.console == []
    assert [one.split("#")[0] for one in seen.asked] == [file.as_uri()] * len(seen.asked)


windows = pytest.mark.parametrize(("size", "dark"), [(size, dark) for size in SIZES for dark in (False, True)])


@windows
def test_it_fits_and_is_readable(file: Path, tmp_path: Path, size: str, dark: bool) -> None:
    width, height = SIZES[size]
    ink = run("getComputedStyle(document.body).color.match(/[0-9]+/g).slice(0, 3).map(Number)")
    seen = look(file, tmp_path / "picture.png", PWNED, ink, layout(), width=width, height=height, dark=dark)
    quiet(seen, file)
    pwned, colour, wrong = seen.results
    assert wrong == []
    assert pwned == [None, 1, 0]
    assert contrast(tuple(colour), seen.corner) > 7
    assert (luminance(seen.corner) < 0.1) == dark
    assert seen.picture.stat().st_size > SMALLEST


@windows
def test_many_records_and_long_numbers_fit(
    memory: AdaptiveMemory, clock: Clock, tmp_path: Path, size: str, dark: bool
) -> None:
    """Without decay, with more rows than are shown at once; and charts with more words than have room."""
    alice = memory.for_user("alice")
    alice.remember_many(f"Note {number} about the checkout service {'x' * number * 3}" for number in range(120))
    for number in range(45):
        clock.pass_seconds(3_600)
        alice.recall(f"which note says {number % 30}?", k=3)
    pages = {"memory.html": alice.report(), "users.html": memory.report(), "charts.html": crowded_charts()}
    width, height = SIZES[size]
    for name, page in pages.items():
        (tmp_path / name).write_text(page, encoding="utf-8")
        seen = look(tmp_path / name, tmp_path / "picture.png", layout(), width=width, height=height, dark=dark)
        quiet(seen, tmp_path / name)
        assert seen.results == [[]], name


def crowded_charts() -> str:
    days = [(f"11-{day:02}", 100_000.0 + day) for day in range(1, 31)]
    long_names = [(f"a name of {number} words", 7) for number in range(12)]
    points = [Point(x * 1e5, x * 1e-4, x * 1e-4 - 2e-4, x * 1e-4 + 2e-4) for x in range(-3, 9)]
    drawn = [
        ("days", bars("days", days), ""),
        ("one", bars("one", [("32+", 12_345)]), ""),
        ("names", bars("names", long_names), ""),
        ("line", line_chart("line", {"a": points, "b": points[::-1]}, across="a setting of thirty letters"), ""),
        ("level", line_chart("level", {"a": [Point(1, 5_000_000)]}, across="recalls"), ""),
    ]
    return html_page("Charts", "", [Section("charts", "Charts", "", cards(drawn))], made="")


def test_a_long_list_grows_by_clicks_and_keeps_to_the_search(alice: UserMemory, tmp_path: Path) -> None:
    alice.remember_many(f"note {number}: {'oak' if number % 5 else 'pine'}" for number in range(50))
    file = tmp_path / "long.html"
    file.write_text(alice.report(), encoding="utf-8")
    button = "document.querySelector('#records-table + .further')"
    rows = "[...document.querySelectorAll('#records-table tbody tr')].filter(row => row.getClientRects().length).length"
    field = "document.querySelector('input[type=search]')"
    seen = look(
        file,
        tmp_path / "picture.png",
        run(f"[{rows}, {button}.textContent]"),
        run(f"{button}.click()"),
        run(f"[{rows}, {button}.textContent]"),
        run(f"{button}.click()"),
        run(f"[{rows}, {button}.hidden, document.activeElement.tagName]"),
        run(f"({field}.value = 'pine', {field}.dispatchEvent(new Event('input')))"),
        run(f"[{rows}, {button}.hidden, document.getElementById('records-count').textContent]"),
    )
    quiet(seen, file)
    assert seen.results[0::2] == [
        [20, "Show 20 of 30 more"],
        [40, "Show 10 of 10 more"],
        [50, True, "TR"],
        [10, True, "10 of 50 match"],
    ]


def luminance(colour: tuple[int, ...]) -> float:
    """How bright a colour is, as the guidelines on contrast define it."""
    parts = [one / 255 / 12.92 if one <= 10 else ((one / 255 + 0.055) / 1.055) ** 2.4 for one in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.sample
def test_a_table_is_sorted_and_searched(file: Path, tmp_path: Path) -> None:
    reads = "[...document.querySelectorAll('#records-table tbody tr')].map(row => +row.cells[3].textContent)"
    head = "document.querySelector('#records-table th:nth-child(4)')"
    field = "document.querySelector('input[type=search]')"
    seen = look(
        file,
        tmp_path / "picture.png",
        run(f"{head}.querySelector('button').click()"),
        run(f"[{head}.getAttribute('aria-sort'), {reads}]"),
        run(f"{head}.querySelector('button').click()"),
        run(f"[{head}.getAttribute('aria-sort'), {reads}]"),
        run(f"({field}.value = 'lives rome', {field}.dispatchEvent(new Event('input')))"),
        run("[...document.querySelectorAll('#records-table tbody tr:not([hidden])')].map(row => row.textContent)"),
        run("document.getElementById('records-count').textContent"),
    )
    quiet(seen, file)
    _, (down, falling), _, (up, rising), _, left, said = seen.results
    assert (down, up) == ("descending", "ascending")
    assert falling == sorted(falling, reverse=True)
    assert rising == sorted(rising)
    assert len(left) == 1
    assert "Ana lives in Rome." in left[0]
    assert re.fullmatch(r"1 of \d+ match", said)


def test_it_is_used_by_keyboard_alone(file: Path, tmp_path: Path) -> None:
    seen = look(
        file,
        tmp_path / "picture.png",
        press("Tab"),
        run("[document.activeElement.className, document.activeElement.getBoundingClientRect().left >= 0]"),
        press("Tab"),
        run("document.activeElement.getAttribute('href')"),
        run("document.querySelector('#recall-list > details:nth-child(2) > summary').focus()"),
        press("Return"),
        run("document.querySelector('#recall-list > details:nth-child(2)').open"),
        run("document.querySelector('#records-table th:nth-child(2) button').focus()"),
        press("Space"),
        run("document.querySelector('#records-table th:nth-child(2)').getAttribute('aria-sort')"),
    )
    quiet(seen, file)
    skip, first, _, opened, _, order = seen.results
    assert skip == ["skip", True]
    assert first == "#insights"
    assert opened is True
    assert order == "descending"


def test_ways_within_the_page_open_what_they_lead_to(file: Path, tmp_path: Path) -> None:
    seen = look(
        file,
        tmp_path / "picture.png",
        run("document.querySelector('.circles a').dispatchEvent(new MouseEvent('click', {bubbles: true}))"),
        run("document.getElementById('theme-0').open"),
        run("document.querySelector('[data-opens=recall-list]').click()"),
        run("[...document.querySelectorAll('#recall-list > details')].every(one => one.open)"),
        run("[...document.querySelectorAll('svg[role=img]')].every(one => one.getAttribute('aria-label').length > 3)"),
        run("[...document.querySelectorAll('svg.chart')].every(one => one.getBBox().width > 50)"),
    )
    quiet(seen, file)
    assert [seen.results[place] for place in (1, 3, 4, 5)] == [True] * 4


def test_a_way_to_an_earlier_recall_opens_the_question_around_it(file: Path, tmp_path: Path) -> None:
    earlier = "document.querySelector('#recall-list .earlier')"
    seen = look(
        file,
        tmp_path / "picture.png",
        run(f"{earlier}.open || {earlier}.parentElement.open"),
        run(f"document.querySelector(`#changes a[href='#${{{earlier}.id}}']`).click()"),
        run(f"{earlier}.open && {earlier}.parentElement.open"),
        run(f"document.activeElement === {earlier}.firstElementChild"),
    )
    quiet(seen, file)
    assert [seen.results[place] for place in (0, 2, 3)] == [False, True, True]


def test_a_bad_layout_would_be_seen(tmp_path: Path) -> None:
    """The check itself: each thing that it looks for is found."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!doctype html><body style='background: #fff'><p style='color: #999'>pale</p>"
        "<div style='overflow: auto; height: 20px'>boxed</div><div style='width: 3000px'>wide</div>"
        "<svg viewBox='0 0 100 30' width='300'><text x='20' y='20'>one</text><text x='25' y='20'>two</text>"
        "<text x='95' y='20'>three</text></svg>",
        encoding="utf-8",
    )
    seen = look(bad, tmp_path / "picture.png", layout())
    found = [re.split(r"[ :]", one, maxsplit=1)[0] for one in seen.results[0]]
    assert sorted(set(found)) == ["contrast", "cut", "overlap", "scrolls", "the"]


def test_an_error_in_a_script_would_be_seen(tmp_path: Path) -> None:
    """The looking itself: what goes wrong in a page, and what it asks of others, is told."""
    wrong = tmp_path / "wrong.html"
    wrong.write_text("<!doctype html><img src='gone.png'><script>nothing.at.all()</script>", encoding="utf-8")
    seen = look(wrong, tmp_path / "picture.png")
    assert any("nothing is not defined" in one for one in seen.console)
    assert any(one.endswith("gone.png") for one in seen.asked)
