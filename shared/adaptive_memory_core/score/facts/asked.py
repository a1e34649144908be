"""What is a cue about: which words, names, owners and verb does it have?"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from adaptive_memory_core.channels.words.unspaced import UNSPACED
from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.score.facts.names import names_in
from adaptive_memory_core.score.facts.possessors import asked_of
from adaptive_memory_core.score.facts.relations import relations_in
from adaptive_memory_core.score.facts.statement import Stems, owners_in, statement
from adaptive_memory_core.score.facts.unsettled import VERBS

FIRST_PERSON = frozenset("i my me we our us i'm i've ich mein meine je mon ma mi yo 我 私".split())
_DETERMINERS = frozenset("the a an my our your his her their this that".split())
_MEASURES = frozenset(
    "much many long old tall big far high time often kind type sort new current now currently".split()
)
_QUESTION = VERBS | frozenset("who what where when which how why whom whose what's who's where's did does".split())
_PLACES = frozenset(("office", "school", "server"))  # relations that tell where something is
_AFTER_DO = re.compile(r"\b(?:do|does|did)\b(.*)", re.IGNORECASE | re.DOTALL)
_PREPOSITION = re.compile(r"\s(?:on|in|at|to|for|with|by|from|as|when|if)\b", re.IGNORECASE)


class Asked(NamedTuple):
    """What a cue is about. All words are stems but for `said` and `said_owners`."""

    stems: Stems
    names: Stems
    owners: Stems
    said: Stems
    said_owners: Stems
    verbs: Stems
    relations: frozenset[str]
    subject: Stems  # what a text must hold to be about the same: the names, else what is neither verb nor relation
    first_person: bool
    predicate: Stems = frozenset()  # of "is the pool open?", which is answered by "closed" as well
    of_whom: tuple[Stems, ...] = ()  # of "where does Ana's mother live?" the mother: an answer holds one word of each
    bare_words: bool = False  # as in "Ana guitar"


@lru_cache(maxsize=512)
def asked(cue: str) -> Asked:
    """
    >>> about = asked("Who is Ilse's dentist?")
    >>> sorted(about.stems), sorted(about.names), sorted(about.said_owners), sorted(about.relations)
    (['dentist', 'ils'], ['ils'], ["ilse's"], ['teeth'])
    >>> about = asked("Which database does the billing service use?")
    >>> sorted(about.verbs), sorted(about.subject), asked("who is my dentist?").first_person
    (['us'], ['bill', 'servic'], True)
    >>> sorted(asked("Which OS version does the build box run?").subject)
    ['box', 'build']
    """
    said = statement(cue).in_order
    owners = frozenset(one for one in said if one.endswith(("'s", "\u2019s")))
    names, verbs, relations = names_in(cue), _verbs(cue, said), relations_in(said)
    return Asked(
        frozenset(words(cue)),
        names,
        owners_in(cue),
        frozenset(said),
        owners,
        verbs,
        relations,
        names - frozenset(words(" ".join(said[1 : _kind_asked_for(said)]))) or _subject(said, verbs, relations),
        not FIRST_PERSON.isdisjoint(said),
        frozenset(words(said[-1])) if len(said) > 2 and said[0] in ("is", "are", "am") else frozenset(),
        _of_whom(said),
        not cue.rstrip().endswith(("?", "\uff1f")) and _QUESTION.isdisjoint(said),
    )


def _of_whom(said: tuple[str, ...]) -> tuple[Stems, ...]:
    """What has to be named again; who asks where an office is may be told that the firm has moved."""
    found = asked_of(said)
    if said[:1] == ("where",):
        found = tuple(one for one in found if _PLACES.isdisjoint(relations_in(sorted(one))))
    return tuple(stems for one in found if (stems := frozenset(words(" ".join(one)))))


def _verbs(cue: str, said: tuple[str, ...]) -> Stems:
    """The last word before the first preposition after "do"; where no verb is known, the words after the first."""
    found = _AFTER_DO.search(cue)
    if found:
        before, *_ = _PREPOSITION.split(found[1], maxsplit=1)
        one = [word for word in before.split() if word.casefold() not in _DETERMINERS]
        return frozenset(words(before if len(one) > 1 else found[1])[-1:])
    if VERBS.isdisjoint(said) and not any(UNSPACED.match(word) for word in said[1:3]):
        return frozenset(stem for word in said[1:3] for stem in words(word))
    return frozenset()


def _subject(said: tuple[str, ...], verbs: Stems, relations: frozenset[str]) -> Stems:
    """The words that are left; one of a relation is left where the others speak of one as well: the age of "my dog"."""
    found: set[str] = set()
    for word in said[_kind_asked_for(said) :]:
        own, stems = _of_word(word)
        if word not in _MEASURES and (not own or relations - own):
            found.update(stems)
    return frozenset(found) - verbs


@lru_cache(maxsize=4_096)
def _of_word(word: str) -> tuple[frozenset[str], Stems]:
    """The relations that it speaks of by itself, and its stems."""
    return relations_in([word]), frozenset(words(word))


def _kind_asked_for(said: tuple[str, ...]) -> int:
    """How many words say what kind of thing is asked for: "which database does ..."."""
    if said[:1] not in (("what",), ("which",)):
        return 0
    return next((place for place, word in enumerate(said[:4]) if word in ("do", "does", "is", "has")), 0)
