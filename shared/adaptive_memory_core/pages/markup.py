"""HTML of a page: escaped values, sortable tables, and the frame around the sections.

All stored texts go through `html_text` or `expandable_text`, which remove markup, control and bidirectional characters.

The page from `html_page` allows only its own style and script, each by its digest. Markup that got into the page after
all could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Sequence
from datetime import timezone
from functools import cache
from html import escape
from importlib.resources import files
from typing import NamedTuple

from adaptive_memory_core.context.clean import clean
from adaptive_memory_core.cue.time.english import local

SHORT, LONG = 220, 2_000  # characters of a text that are shown at first, and after a click at most


class TableCell(NamedTuple):
    """The content of a cell, as markup, and its sort key, if that differs."""

    markup: str
    key: str | float | None = None


class TableColumn(NamedTuple):
    """The head of a column; `kind` is "text", "number", or "parts": a bar that is sorted by its number."""

    name: str
    kind: str = "text"


def html_text(text: object, most: int = SHORT) -> str:
    """A stored text, safe anywhere in a page.

    >>> html_text('<b onclick="x">tea</b>\\u202e'), html_text("abcdef", 4)
    ('&lt;b onclick=&quot;x&quot;&gt;tea&lt;/b&gt;', 'abc…')
    """
    return escape(start_of_text(str(text), most), quote=True)


def start_of_text(text: str, most: int) -> str:
    """The beginning of a text on one line, without control, invisible and bidirectional characters."""
    line = clean(text[: 4 * most])
    return line[: most - 1] + "…" if len(line) > most or len(text) > 4 * most else line


def expandable_text(text: str, most: int = LONG) -> str:
    """A text with its own direction. A long text opens with a click, up to its first `most` characters."""
    short = f'<bdi dir="auto">{escape(start_of_text(text, SHORT), quote=False)}</bdi>'
    if len(text) <= SHORT or most <= SHORT:
        return short
    left_out = f" <small>({len(text):,} characters in all)</small>" if len(text) > most else ""
    whole = f'<bdi dir="auto">{escape(start_of_text(text, most), quote=False)}</bdi>{left_out}'
    return f'<details class="more"><summary>{short}</summary>{whole}</details>'


def room(characters: int, texts: int, most: int = LONG) -> int:
    """The number of characters to show of each text, so that all texts together stay within a limit.

    >>> room(100_000, 10), room(100_000, 1_000), room(100_000, 200)
    (2000, 220, 500)
    """
    return max(SHORT, min(most, characters // max(1, texts)))


def chip(word: str, tone: str = "") -> str:
    """A word in a frame; `tone` is a class in page.css.

    >>> chip("pinned", "good")
    '<span class="chip good">pinned</span>'
    """
    return (
        f'<span class="chip {tone}">{html_text(word, 40)}</span>'
        if tone
        else f'<span class="chip">{html_text(word, 40)}</span>'
    )


def number(value: float | None, digits: int = 3) -> str:
    """
    >>> number(1234567), number(0.12345), number(None), number(float("nan")), number(-0.5), number(12.3456)
    ('1,234,567', '0.123', '–', '–', '−0.500', '12.3')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if (float(value).is_integer() and abs(value) >= 10) or isinstance(value, int):
        text = f"{value:,.0f}"
    else:
        text = f"{value:,.{digits if abs(value) < 10 else 1}f}"
    return text.replace("-", "−")


def signed(value: float) -> str:
    """
    >>> signed(0.5), signed(-0.25)
    ('+0.500', '−0.250')
    """
    return f"+{number(value)}" if value >= 0 else number(value)


def plural(count: int, one: str, more: str | None = None) -> str:
    """
    >>> plural(1, "record"), plural(1200, "record"), plural(2, "memory", "memories")
    ('1 record', '1,200 records', '2 memories')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def html_table(
    name: str,
    caption: str,
    columns: Sequence[TableColumn],
    rows: Iterable[Sequence[TableCell]],
) -> str:
    """A table that can be sorted by its headings. In a narrow window each row becomes a card. The page's script shows
    the first rows, and more with each click on a button; without the script all rows are shown."""
    head = "".join(_head(one) for one in columns)
    body = "".join(f"<tr>{''.join(map(_cell, columns, row))}</tr>" for row in rows)
    return (
        f'<div class="frame"><table id="{name}" class="sortable"><caption class="hidden">{caption}</caption>'
        f'<thead><tr>{head}</tr></thead><tbody data-shows="{SHOWN_AT_ONCE}">{body}</tbody></table></div>'
    )


def _head(column: TableColumn) -> str:
    kind = f'class="{column.kind}" data-kind="{column.kind}"'
    return f'<th scope="col" {kind}><button type="button">{column.name}</button></th>'


def _cell(column: TableColumn, cell: TableCell) -> str:
    key = "" if cell.key is None else f' data-key="{html_text(cell.key, 60)}"'
    return f'<td class="{column.kind}" data-label="{column.name}"{key}>{cell.markup}</td>'


SHOWN_AT_ONCE = 20  # rows of a table or parts of a list, before a click


def moment(posix: float) -> str:
    """A time in UTC to the minute, or the plain number if it is outside the calendar.

    >>> moment(0.0), moment(1e300)
    ('<time datetime="1970-01-01T00:00Z">1970-01-01 00:00</time>', '<time>at 1e+300</time>')
    """
    at = local(posix, timezone.utc)
    if at is None:
        return f"<time>at {posix:g}</time>"
    return f'<time datetime="{at:%Y-%m-%dT%H:%MZ}">{at:%Y-%m-%d %H:%M}</time>'


MADE_BY = '<meta name="generator" content="adaptive-memory-retrieval">'


class Section(NamedTuple):
    """A part of a page with a link to it; `lead` describes its content and what is left out."""

    name: str
    title: str
    lead: str
    body: str


def html_page(title: str, lead: str, sections: Sequence[Section], *, made: str) -> str:
    """The complete file; `made` is a footer with its time and origin."""
    style, script = resource("page.css"), resource("page.js")
    ways = "".join(f'<li><a href="#{one.name}">{one.title}</a></li>' for one in sections)
    policy = (
        f"default-src 'none'; style-src 'sha256-{script_digest(style)}'; script-src 'sha256-{script_digest(script)}'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{MADE_BY}"
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}; base-uri 'none'; form-action 'none'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta name="referrer" content="no-referrer"><title>{html_text(title, 120)}</title>'
        f"<style>{style}</style></head><body>"
        '<a class="skip" href="#main">Skip to the content</a>'
        f'<header><div class="wide"><h1>{html_text(title, 120)}</h1><p class="lead">{lead}</p></div></header>'
        f'<nav aria-label="Sections"><ul class="wide">{ways}</ul></nav>'
        f'<main id="main" class="wide">{"".join(map(_drawn, sections))}</main>'
        f'<footer class="wide">{made}</footer><script>{script}</script></body></html>\n'
    )


def _drawn(one: Section) -> str:
    lead = f'<p class="lead">{one.lead}</p>' if one.lead else ""
    head = f'<h2 id="{one.name}-title">{one.title}</h2>'
    return f'<section id="{one.name}" aria-labelledby="{one.name}-title">{head}{lead}{one.body}</section>'


@cache
def resource(name: str) -> str:
    """The text of a file next to this module."""
    return files("adaptive_memory_core.pages").joinpath(name).read_text(encoding="utf-8")


def script_digest(text: str) -> str:
    """
    >>> script_digest("")
    '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def tiles(numbers: Sequence[tuple[str, str, str]]) -> str:
    """Numbers side by side: each number with its name and a remark."""
    drawn = [f'<div class="tile"><dt>{what}</dt><dd>{value}</dd>{_word(word)}</div>' for value, what, word in numbers]
    return f'<dl class="tiles">{"".join(drawn)}</dl>'


def _word(word: str) -> str:
    return f'<dd class="word">{word}</dd>' if word else ""


def cards(charts: Sequence[tuple[str, str, str]]) -> str:
    """Charts side by side: each with a title and a remark."""
    drawn = [
        f'<figure class="card"><figcaption><b>{title}</b><span>{word}</span></figcaption>{chart}</figure>'
        for title, chart, word in charts
    ]
    return f'<div class="cards">{"".join(drawn)}</div>'
