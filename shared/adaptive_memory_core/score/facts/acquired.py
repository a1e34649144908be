"""Does an event say that somebody got another one of what was asked for: "Ilse traded the old vehicle for a Fiat"?

Most events change nothing ("Ilse washed the car"). Those with a verb of getting, swapping or giving up may, where they
give a value of the kind of the old one, and are neither about what goes with it nor about a present.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.score.facts.asked import Asked
from adaptive_memory_core.score.facts.says_less import kind_of_answer
from adaptive_memory_core.score.facts.statement import Statement, Stems
from adaptive_memory_core.score.facts.unsettled import past_verb

_GOT = frozenset(
    "acquired adopted bought chose found got inherited leased ordered picked purchased rented signed subscribed".split()
)
_SWAPPED = frozenset("abandoned ditched exchanged sold swapped traded".split())
_VERBS = _GOT | _SWAPPED
_PREPOSITIONS = frozenset("about at behind by for from in into near of on onto to under with".split())
_THEIRS = frozenset("her his my our their your".split())


def gets_another(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether it may be that what the older text says has been replaced by what the event gives.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def gets(new, old="Ilse drives a Volvo.", cue="What car does Ilse drive?"):
    ...     return gets_another(statement(old), statement(new), asked(cue))
    >>> gets("Ilse traded the old vehicle for a Fiat."), gets("Ilse bought a Fiat.")
    (True, True)
    >>> gets("Ilse washed the Fiat."), gets("Ilse bought a lamp."), gets("Ilse bought a Fiat for her aunt.")
    (False, False, False)
    >>> gets("Ilse bought Michelin tyres for the car."), gets("Ilse bought a Bosch car radio.")
    (False, False)
    """
    verb = past_verb(new.in_order)
    if verb not in _VERBS or kind_of_answer(old, about) != kind_of_answer(new, about) or was_beside_it(new, about):
        return False
    return not _got_what_goes_with_it(new, about) and not (verb in _GOT and _is_a_present(new))


def was_beside_it(new: Statement, about: Asked) -> bool:
    """Whether what was asked for stands behind a preposition, after what was done: "took a friend to the gym".

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> about = asked("Which gym does Ilse go to?")
    >>> texts = ("Ilse took a friend to the gym.", "Ilse took over the gym.", "Ilse's gym moved to Dock Road.")
    >>> [was_beside_it(statement(text), about) for text in texts]
    [True, False, False]
    """
    asked_for, within = about.stems - about.names, False
    for word in _behind_the_verb(new)[1:]:  # a preposition right behind the verb belongs to it: "took over"
        if word in _PREPOSITIONS:
            within = True
        elif within and not asked_for.isdisjoint(words(word)):
            return True
    return False


def _behind_the_verb(new: Statement) -> Sequence[str]:
    verb = past_verb(new.in_order)
    return new.in_order[new.in_order.index(verb) + 1 :] if verb else ()


def _got_what_goes_with_it(new: Statement, about: Asked) -> bool:
    """Whether what was asked for stands before another noun: "a car radio"."""
    asked_for = about.stems - about.names
    return any(
        not asked_for.isdisjoint(words(word)) and _is_another_noun(then, new, asked_for)
        for word, then in pairwise(_behind_the_verb(new))
    )


def _is_another_noun(word: str, new: Statement, asked_for: Stems) -> bool:
    """Whether it may be one: no small word, no name or number ("the gym Titan", "desk 30"), and not asked for."""
    stems = frozenset(words(word))
    return bool(stems) and word not in _PREPOSITIONS and stems.isdisjoint(new.names | new.numbers | asked_for)


def _is_a_present(new: Statement) -> bool:
    """Whether it is for somebody else: "for her son", "for Ravi"."""
    return any(
        word == "for" and (then in _THEIRS or not new.names.isdisjoint(words(then)))
        for word, then in pairwise(_behind_the_verb(new))
    )
