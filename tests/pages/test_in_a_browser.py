"""How does a page look in a real browser? At two sizes, light and dark, by keyboard; the console has nothing to say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages.browser import Seen, look, needs_browser, press, run

pytestmark = [pytest.mark.hard("browser"), needs_browser]
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}
FITS = run("document.documentElement.scrollWidth <= innerWidth")
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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_fits_and_is_readable(file: Path, tmp_path: Path, size: str, dark: bool) -> None:
    width, height = SIZES[size]
    ink = run("getComputedStyle(document.body).color.match(/[0-9]+/g).slice(0, 3).map(Number)")
    seen = look(file, tmp_path / "picture.png", FITS, PWNED, ink, width=width, height=height, dark=dark)
    quiet(seen, file)
    fits, pwned, colour = seen.results
    assert fits
    assert pwned == [None, 1, 0]
    assert contrast(tuple(colour), seen.corner) > 7
    assert (luminance(seen.corner) < 0.1) == dark
    assert seen.picture.stat().st_size > SMALLEST


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
    assert re.fullmatch(r"1 of \d+ shown", said)


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
    assert first == "#overview"
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


def test_an_error_in_a_script_would_be_seen(tmp_path: Path) -> None:
    """The looking itself: what goes wrong in a page, and what it asks of others, is told."""
    wrong = tmp_path / "wrong.html"
    wrong.write_text("<!doctype html><img src='gone.png'><script>nothing.at.all()</script>", encoding="utf-8")
    seen = look(wrong, tmp_path / "picture.png")
    assert any("nothing is not defined" in one for one in seen.console)
    assert any(one.endswith("gone.png") for one in seen.asked)
