"""May a text be a newer version of another one though nobody knows their relation? It has to announce a change.

Whether it is one is told by how it stands out (`score/facts/standing_out.py`). Here is what cannot be one: a list, an
event, a wish, another subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.score.facts.acquired import gets_another, was_beside_it
from adaptive_memory_core.score.facts.asked import Asked
from adaptive_memory_core.score.facts.glance import Glance
from adaptive_memory_core.score.facts.many_valued import may_hold_of_several
from adaptive_memory_core.score.facts.same_fact import related
from adaptive_memory_core.score.facts.says_less import says_less
from adaptive_memory_core.score.facts.sentence_that_answers import keys_of
from adaptive_memory_core.score.facts.statement import Statement, differ
from adaptive_memory_core.score.facts.whose import acts_for_itself, answers_for_the_same_one

_PERSON = re.compile(r"\b(?:i|me|my|mine|we|us|our|you|yours?)\b")
_SINCE_THEN = re.compile(
    r"\b(?:now|new|newly|instead|(?:no|any) longer|any ?more|these days|nowadays|currently|lately|from now on|since"
    r"|different|finally|replac\w+|switch\w+|chang\w+|swap\w+|moved?|dropped|cancel\w*|gave up|stopped|rather than"
    r"|became|become|turned into)\b",
    re.IGNORECASE,
)


def may_change(old: Statement, about: Asked) -> bool:
    """Whether it says how things are with what was asked for, and of one thing at a time.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> about = asked("Which streaming service does Ilse have?")
    >>> may_change(statement("Ilse has the streaming service Popcorn."), about)
    True
    >>> may_change(statement("Ilse likes the streaming service Popcorn."), about)
    False
    """
    if old.asks or old.event or old.hedged or may_hold_of_several(old.bare, old.said, "".join(old.in_order)):
        return False
    return bool((old.stems & about.stems) - about.names)


def of_the_subject(looks: Sequence[Glance], about: Asked) -> list[int]:
    """The numbers of the texts that hold what the cue names. Where it asks about "me" or "you", those that speak of
    such a person, or hold a word of what is asked for.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.glance import glance
    >>> looks = [glance(text) for text in ("Ilse has a cat.", "I have a cat.", "My hair is cut by Kofi.", "It rains.")]
    >>> [of_the_subject(looks, asked(cue)) for cue in ("who is Ilse's barber?", "who is my barber?")]
    [[0], [1, 2]]
    """
    keys, lower = keys_of(about.names or about.subject), [look.lower for look in looks]
    if about.names or not _PERSON.search(" ".join(about.said)):
        found = list(range(len(lower))) if keys else []
        for key in keys:
            found = [one for one in found if key in lower[one]]
        return found
    return [one for one in range(len(lower)) if _PERSON.search(lower[one]) or any(key in lower[one] for key in keys)]


def may_replace(old: Statement, new: Statement, about: Asked, rule: Updates) -> bool:
    """Whether it announces a change, of the same subject as far as can be told.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def may(new):
    ...     old, about = statement("My barber is Kofi."), asked("who is my barber?")
    ...     return may_replace(old, statement(new), about, Updates())
    >>> may("I get my hair done at Luigi's now."), may("My brother gets his hair done at Luigi's now.")
    (True, False)
    >>> may("I painted a harbour."), may("I might switch to Luigi's."), may("I left Kofi and went to Luigi's.")
    (False, False, True)
    """
    if differ(old.said, new.said) > rule.other_words or not new.announced:
        return False
    if new.asks or new.past or new.hedged or new.denied or related(new, about) is False:
        return False
    if not answers_for_the_same_one(old, new, about) or acts_for_itself(new, about) or says_less(old, new, about):
        return False
    if not new.event or _tells_of_it(old, new, about):
        return not was_beside_it(new, about)
    return gets_another(old, new, about)


def _tells_of_it(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether an event is one that changed something: it says so, or speaks of what was before."""
    return bool((old.stems - about.stems) & new.stems) or _SINCE_THEN.search(" ".join(new.in_order)) is not None
