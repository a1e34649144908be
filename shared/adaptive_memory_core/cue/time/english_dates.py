"""Which spans of time does an English text name? Dates, months, years, "three weeks ago"; not "it may"."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import NamedTuple

from adaptive_memory_core.cue.time.ascii_letters import in_ascii_letters
from adaptive_memory_core.cue.time.calendar import Span
from adaptive_memory_core.cue.time.english_single_dates import led
from adaptive_memory_core.cue.time.english_ways import AHEAD, WAYS, needs_in
from adaptive_memory_core.let_others_run import in_pieces

MOST_OF_A_KIND = 20  # places of one kind that are looked at; a text with more is a table, or hostile; guess


class Dated(NamedTuple):
    """A place in a text that names time. `weak` ones hold only in a question about the past, `relative` ones hang on
    the day of the text itself."""

    begin: int
    end: int
    spans: list[Span]
    weak: bool
    relative: bool


def find(text: str, today: datetime, *, day_first: bool = False, ahead: bool = False) -> list[Dated]:
    """The places that name time, in the order of the text; where two overlap, the surer kind of date wins.

    With `ahead`, also those that name a time to come.

    >>> [str(span.start.date()) for found in find("since March 2020 or 2 weeks ago", datetime(2023, 5, 12))
    ...  for span in found.spans]
    ['2020-03-01', '2023-04-24']
    >>> find("in 999 decades", datetime(2023, 5, 12), ahead=True)      # beyond every calendar
    []
    """
    found: list[Dated] = []
    plain, taken = in_ascii_letters(text), bytearray(len(text))
    there = needs_in(plain.lower())
    if not there and not ahead:
        return found
    for way in in_pieces(text, [*(AHEAD if ahead else ()), *WAYS[day_first]]):
        if way.needs and there.isdisjoint(way.needs):
            continue
        for match in islice(way.pattern.finditer(plain), MOST_OF_A_KIND):
            begin, end = match.span()
            if (way.lead is not None and not led(match, way.lead)) or taken.find(1, begin, end) >= 0:
                continue
            if spans := way.resolve(match, today):
                found.append(Dated(begin, end, spans, way.weak, way.relative))
                taken[begin:end] = b"\x01" * (end - begin)
    return sorted(found)
