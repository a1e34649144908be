"""Do two short texts say the same thing about the same subject, so that the newer one is what holds?

Two ways are told apart. In the same words: the texts differ in a few words behind their subject and verb, which the
cue does not hold ("Ilse lives in Oslo", "Ilse lives in Turin"). In other words: both are about what the cue names, and
the newer one says something of the relation that was asked for ("Ilse has moved to Turin"). A lexicon of common
relations knows that; where it does not, the similarity to the cue decides (`score/facts/versions.py`). A wrong guess
is worse than none.
"""

from __future__ import annotations

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.policy.updates import Updates
from adaptive_memory_core.score.facts.asked import FIRST_PERSON, Asked
from adaptive_memory_core.score.facts.difference import are_of_two_things, begins_otherwise, says_otherwise
from adaptive_memory_core.score.facts.names_the_old import names_the_old
from adaptive_memory_core.score.facts.relations import relations_in
from adaptive_memory_core.score.facts.says_less import kind_of_answer, says_less
from adaptive_memory_core.score.facts.statement import Statement, differ
from adaptive_memory_core.score.facts.whose import answers_for_the_same_one, of_the_same_one

_ALL_ASKED = 0.75  # of the share of words in common that is asked for, where both hold all words of the cue; guess
_EVENT_AND_VALUE = 2  # words of an event that are new: its verb, and what came of it
_FEW = 3  # words that both have; two are enough where both begin with the same one


def in_same_words(old: Statement, new: Statement, about: Asked, rule: Updates) -> bool:
    """Whether the newer text says of the same what the older one said, but for a few words.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def same(old, new, cue="Where does Ilse live?"):
    ...     return in_same_words(statement(old), statement(new), asked(cue), Updates())
    >>> same("Ilse lives in Oslo.", "Ilse lives in Turin."), same("Ilse lives in Oslo.", "Colm lives in Turin.")
    (True, False)
    >>> same("Ilse lives in Oslo.", "Ilse no longer lives in Oslo.")
    True
    >>> same("Ilse lives in Oslo.", "Ilse used to live in Rome."), same("Ilse lives in Oslo.", "Does Ilse live here?")
    (False, False)
    >>> same("Ilse lives in Oslo.", "Ilse doesn't live in Rome."), same("Ilse lives in Oslo.", "Ilse may live in Rome.")
    (False, False)
    >>> same("Ilse lives in Oslo.", "Colm lives in Oslo.", "who lives in Oslo?")  # another person, another fact
    False
    >>> same("My number is 12.", "My sister's number is 34.", "my number?"), same("It is at 3.", "It's at 4.", "is it?")
    (False, False)
    """
    if not _alike(old, new, about, rule) or not _of_one_subject(old, new, about):
        return False
    if old.event or new.event or new.hedged or (new.past and not old.past) or _of_two_relations(old, new, about):
        return False
    if new.denied != old.denied:
        return old.stems <= new.stems or new.stems <= old.stems
    if bool(old.things - about.stems) != bool(new.things - about.stems):
        return False  # "Ana's car is a Fiat", "Ana's car is dirty"
    return not are_of_two_things(old, new, about) and says_otherwise(old, new, about)


def in_other_words(old: Statement, new: Statement, about: Asked, rule: Updates) -> bool:
    """Whether the newer text is about the subject that the cue names, and could say the same of it in other words.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def may(old, new, cue="Where does Ilse live?"):
    ...     return in_other_words(statement(old), statement(new), asked(cue), Updates())
    >>> may("Ilse lives in Oslo.", "Ilse has moved to Turin."), may("Ilse lives in Oslo.", "Ilse has gone vegan.")
    (True, False)
    >>> may("Ilse lives in Oslo.", "Ilse's brother lives in Rome."), may("Ilse lives in Oslo.", "Colm moved to Turin.")
    (False, False)
    >>> may("Ilse lives in Oslo.", "Ilse has a boss in Turin."), may("Ilse lives in Oslo.", "Ilse might move to Turin.")
    (False, False)
    >>> may("We use MySQL for orders.", "We moved orders from MySQL to SQLite.", "which database do orders use?")
    True
    """
    if old.asks or differ(old.said, new.said) > rule.other_words or not _states_it(new):
        return False
    if not _about_it(old, new, about) or _of_anothers(new, about):
        return False
    known = related(new, about)
    if known is False or not answers(old, about) or not answers_for_the_same_one(old, new, about):
        return False
    return names_the_old(old, new, about) or _says_otherwise_of_it(old, new, about, known)


def _says_otherwise_of_it(old: Statement, new: Statement, about: Asked, known: bool | None) -> bool:
    """Whether a text about the subject says something else of what was asked for, as far as the form tells."""
    if _of_others(old, new, about):
        return False
    if says_less(old, new, about) or (new.event and not (known and _gives_another(old, new, about))):
        return False
    if _repeats(old, new, about) and not _says_it_again(old, new, about):
        return False  # what was asked for is said of somebody else: "Ilse's brother lives in ..."
    return _free(old, new) or says_otherwise(old, new, about)  # not "the lamp costs ...", "the lamp shade costs ..."


def of_one_kind(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether both give a name or a number besides what was asked for, or neither does: a place is no answer where a
    number was one. What is known to be of the asked relation need not."""
    return (_free(old, new) and bool(related(new, about))) or kind_of_answer(old, about) == kind_of_answer(new, about)


def _gives_another(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether an event says of something that it takes the old one's place: "bought a Fiat", not "washed the car".
    Where a state was asked for ("is Omar single?"), that may be of any kind."""
    fits = bool(about.predicate) or kind_of_answer(old, about) == kind_of_answer(new, about)
    return fits and len(new.stems - about.stems - old.stems) >= _EVENT_AND_VALUE


def _free(old: Statement, new: Statement) -> bool:
    """Whether the newer one need not be built as the older one is."""
    return new.announced or begins_otherwise(old, new)


def related(new: Statement, about: Asked) -> bool | None:
    """Whether it speaks of what was asked for, as far as the lexicon knows; None where it does not."""
    if about.relations:
        return not about.relations.isdisjoint(new.relations) if new.relations else None
    return True if about.stems <= new.stems and new.announced else None


def answers(old: Statement, about: Asked) -> bool:
    """Whether it speaks of what was asked for, and not of the subject alone."""
    known = related(old, about) if about.relations else about.stems <= old.stems or None
    return bool((old.stems & about.stems) - about.subject) if known is None else known


def _alike(old: Statement, new: Statement, about: Asked, rule: Updates) -> bool:
    """Whether few of their words differ, and the newer text has one of its own."""
    common = old.said & new.said
    gone, come = len(old.said) - len(common), len(new.said) - len(common)
    share = rule.common_words * (_ALL_ASKED if about.stems <= old.stems & new.stems else 1.0)
    if not come or max(gone, come) > rule.different_words or len(common) < share * (gone + come + len(common)):
        return False
    return len(common) >= _FEW - (old.opening == new.opening)


def _of_one_subject(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether both state something, and hold the same words of the cue, its names among them."""
    if old.asks or new.asks or not about.names <= new.stems:
        return False
    asked_for = about.stems - about.predicate
    shared = old.stems & asked_for
    if not shared or shared != new.stems & asked_for:
        return False
    if shared <= about.names and shared != asked_for and not related(new, about) and not _counts(old, new):
        return False  # both are about the subject, and neither says of what was asked for
    return not _of_others(old, new, about) and not _of_one_more(old, new) and of_the_same_one(old, new, about)


def _counts(old: Statement, new: Statement) -> bool:
    """Whether a number is all that differs: "Mia is 6", "Mia is 7"."""
    gone, come = old.stems - new.stems, new.stems - old.stems
    return len(gone) == len(come) == 1 and gone <= old.numbers and come <= new.numbers


def _of_two_relations(old: Statement, new: Statement, about: Asked) -> bool:
    if related(new, about) is False:
        return True
    return bool(old.relations) and bool(new.relations) and old.relations.isdisjoint(new.relations)


def _about_it(one: Statement, other: Statement, about: Asked) -> bool:
    """Whether both hold what the cue is about, or both speak of the one who asks."""
    if about.subject:
        return about.subject <= one.spoken and about.subject <= other.spoken
    return about.first_person and all(_of_oneself(text, about) for text in (one, other))


def _of_oneself(text: Statement, about: Asked) -> bool:
    """Whether "I" stands in it, and nothing of mine that was not asked for: not "my sister has moved"."""
    if FIRST_PERSON.isdisjoint(text.said):
        return False
    mine = [after for word, after in zip(text.in_order, text.in_order[1:], strict=False) if word in ("my", "our")]
    return all(after in about.said or not about.relations.isdisjoint(relations_in([after])) for after in mine)


def _of_anothers(new: Statement, about: Asked) -> bool:
    """Whether it is about something of the one who was asked for: "Ilse's neighbour has adopted a dog"."""
    for word, *after in zip(new.in_order, new.in_order[1:], new.in_order[2:], strict=False):
        if word.endswith(("'s", "\u2019s")) and about.names & frozenset(words(word[:-2])) - about.owners:
            of_it = relations_in(after[:1])  # of "Mia's hamster turned 2" the hamster
            return about.relations.isdisjoint(of_it or relations_in(after))
    return False


def _states_it(new: Statement) -> bool:
    """Whether it says how things are, as far as it says."""
    return not (new.asks or new.past or new.hedged or new.denied)


def _repeats(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether it has all the words of the cue that the older one has, and not those of the subject alone."""
    repeated = old.stems & about.stems
    return bool(repeated - about.subject) and repeated <= new.stems


def _says_it_again(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether a text that has all the words that were asked for has them for the same subject."""
    if not about.names or new.owners & about.stems - old.owners - about.owners or _of_one_more(old, new):
        return False
    return new.announced or says_otherwise(old, new, about)


def _of_others(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether each begins with something that the other does not speak of, unless the cue says whose it is."""
    if (about.first_person and not about.subject) or old.subject is None or new.subject is None:
        return False
    if about.owners and about.owners <= old.stems & new.stems:
        return False
    return old.subject not in new.stems and new.subject not in old.stems


def _of_one_more(old: Statement, new: Statement) -> bool:
    """Whether one names an owner that the other does not speak of: "my sister's number" is not "my number"."""
    fewer, more = sorted((old.owners, new.owners), key=len)
    return fewer < more and not more <= old.stems & new.stems
