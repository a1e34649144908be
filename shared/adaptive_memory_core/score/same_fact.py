"""Do two short texts say the same thing about the same subject, so that the newer one is what holds?

Two ways are told apart. In the same words: the texts differ in a few words behind their subject and verb, which the cue
does not hold ("Ilse lives in Oslo", "Ilse lives in Turin"). In other words: both are about the names that the cue holds
("Ilse has moved to Turin"); whether it is the same thing is then for a lexicon of common relations to say, and where it
does not know, for the similarity to the cue (`score/fact_versions.py`). A wrong guess is worse than none.
"""

from __future__ import annotations

from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.score.asked import FIRST_PERSON, Asked
from adaptive_memory_core.score.difference import says_otherwise
from adaptive_memory_core.score.relations import relations_in
from adaptive_memory_core.score.statement import Statement

_ALL_ASKED = 0.75  # of the share of words in common that is asked for, where both hold all words of the cue; guess
_FEW = 3  # words that both have; two are enough where both begin with the same one


def in_same_words(old: Statement, new: Statement, about: Asked, rule: Updates) -> bool:
    """Whether the newer text says of the same what the older one said, but for a few words.

    >>> from adaptive_memory_core.score.asked import asked
    >>> from adaptive_memory_core.score.statement import statement
    >>> def same(old, new, cue="Where does Ilse live?"):
    ...     return in_same_words(statement(old), statement(new), asked(cue), Updates())
    >>> same("Ilse lives in Oslo.", "Ilse lives in Turin."), same("Ilse lives in Oslo.", "Colm lives in Turin.")
    (True, False)
    >>> same("Ilse lives in Oslo.", "Ilse no longer lives in Oslo.")
    True
    >>> same("Ilse lives in Oslo.", "Ilse used to live in Rome."), same("Ilse lives in Oslo.", "Does Ilse live here?")
    (False, False)
    >>> same("Ilse lives in Oslo.", "Ilse does not live in Rome."), same("Ilse lives in Oslo.", "Ilse would live in Rome.")
    (False, False)
    >>> same("Ilse lives in Oslo.", "Colm lives in Oslo.", "who lives in Oslo?")  # another person, another fact
    False
    >>> same("My number is 12.", "My sister's number is 34.", "my number?"), same("It is at 3.", "It's at 4.", "is it?")
    (False, False)
    """
    if old.asks or new.asks:
        return False
    common = old.said & new.said
    gone, come = len(old.said) - len(common), len(new.said) - len(common)
    least = rule.common_words * (_ALL_ASKED if about.stems <= old.stems & new.stems else 1.0)
    if not come or max(gone, come) > rule.different_words or len(common) < least * (gone + come + len(common)):
        return False
    if len(common) < _FEW - (old.opening == new.opening):
        return False
    shared = old.stems & about.stems
    if not shared or shared != new.stems & about.stems or _of_others(old, new, about) or _of_one_more(old, new):
        return False
    if (new.past and not old.past) or old.event or new.event or new.hedged or not about.names <= new.stems:
        return False
    if related(new, about) is False or (old.relations and new.relations and old.relations.isdisjoint(new.relations)):
        return False
    if new.denied != old.denied:
        return old.stems <= new.stems or new.stems <= old.stems
    return says_otherwise(old, new, about)


def in_other_words(old: Statement, new: Statement, about: Asked, rule: Updates) -> bool:
    """Whether the newer text is about the subject that the cue names, and could say the same of it in other words.

    >>> from adaptive_memory_core.score.asked import asked
    >>> from adaptive_memory_core.score.statement import statement
    >>> def may(old, new, cue="Where does Ilse live?"):
    ...     return in_other_words(statement(old), statement(new), asked(cue), Updates())
    >>> may("Ilse lives in Oslo.", "Ilse has moved to Turin."), may("Ilse lives in Oslo.", "Ilse has gone vegan.")
    (True, False)
    >>> may("Ilse lives in Oslo.", "Ilse's brother lives in Turin."), may("Ilse lives in Oslo.", "Colm moved to Turin.")
    (False, False)
    >>> may("Ilse lives in Oslo.", "Ilse has a new boss in Turin."), may("Ilse lives in Oslo.", "Ilse might move to Turin.")
    (False, False)
    """
    if old.asks or new.asks or max(len(old.said - new.said), len(new.said - old.said)) > rule.other_words:
        return False
    if not same_subject(old, new, about) or _of_others(old, new, about) or new.past or new.hedged or new.denied:
        return False
    known = related(new, about)
    if known is False or (new.event and not known) or not _answers(old, about):
        return False
    if old.stems & about.stems <= new.stems and not _says_it_again(old, new, about):
        return False  # what was asked for is said of somebody else: "Ilse's brother lives in ..."
    return bool(known) or _kind(old, about) == _kind(new, about)


def _answers(old: Statement, about: Asked) -> bool:
    """Whether it speaks of what was asked for, and not of the subject alone."""
    known = related(old, about)
    return bool((old.stems & about.stems) - about.subject) if known is None else known


def _says_it_again(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether a text that has all the words that were asked for has them for the same subject."""
    if not about.names or new.owners & about.stems - old.owners - about.owners or _of_one_more(old, new):
        return False
    return new.announced or says_otherwise(old, new, about)


def related(new: Statement, about: Asked) -> bool | None:
    """Whether it speaks of what was asked for, as far as the lexicon knows; None where it does not."""
    if about.relations and new.relations:
        return not about.relations.isdisjoint(new.relations)
    return None


def same_subject(one: Statement, other: Statement, about: Asked) -> bool:
    """Whether both hold what the cue is about, or both speak of the one who asks."""
    if about.subject:
        return about.subject <= one.spoken and about.subject <= other.spoken
    return about.first_person and all(_of_oneself(text, about) for text in (one, other))


def _of_oneself(text: Statement, about: Asked) -> bool:
    """Whether "I" stands in it, and nothing else of mine than what was asked for is spoken of: "my sister has moved"."""
    if FIRST_PERSON.isdisjoint(text.said):
        return False
    mine = [after for word, after in zip(text.in_order, text.in_order[1:], strict=False) if word in ("my", "our")]
    return all(after in about.said or not about.relations.isdisjoint(relations_in([after])) for after in mine)


def _of_others(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether each begins with something that the other does not speak of, unless the cue says whose it is."""
    if about.first_person and not about.subject:
        return False
    if old.subject is None or new.subject is None or (about.owners and about.owners <= old.stems & new.stems):
        return False
    return old.subject not in new.stems and new.subject not in old.stems


def _of_one_more(old: Statement, new: Statement) -> bool:
    """Whether one names an owner that the other does not speak of: "my sister's number" is not "my number"."""
    fewer, more = sorted((old.owners, new.owners), key=len)
    return fewer < more and not more <= old.stems & new.stems


def _kind(one: Statement, about: Asked) -> tuple[bool, bool]:
    """Whether it says a name or a number besides what was asked for: a place is no answer where a number was one."""
    return bool(one.names - about.stems), bool(one.numbers - about.stems)
