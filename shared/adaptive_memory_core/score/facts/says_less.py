"""Does a newer text say less of what was asked for than the older one, and give nothing in its place?

"Ben guitar" asks for the guitar: that Ben lost a piano competition is no newer version of "Ben bought a guitar".
"""

from __future__ import annotations

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.score.facts.asked import Asked
from adaptive_memory_core.score.facts.statement import Statement, Stems

_SINCE = frozenset(("has", "have"))  # "has adopted a parrot" says how things are since
_SUBJECT_AND_VERB = 2  # words at the beginning of a short statement


def says_less(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether the newer one lacks words of the cue: of two events always, of others where the cue is bare words and
    the older one has no other value that could be replaced.

    >>> from adaptive_memory_core.score.facts.asked import asked
    >>> from adaptive_memory_core.score.facts.statement import statement
    >>> def less(old, new, cue="Ben guitar"):
    ...     return says_less(statement(old), statement(new), asked(cue))
    >>> less("Ben bought a guitar in Brno.", "Ben lost a piano competition in Lyon.")
    True
    >>> less("Ben plays the guitar.", "Ben plays the piano now.")
    True
    >>> less("Ben drives a Volvo car.", "Ben bought a Fiat.", cue="Ben car")
    False
    """
    asked_for = about.stems - about.subject
    said, left = old.stems & asked_for, new.stems & asked_for
    if old.event and new.event and said != left:
        return True
    if not about.bare_words or said <= left:
        return False
    return old.event or kind_of_answer(old, about) != kind_of_answer(new, about) or not _value(old, new, about)


def kind_of_answer(one: Statement, about: Asked) -> tuple[bool, bool]:
    """Whether it gives a name, and a number, besides what was asked for."""
    return bool(one.things - about.stems), bool(one.numbers - about.stems)


def _value(old: Statement, new: Statement, about: Asked) -> Stems:
    """What the older one says besides what was asked for; against an event only a name or a number counts."""
    if new.event and _SINCE.isdisjoint(new.said):
        return (old.names | old.numbers) - about.stems
    return old.stems - about.stems - frozenset(words(" ".join(old.bare[:_SUBJECT_AND_VERB])))
