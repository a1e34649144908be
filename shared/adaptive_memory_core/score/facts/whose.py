"""Do two statements speak of the same one: of Ana herself, or of her mother, who is somebody else?"""

from __future__ import annotations

from collections.abc import Iterator

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.score.facts.asked import Asked
from adaptive_memory_core.score.facts.possessors import Owned, is_person, owned_in
from adaptive_memory_core.score.facts.relations import relations_in
from adaptive_memory_core.score.facts.statement import Statement, Stems

_OF_TIME = frozenset("now currently today lately".split())
_MINE, _OF_ANYBODY = frozenset("my our your".split()), frozenset("her his their".split())
_LEADS = frozenset("in on since at from as these this last after before until recently".split())  # before the subject
_IS = frozenset(("is", "was", "are", "were", "became", "will", ""))  # "Ana's boss is Tom" is about Ana


def of_the_same_one(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether neither is about somebody, or something, of the other's subject.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def same(old, new, cue="Where does Ana's mother live?"):
    ...     return of_the_same_one(statement(old), statement(new), asked(cue))
    >>> same("Ana's mother lives in Oslo.", "Ana's mother has moved to Rome.")
    True
    >>> same("Ana's mother lives in Oslo.", "Ana lives in Rome."), same("Ana is in Rome.", "Ana's mother is in Oslo.")
    (False, False)
    >>> same("Ana's mum lives here.", "Ana lives in Rome."), same("Ana's mum lives here.", "Ana's dad lives in Rome.")
    (False, False)
    >>> same("Ana lives in Oslo.", "Ana lives with her mum in Rome.", cue="where does Ana live?")
    True
    >>> same("Ana's boss is Kim.", "Ana now reports to Lee.", cue="who is Ana's boss?")
    True
    """
    if any(old.stems.isdisjoint(one) != new.stems.isdisjoint(one) for one in about.of_whom):
        return False
    return _persons(old, about) <= new.stems and _persons(new, about) <= old.stems


def answers_for_the_same_one(old: Statement, new: Statement, about: Asked) -> bool:
    """The same of texts in other words: each speaks of whom the cue asks for, or both say in one word whose it is.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def same(old, new, cue="Where does Ana's mother live?"):
    ...     return answers_for_the_same_one(statement(old), statement(new), asked(cue))
    >>> same("Ana's mum lives in Oslo.", "Ana's mum has moved to Rome."), same("Ana is in Oslo.", "Ana moved to Rome.")
    (True, False)
    """
    if not of_the_same_one(old, new, about):
        return False
    if not any(old.stems.isdisjoint(one) for one in about.of_whom):
        return True
    return not _owned(old).isdisjoint(_owned(new))


def acts_for_itself(new: Statement, about: Asked) -> bool:
    """Whether it speaks of a relative or another person of the one who was asked for, or something of theirs does what
    was asked: "Ana's company drives a Fiat".

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def acts(new):
    ...     return acts_for_itself(statement(new), asked("what does Ana drive?"))
    >>> acts("Ana's son now has a Fiat."), acts("Ana's company drives a Fiat."), acts("Ana has a Fiat of her son now.")
    (True, True, False)
    """
    doing = about.verbs - about.names
    return any(
        (is_person(one.chain[-1]) and _opening(new, one) not in _OF_ANYBODY)
        or not doing.isdisjoint(words(" ".join(one.behind[:2])))
        for one in _of_somebody(new, about)
    )


def _persons(one: Statement, about: Asked) -> Stems:
    """Those relatives and others of somebody that it is about, and that were not asked for."""
    return frozenset(
        stem
        for found in _of_somebody(one, about)
        if is_person(found.chain[-1]) and (not found.before or found.before[0] in _LEADS)
        for stem in words(found.chain[-1])
    )


def _of_somebody(one: Statement, about: Asked) -> Iterator[Owned]:
    """What is somebody's, and was not asked for. "Ana's boss is Tom" is about Ana."""
    for found in owned_in(_in_order(one)):
        last = found.chain[-1]
        if last in about.said or not about.relations.isdisjoint(relations_in([last])):
            continue
        if (*found.behind, "")[0] not in _IS or _opening(one, found) in _MINE:
            yield found


def _opening(one: Statement, found: Owned) -> str:
    """The word that says whose it is, if it stands before."""
    return _in_order(one)[len(found.before)]


def _in_order(one: Statement) -> list[str]:
    return [word for word in one.in_order if word not in _OF_TIME]


def _owned(one: Statement) -> frozenset[str]:
    """What it says to be somebody's."""
    return frozenset(word for found in owned_in(one.in_order) for word in found.chain)
