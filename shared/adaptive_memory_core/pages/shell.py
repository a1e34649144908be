"""What stands around the sections of a page? Style and script in the page itself, a head, and ways to each section.

The page allows itself nothing but this style and this script, each by its digest: a text that got into it as markup
after all could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from adaptive_memory_core.pages.markup import shown

MADE_BY = '<meta name="generator" content="adaptive-memory-retrieval">'


class Section(NamedTuple):
    """A part of a page with a way to it; `lead` says what one sees, and what is left out."""

    name: str
    title: str
    lead: str
    body: str


def page(title: str, lead: str, sections: Sequence[Section], *, made: str) -> str:
    """The whole file; `made` says when, and from what."""
    style, script = resource("page.css"), resource("page.js")
    ways = "".join(f'<li><a href="#{one.name}">{one.title}</a></li>' for one in sections)
    policy = f"default-src 'none'; style-src 'sha256-{digest(style)}'; script-src 'sha256-{digest(script)}'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{MADE_BY}"
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}; base-uri 'none'; form-action 'none'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta name="referrer" content="no-referrer"><title>{shown(title, 120)}</title>'
        f"<style>{style}</style></head><body>"
        '<a class="skip" href="#main">Skip to the content</a>'
        f'<header><div class="wide"><h1>{shown(title, 120)}</h1><p class="lead">{lead}</p></div></header>'
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
    """One of the files beside this one."""
    return files("adaptive_memory_core.pages").joinpath(name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """
    >>> digest("")
    '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def tiles(numbers: Sequence[tuple[str, str, str]]) -> str:
    """Numbers side by side: the number, what it is, and a word on it."""
    drawn = [f'<div class="tile"><dt>{what}</dt><dd>{value}</dd>{_word(word)}</div>' for value, what, word in numbers]
    return f'<dl class="tiles">{"".join(drawn)}</dl>'


def _word(word: str) -> str:
    return f'<dd class="word">{word}</dd>' if word else ""


def cards(charts: Sequence[tuple[str, str, str]]) -> str:
    """Charts side by side: title, chart, and a word below."""
    drawn = [
        f'<figure class="card"><figcaption><b>{title}</b><span>{word}</span></figcaption>{chart}</figure>'
        for title, chart, word in charts
    ]
    return f'<div class="cards">{"".join(drawn)}</div>'
