"""Which days do "gestern" and "la semaine dernière" in a text mean? In the languages besides English that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import tzinfo

from adaptive_memory_core.channels.words.language_of_text import likeliest
from adaptive_memory_core.channels.words.unspaced import UNSPACED
from adaptive_memory_core.cue.time.calendar import Span
from adaptive_memory_core.cue.time.chinese import Chinese
from adaptive_memory_core.cue.time.english import local
from adaptive_memory_core.cue.time.french import French
from adaptive_memory_core.cue.time.german import German
from adaptive_memory_core.cue.time.intent import Language, Window
from adaptive_memory_core.cue.time.spanish import Spanish

BEGINNING = 300  # characters of a text that tell its language; guess
LATER = 86_400.0 * 800  # seconds after which a phrase that hangs on the day of the text means another time


def relative_times(text: str, said_at: float, zone: tzinfo) -> Iterator[tuple[int, Span]]:
    """Where each phrase that hangs on the day of the text ends, and what it means. The name of a day or month without
    its year does not say which one is meant: a plan and a report name it alike.

    >>> from datetime import timezone
    >>> text, day = "Das war vor drei Wochen, nicht am 3. Mai 2021.", 1683849600.0
    >>> [(text[:end], str(span[0].date())) for end, span in relative_times(text, day, timezone.utc)]
    [('Das war vor drei Wochen', '2023-04-17')]
    """
    language = _language_of(text, zone)
    if language is not None:
        yield from sorted(_found(text, said_at, zone, language))


def _language_of(text: str, zone: tzinfo) -> Language | None:
    """That of the text's beginning, where it is one of these."""
    start = text[:BEGINNING]
    if not start.isascii() and UNSPACED.search(start):
        return Chinese(zone)
    spaced: dict[str, Callable[[tzinfo], Language]] = {"de": German, "fr": French, "es": Spanish}
    told = likeliest(start, list(spaced))
    return spaced[told](zone) if told in spaced else None


def _found(text: str, said_at: float, zone: tzinfo, language: Language) -> Iterator[tuple[int, Span]]:
    signs = [one for one in language(text, said_at) if not one.comes_again]
    meant = [(sign.phrase, sign.window) for sign in signs if sign.window is not None]
    fixed = {(sign.phrase, sign.window) for sign in language(text, said_at + LATER)} if meant else set()
    for phrase, window in meant:
        span = _span(window, zone)
        if (phrase, window) not in fixed and phrase in text and span is not None:
            yield text.index(phrase) + len(phrase), span


def _span(window: Window, zone: tzinfo) -> Span | None:
    if window.start is None or window.end is None:
        return None
    start, end = local(window.start, zone), local(window.end, zone)
    return None if start is None or end is None else Span(start, end)
