"""The `English` language for times in questions. `english_phrases` finds the dates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from typing import ClassVar

from adaptive_memory_core.cue.time import calendar
from adaptive_memory_core.cue.time.calendar import Span
from adaptive_memory_core.cue.time.english_phrases import Dated, find_times
from adaptive_memory_core.cue.time.english_relative import leaning
from adaptive_memory_core.cue.time.intent import Sign, TimeHint, Window, in_ascii_letters, some_in
from adaptive_memory_core.late import late_pattern

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_QUOTED = late_pattern(r"\"[^\"]{1,200}\"|“[^”]{1,200}”|`[^`]{1,200}`|(?<!\w)'[^'\n]{1,80}'(?!\w)")
_QUOTES = ('"', "\u201c", "`", "'")
_ANY = late_pattern(  # a quick test of the text in lower case, because most questions do not mention time
    r"\b(?:[qh]\d|\d\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter|quarter|last|past|ago|now"
    r"|today|yesterday|this|other|current|recent|late|new|still|any ?more|moment|present|days|initial|first|origin"
    r"|begin|start|earli|old|former|prev|back|use|before|once|prior|weekend|fortnight|\w+days?\b|christmas|halloween|valentine|on|since|at"
    r"|to date|up.to)"
)
_FUTURE = late_pattern(
    r"\b(?:will|shall|going to|gonna|next|upcoming|tomorrow|plan(?:s|ned|ning)? (?:for|on)|should|remind|due|need to)\b"
    r"|'ll\b|\b(?:every|each)\b"
    r"|^(?!.*\b(?:did|didn't|was|were|had)\b).*\b(?:must|needs?|(?:has|have|got) to|finish|complete|submit|deadline)\b",
    re.IGNORECASE,
)
_BOUND = late_pattern(
    r"\b(?:(?P<before>before|prior to|earlier than|older than)|(?P<until>until|till|up to|up until|by|no later than)"
    r"|(?P<since>since|ever since|starting)|(?P<after>after|later than|following))"
    r" (?:in |on |from |the |of |back in )*(?:(?:start|beginning|end|middle) of (?:the )?)?(?:early |mid[ -]|late )?$",
    re.IGNORECASE,
)
_PART = late_pattern(
    r"\b(?:(?P<first>early|start of|beginning of)|(?P<second>mid|middle of)|(?P<third>late|end of))[ -]"
    r"(?:in |the |of )*$",
    re.IGNORECASE,
)


_ABOUT = late_pattern(r"\b(?:about|around|roughly|circa|approximately) (?:the )?$", re.IGNORECASE)
_EXCEPT = late_pattern(
    r"(?:\b(?:except|excluding|besides|other than|apart from|instead of|rather than)|(?:^|[,;(] ?)(?:and |but )?not"
    r"|(?P<but>\bnot))(?: for)?(?: (?:in|on|from|during|at|the))* $",
    re.IGNORECASE,
)
_ONWARDS = late_pattern(r" (?:on|onwards?|until now)\b", re.IGNORECASE)
_BUT = late_pattern(r",? but\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class English:
    """English questions. Days begin and end in `zone`; 3/4/2021 is 4 March unless `day_first`.

    >>> english = English()
    >>> [sign.phrase for sign in english("what did we decide three months ago?", 1.7e9)]
    ['three months ago']
    >>> list(english("what may march on, now that it is second to none?", 1.7e9))
    []
    """

    hint: ClassVar[TimeHint] = TimeHint(None, _ANY)
    zone: tzinfo = timezone.utc
    day_first: bool = False

    def __call__(self, text: str, now: float) -> Iterable[Sign]:
        if _ANY.search(in_ascii_letters(text).lower()) is None:
            return
        bare = _without_quotes(text.replace("\u2019", "'"))
        today = local(now, self.zone)
        dated = [] if today is None else find_times(bare, today, day_first=self.day_first)
        future = bool(dated) and _FUTURE.search(bare) is not None
        asked = [one for one in dated if not (one.weak and future) and not _excepted(bare, one)]
        for one in asked:
            for span in [] if today is None else _bounded(bare, one, today):
                if today is None or span.start is None or span.start <= today:
                    yield Sign(text[one.begin : one.end], as_window(span))
        for lean, phrase in leaning(bare, [(one.begin, one.end) for one in asked]):
            yield Sign(phrase, lean=lean)


def _without_quotes(text: str) -> str:
    """The text with quotations replaced by as many neutral characters, because a quoted time is not asked about."""
    return _QUOTED.sub(lambda quoted: "#" * len(quoted[0]), text) if some_in(text, _QUOTES) else text


def local(now: float, zone: tzinfo) -> datetime | None:
    """The time in a zone; None outside the supported years."""
    try:
        moment = (EPOCH + timedelta(seconds=now)).astimezone(zone)
    except (OverflowError, ValueError):
        return None
    return moment if 1100 < moment.year < 8900 else None


def as_window(span: Span) -> Window:
    """A span in POSIX seconds."""
    return Window(_posix(span.start), _posix(span.end), span.soft.total_seconds())


def _posix(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _bounded(text: str, dated: Dated, today: datetime) -> list[Span]:
    """The date's spans, changed by words before it such as "before", "since", "early" and "about"."""
    lead = text[max(0, dated.begin - 40) : dated.begin]
    spans = dated.spans
    if part := _PART.search(lead):
        third = next(name for name in ("first", "second", "third") if part[name])
        spans = [_third(span, ("first", "second", "third").index(third)) for span in spans]
    elif _ABOUT.search(lead):
        spans = [calendar.blurred(span, today) for span in spans]
    bound = _BOUND.search(lead)
    if bound and not ((bound["until"] or "").lower() == "up to" and is_doing(text[: dated.begin])):
        spans = [_open(span, bound) for span in spans]
    elif _ONWARDS.match(text, dated.end):
        spans = [span._replace(end=None) for span in spans]
    return spans


def _excepted(text: str, dated: Dated) -> bool:
    """Whether the question excludes this time: "except yesterday", "not in 2025 but in 2024"."""
    found = _EXCEPT.search(text[max(0, dated.begin - 40) : dated.begin])
    return found is not None and (not found["but"] or _BUT.match(text, dated.end) is not None)


def _third(span: Span, number: int) -> Span:
    if span.start is None or span.end is None:
        return span
    third = (span.end - span.start) / 3
    return Span(span.start + number * third, span.start + (number + 1) * third, third / 2)


def _open(span: Span, bound: re.Match[str]) -> Span:
    if bound["before"]:
        return Span(None, span.start, span.soft)
    if bound["until"]:
        return Span(None, span.end, span.soft)
    return Span(span.start if bound["since"] else span.end, None, span.soft)


_OWNER = r"(?:my|your|his|her|our|their|the|[\w-]+'s)"
_CLOSE = (
    r"(?:mum|mom|mother|dad|father|parents|sisters?|brothers?|sons?|daughters?|kids|children|boys|girls|twins|wife"
    r"|husband|partner|girlfriend|boyfriend|family|friends?|aunt|uncle|cousins?|nephews?|nieces?|gran|grandma|grandpa"
    r"|grandparents|team|boss|colleagues?|neighbou?rs?|flatmates?|roommates?|others|guys|cat|dog)"
)
_MEASURED = (  # nouns without an article that are measured up to a day
    r"(?:revenues?|sales|turnover|profits?|costs?|spending|expenses|income|losses|attendance|traffic|usage|consumption"
    r"|production|output|progress|inflation|rainfall|prices|rents?|temperatures?|figures|numbers|totals?|results|scores?)"
)
_NOBODY = rf"(?:an?|the|this|that|these|those|my|your|his|her|our|their|it|there|{_MEASURED})\b"
_ONE = rf"(?:{_OWNER} {_CLOSE}|you (?:all|guys|two)|(?!{_NOBODY})[\w-]+(?: (?-i:[A-Z])[\w-]+)?)"
_WHO = rf"{_ONE}(?: (?:and|or|&) {_ONE})?"
_BETWEEN = r"(?:(?:in|on|at|of|from|back|during|over|the|early|mid|late|start|beginning|middle|end) )"
_IS = r"(?:'s|'re| is| are| was| were)"
_DOING = late_pattern(
    rf"\b(?:what|whatever)\b(?:.{{1,60}} (?:been|be|get|gets|got|gotten|getting)"
    rf"|(?: else| exactly| all)?(?:{_IS} {_WHO}| {_WHO}{_IS})(?: (?:all|still|both))?) up to {_BETWEEN}*$"
    rf"|\bup to (?:in|on|at|during|over) {_BETWEEN}*$",
    re.IGNORECASE,
)
_LOOKED_AT = 120  # characters before the time


def is_doing(before: str) -> bool:
    """Whether the text before a time asks what people are doing, so that its "up to" does not limit the time.

    >>> [is_doing(one) for one in ("What has Ana been up to ", "what's my sister up to ", "what did we get up to in ")]
    [True, True, True]
    >>> [is_doing(one) for one in ("What did Ana do up to ", "What was the balance up to ", "What were sales up to ")]
    [False, False, False]
    """
    return _DOING.search(before[-_LOOKED_AT:]) is not None
