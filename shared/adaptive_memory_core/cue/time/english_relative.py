"""English words for times relative to now, words that lean to the past or present, and the past tense."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from adaptive_memory_core.cue.time import calendar
from adaptive_memory_core.cue.time.calendar import SEASONS, WEEKDAYS, Span
from adaptive_memory_core.cue.time.intent import Lean, in_ascii_letters, some_in, split_words
from adaptive_memory_core.late import late_pattern

PAST_TENSE = late_pattern(
    r"\b(?:did|didn't|was|wasn't|were|weren't|had|lived|worked|used to|went|said|told|owned|drove|ate|kept"
    r"|paid|met|studied|played|wore|called|wanted|planned|decided|chose)\b",
    re.IGNORECASE,
)
_MADE = (
    r"(?:plan|idea|estimate|budget|design|decision|proposal|agreement|deadline|date|scope|goal|reason|name|title|quote"
    r"|price|version|intention|diagnosis|concept|schedule|requirements?|motivation|offer)"
)
_OWNED = (
    r"(?:address|apartment|flat|house|home|job|role|phone|number|email|boss|manager|employer|company|password|car|school"
    r"|team|neighbou?rhood|city|office|laptop|doctor|dentist|landlord|roommate|salary|diet|routine|gym|pet|plan|name"
    r"|therapist|coach|provider|insurer|bank|partner|owner)"
)


def leaning(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[Lean, str]]:
    """Yield the words that lean in a direction of time, except within dates, whose positions are `taken`.

    >>> list(leaning("where did we live before the move?", []))
    [('past', 'before the')]
    >>> list(leaning("what should I pack before the trip?", []))
    []
    """
    lower = in_ascii_letters(text).lower()
    for lean, pattern, needs in LEANS:
        for match in pattern.finditer(text) if some_in(lower, needs) else ():
            if any(match.start() < end and begin < match.end() for begin, end in taken):
                continue
            if match[0].lower().startswith("before") and PAST_TENSE.search(text) is None:
                continue
            if match[0].lower() == "used to " and _TOOL.search(text) is not None:
                continue
            yield lean, match[0]


def _any_of(*patterns: str) -> re.Pattern[str]:
    return late_pattern("|".join(patterns), re.IGNORECASE)


EARLIEST = _any_of(
    r"\b(?:originally|initially)\b",
    rf"\boriginal {_MADE}\b",
    rf"\binitial {_MADE}\b",
    r"\bat first\b(?! (?:glance|sight|light|base|hand))",
    r"\b(?:did|do|was|were|have|had|has) (?:(?!the )\w+ ){1,3}first"
    r" (?!name|class|aid|floor|of all|person|choice|thing in|place|half|and|to |in |the )(?-i:[a-z])\w+",
    r"\b(?:did|was|were) (?:[\w'\u2019]+ ){1,4}first\W*$",
    r"\b(?:did|was|were) (?:[\w'\u2019]+ ){0,3}?(?:my|our|his|her|their|[\w]+['\u2019]s) (?:very )?first"
    r" (?:address|apartment|flat|house|home|job|role|boss|manager|employer|car|school|doctor|dentist|landlord|pet)\b",
    r"\b(?:was|were|is|are) the first thing",
    r"\bfirst (?:time|mention(?:ed)?|met|conversation|session|chat|impression|attempt|heard|started|began|talked"
    r"|spoke)\b",
    r"\b(?:very first|first ever|earliest|oldest) (?:note|memory|memories|record|message|entry"
    r"|conversation|thing|mention)",
    r"\b(?:in|at) the (?:very )?(?:beginning|start|outset)\b"
    r"(?! of (?:the|a|each|every) (?:line|file|string|list|word|row|page|sentence|array))",
    r"\bto begin with\b",
)
_NOT_BEING = (
    "".join(
        rf"(?<!\b{being} )"
        for being in ("am", "is", "are", "was", "were", "be", "been", "get", "got", "getting", "become")
    )
    + r"(?<!'m )(?<!'s )(?<!'re )"
)
_TOOL = late_pattern(
    r"\b(?:is|are|was|were|be|been) (?:an? |the )?\w+ used to\b", re.IGNORECASE
)  # the purpose of a thing
_NO_NOUN = (  # after "previously hated"; before a noun it is an adjective: "previously inferred memory"
    r"(?:to|in|on|at|for|with|by|as|from|of|about|that|this|these|those|the|an?|my|our|your|his|her|their|its|it|me|us"
    r"|you|him|them|there|here|and|or|but|so|because|when|where|what|who|how|if)\b"
)
PAST = _any_of(
    r"(?<!\w)(?:i|we|you|he|she|it|they|that|who) (?:always |often )?used to (?=[a-z])",
    rf"{_NOT_BEING}\bused to (?=[a-z])",
    r"\b(?:did|didn't) (?:\w+ ){1,3}used? to (?=[a-z])",
    r"\bback (?:then|in the day|when)\b",
    r"\bin the (?:distant |recent )?past\b",
    r"\b(?:in|during) (?:the old|those) days\b",
    r"\bformerly\b",
    rf"\bpreviously\b(?! \w+ed (?!{_NO_NOUN})[a-z])",
    r"\ba (?:long )?(?:while|time) (?:ago|back)\b",
    r"\b(?:some|long|quite some) (?:time )?ago\b|\bages ago\b",
    rf"\b(?:my|our|his|her|their|\w+'s) (?:old|former|previous|prior|ex-)\s?{_OWNED}\b",
    rf"\b(?:former|previous) {_OWNED}\b",
    r"\bbefore (?!i forget)(?:the|my|our|his|her|their|this|that|i|we|he|she|they|it|moving|getting|switching"
    r"|joining|becoming|quitting|covid|having)\b",
    r"\bat (?:the|that) time\b(?! of (?:writing|day))|\bonce upon a time\b",
)
PRESENT = _any_of(
    r"\bcurrently\b|\bpresently\b|\bnowadays\b|\bthese days\b|\blately\b|\brecently\b",
    r"\bright now\b|\bas of (?:now|today|late)\b|\bat the moment\b|\bat present\b|\bof late\b"
    r"|\bto date\b(?! (?:someone|him|her))",
    r"(?<!\buntil )(?<!\btill )(?<!\bup to )(?<!\bby )(?<!\bfrom )(?<!\band )(?<!\bapocalypse )(?<!^)(?<![.!?] )"
    r"(?<![.:_])\bnow\b(?!\(| that\b| and then| and again|,| what\b|how| i have\b| known\b|playing)",
    r"\b(?:latest|newest|most recent(?:ly)?|most up-to-date|up[- ]to[- ]date) (?!possible)\w+|\bmost recent(?:ly)?\b",
    r"(?<!electric )(?<!alternating )(?<!direct )(?<!ocean )\b(?:my|our|his|her|their|the|your|\w+'s) current "
    r"(?!of\b|through|flows?\b|flowing|in\b|is\b|was\b|draw|directory|folder|working|limit|sensor"
    r"|drops?\b|to\b|at\b|and\b)\w+",
    r"\b(?:is|are|what's) current (?!of\b|in\b)\w+",
    r"\b(?:do|does|is|are|am|have|has|'s|'re)\b (?:\w+ ){0,3}still (?!water|image|life|frame|waters|images)\w+",
    r"\b(?:any ?more|any longer|no longer)\b",
    r"\b(?:the )?last time\b",
    r"\bjust now\b|\ba (?:moment|minute|second|sec) ago\b",
)


class Leaning(NamedTuple):
    """Words that lean in one direction. They cannot be in a text that, in lower case, contains none of `needs`."""

    lean: Lean
    pattern: re.Pattern[str]
    needs: tuple[str, ...]


LEANS = (
    Leaning("earliest", EARLIEST, ("first", "original", "initial", "begin", "start", "outset", "earliest", "oldest")),
    Leaning(
        "past",
        PAST,
        ("use to", "used to", "back ", *split_words("past days former prev ago old prior ex- before"), "time"),
    ),
    Leaning(
        "present",
        PRESENT,
        (
            *split_words("now current present days late recent moment date newest still anymore longer ago"),
            *("any more", "last time", "as of", "of late"),
        ),
    ),
)


NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
NUMBERS |= {"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "a dozen": 12}
VAGUE = {"couple": (1.5, 3.0), "few": (2.0, 5.0), "several": (3.0, 8.0)}  # of units: from, to; guesses
UNIT_DAYS = {
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "night": 1.0,
    "week": 7.0,
    "fortnight": 14.0,
    "month": 30.44,
    "quarter": 91.3,
    "year": 365.25,
    "decade": 3652.5,
}
_WORDS = "|".join(sorted(NUMBERS, key=len, reverse=True))
COUNT = rf"(?P<count>\d{{1,3}}|(?:a )?(?:couple(?: of)?|few)|half an?|several|{_WORDS})"
UNIT = r"(?P<unit>minute|hour|day|night|week|fortnight|month|year|decade)s?"


def counted(match: re.Match[str]) -> tuple[float, float]:
    """The number of units: the least and the most.

    >>> counted(re.match(COUNT, "a few"))
    (2.0, 5.0)
    """
    word = match["count"].lower()
    for vague, range_ in VAGUE.items():
        if vague in word:
            return range_
    number = 0.5 if word.startswith("half") else float(word) if word.isdigit() else float(NUMBERS[word])
    return number, number


Resolve = Callable[[re.Match[str], datetime], list[Span]]


class RelativeRule(NamedTuple):
    """One way to name a time. It cannot be in a text that, in lower case, contains none of `needs`."""

    pattern: re.Pattern[str]
    resolve: Resolve
    needs: tuple[str, ...]
    weak: bool


NEARBY_CHARACTERS = 200  # on either side of a phrase, in which a past tense is looked for


def _ago(match: re.Match[str], today: datetime) -> list[Span]:
    """A number of units ago, with half a unit on either side; a number of days is one whole day."""
    unit = match["unit"].lower()
    low, high = counted(match)
    size, about = UNIT_DAYS[unit], (match["about"] or "").lower().strip()
    if unit in ("day", "night") and low == high and not about:
        return whole_days(today, -int(low))
    if about in ("more than", "over", "at least"):
        return calendar.stretch(today, None, -low * size)
    if about in ("less than", "under", "within"):
        return calendar.stretch(today, -high * size, None)
    either = min(0.5, low / 2) * size
    return calendar.stretch(today, -high * size - either, -low * size + either)


def _rolling(match: re.Match[str], today: datetime) -> list[Span]:
    """The last units up to now, such as "the last three weeks"."""
    count = counted(match)[1] if match.groupdict().get("count") else 1.0
    return calendar.stretch(today, -count * UNIT_DAYS[match["unit"].lower()], None)


def whole_days(today: datetime, first: int, count: int = 1) -> list[Span]:
    return [Span(calendar.midnight(today, first), calendar.midnight(today, first + count))]


def _last_night(_match: re.Match[str], today: datetime) -> list[Span]:
    evening = calendar.midnight(today, -1) + timedelta(hours=17)
    return [Span(evening, evening + timedelta(hours=13))]


def _unit(match: re.Match[str], today: datetime) -> list[Span]:
    """The last unit, this unit, or the one before the last."""
    word = match["which"].lower()
    back = 2 if "before" in match.groupdict() and match["before"] else 0 if word in ("this", "the current") else 1
    return [calendar.current(match["unit"].lower(), today, back)]


def _season(match: re.Match[str], today: datetime) -> list[Span]:
    over = match["which"].lower() != "this"
    return [calendar.latest_season(match["season"].lower(), today, over=over)]


def _weekday(match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.latest_weekday(match["weekday"].lower(), today)]


def _other_day(_match: re.Match[str], today: datetime) -> list[Span]:
    return [calendar.blurred(span, today) for span in whole_days(today, -10, 10)]


def _long_ago(match: re.Match[str], today: datetime) -> list[Span]:
    """An unknown number of units ago, such as "years ago": at least one and a half."""
    return calendar.stretch(today, None, -1.5 * UNIT_DAYS[match["unit"].lower()])


def _a_year_back(_match: re.Match[str], today: datetime) -> list[Span]:
    return calendar.stretch(today, -365 - 21, -365 + 21)


def _today_back(match: re.Match[str], today: datetime) -> list[Span]:
    """ "One year ago today" is exactly that day."""
    low, high = counted(match)
    if low != high or low < 1:
        return []
    if match["unit"].lower() == "year":
        span = calendar.day(today.year - int(low), today.month, today.day, today)
        return [span] if span else []
    return whole_days(today, -int(low * UNIT_DAYS[match["unit"].lower()]))


def _weekdays_ago(match: re.Match[str], today: datetime) -> list[Span]:
    low, high = counted(match)
    last = calendar.latest_weekday(match["weekday"].lower(), today)
    if low != high or low < 1 or last.start is None:
        return []
    return whole_days(last.start, -7 * (int(low) - 1))


def _weekend(match: re.Match[str], today: datetime) -> list[Span]:
    """ "Over the weekend", alone or in a text about the past: the latest one that has begun.

    >>> texts = ("over the weekend", "who's been ill over the weekend?", "is it open on the weekend?")
    >>> [str(span.start.date()) for text in texts
    ...  for span in _weekend(re.search(r"o\\w+ the weekend", text), datetime(2023, 5, 12))]
    ['2023-05-06', '2023-05-06']
    """
    around = match.string[max(0, match.start() - NEARBY_CHARACTERS) : match.end() + NEARBY_CHARACTERS]
    alone = around.strip(" ?.!").lower() == match[0].lower()
    if not (alone or PAST_TENSE.search(around) or _ENDS_IN_ED.search(around)):
        return []
    return [calendar.current("weekend", today, int(today.weekday() < 5))]


def _christmas(match: re.Match[str], today: datetime) -> list[Span]:
    """A feast with a fixed date, including the day before and the day after."""
    days = {"chr": (12, 25), "hal": (10, 31), "new": (1, 1), "val": (2, 14)}
    found = calendar.latest_day(*days[match["feast"][:3].lower()], today)
    if found is None or found.start is None or found.end is None:
        return []
    return [Span(found.start - timedelta(days=1), found.end + timedelta(days=1))]


def rule(pattern: str, resolve: Resolve, *needs: str, weak: bool = False) -> RelativeRule:
    return RelativeRule(late_pattern(rf"(?<![\w-]){pattern}(?![\w-])", re.I), resolve, needs, weak)


_ABOUT = r"(?:(?P<about>more than|over|at least|less than|under|about|around|roughly|some|almost|nearly|within) )?"
_ENDS_IN_ED = late_pattern(r"\b(?:(?!need)\w{2,}ed|been|done|gone)\b", re.I)
PERIOD = r"(?P<unit>week|weekend|month|quarter|year|decade)"
_NOT_A_TITLE = r"(?! (?:by|of) (?:the )?(?-i:[A-Z]))"
RELATIVE = [
    rule(rf"{COUNT} (?P<unit>day|week|fortnight|year)s? ago today", _today_back, "ago"),
    rule(r"(?:the )?day before yesterday", lambda _, today: whole_days(today, -2), "yesterday"),
    rule(rf"yesterday(?:'s)?{_NOT_A_TITLE}", lambda _, today: whole_days(today, -1), "yesterday"),
    rule(r"last night(?:'s)?", _last_night, "last night"),
    rule(
        r"(?:earlier today|this (?:morning|afternoon|evening))", lambda _, today: whole_days(today, 0), "today", "this"
    ),
    rule(r"(?<!as of )today(?:'s)?", lambda _, today: whole_days(today, 0), "today", weak=True),
    rule(r"this time last year", _a_year_back, "this time"),
    rule(rf"(?P<which>the) {PERIOD} (?P<before>before last)", _unit, "before last"),
    rule(rf"{COUNT} (?P<weekday>{'|'.join(WEEKDAYS)})s ago", _weekdays_ago, "ago"),
    rule(rf"{_ABOUT}{COUNT} {UNIT} (?:ago|back|earlier)", _ago, "ago", "back", "earlier"),
    rule(r"fortnight ago", lambda _, today: calendar.stretch(today, -21, -7), "ago"),
    rule(rf"(?<!how )(?<!how many )(?:many )?{UNIT}(?<=s) ago", _long_ago, "ago"),
    rule(r"(?:over|on|at|during) the weekend(?! of)", _weekend, "weekend", weak=True),
    rule(rf"(?:(?:the|these) )?(?:last|past|previous) {COUNT} {UNIT}(?! of)", _rolling, "last", "past", "previous"),
    rule(
        r"(?:the past|the last|within the|this past) (?P<unit>hour|week|month|year|decade)(?! of)",
        _rolling,
        "past",
        "last",
        "within",
    ),
    rule(
        rf"(?P<which>last|previous|this past|the previous) {PERIOD}(?:'s)?(?! of (?!the same))",
        _unit,
        "last",
        "previous",
        "past",
    ),
    rule(
        r"(?:earlier )?(?P<which>this) (?P<unit>week|weekend|month|quarter|year|decade)(?:'s)?",
        _unit,
        "this",
        weak=True,
    ),
    rule(
        rf"(?P<which>last|this past|this|the previous) (?P<season>{'|'.join(SEASONS)})",
        _season,
        "last",
        "this",
        "previous",
    ),
    rule(rf"(?:last|this past|the previous) (?P<weekday>{'|'.join(WEEKDAYS)})", _weekday, "last", "this", "previous"),
    rule(r"the other (?:day|night|week)", _other_day, "the other"),
    rule(
        r"(?:last|this past|over|at|around|since|during|before|after)"
        r" (?P<feast>christmas|halloween|new year'?s?|valentine'?s)(?: (?:day|eve))?",
        _christmas,
        "christmas",
        "halloween",
        "new year",
        "valentine",
    ),
]
