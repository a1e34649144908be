"""What is a cue about: which words, names, owners and verb does it have?"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.score.relations import relations_in
from adaptive_memory_core.score.statement import Stems, names_in, owners_in, statement
from adaptive_memory_core.score.unsettled import VERBS

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


@lru_cache(maxsize=512)
def asked(cue: str) -> Asked:
    """
    >>> about = asked("Who is Ilse's dentist?")
    >>> sorted(about.stems), sorted(about.names), sorted(about.said_owners), sorted(about.relations)
    (['dentist', 'ils'], ['ils'], ["ilse's"], ['teeth'])
    >>> sorted(asked("Which database does the billing service use?").verbs)
    ['us']
    """
    said = statement(cue).in_order
    owners = frozenset(one for one in said if one.endswith(("'s", "\u2019s")))
    return Asked(
        frozenset(words(cue)), names_in(cue), owners_in(cue), frozenset(said), owners, _verbs(cue, said), relations_in(said)
    )


def _verbs(cue: str, said: tuple[str, ...]) -> Stems:
    """The last word before the first preposition after "do"; without a verb that is known, the words after the first."""
    found = _AFTER_DO.search(cue)
    if found:
        return frozenset(words(_PREPOSITION.split(found[1], maxsplit=1)[0])[-1:])
    if VERBS.isdisjoint(said):
        return frozenset(stem for word in said[1:3] for stem in words(word))
    return frozenset()
