"""Is what is new in a text said of others too, in the words of the older one? Then it answers the same question.

"Ilse lives in Oslo", "Ilse has moved to Turin": that Turin is a place to live in is known where "Colm lives in Turin"
stands somewhere. So a memory teaches by itself what belongs to a relation, in any words.
"""

from __future__ import annotations

from adaptive_memory_core.score.facts.asked import Asked
from adaptive_memory_core.score.facts.statement import Statement, Stems, differ


def relation_words(old: Statement, about: Asked) -> Stems:
    """The words of the cue by which the older text says what was asked for."""
    return (old.stems & about.stems) - about.subject


def says_of_another(old: Statement, new: Statement, third: Statement, about: Asked, most: int) -> bool:
    """Whether a third text says the new value with the older one's words, but for at most so many of them.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def says(third, new="Ilse has moved to Turin."):
    ...     old, about = statement("Ilse lives in Oslo."), asked("Where does Ilse live?")
    ...     return says_of_another(old, statement(new), statement(third), about, most=4)
    >>> says("Colm lives in Turin."), says("Colm lives in Rome."), says("Colm was late for a train to Turin.")
    (True, False, False)
    >>> says("Colm lives in Turin.", new="Ilse has taken up the cello.")
    False
    """
    relation = relation_words(old, about)
    if not relation or not relation <= third.stems or third.asks or differ(old.said, third.said) > most:
        return False
    return not (third.stems - old.stems - about.stems).isdisjoint(new.stems - old.stems)
