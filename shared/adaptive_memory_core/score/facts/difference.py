"""Where do two statements in the same words differ: in what is said of the subject, or in the subject itself?

"Ilse lives in Oslo" and "Ilse lives in Turin" differ behind the verb, so one may replace the other. "Ticket A-4 is
closed" and "ticket A-10 is closed" differ before it, "buy eggs" and "buy milk" have no subject: those are two things.
"""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.channels.words.unspaced import UNSPACED
from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.score.facts.asked import Asked
from adaptive_memory_core.score.facts.bare_words import PRONOUNS
from adaptive_memory_core.score.facts.many_valued import may_hold_of_several
from adaptive_memory_core.score.facts.statement import Statement
from adaptive_memory_core.score.facts.unsettled import VERBS

_VERBS = frozenset("是在住叫姓有用为は") | VERBS
_TOPIC = ("는", "은")  # marks the subject in Korean
_ROLES = {  # what stands behind the verb: a place, or each its own
    **dict.fromkeys("in at near under behind outside inside".split(), "place"),
    **{
        word: word
        for word in "on with without because like about next by for out up off from to until since as".split()
    },
}
_ONE_OF_SEVERAL = frozenset("one another some also todo to-do reminder task idea note step day".split())


def says_otherwise(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether they have one subject and one verb, and differ in one place behind them.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def otherwise(cue, old, new):
    ...     return says_otherwise(statement(old), statement(new), asked(cue))
    >>> otherwise("where does Ilse live?", "Ilse lives in Oslo.", "Ilse now lives in Turin.")
    True
    >>> otherwise("is a ticket closed?", "Ticket A-4 is closed.", "Ticket A-10 is closed.")
    False
    >>> otherwise("how old is my dog?", "My dog Rex is 3.", "My dog Bello is 4.")
    False
    >>> otherwise("buy", "Buy eggs.", "Buy milk.")
    False
    """
    one, other = old.bare, new.bare
    before = _alike(one, other)
    if old.opening in _ONE_OF_SEVERAL or may_hold_of_several(one[:before], old.said & new.said, "".join(old.in_order)):
        return False
    if 0 < old.titled == new.titled <= before and _asked_for(one[: old.titled], about):
        return True
    if not _verb_before(one, other, before, about):
        return _of_the_owner(one, other, about)
    return _in_one_place(one, other, before, about.stems & old.stems)


def _asked_for(title: Sequence[str], about: Asked) -> bool:
    """Whether it is a title that the cue holds, as in "Budget: 500 euros", and no speaker."""
    return frozenset(words(" ".join(title))) <= about.stems - about.names


def are_of_two_things(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether they differ in two places, and share nothing that was asked for but the name.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def two(cue, old, new):
    ...     return are_of_two_things(statement(old), statement(new), asked(cue))
    >>> two("what is the name of Tom's pet?", "Tom has a cat called Miso.", "Tom has a dog called Rex.")
    True
    >>> two("what is Tom's cat called?", "Tom has a cat called Miso.", "Tom has a cat called Rex.")
    False
    """
    one, other = old.bare, new.bare
    before, behind = _alike(one, other), _alike(one[::-1], other[::-1])
    gone, come = one[before : len(one) - behind], other[before : len(other) - behind]
    return not frozenset(gone).isdisjoint(come) and (old.stems & about.stems) <= about.names


def begins_otherwise(old: Statement, new: Statement) -> bool:
    """Whether their first words differ."""
    return not _alike(old.bare, new.bare)


def _verb_before(one: Sequence[str], other: Sequence[str], before: int, about: Asked) -> bool:
    """Whether the verb is not behind the first difference; where it is not known, whether a person begins both."""
    if not before:
        return False
    places = [place for place in (_verb(one, about), _verb(other, about)) if place is not None]
    if not places:
        first, *others = (frozenset(words(word)) for word in one[:before])
        begins = not first.isdisjoint(about.stems) or one[0] in PRONOUNS
        return begins and not UNSPACED.match(one[0]) and any(word - about.subject for word in others)
    return max(places) <= before


def _in_one_place(one: Sequence[str], other: Sequence[str], before: int, asked_for: frozenset[str]) -> bool:
    """Whether they differ in one place, or in two behind all that was asked for."""
    behind = _alike(one[before:][::-1], other[before:][::-1])
    gone, come = one[before : len(one) - behind], other[before : len(other) - behind]
    if not gone and not come:
        return False
    if gone and come and _role(gone) != _role(come):
        return False
    return frozenset(gone).isdisjoint(come) or asked_for <= frozenset(words(" ".join(one[:before])))


def _role(said: Sequence[str]) -> str | None:
    """What the first word makes of those behind it; nothing where it says something itself: "is off", "is on for all".

    >>> _role(["in", "rome"]), _role(["off"]), _role(["on", "for", "all"])
    ('place', None, None)
    """
    return None if len(said) < 2 or said[1] in _ROLES else _ROLES.get(said[0])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _verb(said: Sequence[str], about: Asked) -> int | None:
    """The place of the verb, as far as it is known: a common one, or the one of the cue."""
    for place, word in enumerate(said):
        if word.endswith(_TOPIC) or (place and (word in _VERBS or not about.verbs.isdisjoint(words(word)))):
            return place
    return None


def _of_the_owner(one: Sequence[str], other: Sequence[str], about: Asked) -> bool:
    """Whether "Dr. Weber is Ilse's dentist" is asked for by "who is Ilse's dentist?"."""
    behind = _alike(one[::-1], other[::-1])
    common = one[len(one) - behind :]
    return bool(about.owners) and common[:1] == ("is",) and about.said_owners <= frozenset(common)
