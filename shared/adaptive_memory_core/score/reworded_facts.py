"""Facts that changed and were worded differently, found with a short English lexicon of what people say about
themselves and their projects.

It is optional (`Advanced(reworded_facts=False)`): without it, changes in the same words are still found
(`score/newest_first.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.cue.question_kinds import EDGES
from adaptive_memory_core.late import late_pattern

LONGEST = 240  # characters of a text that is compared; a longer text contains more than one statement
_LEXICON = {  # the words that ask for a relation, and the words that state it
    "address": r"address|new place",
    "bank account": r"bank|account",
    "boss manager report": r"manager|boss|reports? to|supervisor",
    "car cars drive": r"cars?|drives? an?|vehicle|gets around|van|truck",
    "cost costs price pay rent fee": r"costs?|price|billed|pays?|fee|rent|charged?",
    "database": r"database|db|persistence|rows|data ?store|migrated to",
    "deadline due launch": r"deadline|launch|due|hand in|postponed|put off|delayed|rescheduled|moved to",
    "dentist": r"dentist|dental|teeth|tooth|fillings?",
    "diet eat": r"eats?|food|meals?|diet|vegan|vegetarian|(?:gone|become) \w+\W*$",
    "doctor": r"doctor|physician|gp|therapist",
    "drink": r"drinks?|tea|coffee|likes \w+ (?:\w+ )?best|prefers?|orders",
    "email": r"e-?mail",
    "instrument": r"instrument|plays?|taken up|learning the|practi[sc]es",
    "live lives home": r"lives?|living|moved (?:to|into|back)|settled|relocated|new home|home is|flat|apartment",
    "office headquarters": r"offices?|headquarters|premises|relocated",
    "own owns owner charge": r"owns?|owned|owner|belongs to|handed over|taken over|took over|responsible|in charge",
    "partner married dating single": r"partner|husband|wife|spouse|single|dating|engaged|married|divorced|broke up",
    "pet": r"pets?|cat|dog|puppy|kitten|adopted|animal shelter|keeps \w+ company",
    "phone number": r"phone|new number|call|reached at",
    "plan subscription provider": r"provider|subscription|subscribed|plan|signed up",
    "school": r"schools?|pupil|enrolled|universit\w+|college|transferred|attends?",
    "server servers hosted": r"servers?|hosted|hosting|deployed",
    "sport": r"sports?|trains? for|training for|switched to|club",
    "version": r"version|upgraded|downgraded|bumped|rolled back",
    "work works job employer": r"works?|working|jobs?|hired|employ\w+|position|career|profession|(?:became|become) an?",
}
_IGNORED = frozenset(
    [
        "much",
        "many",
        "kind",
        "type",
        "new",
        "current",
        "currently",
        "now",
        "favourite",
        "use",
        "go",
        "play",
        "attend",
        "follow",
    ]
)
_ASKED = {word: pattern for listed, pattern in _LEXICON.items() for word in listed.split()}
_CHANGED = late_pattern(
    r"\b(?:now|new|instead|(?:no|any) longer|any ?more|these days|nowadays|currently|lately|from now on|since|last week"
    r"|(?:has|have) (?!an?\b|the\b|no\b)\w+|(?:was|were|got) \w+ed|became|took over|have to"
    r"|(?:moved|switched|changed|postponed|transferred|migrated|replaced|started|joined|hired|traded|sold|bought) )"
    r"|adopted "
    r"|\w['\u2019]ve\b",
    re.IGNORECASE,
)
_NOT_SO = late_pattern(
    r"\b(?:(?-i:may)|might|maybe|perhaps|could|would|should|wants?|wish\w*|hopes?|plans to|planning"
    r"|thinks? (?:of|about)|consider\w*|if|applied|used to|never|not|going to)\b"
    r"|n['\u2019]t\b|\?\W*$|[\"\u201c\u201d\u00ab\u00bb]",
    re.IGNORECASE,
)
_OF_ANOTHER = late_pattern(
    r"^(?:\w+ )?(?:\w+['\u2019]s|my|our|your|his|her|their) (?:new |old )?(\w+)(?= (?!is\b|are\b))", re.IGNORECASE
)
_FIRST_PERSON = late_pattern(r"\b(?:i|my|mine|we|our|me|us)\b", re.IGNORECASE)


def says_otherwise_now(old: str, new: str, cue: str) -> bool:
    """Whether the newer of two texts replaces the older one's answer to the cue.

    >>> def changed(new, old="Ilse lives in Oslo.", cue="where does Ilse live?"):
    ...     return says_otherwise_now(old, new, cue)
    >>> changed("Ilse has moved to Turin."), changed("Ilse has a new boss."), changed("Ilse might move to Turin.")
    (True, False, False)
    >>> changed("Ilse's brother has moved to Turin."), changed("Colm has moved to Turin.")
    (False, False)
    >>> changed("I have started a new job at Globex.", "I work at Acme.", "where do I work?")
    True
    """
    about = asked_for(cue)
    if not about or max(len(old), len(new)) > LONGEST or not any(one.search(old) for one in about):
        return False
    if _CHANGED.search(new) is None or _NOT_SO.search(new) is not None:
        return False
    return all(one.search(new) for one in about) and about_the_same(new, cue)


def reworded_versions(
    texts: Sequence[str], times: Sequence[float | None], cue: str, group: Sequence[int], *, best: int
) -> Iterator[int]:
    """The numbers of reworded newer versions of the first text, newer than all of its `group` in the same words; and of
    older versions among the best texts, if the first one is the reworded one."""
    latest = max(times[one] or 0.0 for one in group)
    for number, time in enumerate(times):
        if number and (time or 0.0) > latest and says_otherwise_now(texts[0], texts[number], cue):
            yield number
        elif number >= best or number in group or (time or 0.0) >= (times[0] or 0.0):
            continue
        elif about_the_same(texts[number], cue) and says_otherwise_now(texts[number], texts[0], cue):
            yield number


@lru_cache(maxsize=512)
def asked_for(cue: str) -> tuple[re.Pattern[str], ...]:
    """Patterns for the relations that a cue asks for; empty if the lexicon has none of them.

    >>> len(asked_for("where does Ilse work?")), asked_for("who founded Acme?")
    (1, ())
    """
    found = {_ASKED[word] for word in words_in(cue) if word in _ASKED}
    return tuple(re.compile(rf"\b(?:{one})(?!\w)", re.IGNORECASE) for one in sorted(found))


def words_in(cue: str) -> list[str]:
    return [word.strip(EDGES) for word in cue.lower().split()]


def about_the_same(text: str, cue: str) -> bool:
    """Whether a text is about the subject of the cue, and not about a relative, as in "Ilse's brother has moved".

    >>> about_the_same("Ilse lives in Oslo.", "where does Ilse live?"), about_the_same("Colm lives.", "and Ilse?")
    (True, False)
    """
    other = _OF_ANOTHER.search(text)
    if (
        other is not None
        and other[1].lower() not in words_in(cue)
        and not any(one.search(other[1]) for one in asked_for(cue))
    ):
        return False
    rest = (word for word in words_in(cue) if word not in _ASKED and word not in _IGNORED)
    subject = frozenset(words(" ".join(rest)))
    if subject:
        return subject <= frozenset(words(text))
    return _FIRST_PERSON.search(cue) is not None and _FIRST_PERSON.search(text) is not None
