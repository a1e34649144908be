"""How are months, years, seasons and days written in English? The regular expressions that dates are built from."""

from __future__ import annotations

import re

from adaptive_memory_core.cue.time.calendar import SEASONS, WEEKDAYS

MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
UNITS = (
    r"(?:words?|lines?|steps?|people|users?|dollars?|euros?|pounds?|bucks|usd|eur|km|miles?|met(?:er|re)s?|feet|hours?"
    r"|hrs?|minutes?|seconds?|bytes?|bits?|pixels?|px|calories|kcal|items?|rows?|records?|pieces?|characters?|tokens?"
    r"|points?|kg|grams?|volts?|watts?|copies|attempts?|requests?|iterations?|epochs?|votes?|members?|employees"
    r"|students?|pages?|days?|weeks?|months?|years?|times|degrees?|dpi|rpm|mah|guests|customers|followers|seats)"
)
YEAR = (
    r"(?P<year>(?:1[89]|20)\d\d)(?![\d%]|[.,:/]\d|:\s(?-i:[A-Z])|\s*[+*=<>]|-[a-z]|\s+"
    + UNITS
    + r"\b|\s+by\s+(?:(?:the\s+)?(?-i:[A-Z])"
    r"|(?!the\b|my\b|our\b|his\b|her\b|their\b|an?\b|us\b|me\b|them\b|him\b|you\b)\w+))"
)
LAST_YEAR = r"(?:of )?(?P<which>last|this|the previous) year(?:'s)?"
SHORT_YEAR = rf"(?:{YEAR}|'(?P<short>\d\d)\b|{LAST_YEAR}(?![\w-]))"
SEASON = rf"(?P<season>{'|'.join(SEASONS)})"
ORDINALS = (
    *"first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth".split(),  # noqa: SIM905
    *"fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),  # noqa: SIM905
    *(f"twenty-{one}" for one in "first second third fourth fifth sixth seventh eighth ninth".split()),  # noqa: SIM905
    *("thirtieth", "thirty-first"),
)
ORDINAL = r"(?P<day>\d{1,2})(?P<th>st|nd|rd|th)?"

_IN = (
    r"(?:in|during|throughout|since|until|till|up to|before|after|back in|around"
    r"|last|this past|past|early|mid|late|over)"
)
_PART = r"(?:start|beginning|middle|end|rest|most|half|all|month) of"
LEAD_MONTH = re.compile(rf"\b(?:{_IN}|{_PART}|in the month of)[ -](?:the )?$", re.IGNORECASE)
LEAD_YEAR = re.compile(rf"\b(?:{_IN}|{_PART}|by|from|circa|year)[ -](?:the year )?$", re.IGNORECASE)
LEAD_SEASON = re.compile(
    r"\b(?:in|during|throughout|since|before|after|until|over|back in|early|late) (?:the )?$", re.IGNORECASE
)
LEAD_DAY = re.compile(r"\b(?:on|since|until|till|before|after|by|from|of|dated|around) (?:the )?$", re.IGNORECASE)
LEAD_SHORT_DECADE = re.compile(r"\bthe (?:early |mid |late )?$", re.IGNORECASE)
OWNED = (  # of a person, whose name is that of a month
    r"(?:house|home|flat|apartment|room|bedroom|kitchen|garden|car|office|life|family|opinion|name|phone|bag|school|class)\b"
)
NTH = r"(?P<nth>first|second|third|fourth|last|[1-4](?:st|nd|rd|th))"
END = r"(?P<{}>(?:(?!\b(?:and|to|until|till|through)\b)[\w',./ ]){{1,24}}?)"
ANY_MONTH = re.sub(r"\?P<month>", "?:", MONTH)
FULL_YEAR = r"(?:19|20)\d\d"
DATE = (
    rf"(?:{FULL_YEAR}-\d\d-\d\d|{ANY_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? {FULL_YEAR})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {ANY_MONTH}(?:,? {FULL_YEAR})?)"
)
DAYS = rf"(?P<anchor>(?:the )?day before yesterday|yesterday|today|last (?:{'|'.join(WEEKDAYS)})|{DATE})"
WORD = rf"(?P<word>{'|'.join(sorted(ORDINALS, key=len, reverse=True))})"
PART_BEFORE = r"(?<=-)(?:(?<=\bearly-)|(?<=\bmid-)|(?<=\blate-))"
