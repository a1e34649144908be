"""What stands before the point of a sentence: since when it holds, or that something has changed?

"As of May the plan costs 25" and "They changed the venue: the party is in Rome" are compared with older texts from
"the plan" and from "the party" on.
"""

from __future__ import annotations

import re

from adaptive_memory_core.score.facts.unsettled import announces, happened

_MONTH = r"(?:jan|febr?|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)days?"
_DATE = rf"(?:early |mid-?|late )?(?:\d{{1,2}} )?{_MONTH}(?: \d{{1,4}})?(?:,? \d{{4}})?"
_TIME = rf"(?:now on|today|tomorrow|yesterday|(?:last|this) \w+|{_DATE}|{_DAY}|the \d{{1,2}}(?:st|nd|rd|th)|\d{{4}})"
_SINCE_WHEN = re.compile(
    rf"(?:as (?:of|from)|from|since|starting(?: from| in| on)?|effective)\s{_TIME}(?: on(?:wards)?)?,?\s(?=\w+\s+\w)",
    re.IGNORECASE,
)
_LONGEST = 60  # characters of what says that something has changed, before a comma or a colon
_CHANGE = re.compile(
    rf"([^,:;.?!]{{3,{_LONGEST}}})[,:;]\s(?:so\s|and\s)?"
    r"(?=(?:the|my|our|his|her|their|its?|it's|we|i|i'm|you|your|he|she|they)\s)",
    re.IGNORECASE,
)


def without_opening(text: str) -> str:
    """
    >>> without_opening("As of May the plan costs 25."), without_opening("They changed it: the party is in Rome.")
    ('the plan costs 25.', 'the party is in Rome.')
    >>> without_opening("Since Oslo is cold, we left."), without_opening("At work, the password is tulip.")
    ('Since Oslo is cold, we left.', 'At work, the password is tulip.')
    """
    found = _SINCE_WHEN.match(text)
    if found is None:
        found = _CHANGE.match(text)
        if found is None or not (announces(found[1]) or happened(found[1].lower().split())):
            return text
    return text[found.end() :]
