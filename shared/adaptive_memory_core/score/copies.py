"""Texts with the same content: copies, reworded facts, and members of a set.

Reworded facts are found with a short English lexicon of what people say about themselves and their projects. It is
optional (`Advanced(reworded_facts=False)`): without it, changes in the same words are still found
(`score/same_statement.py`).

Statements about a set are usually far apart, so each further candidate of a session that is shown counts less.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

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


class Member(NamedTuple):
    """A candidate's score and session (None without a session)."""

    score: float
    session: str | None


def members(among: Sequence[Member], shown: int, most: int, *, cover: float) -> list[int]:
    """The numbers of at most `most` more candidates, best first; the first `shown` are already shown. A candidate
    counts by its score above the lowest one, divided by `1 + cover * others` for the others of its session.

    >>> among = [Member(0.9, "a"), Member(0.8, "a"), Member(0.79, "b"), Member(0.5, "b"), Member(0.1, "c")]
    >>> members(among, 1, 3, cover=0.1), members(among, 1, 3, cover=0.0), members(among, 5, 3, cover=0.1)
    ([2, 1, 3], [1, 2, 3], [])
    """
    low = min((one.score for one in among), default=0.0)
    seen: Counter[str] = Counter(one.session for one in among[:shown] if one.session is not None)
    left, chosen = list(range(shown, len(among))), list[int]()

    def worth(number: int) -> tuple[float, int]:
        score, session = among[number]
        others = 0 if session is None else seen[session]
        return (score - low) / (1.0 + cover * others), -number

    while left and len(chosen) < most:
        best = max(left, key=worth)
        left.remove(best)
        chosen.append(best)
        session = among[best].session
        if session is not None:
            seen[session] += 1
    return chosen


RUN = 3  # length in words of the runs by which texts are compared
REMEMBERED = 1_000  # characters of the longest text whose shape is cached
_EDGES = " .,;:!?\"'`()[]{}\u2019\u201c\u201d\u2026"
_TELLING = late_pattern(r"\d|n[\u2019']t\b|^(?:no|not|never|none|nor|without|cannot)$")


class Shape(NamedTuple):
    """A text's runs of words, and its numbers and negations, which would make a different statement."""

    runs: frozenset[tuple[str, ...]]
    telling: frozenset[str]


def plain_words(text: str) -> str:
    """The text in lower case with single spaces, without a full stop at the end.

    >>> plain_words("Bob  likes TEA."), plain_words("Bob likes tea?")
    ('bob likes tea', 'bob likes tea?')
    """
    return " ".join(text.casefold().split()).rstrip(".! ")


def overlap(one: str, other: str) -> float:
    """The share of runs of words that two texts have in common; 0 if a number or a negation differs.

    >>> overlap("The big office in Berlin moved.", "the big office in Berlin moved"), overlap("tea", "coffee")
    (1.0, 0.0)
    >>> overlap("one two three four five", "one two three four six")
    0.5
    >>> overlap("He will never take the job in Oslo", "He will take the job in Oslo"), overlap("v 1", "v 2")
    (0.0, 0.0)
    """
    first, second = _shape(one), _shape(other)
    if first.telling != second.telling or not first.runs or not second.runs:
        return 0.0
    shared = len(first.runs & second.runs)
    return shared / max(1, len(first.runs) + len(second.runs) - shared)


def leaders(texts: Sequence[str], share: float) -> list[int]:
    """For each text, the number of the first text with the same content, or its own number.

    A text without words is not the same as any other. With a `share` of 1, the words must be the same. Below 1, texts
    that begin or end with the same words must have at least this share of their runs of words in common.

    >>> leaders(["Tea.", "coffee", "tea", "", ""], 1.0)
    [0, 1, 0, 3, 4]
    """
    short = max(map(len, texts), default=0) <= REMEMBERED
    words = list(map(_plain_of_short, texts)) if short else _plain_where_needed(texts)
    found = list(range(len(words)))
    if len(set(words)) < len(words):
        first: dict[str, int] = {}
        found = [first.setdefault(one, number) if one else number for number, one in enumerate(words)]
    return found if share >= 1.0 else _nearly(texts, found, share)


@lru_cache(maxsize=2_000)  # at most 1 kB each; the texts themselves are in RAM anyway
def _plain_of_short(text: str) -> str:
    return plain_words(text)


def _plain_where_needed(texts: Sequence[str]) -> list[str]:
    """The plain words of each text; for a text with a unique beginning, only the beginning, which suffices."""
    begun = [_edges(text)[0] for text in texts]
    often = Counter(begun)
    return [plain_words(text) if often[start] > 1 else start for text, start in zip(texts, begun, strict=True)]


def _nearly(texts: Sequence[str], same: Sequence[int], share: float) -> list[int]:
    begun: dict[str, list[int]] = {}
    ended: dict[str, list[int]] = {}
    found: list[int] = []
    for number, text in enumerate(texts):
        leader = found[same[number]] if same[number] < number else number
        if leader == number and text:
            begin, end = _edges(text)
            alike, others = begun.setdefault(begin, []), ended.setdefault(end, [])
            leader = next((one for one in (*alike, *others) if overlap(text, texts[one]) >= share), number)
            if leader == number:
                alike.append(number)
                others.append(number)
        found.append(leader)
    return found


def _edges(text: str) -> tuple[str, str]:
    """The first two words and the last two; cached for short texts."""
    return _edges_of_short(text) if len(text) <= REMEMBERED else _edges_of(text)


@lru_cache(maxsize=2_000)  # at most 1 kB each; the texts themselves are in RAM anyway
def _edges_of_short(text: str) -> tuple[str, str]:
    return _edges_of(text)


def _edges_of(text: str) -> tuple[str, str]:
    return _edge(text.split(None, 2)[:2]), _edge(text.rsplit(None, 2)[-2:])


def _edge(words: Sequence[str]) -> str:
    return " ".join(words).casefold().rstrip(".! ")


def _shape(text: str) -> Shape:
    return _shape_of_short(text) if len(text) <= REMEMBERED else _shape_of(text)


@lru_cache(maxsize=500)  # at most 50 kB each; 3 kB for a usual turn
def _shape_of_short(text: str) -> Shape:
    return _shape_of(text)


def _shape_of(text: str) -> Shape:
    words = tuple(word for one in text.casefold().split() if (word := one.strip(_EDGES)))
    runs = (words[start : start + RUN] for start in range(max(1, len(words) - RUN + 1)) if words)
    return Shape(frozenset(runs), frozenset(word for word in words if _TELLING.search(word)))
