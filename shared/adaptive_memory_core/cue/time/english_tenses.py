"""English words that ask for the past, the beginning or the present without naming a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from adaptive_memory_core.cue.time.intent import Lean, in_ascii_letters, some_in, words_of

PAST_TENSE = re.compile(
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
    """The words that lean, and where to; none at places that are taken by dates.

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
    return re.compile("|".join(patterns), re.IGNORECASE)


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
_TOOL = re.compile(r"\b(?:is|are|was|were|be|been) (?:an? |the )?\w+ used to\b", re.IGNORECASE)  # what a thing is for
_NO_NOUN = (  # after "previously hated"; before a noun it says what kind of thing: "previously inferred memory"
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
    """Where some words point; a text without any of what it `needs`, in lower case, cannot hold them."""

    lean: Lean
    pattern: re.Pattern[str]
    needs: tuple[str, ...]


LEANS = (
    Leaning("earliest", EARLIEST, ("first", "original", "initial", "begin", "start", "outset", "earliest", "oldest")),
    Leaning(
        "past",
        PAST,
        ("use to", "used to", "back ", *words_of("past days former prev ago old prior ex- before"), "time"),
    ),
    Leaning(
        "present",
        PRESENT,
        (
            *words_of("now current present days late recent moment date newest still anymore longer ago"),
            *("any more", "last time", "as of", "of late"),
        ),
    ),
)
